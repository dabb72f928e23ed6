//! The payload types that are read: one of this package, with all that a type can check, and those of the example.

use std::{env, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    babelqueue_codegen::configure().registry("schemas/registry.json").generate()?;
    let orders = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("orders");
    fs::create_dir_all(&orders)?;
    babelqueue_codegen::configure().registry("../schemas/registry.json").out_dir(orders).generate()?;
    Ok(())
}
