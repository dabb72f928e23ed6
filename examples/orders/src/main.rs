//! Orders.
fn main() {}
