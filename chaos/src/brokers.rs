//! The brokers as seen from here: who started this process starts and ends them, asked by a line on standard output and
//! answering by one on standard input.

use std::io;

use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
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
        Ok(self.ledger.tell(&Line::Brokers { able: self.up > self.nodes / 2, all: self.up == self.nodes })?)
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
}

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(Duration::from_secs(5))).operation_timeout(Some(Duration::from_secs(5)))
}
