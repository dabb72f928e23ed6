//! OpenSSL's program, which makes certificates.

use std::path::PathBuf;

use anyhow::Result;

use super::{find_or_install, on_path};

/// The `openssl` program.
///
/// # Errors
/// If there is none and none can be installed.
pub(crate) fn openssl() -> Result<PathBuf> {
    find_or_install("OpenSSL", &["openssl"], || on_path("openssl"))
}
