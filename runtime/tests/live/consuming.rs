//! Consuming from a real broker: topics that come late, offset gaps, members that come and go.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use babelqueue::{Delivery, Event, HandlerError, Kafka, Routes, ShutdownHandle, Summary, routes};
use rdkafka::{
    ClientConfig,
    producer::{BaseProducer, BaseRecord, Producer as _},
};
use tokio::{
    sync::{
        Notify, Semaphore,
        mpsc::{UnboundedSender, unbounded_channel},
    },
    task::JoinHandle,
};

use crate::{
    Check,
    jobs::{Numbered, brokers, committed, create_topic, kafka, publish_keyed, publish_numbers, unique},
};

/// Counts how often each number was handled, and the greatest offset of each partition.
#[derive(Default)]
struct Ledger {
    numbers: Mutex<HashMap<u64, u32>>,
    handled: AtomicU64,
    progress: Notify,
}

impl Ledger {
    async fn handle(&self, job: Numbered, _: &Delivery) -> Result<(), HandlerError> {
        *self.numbers.lock().map_err(|_| HandlerError::new("poisoned"))?.entry(job.number).or_default() += 1;
        self.handled.fetch_add(1, Ordering::SeqCst);
        self.progress.notify_one();
        Ok(())
    }

    fn routes(self: &Arc<Self>) -> Routes {
        routes![Arc::clone(self); Numbered => Self::handle]
    }

    /// Waits until this many numbers, each counted once, were handled.
    async fn distinct(&self, count: usize) -> Check {
        let all = async {
            while self.numbers.lock().map_or(0, |numbers| numbers.len()) < count {
                self.progress.notified().await;
            }
        };
        let seen = || self.numbers.lock().map_or(0, |numbers| numbers.len());
        tokio::time::timeout(Duration::from_secs(120), all)
            .await
            .map_err(|_| format!("{} of {count} numbers within two minutes", seen()).into())
    }
}

struct Member {
    handle: ShutdownHandle,
    running: JoinHandle<Result<Summary, babelqueue::ConsumerError>>,
}

impl Member {
    fn join(kafka: &Kafka, group: &str, topics: &[String], ledger: &Arc<Ledger>) -> Self {
        let consumer = kafka.consumer(group).topics(topics).serve(ledger.routes());
        Self { handle: consumer.handle(), running: tokio::spawn(consumer.run()) }
    }

    async fn leave(self) -> Result<Summary, Box<dyn std::error::Error>> {
        self.handle.shutdown();
        Ok(self.running.await??)
    }
}

pub(crate) async fn a_topic_created_later_is_read_when_it_appears_and_does_not_hold_the_others() -> Check {
    let (early, late) = (unique("early"), unique("late"));
    create_topic(&early, 1, &[]).await?;
    let kafka = kafka()?;
    publish_numbers(&kafka, &early, 0..10).await?;
    let ledger = Arc::new(Ledger::default());
    let (sender, mut events) = unbounded_channel();
    let consumer = kafka
        .consumer(unique("group"))
        .topics([&early, &late])
        .on_event(move |event| {
            let _ = sender.send(event.clone());
        })
        .serve(ledger.routes());
    let handle = consumer.handle();
    let running = tokio::spawn(consumer.run());
    ledger.distinct(10).await?;
    let missing = async {
        while let Some(event) = events.recv().await {
            if let Event::TopicMissing { topic, .. } = event {
                return topic;
            }
        }
        String::new()
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(30), missing).await?, late);
    create_topic(&late, 1, &[]).await?;
    publish_numbers(&kafka, &late, 10..20).await?;
    ledger.distinct(20).await?;
    handle.shutdown();
    running.await??;
    Ok(())
}

