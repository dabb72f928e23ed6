//! The section `backoff`: which retry topic a delayed message and a failed record go to, and what they carry there.

use std::{collections::HashMap, sync::Arc, time::Duration};

use babelqueue::{
    ConsumerError, Delivery, HandlerError, Job as _, Kafka, PublishError, Publisher, RECOMMENDED_TIERS, RetryTopics,
    routes, testing::TestBroker,
};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, sync::mpsc::unbounded_channel};

use crate::{
    broker::{self, Foreign, Lying, OrderCreated, PATIENCE},
    check::{Outcome, at, parsed, same},
    suite::{Case, Suite, entries, member, text},
};

/// A header that says which case a record is of: every hop keeps it.
const CASE: &str = "case";

/// What became of the record of a case.
enum Moved {
    To(Lying),
    /// Nothing was written.
    Refused,
}

/// All cases share one broker.
pub(crate) fn run(_: &Suite, cases: &[Case<'_>]) -> Vec<Outcome> {
    let moved = Runtime::new().map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(all(cases)));
    let check = |case: &Case<'_>| match part_of(case) {
        "topic_names" => topic_name(case.value),
        "default_tiers" => default_tiers(case.value),
        _ => match &moved {
            Ok(moved) => outcome(case, moved.get(&case.id).ok_or("it went nowhere")?),
            Err(error) => Err(error.clone()),
        },
    };
    cases.iter().map(check).collect()
}

fn part_of<'a>(case: &'a Case<'_>) -> &'a str {
    case.id.split_once('/').map_or("cases", |(part, _)| part)
}

fn topic_name(case: &Value) -> Outcome {
    let number = member(case, "n")?.as_u64().ok_or("`n` of the case is no number")?;
    let topics = RetryTopics::for_topic(text(case, "work_topic")?).tiers((1..=number).map(Duration::from_secs));
    same("topic", &Some(text(case, "expect_topic")?), &topics.retry_topic_names().last().map(String::as_str))
}

fn default_tiers(case: &Value) -> Outcome {
    same("tiers", member(case, "expect")?, &json!(RECOMMENDED_TIERS.map(|tier| tier.as_secs() * 1000)))
}

/// What a case says of the record that it is about.
fn outcome(case: &Case<'_>, moved: &Moved) -> Outcome {
    let expect = member(case.value, "expect")?;
    let record = match moved {
        Moved::Refused => return same("expectation", expect, &json!("reject")),
        Moved::To(record) => record,
    };
    let tier = member(expect, "tier_ms")?;
    let tiers = member(case.value, "retry_tiers_ms")?.as_array().ok_or("`retry_tiers_ms` is no list")?;
    let number = tiers.iter().position(|other| other == tier).ok_or("the expected tier is none")? + 1;
    let topic = format!("{}.retry.{number}", text(case.value, "work_topic")?);
    same("topic", &topic, &record.topic)?;
    for (name, value) in entries(expect, "headers") {
        let found = record.headers.iter().filter(|(other, _)| other == name);
        same(name, &vec![value.as_str().unwrap_or_default()], &found.map(|(_, value)| value.as_str()).collect())?;
    }
    if let Some(topic) = expect.get("topic") {
        same("the topic of the case", topic, &json!(record.topic))?;
        same("its number", member(expect, "n")?, &json!(number))?;
        at(&parsed(&record.value)?, "/attempts", member(expect, "body_attempts")?)?;
        same("key", &expect["key"].as_str().map(str::as_bytes), &record.key.as_deref())?;
    }
    Ok(())
}

