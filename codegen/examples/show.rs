//! Dev.
#![allow(missing_docs)]
fn main() {
    let mut a = std::env::args().skip(1);
    let reg = a.next().unwrap();
    let out = a.next().unwrap();
    if let Err(e) = babelqueue_codegen::configure().registry(reg).out_dir(&out).rerun_if_changed(false).generate() { eprintln!("{e}"); std::process::exit(1); }
    println!("{}", std::fs::read_to_string(format!("{out}/babelqueue_contracts.rs")).unwrap());
}
