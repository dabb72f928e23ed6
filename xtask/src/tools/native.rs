//! The C libraries behind the runtime's optional features.

use std::process::Command;

use anyhow::Result;

use super::{find_or_install, on_path};

/// What the features `tls` and `gssapi` are compiled against.
///
/// # Errors
/// If something is missing and cannot be installed.
pub(crate) fn c_libraries() -> Result<()> {
    find_or_install(
        "The C side of the features tls and gssapi (OpenSSL, Cyrus SASL)",
        &["pkg-config", "libssl-dev", "libsasl2-dev"],
        || (has_library("openssl") && has_library("libsasl2")).then_some(()),
    )
}

fn has_library(name: &str) -> bool {
    on_path("pkg-config").is_some_and(|pkg_config| {
        Command::new(pkg_config).args(["--exists", name]).status().is_ok_and(|status| status.success())
    })
}
