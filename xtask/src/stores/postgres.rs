//! PostgreSQL: a cluster of its own, with a password, on TCP only.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::quoted;
use super::server::{Server, Settings};
use crate::net::free_ports;
use crate::process::run_quiet;
use crate::tools;

const USER: &str = "babelqueue";
const PASSWORD: &str = "postgres-secret";
/// It refuses to run as root; Debian's package brings an account for it.
const ACCOUNT: &str = "postgres";

pub(super) fn launch(folder: &Path, logs: &Path) -> Result<Server> {
    let programs = tools::postgres()?;
    let folder = folder.join("postgres");
    let as_root = rustix::process::geteuid().is_root();
    make_folder(&folder, as_root)?;
    let prefix: &[&str] =
        if as_root { &["setpriv", "--reuid", ACCOUNT, "--regid", ACCOUNT, "--clear-groups"] } else { &["env"] };
    let (data, password) = (folder.join("data"), folder.join("password"));
    fs::write(&password, PASSWORD)?;
    run_quiet(
        Command::new(prefix[0])
            .args(&prefix[1..])
            .current_dir(&folder)
            .arg(programs.join("initdb"))
            .args(["--username", USER, "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync"])
            .arg("--pwfile")
            .arg(&password)
            .arg("--pgdata")
            .arg(&data),
    )
    .context("cannot prepare the disk of PostgreSQL")?;
    let [port] = free_ports()?;
    // Without fsync a crash of the machine would lose rows; one of the server does not.
    let command = format!(
        "{} {} -D {} -c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off",
        prefix.join(" "),
        quoted(&programs.join("postgres")),
        quoted(&data),
    );
    Server::launch(Settings {
        name: "postgres",
        command,
        folder,
        log: logs.join("postgres.log"),
        ready: "database system is ready to accept connections",
        pid_file: data.join("postmaster.pid"),
        url: format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{port}/postgres"),
    })
}

/// A folder that belongs to the account that the server runs as.
fn make_folder(folder: &Path, as_root: bool) -> Result<()> {
    let mut command = Command::new("install");
    command.args(["-d", "-m", "755"]);
    if as_root {
        command.args(["-o", ACCOUNT, "-g", ACCOUNT]);
    }
    run_quiet(command.arg(folder)).context("cannot make the folder of PostgreSQL")?;
    Ok(())
}
