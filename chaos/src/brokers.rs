//! The brokers as seen from here: who started this process starts and ends them, asked by a line on standard output and
//! answering by one on standard input.

use std::io;

use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, AlterConfig, ConfigSource, NewTopic, ResourceSpecifier, TopicReplication},
    client::DefaultClientContext,
};
use std::time::Duration;

use crate::{
    director::Result,
    line::{Line, Teller},
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    /// SIGKILL.
    Kill,
    /// An orderly end.
    Stop,
    Start,
}

/// The brokers, and how many of them are up.
pub(crate) struct Brokers {
    nodes: usize,
    up: usize,
    ledger: Teller,
}

impl Brokers {
    pub(crate) fn new(nodes: usize, ledger: Teller) -> Self {
        Self { nodes, up: nodes, ledger }
    }

    /// Asks for something to be done with a node, and waits until it is.
    pub(crate) async fn ask(&mut self, what: Ask, node: usize) -> Result<()> {
        if !matches!(what, Ask::Start) {
            self.up -= 1;
            self.tell()?;
        }
        let word = match what {
            Ask::Kill => "kill",
            Ask::Stop => "stop",
            Ask::Start => "start",
        };
        let answer = tokio::task::spawn_blocking(move || {
            println!("{word} {node}");
            let mut answer = String::new();
            io::stdin().read_line(&mut answer).map(|_| answer)
        });
        let answer = answer.await??;
        if answer != "done\n" {
            return Err(format!("{word} {node}: {answer:?}").into());
        }
        if matches!(what, Ask::Start) {
            self.up += 1;
            self.tell()?;
        }
        Ok(())
    }

    fn tell(&self) -> Result<()> {
        Ok(self.ledger.tell(&Line::Brokers { able: self.up > self.nodes / 2 })?)
    }
}

pub(crate) struct Admin(AdminClient<DefaultClientContext>);

impl Admin {
    pub(crate) fn new(brokers: &str) -> Result<Self> {
        Ok(Self(ClientConfig::new().set("bootstrap.servers", brokers).create()?))
    }

    pub(crate) async fn create_topic(&self, name: &str, partitions: i32, replicas: i32) -> Result<()> {
        let new = NewTopic::new(name, partitions, TopicReplication::Fixed(replicas));
        for created in self.0.create_topics([&new], &options()).await? {
            created.map_err(|(topic, code)| format!("{topic}: {code}"))?;
        }
        Ok(())
    }

    /// The settings that a topic has of its own.
    async fn settings(&self, topic: &str) -> Result<Vec<(String, String)>> {
        let mut settings = Vec::new();
        for described in self.0.describe_configs([&ResourceSpecifier::Topic(topic)], &options()).await? {
            let entries = described.map_err(|code| format!("{topic}: {code}"))?.entries;
            let own = entries.into_iter().filter(|entry| entry.source == ConfigSource::DynamicTopic);
            settings.extend(own.map(|entry| (entry.name, entry.value.unwrap_or_default())));
        }
        Ok(settings)
    }

    /// A setting that a topic has of its own.
    pub(crate) async fn setting(&self, topic: &str, name: &str) -> Result<Option<String>> {
        Ok(self.settings(topic).await?.into_iter().find(|(own, _)| own == name).map(|(_, value)| value))
    }

    /// Sets a topic's setting, or takes it back to what it is by default.
    pub(crate) async fn set(&self, topic: &str, name: &str, value: Option<&str>) -> Result<()> {
        let settings = self.settings(topic).await?;
        // What is not named is taken back, too.
        let mut change = AlterConfig::new(ResourceSpecifier::Topic(topic));
        for (own, value) in settings.iter().filter(|(own, _)| own != name) {
            change = change.set(own, value);
        }
        if let Some(value) = value {
            change = change.set(name, value);
        }
        for altered in self.0.alter_configs([&change], &options()).await? {
            altered.map_err(|(_, code)| format!("{topic}: {code}"))?;
        }
        Ok(())
    }
}

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(Duration::from_secs(5))).operation_timeout(Some(Duration::from_secs(5)))
}
