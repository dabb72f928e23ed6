//! Redis, one of the stores of the idempotency guard.

use std::path::PathBuf;

use anyhow::Result;

use super::{find_or_install, on_path};

/// The `redis-server` program.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn redis_server() -> Result<PathBuf> {
    find_or_install("Redis", &["redis-server"], || on_path("redis-server"))
}