/// Publishes and fails what the cases ask for, and reads where it went.
async fn all(cases: &[Case<'_>]) -> Result<HashMap<String, Moved>, String> {
    let broker = TestBroker::start(&[]).map_err(|error| error.to_string())?;
    let mut topics = Vec::new();
    let mut groups = HashMap::<String, Group>::new();
    for case in cases.iter().filter(|case| case.value.get("retry_tiers_ms").is_some()) {
        for topic in topics_of(case.value)? {
            if !topics.contains(&topic) {
                broker.create_topic(&topic, 1).map_err(|error| error.to_string())?;
                topics.push(topic);
            }
        }
        if part_of(case) != "cases" {
            let group = groups.entry(member(case.value, "retry_tiers_ms")?.to_string()).or_default();
            group.add(case)?;
        }
    }
    let kafka = broker.kafka().map_err(|error| error.to_string())?;
    let mut moved = HashMap::new();
    for case in cases.iter().filter(|case| part_of(case) == "cases") {
        if !publish(&kafka, case).await? {
            moved.insert(case.id.clone(), Moved::Refused);
        }
    }
    for record in groups.values().flat_map(|group| &group.records) {
        broker::write_foreign(&broker, record).await.map_err(|error| error.to_string())?;
    }
    for refused in futures_util::future::try_join_all(groups.into_values().map(|group| group.fail(&kafka))).await? {
        moved.extend(refused.into_iter().map(|case| (case, Moved::Refused)));
    }
    for record in topics.iter().flat_map(|topic| broker::lying_on(&broker, topic)) {
        let case = record.headers.iter().find(|(name, _)| name == CASE).map(|(_, case)| case.clone());
        if record.headers.iter().any(|(name, _)| name == "bq-delay") {
            moved.insert(case.unwrap_or_default(), Moved::To(record));
        }
    }
    Ok(moved)
}

fn retry_topics_of(case: &Value) -> Result<RetryTopics, String> {
    let tiers = member(case, "retry_tiers_ms")?.as_array().ok_or("`retry_tiers_ms` of the case is no list")?;
    let tiers = tiers.iter().map(|ms| ms.as_u64().map(Duration::from_millis)).collect::<Option<Vec<_>>>();
    let tiers = tiers.ok_or("a tier of the case is no number")?;
    Ok(RetryTopics::for_topic(text(case, "work_topic")?).tiers(tiers).without_dead_letters())
}

fn topics_of(case: &Value) -> Result<Vec<String>, String> {
    let topics = retry_topics_of(case)?;
    Ok([vec![topics.work_topic().to_owned()], topics.retry_topic_names()].concat())
}

/// `cases`: false when the delay is refused.
async fn publish(kafka: &Kafka, case: &Case<'_>) -> Result<bool, String> {
    let topic = text(case.value, "work_topic")?;
    let publisher = Publisher::new(kafka).topic(topic).retry_topics(retry_topics_of(case.value)?);
    let delay = member(case.value, "delay_ms")?.as_u64().ok_or("`delay_ms` of the case is no number")?;
    let order = OrderCreated { order_id: 1 };
    match publisher.message(&order).header(CASE, &case.id).delay(Duration::from_millis(delay)).await {
        Ok(_) => Ok(true),
        Err(PublishError::Delay(_)) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// Cases of `retry_republish` and `retry_attempt_tier` that have the same tiers, and so can share a consumer.
#[derive(Default)]
struct Group {
    topics: Vec<RetryTopics>,
    records: Vec<Foreign>,
    cases: Vec<String>,
}

impl Group {
    fn add(&mut self, case: &Case<'_>) -> Result<(), String> {
        let topics = retry_topics_of(case.value)?;
        let attempts = case.value.get("attempts").map_or_else(|| member(case.value, "attempts_before"), Ok)?;
        let body = json!({"job": OrderCreated::URN, "data": {"order_id": 1}, "attempts": attempts});
        self.records.push(Foreign {
            topic: topics.work_topic().to_owned(),
            key: case.value["key"].as_str().map(str::to_owned),
            value: body.to_string(),
            headers: vec![("bq-attempts", attempts.to_string()), (CASE, case.id.clone())],
        });
        if !self.topics.contains(&topics) {
            self.topics.push(topics);
        }
        self.cases.push(case.id.clone());
        Ok(())
    }

    /// Fails the records of the group's cases, whatever others lie on its topics. Returns the cases for which the consumer
    /// had no retry topic: it has to stop at the first one.
    async fn fail(self, kafka: &Kafka) -> Result<Vec<String>, String> {
        #[allow(clippy::ptr_arg, reason = "it is the state of the routes")]
        async fn refuse(cases: &Vec<String>, _: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
            let case = cx.headers().get_str(CASE).unwrap_or_default();
            if cases.iter().any(|own| own == case) { Err(HandlerError::new("it is to fail")) } else { Ok(()) }
        }
        let (sender, mut errors) = unbounded_channel();
        let cases = Arc::new(self.cases);
        let has_tiers = self.topics.iter().any(|topics| !topics.retry_topic_names().is_empty());
        let mut consumer = kafka
            .consumer(format!("group-of-{}", cases.join("-")))
            .topics(self.topics.iter().map(RetryTopics::work_topic))
            .max_tries(u32::MAX)
            .on_error(move |_| {
                let _ = sender.send(());
            });
        for topics in self.topics {
            consumer = consumer.retry_topics(topics);
        }
        // Without tiers it has to end by itself.
        let awaited = if has_tiers { cases.len() } else { usize::MAX };
        let settled = async {
            for _ in 0..awaited {
                if !matches!(tokio::time::timeout(PATIENCE, errors.recv()).await, Ok(Some(()))) {
                    return;
                }
            }
        };
        match consumer.serve(routes![Arc::clone(&cases); OrderCreated => refuse]).run_until(settled).await {
            Ok(_) => Ok(Vec::new()),
            Err(ConsumerError::Record { .. }) => Ok(cases.to_vec()),
            Err(error) => Err(error.to_string()),
        }
    }
}
