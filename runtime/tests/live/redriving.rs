//! Redrive on a real broker: two at once, killed, rebalanced, offset gaps, a target that is missing, and the SDK for
//! Python on the other side. Each ledger is the work topic itself.

use std::{
    collections::HashMap,
    path::Path,
    process::{Child, Command, ExitCode},
    time::{Duration, Instant},
};

use babelqueue::{Delivery, HandlerError, Job as _, Kafka, Publisher, RedriveError, RetryTopics, routes};
use futures_util::future::try_join_all;
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    error::KafkaError as ClientError,
    message::OwnedMessage,
    producer::{BaseProducer, BaseRecord, FutureProducer, FutureRecord, Producer as _},
};
use serde_json::Value;
use tokio::sync::mpsc::unbounded_channel;

use crate::{
    Check,
    interop::python,
    jobs::{Numbered, brokers, committed, create_topic, headers, kafka, read, unique},
    security,
};

/// The first argument of the redriving process.
pub(crate) const WORKER: &str = "redrive-worker";
const PARTITIONS: i32 = 4;

type Failure = Box<dyn std::error::Error>;

/// The redriving process: `brokers dlq group`.
pub(crate) fn worker(settings: &[String]) -> ExitCode {
    let [brokers, dlq, group] = settings else { return ExitCode::FAILURE };
    let redrive = async {
        let kafka = Kafka::builder()
            .brokers(brokers)
            // The member that follows a killed one gets its partitions at once instead of a session timeout later.
            .consumer_property("group.instance.id", "redrive")
            .consumer_property("session.timeout.ms", "6000")
            .build()?;
        Ok::<_, Failure>(kafka.redrive(dlq).group(group).rate(10_000).run().await?)
    };
    match crate::jobs::runtime().block_on(redrive) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A work topic and its dead-letter topic with the dead letters of so many numbers.
struct Topics {
    work: String,
    dlq: String,
    group: String,
    count: u64,
}

impl Topics {
    async fn new(name: &str, partitions: i32, count: u64) -> Result<Self, Failure> {
        let work = unique(name);
        let dlq = format!("{work}.dlq");
        create_topic(&work, partitions, &[]).await?;
        create_topic(&dlq, partitions, &[]).await?;
        let topics = Self { work, dlq, group: unique("group"), count };
        let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
        let bodies: Vec<_> = (0..count).map(|number| (number.to_string(), body(number, &topics.work))).collect();
        for bodies in bodies.chunks(10_000) {
            let writes = bodies.iter().map(|(key, body)| {
                producer.send(FutureRecord::to(&topics.dlq).key(key).payload(body), Duration::from_secs(30))
            });
            try_join_all(writes).await.map_err(|(error, _)| error)?;
        }
        Ok(topics)
    }

    fn redrive(&self, kafka: &Kafka) -> babelqueue::Redrive {
        kafka.redrive(&self.dlq).group(&self.group)
    }

    /// Every number is on the work topic; prints how many more than once.
    fn check(&self, what: &str) -> Check {
        let mut found = HashMap::<u64, u64>::new();
        for record in all(&self.work)? {
            *found.entry(number(&record)?).or_default() += 1;
        }
        let lost = (0..self.count).filter(|number| !found.contains_key(number)).count();
        let again = found.values().sum::<u64>() - found.len() as u64;
        println!("{what}: {} dead letters, {lost} lost, {again} written again", self.count);
        if lost > 0 || found.len() as u64 != self.count {
            return Err(format!("{lost} lost").into());
        }
        Ok(())
    }
}

fn body(number: u64, source: &str) -> String {
    format!(
        r#"{{"job":"urn:babel:live:numbered","data":{{"number":{number}}},"meta":{{"queue":"{source}"}},"attempts":3,"dead_letter":{{"reason":"failed","original_queue":"{source}"}}}}"#
    )
}

fn number(record: &OwnedMessage) -> Result<u64, Failure> {
    let body: Value = serde_json::from_slice(record.payload().ok_or("no value")?)?;
    Ok(body["data"]["number"].as_u64().ok_or("no number")?)
}

/// All records of a topic, to the ends of its partitions.
fn all(topic: &str) -> Result<Vec<OwnedMessage>, Failure> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers())
        .set("group.id", "unused")
        .set("enable.partition.eof", "true")
        .create()?;
    let metadata = consumer.fetch_metadata(Some(topic), Duration::from_secs(10))?;
    let mut list = TopicPartitionList::new();
    for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
        list.add_partition_offset(topic, partition.id(), Offset::Beginning)?;
    }
    consumer.assign(&list)?;
    let (mut records, mut ended) = (Vec::new(), 0);
    let deadline = Instant::now() + Duration::from_secs(60);
    while ended < list.count() {
        match consumer.poll(Duration::from_secs(1)) {
            Some(Ok(message)) => records.push(message.detach()),
            Some(Err(ClientError::PartitionEOF(_))) => ended += 1,
            Some(Err(error)) => return Err(error.into()),
            None if Instant::now() > deadline => return Err(format!("no end of {topic}").into()),
            None => {}
        }
    }
    Ok(records)
}

