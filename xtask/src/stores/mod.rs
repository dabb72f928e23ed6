//! The servers behind the stores of the idempotency guard: Redis and PostgreSQL, each on a free port, with their data in
//! a folder that is removed afterwards. The tests kill them and start them again.

mod postgres;
mod redis;
mod server;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::paths;
use server::Server;

/// Both servers. They end with this value.
pub(crate) struct Stores {
    servers: [Server; 2],
    _folder: Folder,
}

impl Stores {
    /// Starts both and waits until they answer.
    ///
    /// # Errors
    /// If one is not installed and cannot be, or does not come up.
    pub(crate) fn start() -> Result<Self> {
        let folder = Folder::create()?;
        let logs = paths::target("stores");
        fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
        let servers = [redis::launch(&folder.0, &logs)?, postgres::launch(&folder.0, &logs)?];
        Ok(Self { servers, _folder: folder })
    }

    /// Names the servers in a command's environment.
    pub(crate) fn tell(&self, command: &mut Command) {
        for server in &self.servers {
            server.tell(command);
        }
    }
}

/// Not below `target`: the account that runs PostgreSQL when this is root may not enter the checkout.
struct Folder(PathBuf);

impl Folder {
    fn create() -> Result<Self> {
        let folder = env::temp_dir().join(format!("babelqueue-stores-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("xtask: cannot remove {}: {error}", self.0.display());
        }
    }
}

/// A path as a word of a shell's command line.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_path_is_one_word_of_the_shell_and_means_itself() {
        let path = Path::new("/tmp/it's a $HOME");
        let output = Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(path))).output().unwrap();
        assert_eq!(output.stdout, path.as_os_str().as_encoded_bytes());
    }
}
