//! The process of a member: a consumer and a reinjector, as a service has them.

use std::{convert::Infallible, error::Error, process, sync::Arc, time::Duration};

use babelqueue::{
    ConsumerError, Delivery, Event, HandlerError, Health, Kafka, PartitionHealth, ReinjectorError, RetryTopics,
    TopicPartition, routes, shutdown_signal,
};

use tokio::sync::watch;

use crate::{
    line::{Line, Place, Teller, unix_ms},
    plan::{Numbered, Order, Plan, TIERS, TRIES},
};

/// How many handlers run at once.
const CONCURRENCY: usize = 64;
/// A write that is not acknowledged by then has failed: soon, so that it does while a broker is down.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(3);
/// The shortest that a broker takes.
pub(crate) const SESSION: Duration = Duration::from_secs(6);

/// The exit code of a member that the group has put out for another one of its name.
pub(crate) const FENCED: u8 = 3;

/// How often a member tells how many records wait.
const LOOK: Duration = Duration::from_millis(250);

/// How the group shares out the partitions: all at once or step by step, each order both ways in two seeds.
fn strategy(seed: u64, order: Order) -> &'static str {
    let step_by_step = (order == Order::Key) == (seed % 2 == 1);
    if step_by_step { "cooperative-sticky" } else { "range" }
}

pub(crate) fn topic(order: Order) -> String {
    format!("chaos-{}", order.name())
}

pub(crate) fn group(order: Order) -> String {
    format!("chaos-{}-members", order.name())
}

pub(crate) fn retry_topics(order: Order) -> RetryTopics {
    RetryTopics::for_topic(topic(order)).tiers(TIERS)
}

/// What the member's handler and hooks share.
struct Member {
    id: u32,
    order: Order,
    plan: Plan,
    ledger: Teller,
}

impl Member {
    /// Without a ledger nothing is known of what happens: the member ends.
    fn tell(&self, line: &Line) {
        if let Err(error) = self.ledger.tell(line) {
            eprintln!("member {}: no ledger: {error}", self.id);
            process::exit(1);
        }
    }

    fn at(&self, partition: i32) -> Place {
        Place { order: self.order, partition }
    }

    async fn handle(&self, job: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
        let (member, at, offset, number, attempts) =
            (self.id, self.at(cx.partition()), cx.offset(), job.number, cx.attempts());
        let written = cx.timestamp().unwrap_or(-1);
        self.tell(&Line::Started { member, at, offset, number, attempts, written });
        let pause = self.plan.pause(number, attempts);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let well = !self.plan.fails_now(number, attempts);
        self.tell(&Line::Ended { member, at, offset, well });
        if well { Ok(()) } else { Err(HandlerError::new("as planned")) }
    }

    /// How long handlers may hold up a rebalance: those of every second member outlive it.
    fn patience(&self) -> Duration {
        if self.id.is_multiple_of(2) { Duration::from_secs(5) } else { Duration::ZERO }
    }

    /// Tells again and again how many records wait.
    async fn look(&self, health: &Health) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            for PartitionHealth { partition, waiting, .. } in health.report().partitions {
                self.tell(&Line::Holds { member: self.id, at: self.at(partition), waiting });
            }
        }
    }

    fn hear(&self, event: &Event, of_consumer: bool) {
        let (member, order) = (self.id, self.order);
        let role = if of_consumer { "consumer" } else { "reinjector" };
        // There are thousands of these.
        if !matches!(event, Event::WriteFailed { .. }) {
            eprintln!("{} member {member}, {role}: {event}", unix_ms());
        }
        let each = |partitions: &[TopicPartition], line: fn(u32, Place) -> Line| {
            partitions.iter().for_each(|each| self.tell(&line(member, self.at(each.partition))));
        };
        match event {
            Event::WriteFailed { .. } => self.tell(&Line::WriteFailed { member, order }),
            _ if !of_consumer => {}
            Event::Assigned { partitions } => each(partitions, |member, at| Line::Assigned { member, at }),
            Event::Revoked { partitions } | Event::Lost { partitions } => {
                each(partitions, |member, at| Line::Left { member, at });
            }
            Event::CommitFailed { .. } => self.tell(&Line::CommitFailed { member, order }),
            _ => {}
        }
    }
}