/// The number of records that were written to a topic.
fn written(topic: &str) -> Result<u64, Failure> {
    let consumer: BaseConsumer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    let mut written = 0;
    for partition in 0..PARTITIONS {
        written += consumer.fetch_watermarks(topic, partition, Duration::from_secs(10))?.1;
    }
    Ok(u64::try_from(written)?)
}

pub(crate) async fn two_redrives_at_once_lose_nothing() -> Check {
    let topics = Topics::new("redrive-two", PARTITIONS, 20_000).await?;
    let (first, second) = (kafka()?, kafka()?);
    let (first, second) = tokio::join!(topics.redrive(&first).run(), topics.redrive(&second).run());
    let (first, second) = (first?, second?);
    let last = topics.redrive(&kafka()?).run().await?;
    println!("{} + {} redriven, {} left", first.redriven, second.redriven, last.read);
    topics.check("two redrives at once")
}

pub(crate) async fn members_that_join_and_leave_a_redrive_lose_nothing() -> Check {
    let topics = Topics::new("redrive-rebalance", PARTITIONS, 20_000).await?;
    let (sender, mut started) = unbounded_channel();
    let long = kafka()?;
    let long = topics.redrive(&long).rate(2000).on_progress(move |_| {
        let _ = sender.send(());
    });
    let long = tokio::spawn(long.run());
    let mut others = Vec::new();
    for _ in 0..2 {
        started.recv().await.ok_or("the redrive ended before another joined")?;
        let (sender, mut helped) = unbounded_channel();
        let other = kafka()?;
        let other = topics.redrive(&other).rate(500).on_progress(move |report| {
            if report.redriven > 0 {
                let _ = sender.send(());
            }
        });
        others.push(
            other
                .run_until(async {
                    let _ = helped.recv().await;
                })
                .await?,
        );
    }
    let long = long.await??;
    assert!(others.iter().all(|other| other.redriven > 0), "{others:?}");
    let last = topics.redrive(&kafka()?).run().await?;
    let others: u64 = others.iter().map(|other| other.redriven).sum();
    println!("{} + {others} redriven, {} left", long.redriven, last.read);
    topics.check("two rebalances")
}

pub(crate) async fn killed_at_random_moments_a_redrive_loses_nothing() -> Check {
    const KILLS: u64 = 6;
    let topics = Topics::new("redrive-crash", PARTITIONS, 30_000).await?;
    let mut random = crate::crash::Random::seeded()?;
    for _ in 0..KILLS {
        let mut child = start(&topics)?;
        let goal = written(&topics.work)? + 1 + random.below(topics.count / KILLS);
        let deadline = Instant::now() + Duration::from_secs(60);
        while written(&topics.work)? < goal && child.try_wait()?.is_none() && Instant::now() < deadline {}
        child.kill()?;
        child.wait()?;
    }
    let mut child = start(&topics)?;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("the last redrive ended with {status}").into());
    }
    topics.check(&format!("killed {KILLS} times"))
}

fn start(topics: &Topics) -> std::io::Result<Child> {
    let program = std::env::current_exe()?;
    let program: &Path = &program;
    Command::new(program).args([WORKER, &brokers(), &topics.dlq, &topics.group]).spawn()
}

