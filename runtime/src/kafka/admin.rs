//! Looks at topics and creates them.

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, ConfigResource, NewTopic as ClientTopic, ResourceSpecifier, TopicReplication},
    client::DefaultClientContext,
    error::RDKafkaErrorCode as Code,
    metadata::MetadataPartition,
};

use super::{errors, probe, settings};
use crate::{
    config::Config,
    error::{Class, KafkaError},
    time::deadline,
};

/// How long a broker may take to create topics.
const TIMEOUT: Duration = Duration::from_secs(15);
/// How long a topic is looked for. A broker answers that it was created before it says so to those who look.
const PATIENCE: Duration = Duration::from_secs(3);
/// When it is worth to find out why nothing answers.
const LONG: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(200);
/// The broker's own default.
const DEFAULT: i32 = -1;

/// A topic to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewTopic {
    pub(crate) topic: String,
    /// `None` is the broker's own default, here and below.
    pub(crate) partitions: Option<i32>,
    pub(crate) replication: Option<i32>,
    pub(crate) settings: Vec<(&'static str, String)>,
}

/// The settings of a topic, those that it takes from its broker included.
pub(crate) type Settings = BTreeMap<String, String>;

/// What the cluster says of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    /// It may exist: the account may not look, or no broker answers.
    Unseen(KafkaError),
    There {
        partitions: i32,
        /// Of the partition that has the fewest.
        replicas: i32,
        /// Unless the account may not read them.
        settings: Result<Settings, KafkaError>,
    },
}

/// Topics by name.
pub(crate) type FoundTopics = BTreeMap<String, Found>;

type Client = AdminClient<DefaultClientContext>;

/// A client for topics.
pub(crate) struct Admin {
    /// Taken out when this is dropped, and only then.
    client: Option<Arc<Client>>,
    config: ClientConfig,
    brokers: String,
}

impl Admin {
    pub(crate) fn new(config: &Config) -> Result<Self, KafkaError> {
        let brokers = config.brokers.clone();
        let config = settings::admin(config);
        Ok(Self { client: Some(Arc::new(config.create()?)), config, brokers })
    }

