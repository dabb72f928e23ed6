//! The broker's settings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::net::free_ports;

/// The ports of one broker, all on the loopback address.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    pub(super) plain: u16,
    pub(super) sasl: u16,
    pub(super) controller: u16,
}

impl Ports {
    /// Three ports that are free now. Another program may take one before the broker does.
    pub(super) fn free() -> Result<Self> {
        Ok(Self::of(&free_ports()?))
    }

    pub(super) fn of(&[plain, sasl, controller]: &[u16; 3]) -> Self {
        Self { plain, sasl, controller }
    }
}

pub(super) fn properties_file(folder: &Path) -> PathBuf {
    folder.join("server.properties")
}

pub(super) fn data_folder(folder: &Path) -> PathBuf {
    folder.join("data")
}

pub(super) fn log_file(folder: &Path) -> PathBuf {
    folder.join("kafka.log")
}

pub(super) fn log_settings_file(folder: &Path) -> PathBuf {
    folder.join("log4j2.properties")
}

/// The place of a broker among those of its cluster.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Which of the nodes it is, from 1.
    pub(super) node: usize,
    /// The ports of all nodes, in their order.
    pub(super) nodes: &'a [Ports],
}

impl Place<'_> {
    fn ports(self) -> Option<Ports> {
        self.nodes.get(self.node.checked_sub(1)?).copied()
    }
}

/// Writes all settings files.
///
/// # Errors
/// If a file cannot be written, or the place is none of its cluster.
pub(super) fn write(folder: &Path, place: Place<'_>) -> Result<()> {
    let ports = place.ports().context("no such node")?;
    fs::write(properties_file(folder), server_properties(&data_folder(folder), place, ports))?;
    fs::write(log_settings_file(folder), LOG_SETTINGS)?;
    Ok(())
}

/// To standard output, which the broker's starter sends to the log file.
const LOG_SETTINGS: &str = "\
status=warn
appender.stdout.type=Console
appender.stdout.name=stdout
appender.stdout.layout.type=PatternLayout
appender.stdout.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=info
rootLogger.appenderRef.stdout.ref=stdout
";

/// Replicas of a topic, where there are as many brokers.
const MOST_REPLICAS: usize = 3;

fn server_properties(data: &Path, place: Place<'_>, ports: Ports) -> String {
    let Ports { plain, sasl, controller } = ports;
    let node = place.node;
    let voters: Vec<_> = (1..).zip(place.nodes).map(|(id, at)| format!("{id}@127.0.0.1:{}", at.controller)).collect();
    let voters = voters.join(",");
    let replicas = place.nodes.len().min(MOST_REPLICAS);
    // A majority: what is acknowledged outlives one broker, and one may be missing.
    let in_sync = replicas / 2 + 1;
    // A backslash in a properties file starts an escape.
    let data = data.display().to_string().replace('\\', "\\\\");
    format!(
        r#"process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="alice-secret";
log.dirs={data}

# A topic without a rule is for everybody; the plain listener may do anything in any case.
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:ANONYMOUS

# All topics, the internal ones too.
default.replication.factor={replicas}
min.insync.replicas={in_sync}
offsets.topic.replication.factor={replicas}
offsets.topic.num.partitions=8
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr={in_sync}
share.coordinator.state.topic.replication.factor={replicas}
share.coordinator.state.topic.min.isr={in_sync}

# Tests wait for groups to form, and one consumer is a whole group.
group.initial.rebalance.delay.ms=0
# A misspelt topic must be an error.
auto.create.topics.enable=false
# Tests of retention see its effect soon.
log.retention.check.interval.ms=1000
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listener_has_its_own_port_and_topics_are_not_made_by_themselves() {
        let ports = Ports { plain: 1111, sasl: 2222, controller: 3333 };
        let text = server_properties(Path::new("/data/kafka"), Place { node: 1, nodes: &[ports] }, ports);
        for line in [
            "listeners=PLAINTEXT://127.0.0.1:1111,SASL_PLAINTEXT://127.0.0.1:2222,CONTROLLER://127.0.0.1:3333",
            "controller.quorum.voters=1@127.0.0.1:3333",
            "offsets.topic.replication.factor=1",
            "min.insync.replicas=1",
            "auto.create.topics.enable=false",
            "log.dirs=/data/kafka",
        ] {
            assert!(text.lines().any(|found| found == line), "no line {line} in\n{text}");
        }
    }

    #[test]
    fn nodes_know_each_other_and_an_acknowledged_record_is_on_two_of_them() {
        let nodes = [1000, 2000, 3000].map(|port| Ports { plain: port, sasl: port + 1, controller: port + 2 });
        let text = server_properties(Path::new("/data"), Place { node: 2, nodes: &nodes }, nodes[1]);
        for line in [
            "node.id=2",
            "controller.quorum.voters=1@127.0.0.1:1002,2@127.0.0.1:2002,3@127.0.0.1:3002",
            "default.replication.factor=3",
            "min.insync.replicas=2",
        ] {
            assert!(text.lines().any(|found| found == line), "no line {line} in\n{text}");
        }
    }
}