pub(crate) async fn transaction_markers_at_the_end_do_not_hold_a_redrive() -> Check {
    let topics = Topics::new("redrive-gaps", 1, 0).await?;
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", brokers())
        .set("transactional.id", unique("transaction"))
        .create()?;
    producer.init_transactions(Duration::from_secs(30))?;
    // Offsets 0 1 | 2 (marker) | 3 4 aborted | 5 (marker)
    for (numbers, commit) in [(0..2, true), (2..4, false)] {
        producer.begin_transaction()?;
        for number in numbers {
            let body = body(number, &topics.work);
            producer.send(BaseRecord::<str, str>::to(&topics.dlq).payload(&body)).map_err(|(error, _)| error)?;
        }
        producer.flush(Duration::from_secs(30))?;
        if commit {
            producer.commit_transaction(Duration::from_secs(30))?;
        } else {
            producer.abort_transaction(Duration::from_secs(30))?;
        }
    }
    let kafka = kafka()?;
    let run = async || tokio::time::timeout(Duration::from_secs(60), topics.redrive(&kafka).run()).await;
    let report = run().await.map_err(|_| "the redrive does not end")??;
    assert_eq!((report.read, report.redriven), (2, 2), "{report:?}");
    assert_eq!(committed(&topics.group, &topics.dlq, 0)?, Some(2));
    let again = run().await.map_err(|_| "the second redrive does not end")??;
    assert_eq!(again.read, 0, "{again:?}");
    Ok(())
}

pub(crate) async fn a_dry_run_is_no_member_of_the_group_and_commits_nothing() -> Check {
    let topics = Topics::new("redrive-dry", PARTITIONS, 100).await?;
    let group = topics.group.clone();
    let members = move || -> Result<usize, ClientError> {
        let client: BaseConsumer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
        let groups = client.fetch_group_list(Some(&group), Duration::from_secs(10))?;
        Ok(groups.groups().iter().map(|group| group.members().len()).sum())
    };
    let during = members.clone();
    let plan = topics.redrive(&kafka()?).dry_run().select(move |_| during().is_ok_and(|members| members == 0));
    let plan = plan.run().await?;
    assert_eq!((plan.read, plan.redriven, plan.targets.get(&topics.work)), (100, 100, Some(&100)), "{plan:?}");
    for partition in 0..PARTITIONS {
        assert_eq!(committed(&topics.group, &topics.dlq, partition)?, None);
    }
    assert_eq!((written(&topics.work)?, written(&topics.dlq)?), (0, 100));

    // A real one is.
    let real = topics.redrive(&kafka()?).select(move |_| members().is_ok_and(|members| members == 1));
    assert_eq!(real.run().await?.redriven, 100);
    topics.check("after a dry run")
}

pub(crate) async fn a_failed_write_puts_the_record_back_and_is_reported() -> Check {
    let topics = Topics::new("redrive-failing", 1, 0).await?;
    let missing = unique("missing");
    let producer: FutureProducer = ClientConfig::new().set("bootstrap.servers", brokers()).create()?;
    let bodies = [body(0, &topics.work), body(1, &missing), body(2, &topics.work)];
    for body in &bodies {
        let record = FutureRecord::<str, str>::to(&topics.dlq).payload(body);
        producer.send(record, Duration::from_secs(30)).await.map_err(|(error, _)| error)?;
    }
    let error = topics.redrive(&kafka()?).run().await.err().ok_or("no error")?;
    println!("{error}");
    let RedriveError::Write { failure, report } = &error else { return Err(error.into()) };
    assert_eq!((failure.offset, &failure.topic, failure.restored.is_ok()), (1, &missing, true));
    assert_eq!((report.failed, report.uncommitted.is_some()), (1, false), "{report:?}");
    let letters = all(&topics.dlq)?;
    assert_eq!((letters.len(), letters[3].payload()), (4, Some(bodies[1].as_bytes())));
    assert!(committed(&topics.group, &topics.dlq, 0)?.is_some_and(|offset| offset >= 2));

    create_topic(&missing, 1, &[]).await?;
    // Another connection: the first one goes on believing for a while that the topic is missing.
    let rest = topics.redrive(&kafka()?).run().await?;
    assert_eq!(report.redriven + rest.redriven, 3, "{report:?} {rest:?}");
    assert_eq!((all(&topics.work)?.len(), all(&missing)?.len()), (2, 1));
    Ok(())
}

