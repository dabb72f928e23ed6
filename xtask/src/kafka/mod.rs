//! A real Apache Kafka broker: one node, in its own process, all its files under `target/kafka`.

mod artifacts;
mod broker;
mod certificates;
mod cluster;
mod config;
mod state;

pub(crate) use broker::{Running, Secured, Spare};
pub(crate) use cluster::Cluster;

use std::env;
use std::fs::File;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::paths;
use broker::Broker;
use config::Kind;
use state::State;

/// Names the broker to use, as `host:port[,host:port…]`, for tests, benchmarks and examples.
pub(crate) const BROKERS: &str = "BABELQUEUE_BROKERS";
/// Names the same broker's listener that asks for a password.
pub(crate) const PASSWORD_BROKERS: &str = "BABELQUEUE_PASSWORD_BROKERS";
/// Names a broker that tests may suspend, and its process.
const SPARE_BROKERS: &str = "BABELQUEUE_SPARE_BROKERS";
const SPARE_PROCESS: &str = "BABELQUEUE_SPARE_PROCESS";
/// Names begin so that tell of a broker that is encrypted and asks who comes.
const SECURED: &str = "BABELQUEUE_SECURED";

fn folder() -> PathBuf {
    paths::target("kafka")
}

/// `kafka start`: starts the broker and leaves it running.
///
/// # Errors
/// If it does not come up.
pub(crate) fn start() -> Result<ExitCode> {
    let _turn = state::take_turn(&folder())?;
    let state = match State::of_live_broker(&folder()) {
        Some(state) => {
            eprintln!("The broker already runs (process {}).", state.pid);
            state
        }
        None => Broker::launch(&folder(), Kind::Open)?.detach(),
    };
    println!("export {BROKERS}={}", state.brokers);
    println!("export {PASSWORD_BROKERS}={}", state.sasl_brokers);
    Ok(ExitCode::SUCCESS)
}

/// `kafka stop`: stops the broker and waits for its end.
///
/// # Errors
/// If it cannot be ended.
pub(crate) fn stop() -> Result<ExitCode> {
    let _turn = state::take_turn(&folder())?;
    match State::of_live_broker(&folder()) {
        Some(state) => {
            broker::end(&state)?;
            println!("Stopped the broker (process {}).", state.pid);
        }
        None => println!("No broker of this checkout runs."),
    }
    State::forget(&folder())?;
    Ok(ExitCode::SUCCESS)
}

/// `kafka status`: says whether the broker runs, by exit code too.
///
/// # Errors
/// None; the type is that of the other commands.
pub(crate) fn status() -> Result<ExitCode> {
    let Some(state) = State::of_live_broker(&folder()) else {
        println!("No broker of this checkout runs.");
        return Ok(ExitCode::FAILURE);
    };
    println!(
        "The broker runs on {} (with a password: {}), process {}, log {}",
        state.brokers,
        state.sasl_brokers,
        state.pid,
        config::log_file(&folder()).display()
    );
    Ok(ExitCode::SUCCESS)
}

/// The broker that the environment names, else the one that runs already, else one that ends with
/// the returned guard.
///
/// # Errors
/// If the named one cannot be reached, or ours does not come up.
pub(crate) fn start_or_use() -> Result<Running> {
    if let Some(brokers) = env::var(BROKERS).ok().filter(|brokers| !brokers.trim().is_empty()) {
        if !reachable(&brokers) {
            bail!("{BROKERS} names {brokers}, where nothing answers. Unset it to let a broker be started.");
        }
        eprintln!("Using the broker that {BROKERS} names: {brokers}");
        return Ok(Running::named(brokers, env::var(PASSWORD_BROKERS).ok()));
    }
    let _turn = state::take_turn(&folder())?;
    if let Some(state) = State::of_live_broker(&folder()) {
        eprintln!("Using the broker that runs already: {}", state.brokers);
        return Ok(Running::named(state.brokers, Some(state.sasl_brokers)));
    }
    eprintln!("Starting Apache Kafka {}", artifacts::KAFKA_VERSION);
    Ok(Running::owned(Broker::launch(&folder(), Kind::Open)?))
}

/// A second broker, for the tests that suspend theirs; it ends with the returned guard.
///
/// # Errors
/// If it does not come up.
pub(crate) fn start_spare() -> Result<Spare> {
    eprintln!("Starting a second one, for the tests that suspend theirs");
    let (broker, turn) = start_own("kafka-spare", Kind::Open)?;
    Ok(Spare::owned(broker, turn))
}

/// A third one that is encrypted and asks who comes; it ends with the returned guard.
///
/// # Errors
/// If it does not come up, or its certificates cannot be made.
pub(crate) fn start_secured() -> Result<Secured> {
    eprintln!("Starting a third one, for the tests of security");
    let (broker, turn) = start_own("kafka-secured", Kind::Secured)?;
    Ok(Secured::owned(broker, turn))
}

/// A broker that one task has for itself.
fn start_own(folder: &str, kind: Kind) -> Result<(Broker, File)> {
    let folder = paths::target(folder);
    let turn = state::take_turn(&folder)?;
    if let Some(left_over) = State::of_live_broker(&folder) {
        broker::end(&left_over)?;
    }
    Ok((Broker::launch(&folder, kind)?, turn))
}

fn reachable(brokers: &str) -> bool {
    brokers.split(',').any(|broker| {
        broker.trim().to_socket_addrs().is_ok_and(|mut addresses| {
            addresses.any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(5)).is_ok())
        })
    })
}
