//! What the macros accept, and what they say about the rest: one mistake, one message, which says what to do.

#[test]
fn right_uses_compile_and_run_and_each_mistake_is_explained() {
    // One run for both folders: a second one would build every dependency again, for `cargo check`.
    let cases = trybuild::TestCases::new();
    cases.pass("tests/cases/pass/*.rs");
    cases.compile_fail("tests/cases/fail/*.rs");
}