    /// Looks at topics, for some seconds at those that are missing. It never creates one, whatever the broker does with a
    /// topic that is asked for.
    ///
    /// # Errors
    ///
    /// No broker answers in time, or it does not know the question: [`is_without_admin_calls`].
    pub(crate) async fn look(&self, topics: &[String], timeout: Duration) -> Result<FoundTopics, KafkaError> {
        let give_up = deadline(timeout.min(PATIENCE));
        let deadline = deadline(timeout);
        let context = format!("looking at topics on {}", self.brokers);
        loop {
            let found = self
                .unless_refused(self.look_once(topics, deadline))
                .await
                .map_err(|error| error.with_context(&context))?;
            if Instant::now() >= give_up || found.values().all(|found| *found != Found::Missing) {
                return Ok(found);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn look_once(&self, topics: &[String], deadline: Instant) -> Result<FoundTopics, KafkaError> {
        let client = Arc::clone(self.client()?);
        let names = topics.to_vec();
        // Asking for partitions blocks.
        let looking = tokio::task::spawn_blocking(move || look_at_partitions(&client, &names, deadline));
        let (broker, mut found) = looking.await.unwrap_or_else(|_| Err(errors::from_code(Code::Unknown)))?;
        let described = self.describe(topics, broker, deadline).await;
        if let Err(error) = &described
            && is_without_admin_calls(error)
        {
            return Err(error.clone());
        }
        for (index, topic) in topics.iter().enumerate() {
            if let Some(Found::There { settings, .. }) = found.get_mut(topic) {
                *settings = match &described {
                    Ok(each) => each.get(index).cloned().unwrap_or_else(|| Err(errors::from_code(Code::Unknown))),
                    Err(error) => Err(error.clone()),
                };
            }
        }
        Ok(found)
    }

    /// The settings of each topic, in the order of the topics.
    async fn describe(
        &self,
        topics: &[String],
        broker: i32,
        deadline: Instant,
    ) -> Result<Vec<Result<Settings, KafkaError>>, KafkaError> {
        let topics: Vec<_> = topics.iter().map(|topic| ResourceSpecifier::Topic(topic)).collect();
        // A broker that has answered: looking for the controller takes the whole time where there is none.
        let options = AdminOptions::new().request_timeout(Some(remaining(deadline))).broker_id(broker);
        let answers = self.client()?.describe_configs(&topics, &options).await?;
        Ok(answers.into_iter().map(|answer| answer.map_err(errors::from_code).and_then(by_name)).collect())
    }

    /// Creates topics; for each, whether it was created or had existed.
    ///
    /// # Errors
    ///
    /// No broker answers within 15 s. What it answers for a topic is that topic's result.
    pub(crate) async fn create(&self, topics: &[NewTopic]) -> Result<Vec<Result<bool, KafkaError>>, KafkaError> {
        let context = |topics: &str| format!("creating {topics} on {}", self.brokers);
        let options = AdminOptions::new().operation_timeout(Some(TIMEOUT)).request_timeout(Some(TIMEOUT));
        let topics: Vec<_> = topics.iter().map(client_topic).collect();
        let client = self.client()?;
        let answers = async { Ok(client.create_topics(&topics, &options).await?) };
        let answers = self.unless_refused(answers).await.map_err(|error| error.with_context(&context("topics")))?;
        let created = |answer: Result<String, (String, Code)>| match answer {
            Ok(_) => Ok(true),
            Err((_, Code::TopicAlreadyExists)) => Ok(false),
            Err((topic, code)) => Err(errors::from_code(code).with_context(&context(&format!("topic `{topic}`")))),
        };
        Ok(answers.into_iter().map(created).collect())
    }

    /// The answer; or, when that takes long, why no broker lets this client in.
    async fn unless_refused<T>(&self, answer: impl Future<Output = Result<T, KafkaError>>) -> Result<T, KafkaError> {
        let config = self.config.clone();
        let refused = async {
            tokio::time::sleep(LONG).await;
            // It blocks.
            match tokio::task::spawn_blocking(move || probe::refused(&config)).await {
                Ok(Some(refusal)) => refusal,
                _ => pending().await,
            }
        };
        tokio::select! {
            answer = answer => answer,
            refusal = refused => Err(refusal),
        }
    }

    fn client(&self) -> Result<&Arc<Client>, KafkaError> {
        self.client.as_ref().ok_or_else(|| KafkaError::new("Closed", "the client is closed", Class::Permanent))
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        let client = self.client.take();
        // Dropping a client waits for its thread, so it must not happen on an async thread.
        let _ = thread::Builder::new().name("babelqueue-drop".to_owned()).spawn(move || drop(client));
    }
}

/// The broker that answered, and what it said of each topic; settings are not asked for yet.
fn look_at_partitions(client: &Client, topics: &[String], deadline: Instant) -> Result<(i32, FoundTopics), KafkaError> {
    let mut found = FoundTopics::new();
    let mut broker = DEFAULT;
    for topic in topics {
        let answer = client.inner().fetch_metadata(Some(topic), remaining(deadline))?;
        broker = answer.orig_broker_id();
        let Some(answer) = answer.topics().first() else { continue };
        let seen = match answer.error().map(Code::from) {
            None => Found::There {
                partitions: i32::try_from(answer.partitions().len()).unwrap_or(i32::MAX),
                replicas: answer.partitions().iter().map(replicas).min().unwrap_or_default(),
                settings: Ok(Settings::new()),
            },
            // No topic has a name that is not valid.
            Some(Code::UnknownTopicOrPartition | Code::UnknownTopic | Code::InvalidTopic) => Found::Missing,
            Some(code) => Found::Unseen(errors::from_code(code)),
        };
        found.insert(topic.clone(), seen);
    }
    Ok((broker, found))
}

fn replicas(partition: &MetadataPartition) -> i32 {
    i32::try_from(partition.replicas().len()).unwrap_or(i32::MAX)
}

fn remaining(deadline: Instant) -> Duration {
    // The client library takes none as an error of its own.
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// The client library passes over the error of a single topic and hands out no settings then; every topic has some.
fn by_name(resource: ConfigResource) -> Result<Settings, KafkaError> {
    if resource.entries.is_empty() {
        return Err(KafkaError::settings_not_told());
    }
    Ok(resource.entries.into_iter().filter_map(|entry| Some((entry.name, entry.value?))).collect())
}

fn client_topic(new: &NewTopic) -> ClientTopic<'_> {
    let replication = TopicReplication::Fixed(new.replication.unwrap_or(DEFAULT));
    let topic = ClientTopic::new(&new.topic, new.partitions.unwrap_or(DEFAULT), replication);
    new.settings.iter().fold(topic, |topic, (name, value)| topic.set(name, value))
}

/// Whether the broker takes no admin calls at all, as the embedded one.
pub(crate) fn is_without_admin_calls(error: &KafkaError) -> bool {
    error.code() == "UnsupportedFeature"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::mock::MockBroker;

    #[tokio::test]
    async fn looking_at_a_topic_does_not_create_it() {
        let broker = MockBroker::start().unwrap();
        broker.create_topic("orders", 3).unwrap();
        let admin = Admin::new(&Config::new(broker.brokers())).unwrap();
        let topics = ["orders".to_owned(), "orders.dlq".to_owned()];
        for _ in 0..2 {
            let (_, found) =
                look_at_partitions(admin.client().unwrap(), &topics, deadline(Duration::from_secs(5))).unwrap();
            assert_eq!(found["orders.dlq"], Found::Missing);
            assert!(matches!(found["orders"], Found::There { partitions: 3, replicas: 1, .. }), "{found:?}");
        }
    }
}