/// The arguments: `brokers seed crowd order id instance`, where the instance `-` is none. Lines go to standard output.
pub(crate) fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [brokers, seed, crowd, order, id, instance] = words else {
        return Err("brokers seed crowd order id instance".into());
    };
    let order = Order::of(order).ok_or("no such order")?;
    let ledger = Teller::new(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?);
    let plan = Plan { seed: seed.parse()?, crowd: crowd.parse()? };
    let member = Arc::new(Member { id: id.parse()?, order, plan, ledger });
    let mut kafka = Kafka::builder()
        .brokers(brokers)
        .client_id(format!("member-{id}"))
        .delivery_timeout(DELIVERY_TIMEOUT)
        // A broker that is back is noticed soon.
        .property("reconnect.backoff.max.ms", "1000")
        .consumer_property("session.timeout.ms", SESSION.as_millis().to_string())
        // A rebalance is noticed soon: a partition may be back before a handler has ended.
        .consumer_property("heartbeat.interval.ms", "300")
        .consumer_property("partition.assignment.strategy", strategy(plan.seed, order));
    if instance != "-" {
        kafka = kafka.consumer_property("group.instance.id", instance);
    }
    let kafka = kafka.build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        // Noted once, as neither of the two may be running just then.
        let (asked, stop) = watch::channel(false);
        tokio::spawn(async move {
            shutdown_signal().await;
            let _ = asked.send(true);
        });
        // Whichever ends first by itself is an error that ends the other.
        tokio::try_join!(consume(&kafka, &member, stop.clone()), reinject(&kafka, &member, stop))?;
        kafka.close(Duration::from_secs(5)).await;
        Ok(())
    })
}

type Stop = watch::Receiver<bool>;

async fn stopped(stop: &mut Stop) {
    // The sender ends with the process.
    let _ = stop.wait_for(|asked| *asked).await;
}

async fn consume(kafka: &Kafka, member: &Arc<Member>, mut stop: Stop) -> Result<(), Box<dyn Error>> {
    loop {
        let hearing = Arc::clone(member);
        let consumer = kafka
            .consumer(group(member.order))
            .topics([topic(member.order)])
            .retry_topics(retry_topics(member.order))
            .max_tries(TRIES)
            .order(member.order.processing())
            .concurrency(CONCURRENCY)
            .commit_interval(Duration::from_millis(200))
            .revoke_timeout(member.patience())
            .shutdown_timeout(Duration::from_secs(10))
            .on_event(move |event| hearing.hear(event, true))
            .serve(routes![Arc::clone(member); Numbered => Member::handle]);
        let health = consumer.health();
        let ended = tokio::select! {
            ended = consumer.run_until(stopped(&mut stop)) => ended,
            never = member.look(&health) => match never {},
        };
        match ended {
            Ok(_) => return Ok(()),
            // While its topics refuse writes it does not start: whoever runs it starts it again.
            Err(ConsumerError::Topics(_)) => tokio::time::sleep(Duration::from_millis(500)).await,
            Err(error) => return Err(error.into()),
        }
    }
}

async fn reinject(kafka: &Kafka, member: &Arc<Member>, mut stop: Stop) -> Result<(), Box<dyn Error>> {
    loop {
        let hearing = Arc::clone(member);
        let reinjector = kafka
            .reinjector([retry_topics(member.order)])
            .group(format!("{}-reinjectors", topic(member.order)))
            .commit_interval(Duration::from_millis(200))
            .shutdown_timeout(Duration::from_secs(10))
            .on_event(move |event| hearing.hear(event, false));
        match reinjector.run_until(stopped(&mut stop)).await {
            Ok(_) => return Ok(()),
            Err(ReinjectorError::Topics(_)) => tokio::time::sleep(Duration::from_millis(500)).await,
            Err(error) => return Err(error.into()),
        }
    }
}
