//! x
use std::path::Path;
#[test]
fn orders() {
    let dir = tempfile::tempdir().unwrap();
    let r = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/registry.json");
    babelqueue_codegen::configure().registry(r).out_dir(dir.path()).rerun_if_changed(false).generate().unwrap();
    println!("{}", std::fs::read_to_string(dir.path().join("babelqueue_contracts.rs")).unwrap());
}
