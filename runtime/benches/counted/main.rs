//! The turns of `throughput` with an allocator that counts. A program of its own, as counting takes time.

// What the other program asks of it.
#[allow(dead_code, unused_imports)]
#[path = "../throughput/sides/mod.rs"]
mod sides;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<(), sides::Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if sides::take_turn(&words)? {
        let stats = ALLOCATOR.stats();
        println!("allocations {}", stats.allocations + stats.reallocations);
    }
    Ok(())
}
