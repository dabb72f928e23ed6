//! The broker's settings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::certificates;
use crate::net::free_ports;

/// Who may do what on a broker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Everybody everything, as long as no rule says otherwise.
    Open,
    /// Accounts what a rule allows them; who comes without an account everything. Its listeners but the plain one are
    /// encrypted.
    Secured,
}

/// The ports of one broker, all on the loopback address.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    pub(super) plain: u16,
    pub(super) sasl: u16,
    pub(super) controller: u16,
    /// Of a secured broker alone, as the next one.
    pub(super) tls: u16,
    pub(super) mutual_tls: u16,
}

impl Ports {
    pub(super) const COUNT: usize = 5;

    /// Ports that are free now. Another program may take one before the broker does.
    pub(super) fn free() -> Result<Self> {
        Ok(Self::of(&free_ports()?))
    }

    pub(super) fn of(&[plain, sasl, controller, tls, mutual_tls]: &[u16; Self::COUNT]) -> Self {
        Self { plain, sasl, controller, tls, mutual_tls }
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
pub(super) fn write(folder: &Path, place: Place<'_>, kind: Kind) -> Result<()> {
    let ports = place.ports().context("no such node")?;
    let security = match kind {
        Kind::Open => open(ports),
        Kind::Secured => secured(folder, ports),
    };
    let text = format!("{security}{}", server_properties(&data_folder(folder), place));
    fs::write(properties_file(folder), text)?;
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

/// A backslash in a properties file starts an escape.
fn path(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\")
}

fn open(Ports { plain, sasl, controller, .. }: Ports) -> String {
    format!(
        r#"listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="alice-secret";
# A topic without a rule is for everybody; the plain listener may do anything in any case.
allow.everyone.if.no.acl.found=true
"#
    )
}

/// Advertised by a name, as the certificate has no address.
fn secured(folder: &Path, ports: Ports) -> String {
    let Ports { plain, sasl, controller, tls, mutual_tls } = ports;
    let (store, ca) = (path(&certificates::broker_store(folder)), path(&certificates::ca(folder)));
    format!(
        r#"listeners=PLAINTEXT://127.0.0.1:{plain},TLS://127.0.0.1:{tls},MUTUAL://127.0.0.1:{mutual_tls},SASL_SSL://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},TLS://localhost:{tls},MUTUAL://localhost:{mutual_tls},SASL_SSL://localhost:{sasl},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,TLS:SSL,MUTUAL:SSL,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location={store}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
listener.name.mutual.ssl.client.auth=required
listener.name.sasl_ssl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="alice-secret" user_bob="bob-secret";
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
allow.everyone.if.no.acl.found=false
"#
    )
}

/// Replicas of a topic, where there are as many brokers.
const MOST_REPLICAS: usize = 3;

fn server_properties(data: &Path, place: Place<'_>) -> String {
    let node = place.node;
    let voters: Vec<_> = (1..).zip(place.nodes).map(|(id, at)| format!("{id}@127.0.0.1:{}", at.controller)).collect();
    let voters = voters.join(",");
    let replicas = place.nodes.len().min(MOST_REPLICAS);
    // A majority: what is acknowledged outlives one broker, and one may be missing.
    let in_sync = replicas / 2 + 1;
    let data = path(data);
    format!(
        r#"process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}

authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
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
        let ports = Ports::of(&[1111, 2222, 3333, 4444, 5555]);
        let place = Place { node: 1, nodes: &[ports] };
        let text = open(ports) + &server_properties(Path::new("/data/kafka"), place);
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
    fn a_secured_broker_lets_accounts_do_what_a_rule_allows_and_shows_its_certificate_by_name() {
        let ports = Ports::of(&[1111, 2222, 3333, 4444, 5555]);
        let text = secured(Path::new("/data"), ports);
        for part in [
            "allow.everyone.if.no.acl.found=false\n",
            "listener.name.mutual.ssl.client.auth=required\n",
            "SASL_SSL://localhost:2222,",
            "TLS://localhost:4444,",
            "MUTUAL://localhost:5555,",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }

    #[test]
    fn nodes_know_each_other_and_an_acknowledged_record_is_on_two_of_them() {
        let nodes = [1000, 2000, 3000].map(|port| Ports::of(&[port, port + 1, port + 2, port + 3, port + 4]));
        let text = server_properties(Path::new("/data"), Place { node: 2, nodes: &nodes });
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
