//! Redis: with a password, without persistence.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::quoted;
use super::server::{Server, Settings};
use crate::net::free_ports;
use crate::tools;

const PASSWORD: &str = "redis-secret";

pub(super) fn launch(folder: &Path, logs: &Path) -> Result<Server> {
    let program = tools::redis_server()?;
    let folder = folder.join("redis");
    fs::create_dir(&folder)?;
    let [port] = free_ports()?;
    let pid_file = folder.join("redis.pid");
    let command = format!(
        "{} --bind 127.0.0.1 --port {port} --dir {} --pidfile {} --requirepass {PASSWORD} --save '' --appendonly no \
         --set-proc-title no",
        quoted(&program),
        quoted(&folder),
        quoted(&pid_file),
    );
    Server::launch(Settings {
        name: "redis",
        command,
        folder,
        log: logs.join("redis.log"),
        ready: "Ready to accept connections",
        pid_file,
        url: format!("redis://:{PASSWORD}@127.0.0.1:{port}"),
    })
}