pub(crate) async fn offset_gaps_of_transactions_do_not_hold_the_commit() -> Check {
    let (topic, group) = (unique("gaps"), unique("group"));
    create_topic(&topic, 1, &[]).await?;
    let body = |number| format!(r#"{{"job":"urn:babel:live:numbered","data":{{"number":{number}}}}}"#);
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", brokers())
        .set("transactional.id", unique("transaction"))
        .create()?;
    producer.init_transactions(Duration::from_secs(30))?;
    // Offsets 0 1 | 2 (marker) | 3 4 aborted | 5 (marker) | 6 | 7 (marker)
    for (numbers, commit) in [(0..2, true), (2..4, false), (4..5, true)] {
        producer.begin_transaction()?;
        for number in numbers {
            let body = body(number);
            producer.send(BaseRecord::<str, str>::to(&topic).payload(&body)).map_err(|(error, _)| error)?;
        }
        if commit {
            producer.commit_transaction(Duration::from_secs(30))?;
        } else {
            producer.flush(Duration::from_secs(30))?;
            producer.abort_transaction(Duration::from_secs(30))?;
        }
    }
    let ledger = Arc::new(Ledger::default());
    let member = Member::join(&kafka()?, &group, std::slice::from_ref(&topic), &ledger);
    ledger.distinct(3).await?;
    assert_eq!(member.leave().await?.handled, 3);
    assert_eq!(committed(&group, &topic, 0)?, Some(7));
    Ok(())
}

pub(crate) async fn a_record_restarts_exactly_once_after_a_clean_stop() -> Check {
    let (topic, group) = (unique("restart"), unique("group"));
    create_topic(&topic, 1, &[]).await?;
    let kafka = kafka()?;
    for round in 0..3 {
        publish_numbers(&kafka, &topic, round..round + 1).await?;
        let ledger = Arc::new(Ledger::default());
        let member = Member::join(&kafka, &group, std::slice::from_ref(&topic), &ledger);
        ledger.distinct(1).await?;
        // Neither the last one again nor one too few.
        assert_eq!(member.leave().await?.handled, 1);
        assert_eq!(ledger.numbers.lock().map_err(|_| "poisoned")?.get(&round), Some(&1));
        assert_eq!(committed(&group, &topic, 0)?, Some(i64::try_from(round)? + 1));
    }
    Ok(())
}

pub(crate) async fn members_that_join_and_leave_lose_nothing() -> Check {
    join_and_leave("eager", 100_000, |_| vec![]).await
}

pub(crate) async fn members_of_a_cooperative_group_that_join_and_leave_lose_nothing() -> Check {
    join_and_leave("cooperative", 30_000, |_| vec![("partition.assignment.strategy", "cooperative-sticky".to_owned())])
        .await
}

pub(crate) async fn static_members_that_join_and_leave_lose_nothing() -> Check {
    join_and_leave("static", 30_000, |member| {
        vec![("group.instance.id", format!("member-{member}")), ("session.timeout.ms", "6000".to_owned())]
    })
    .await
}

pub(crate) async fn members_of_the_new_consumer_protocol_that_join_and_leave_lose_nothing() -> Check {
    join_and_leave("consumer protocol", 30_000, |_| vec![("group.protocol", "consumer".to_owned())]).await
}

/// Members join and leave a group while records are published and handled; each has these properties.
async fn join_and_leave(
    group_of: &str,
    records: u64,
    properties: impl Fn(u64) -> Vec<(&'static str, String)>,
) -> Check {
    const STEPS: u64 = 10;
    let (topic, group) = (unique("members"), unique("group"));
    create_topic(&topic, 4, &[]).await?;
    let publisher = kafka()?;
    let ledger = Arc::new(Ledger::default());
    let join = |member| -> Result<Member, Box<dyn std::error::Error>> {
        let settings = properties(member).into_iter();
        let kafka = settings
            .fold(Kafka::builder().brokers(brokers()), |kafka, (name, value)| kafka.consumer_property(name, value))
            .build()?;
        Ok(Member::join(&kafka, &group, std::slice::from_ref(&topic), &ledger))
    };
    let mut members = vec![join(STEPS)?];
    for step in 0..STEPS {
        // Somebody joins or leaves while these records are published and handled.
        let numbers = step * records / STEPS..(step + 1) * records / STEPS;
        let publishing = publish_numbers(&publisher, &topic, numbers);
        let moving = async {
            match step % 3 {
                0 | 1 => members.push(join(step)?),
                _ => drop(members.remove(0).leave().await?),
            }
            Ok(())
        };
        futures_util::future::try_join(publishing, moving).await?;
    }
    ledger.distinct(usize::try_from(records)?).await?;
    for member in members {
        member.leave().await?;
    }
    let numbers = ledger.numbers.lock().map_err(|_| "poisoned")?;
    let lost: Vec<_> = (0..records).filter(|number| !numbers.contains_key(number)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let again = ledger.handled.load(Ordering::SeqCst) - records;
    println!("{group_of}: {records} records, members joined and left {STEPS} times: 0 lost, {again} handled again");
    Ok(())
}

pub(crate) async fn a_revoked_partition_waits_for_its_handler_and_commits_what_it_finished() -> Check {
    async fn until_cancelled(begun: &UnboundedSender<u64>, job: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
        begun.send(job.number)?;
        cx.cancelled().await;
        // What is left to be done takes a moment.
        tokio::time::sleep(Duration::from_millis(300)).await;
        Ok(())
    }
    for strategy in ["range", "cooperative-sticky"] {
        let (topic, group) = (unique("revoked"), unique("group"));
        create_topic(&topic, 2, &[]).await?;
        let kafka =
            Kafka::builder().brokers(brokers()).consumer_property("partition.assignment.strategy", strategy).build()?;
        publish_keyed(&kafka, &topic, 0..40, 20).await?;
        let (begun, mut receiver) = unbounded_channel();
        let join = || {
            let consumer =
                kafka.consumer(&group).topics([&topic]).serve(routes![begun.clone(); Numbered => until_cancelled]);
            Member { handle: consumer.handle(), running: tokio::spawn(consumer.run()) }
        };
        let first = join();
        let mut numbers = vec![receiver.recv().await, receiver.recv().await];
        let second = join();
        // What a partition's next owner begins with is the next record.
        numbers.push(receiver.recv().await);
        let handled = first.leave().await?.handled + second.leave().await?.handled;
        receiver.close();
        while let Some(number) = receiver.recv().await {
            numbers.push(Some(number));
        }
        let begun = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!((numbers.len(), u64::try_from(begun)?), (begun, handled), "{strategy}: {numbers:?}");
    }
    Ok(())
}

pub(crate) async fn a_partition_paused_when_it_was_lost_is_read_when_it_comes_back() -> Check {
    // More than may wait for a worker, so that the partition is paused while its handler waits.
    const RECORDS: u64 = 12_000;
    struct Gate {
        open: Semaphore,
        ledger: Arc<Ledger>,
    }
    impl Gate {
        async fn handle(&self, job: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
            let _open = self.open.acquire().await?;
            self.ledger.handle(job, cx).await
        }
    }
    let (topic, group) = (unique("paused"), unique("group"));
    create_topic(&topic, 1, &[]).await?;
    let kafka = kafka()?;
    publish_numbers(&kafka, &topic, 0..RECORDS).await?;
    let ledger = Arc::new(Ledger::default());
    let gate = Arc::new(Gate { open: Semaphore::new(0), ledger: Arc::clone(&ledger) });
    let (sender, mut events) = unbounded_channel();
    let member = |routes: Routes| {
        let sender = sender.clone();
        let consumer = kafka
            .consumer(&group)
            .topics([&topic])
            .on_event(move |event| {
                let _ = sender.send(event.clone());
            })
            .serve(routes);
        Member { handle: consumer.handle(), running: tokio::spawn(consumer.run()) }
    };
    let first = member(routes![Arc::clone(&gate); Numbered => Gate::handle]);
    // Members join until one of them has taken the partition from the first; then they leave, and it comes back.
    let mut others = Vec::new();
    while let Some(event) = events.recv().await {
        match event {
            Event::Revoked { partitions } if !partitions.is_empty() && !others.is_empty() => break,
            Event::Assigned { partitions } if !partitions.is_empty() && others.is_empty() => {
                others.push(member(routes![Arc::clone(&gate); Numbered => Gate::handle]));
            }
            _ => {}
        }
    }
    for other in others {
        other.handle.shutdown();
        gate.open.add_permits(1);
        other.running.await??;
    }
    gate.open.add_permits(1);
    ledger.distinct(usize::try_from(RECORDS)?).await?;
    first.leave().await?;
    Ok(())
}
