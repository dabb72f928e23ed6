//! The broker's settings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

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
        let [plain, sasl, controller] = free_ports()?;
        Ok(Self { plain, sasl, controller })
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
pub(super) fn write(folder: &Path, ports: Ports) -> Result<()> {
    fs::write(properties_file(folder), server_properties(&data_folder(folder), ports))?;
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

fn server_properties(data: &Path, ports: Ports) -> String {
    let Ports { plain, sasl, controller } = ports;
    // A backslash in a properties file starts an escape.
    let data = data.display().to_string().replace('\\', "\\\\");
    format!(
        r#"process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
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
        let ports = Ports { plain: 1111, sasl: 2222, controller: 3333 };
        let text = server_properties(Path::new("/data/kafka"), ports);
        for line in [
            "listeners=PLAINTEXT://127.0.0.1:1111,SASL_PLAINTEXT://127.0.0.1:2222,CONTROLLER://127.0.0.1:3333",
            "controller.quorum.bootstrap.servers=127.0.0.1:3333",
            "auto.create.topics.enable=false",
            "log.dirs=/data/kafka",
        ] {
            assert!(text.lines().any(|found| found == line), "no line {line} in\n{text}");
        }
    }
}
