//! The broker's settings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

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
    /// Ports that are free now. Another program may take one before the broker does.
    pub(super) fn free() -> Result<Self> {
        let [plain, sasl, controller, tls, mutual_tls] = free_ports()?;
        Ok(Self { plain, sasl, controller, tls, mutual_tls })
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

/// Writes all settings files.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(folder: &Path, ports: Ports, kind: Kind) -> Result<()> {
    let security = match kind {
        Kind::Open => open(ports),
        Kind::Secured => secured(folder, ports),
    };
    let text = format!("{security}{}", server_properties(&data_folder(folder), ports));
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

fn server_properties(data: &Path, Ports { controller, .. }: Ports) -> String {
    let data = path(data);
    format!(
        r#"process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}

authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS

# One node: every internal topic has one replica.
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1

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
        let ports = Ports { plain: 1111, sasl: 2222, controller: 3333, tls: 4444, mutual_tls: 5555 };
        let text = open(ports) + &server_properties(Path::new("/data/kafka"), ports);
        for line in [
            "listeners=PLAINTEXT://127.0.0.1:1111,SASL_PLAINTEXT://127.0.0.1:2222,CONTROLLER://127.0.0.1:3333",
            "controller.quorum.bootstrap.servers=127.0.0.1:3333",
            "auto.create.topics.enable=false",
            "log.dirs=/data/kafka",
        ] {
            assert!(text.lines().any(|found| found == line), "no line {line} in\n{text}");
        }
    }

    #[test]
    fn a_secured_broker_lets_accounts_do_what_a_rule_allows_and_shows_its_certificate_by_name() {
        let ports = Ports { plain: 1111, sasl: 2222, controller: 3333, tls: 4444, mutual_tls: 5555 };
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
}
