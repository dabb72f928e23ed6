//! Brokers that tests kill and start again, one node or several; all files under `target/chaos`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;

use anyhow::{Context, Result};
use rustix::process::Signal;

use super::config::{self, Kind, Place, Ports};
use super::{artifacts, broker, state};
use crate::net::kept_ports;
use crate::process;
use crate::tools;

/// Three of them and what they are tested with fit on a small machine, and each starts soon.
const OPTIONS: [&str; 4] = ["-Xms192m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// A cluster that ends with this value.
pub(crate) struct Cluster {
    java: PathBuf,
    jars: PathBuf,
    nodes: Vec<Node>,
    brokers: String,
    /// Nobody else starts one in this folder meanwhile.
    _turn: File,
}

struct Node {
    folder: PathBuf,
    /// `None` while it is down.
    child: Option<Child>,
}

impl Cluster {
    /// Starts so many nodes with empty disks and waits until all answer.
    ///
    /// # Errors
    /// If they do not come up.
    pub(crate) fn launch(folder: &Path, nodes: usize) -> Result<Self> {
        let turn = state::take_turn(folder)?;
        let (java, jars) = (tools::java()?, artifacts::jars(&super::folder())?);
        let ports: Vec<_> = kept_ports(Ports::COUNT * nodes)?.as_chunks().0.iter().map(Ports::of).collect();
        let brokers: Vec<_> = ports.iter().map(|ports| format!("127.0.0.1:{}", ports.plain)).collect();
        let mut cluster = Self { java, jars, nodes: Vec::new(), brokers: brokers.join(","), _turn: turn };
        for node in 1..=nodes {
            let folder = folder.join(format!("node-{node}"));
            fs::create_dir_all(&folder)?;
            config::write(&folder, Place { node, nodes: &ports }, Kind::Open)?;
            broker::format_storage(&folder, Kind::Open, &cluster.java, &cluster.jars)?;
            cluster.nodes.push(Node { folder, child: None });
        }
        // They need each other to become ready.
        for node in 1..=nodes {
            cluster.spawn(node)?;
        }
        for node in 1..=nodes {
            cluster.await_ready(node)?;
        }
        Ok(cluster)
    }

    /// The addresses of all nodes, separated by commas.
    pub(crate) fn brokers(&self) -> &str {
        &self.brokers
    }

    /// Starts a node that is down, on the disk that it has, and waits until it answers.
    ///
    /// # Errors
    /// If it does not come up.
    pub(crate) fn start(&mut self, node: usize) -> Result<()> {
        self.spawn(node)?;
        self.await_ready(node)
    }

    /// Ends a node: with SIGKILL, or as an administrator would.
    ///
    /// # Errors
    /// If it does not end.
    pub(crate) fn end(&mut self, node: usize, how: Signal) -> Result<()> {
        let node = self.node(node)?;
        let Some(child) = &mut node.child else { return Ok(()) };
        process::end("the broker", process::raw_pid(child), how, || Ok(child.try_wait()?.is_some()))?;
        node.child = None;
        Ok(())
    }

    fn spawn(&mut self, number: usize) -> Result<()> {
        let (java, jars) = (self.java.clone(), self.jars.clone());
        let node = self.node(number)?;
        node.child = Some(broker::start_process(&node.folder, &java, &jars, &OPTIONS)?);
        Ok(())
    }

    fn await_ready(&mut self, number: usize) -> Result<()> {
        let node = self.node(number)?;
        broker::await_ready(&node.folder, node.child.as_mut().context("the node is down")?)
    }

    fn node(&mut self, number: usize) -> Result<&mut Node> {
        number.checked_sub(1).and_then(|index| self.nodes.get_mut(index)).context("no such node")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Their disks are worth nothing: no orderly end, which would wait for the others.
        for number in 1..=self.nodes.len() {
            if let Err(error) = self.end(number, Signal::KILL) {
                eprintln!("xtask: {error:#}");
            }
        }
    }
}