pub(crate) async fn a_missing_dead_letter_topic_and_wrong_credentials_are_typed_errors() -> Check {
    let missing = unique("missing.dlq");
    for redrive in [kafka()?.redrive(&missing), kafka()?.redrive(&missing).dry_run()] {
        let result = redrive.run().await;
        let Err(RedriveError::Kafka { error, .. }) = result else { return Err(format!("{result:?}").into()) };
        assert!(error.code().starts_with("UnknownTopic") && error.to_string().contains(&missing), "{error}");
    }
    let start = Instant::now();
    let result = security::connect(security::PASSWORD)?.redrive(&missing).run().await;
    let Err(RedriveError::Kafka { error, .. }) = result else { return Err(format!("{result:?}").into()) };
    assert!(error.is_refused() && !error.to_string().contains(security::PASSWORD), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    Ok(())
}

pub(crate) async fn we_redrive_what_python_gave_up() -> Check {
    let (work, kafka) = (unique("redrive-from-python"), kafka()?);
    let dlq = format!("{work}.dlq");
    create_topic(&work, 1, &[]).await?;
    create_topic(&dlq, 1, &[]).await?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&work);
    let job = Numbered { number: 1, text: "Grüße, 東京 \u{1F600}".to_owned() };
    let id = publisher.message(&job).key("k").header("tenant", "acme").await?;
    python("dead_letter.py", &[&brokers(), &work, &unique("group"), Numbered::URN, "1"], "")?;

    let report = kafka
        .redrive(&dlq)
        .group(unique("group"))
        .urn(Numbered::URN)
        .reason("failed")
        .error_contains("no luck with")
        .younger_than(Duration::from_secs(600))
        .run()
        .await?;
    assert_eq!((report.read, report.redriven), (1, 1), "{report:?}");
    let [first, again] = &read(&work, 2)?[..] else { return Err("not two records".into()) };
    let body = |record: &OwnedMessage| serde_json::from_slice::<Value>(record.payload().unwrap_or_default());
    // Python has written it anew in between, but as the same message.
    assert_eq!(body(first)?, body(again)?);
    assert_eq!((again.key(), body(again)?["meta"]["id"].as_str()), (Some(&b"k"[..]), Some(&*id.to_string())));
    let found = headers(again);
    for (name, value) in [("bq-job", Numbered::URN), ("bq-attempts", "0"), ("bq-message-id", &id.to_string())] {
        assert_eq!(found.iter().filter(|(other, found)| other == name && found == value).count(), 1, "{found:?}");
    }
    Ok(())
}

pub(crate) async fn python_redrives_what_we_gave_up_and_we_continue_where_it_stopped() -> Check {
    let (work, group, kafka) = (unique("redrive-to-python"), unique("group"), kafka()?);
    let dlq = format!("{work}.dlq");
    create_topic(&work, 1, &[]).await?;
    create_topic(&dlq, 1, &[]).await?;
    let publisher = Publisher::<Numbered>::new(&kafka).topic(&work);
    for number in 0..5 {
        publisher.publish(&Numbered::new(number)).await?;
    }
    async fn fail(_: Numbered, _: &Delivery) -> Result<(), HandlerError> {
        Err(HandlerError::fatal("no luck"))
    }
    let (sender, mut failed) = unbounded_channel();
    let consumer = kafka
        .consumer(unique("group"))
        .topics([&work])
        .retry_topics(RetryTopics::for_topic(&work))
        .on_error(move |_| {
            let _ = sender.send(());
        })
        .serve(routes![Numbered => fail]);
    let all_failed = async {
        for _ in 0..5 {
            failed.recv().await;
        }
    };
    consumer.run_until(all_failed).await?;

    let redriven = python("redrive.py", &[&brokers(), &dlq, &group, "3"], "")?;
    assert_eq!(redriven.len(), 3);
    assert!(redriven.iter().all(|item| item["to"] == *work && item["reason"] == "failed"), "{redriven:?}");
    // In its group we go on behind what it redrove; in another one everything would be redriven again.
    let plan = kafka.redrive(&dlq).group(unique("group")).dry_run().run().await?;
    assert_eq!(plan.read, 5, "{plan:?}");
    let report = kafka.redrive(&dlq).group(&group).run().await?;
    assert_eq!((report.read, report.redriven), (2, 2), "{report:?}");
    let numbers: Vec<_> = read(&work, 10)?.iter().map(number).collect::<Result<_, _>>()?;
    assert_eq!(numbers, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    Ok(())
}
