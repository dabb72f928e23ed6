//! Turns the schemas into typed contracts: a module a topic.

fn main() -> Result<(), babelqueue_codegen::Error> {
    babelqueue_codegen::configure().registry("schemas/registry.json").generate()
}
