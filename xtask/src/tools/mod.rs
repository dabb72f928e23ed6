//! Programs from outside that tasks need: found, or installed where that is allowed.

mod apt;
mod java;
mod maven;
mod native;
mod openssl;
mod postgres;
mod python;
mod redis;
mod valgrind;

pub(crate) use java::java;
pub(crate) use maven::maven;
pub(crate) use native::c_libraries;
pub(crate) use openssl::openssl;
pub(crate) use postgres::postgres;
pub(crate) use python::python;
pub(crate) use redis::redis_server;
pub(crate) use valgrind::valgrind;

use std::env;
use std::path::PathBuf;

use anyhow::{Result, anyhow};

/// The full path of a program on `PATH`.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

/// Finds something, installing the Debian packages that bring it if it is not there.
fn find_or_install<T>(what: &str, packages: &[&str], find: impl Fn() -> Option<T>) -> Result<T> {
    if let Some(found) = find() {
        return Ok(found);
    }
    apt::install(what, packages)?;
    find().ok_or_else(|| anyhow!("{what} is not found although {} was installed", packages.join(" ")))
}
