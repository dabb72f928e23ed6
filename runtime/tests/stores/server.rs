//! A server that `cargo xtask` has started: its address, its end and its next start.

use std::{
    env, fs,
    net::TcpStream,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::contract::Check;

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Server {
    pub(crate) url: String,
    pid_file: String,
    /// A command line that starts it again.
    start: String,
}

fn variable(server: &str, what: &str) -> Result<String, env::VarError> {
    env::var(format!("BABELQUEUE_{server}_{what}"))
}

pub(crate) fn is_named(server: &str) -> bool {
    variable(server, "URL").is_ok()
}

impl Server {
    /// The server whose variables have this name.
    pub(crate) fn named(server: &str) -> Result<Self, env::VarError> {
        Ok(Self {
            url: variable(server, "URL")?,
            pid_file: variable(server, "PID_FILE")?,
            start: variable(server, "START")?,
        })
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        let authority = self.url.rsplit('@').next().unwrap_or_default();
        authority.split('/').next().unwrap_or_default()
    }

    /// The URL with another host and port.
    pub(crate) fn url_at(&self, address: &str) -> String {
        self.url.replace(self.address(), address)
    }

    /// The URL with another password, of which the right one is the last part but the address.
    pub(crate) fn url_with_password(&self, password: &str) -> String {
        let before = self.url.rsplit_once('@').map_or(self.url.as_str(), |(before, _)| before);
        let right = before.rsplit(':').next().unwrap_or_default();
        self.url.replace(right, password)
    }

    fn accepts(&self) -> bool {
        TcpStream::connect(self.address()).is_ok()
    }

    /// Kills it, and waits until nobody listens.
    pub(crate) fn kill(&self) -> Check {
        let pid_file = fs::read_to_string(&self.pid_file)?;
        let pid = pid_file.lines().next().unwrap_or_default().trim();
        let killed = Command::new("kill").args(["-KILL", pid]).status()?;
        if !killed.success() {
            return Err(format!("kill {pid}: {killed}").into());
        }
        let deadline = Instant::now() + PATIENCE;
        while self.accepts() {
            if Instant::now() > deadline {
                return Err(format!("{} is still served", self.address()).into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Starts it, and waits until somebody listens. It is ended by `cargo xtask`.
    pub(crate) fn start(&self) -> Check {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let mut child = Command::new("sh").args(["-c", &self.start]).stdin(Stdio::null()).spawn()?;
            while child.try_wait()?.is_none() {
                if self.accepts() {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            // It is refused while processes of the killed one are still ending.
        }
        Err(format!("{} is not served again", self.address()).into())
    }
}
