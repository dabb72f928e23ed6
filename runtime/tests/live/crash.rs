//! A consuming process that is killed with SIGKILL at random moments, or suspended. Its handler writes a ledger, a line a
//! record, with one write each, so that what it handled is known whatever happens to the process. All lines are of one
//! length, a part of a page: a write across the end of one may be cut off there by the kill.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use babelqueue::{Delivery, Event, HandlerError, Kafka, ProcessingOrder, routes};

use crate::{
    Check,
    jobs::{Numbered, brokers, committed, create_topic, kafka, poll_until, publish_keyed, runtime, unique},
};

/// The first argument of the consuming process.
pub(crate) const WORKER: &str = "crash-worker";
const RECORDS: u64 = 100_000;
const PARTITIONS: i32 = 4;
const KILLS: usize = 6;
/// The keys of the records, by the remainder of their numbers.
const KEYS: u64 = 100;

/// The consuming process: `brokers topic group order ledger`.
pub(crate) fn worker(settings: &[String]) -> ExitCode {
    let [brokers, topic, group, order, ledger] = settings else { return ExitCode::FAILURE };
    let orders = [ProcessingOrder::Partition, ProcessingOrder::Key, ProcessingOrder::Unordered];
    let Some(order) = orders.into_iter().find(|each| format!("{each:?}") == *order) else { return ExitCode::FAILURE };
    match consume(brokers, topic, group, order, Path::new(ledger)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn consume(brokers: &str, topic: &str, group: &str, order: ProcessingOrder, ledger: &Path) -> Check {
    async fn note(state: &(File, ProcessingOrder), job: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
        let (mut ledger, order) = (&state.0, state.1);
        // Not all of them take as long, so that those side by side overtake each other.
        if order != ProcessingOrder::Partition && job.number.is_multiple_of(3) {
            tokio::time::sleep(Duration::from_millis(job.number % 5)).await;
        }
        let line = format!("{} {} {} {}", std::process::id(), cx.partition(), cx.offset(), job.number);
        ledger.write_all(format!("{line:<31}\n").as_bytes())?;
        Ok(())
    }
    let state = (File::options().create(true).append(true).open(ledger)?, order);
    let kafka = Kafka::builder()
        .brokers(brokers)
        // The member that follows a killed one gets its partitions at once instead of a session timeout later.
        .consumer_property("group.instance.id", "worker")
        .consumer_property("session.timeout.ms", "6000")
        .build()?;
    let consumer = kafka
        .consumer(group)
        .topics([topic])
        .commit_interval(Duration::from_millis(20))
        .order(order)
        .on_event(|event| println!("{event}"))
        .serve(routes![state; Numbered => note]);
    runtime().block_on(consumer.run())?;
    Ok(())
}

pub(crate) async fn killed_at_random_moments_nothing_is_lost() -> Check {
    killed(ProcessingOrder::Partition, order_of_partitions).await
}

pub(crate) async fn killed_at_random_moments_no_key_loses_a_record_or_its_order() -> Check {
    killed(ProcessingOrder::Key, order_of_keys).await
}

pub(crate) async fn killed_at_random_moments_without_an_order_nothing_is_lost() -> Check {
    killed(ProcessingOrder::Unordered, |_| Ok(())).await
}

async fn killed(order: ProcessingOrder, kept: impl Fn(&[Line]) -> Check) -> Check {
    let (topic, group) = (unique("crash"), unique("group"));
    create_topic(&topic, PARTITIONS, &[]).await?;
    publish_keyed(&kafka()?, &topic, 0..RECORDS, KEYS).await?;
    let folder = tempfile::tempdir()?;
    let ledger = folder.path().join("ledger");

    let mut random = Random::seeded()?;
    for _ in 0..KILLS {
        let before = lines(&ledger);
        let mut child = start(&topic, &group, order, &ledger)?;
        let goal = before + 1 + random.below(RECORDS / u64::try_from(KILLS)? / 2);
        let reached = poll_until(&mut child, || Ok(lines(&ledger) >= goal));
        child.kill()?;
        child.wait()?;
        reached?;
    }
    let mut child = start(&topic, &group, order, &ledger)?;
    let ended = poll_until(&mut child, || {
        let committed = (0..PARTITIONS).filter_map(|partition| committed(&group, &topic, partition).ok().flatten());
        Ok(committed.sum::<i64>() == RECORDS.cast_signed())
    });
    child.kill()?;
    child.wait()?;
    ended?;
    let ledger = std::fs::read_to_string(&ledger)?;
    let ledger = ledger.lines().map(Line::read).collect::<Result<Vec<_>, _>>()?;
    let again = nothing_lost(&ledger);
    kept(&ledger)?;
    println!(
        "{RECORDS} records, {order:?}, killed {KILLS} times: 0 lost, 0 skipped, order kept, {again} handled again"
    );
    Ok(())
}

fn start(topic: &str, group: &str, order: ProcessingOrder, ledger: &Path) -> std::io::Result<Child> {
    let brokers = brokers();
    let mut command = Command::new(std::env::current_exe()?);
    command.args([WORKER, &brokers, topic, group, &format!("{order:?}")]).arg(ledger).stdout(Stdio::piped()).spawn()
}

pub(crate) async fn a_suspended_member_hears_that_its_partitions_were_lost() -> Check {
    let (topic, group) = (unique("suspended"), unique("group"));
    create_topic(&topic, 1, &[]).await?;
    let folder = tempfile::tempdir()?;
    let mut child = start(&topic, &group, ProcessingOrder::Partition, &folder.path().join("ledger"))?;
    let mut events = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
    let mut wait_for = |what: &str| {
        events.by_ref().map_while(Result::ok).find(|line| line.contains(what)).ok_or_else(|| format!("no `{what}`"))
    };
    wait_for("assigned: live-")?;

    signal(&child, "-STOP")?;
    // Another member gets the partition once the broker has missed the suspended one for a session timeout.
    let (sender, mut assigned) = tokio::sync::mpsc::unbounded_channel();
    async fn ignore(_: Numbered, _: &Delivery) -> Result<(), HandlerError> {
        Ok(())
    }
    let other = kafka()?
        .consumer(&group)
        .topics([&topic])
        .on_event(move |event| {
            if matches!(event, Event::Assigned { partitions } if !partitions.is_empty()) {
                let _ = sender.send(());
            }
        })
        .serve(routes![Numbered => ignore]);
    let taken = async { drop(tokio::time::timeout(Duration::from_secs(60), assigned.recv()).await) };
    other.run_until(taken).await?;

    signal(&child, "-CONT")?;
    let heard = wait_for("lost: live-");
    child.kill()?;
    child.wait()?;
    println!("{}", heard?);
    Ok(())
}

fn signal(child: &Child, signal: &str) -> Check {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status()?;
    if sent.success() { Ok(()) } else { Err(format!("kill {signal}: {sent}").into()) }
}

fn lines(ledger: &Path) -> u64 {
    std::fs::read(ledger).map_or(0, |text| text.iter().map(|byte| u64::from(*byte == b'\n')).sum())
}

/// A record that was handled.
struct Line {
    process: u32,
    partition: i32,
    offset: i64,
    number: u64,
}

impl Line {
    fn read(line: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [process, partition, offset, number] = fields[..] else { return Err(format!("{line:?}").into()) };
        Ok(Self {
            process: process.parse()?,
            partition: partition.parse()?,
            offset: offset.parse()?,
            number: number.parse()?,
        })
    }
}

/// Every number was handled, which none would be that was committed unfinished; how often one was handled again.
fn nothing_lost(ledger: &[Line]) -> usize {
    let handled: HashSet<u64> = ledger.iter().map(|line| line.number).collect();
    let lost: Vec<_> = (0..RECORDS).filter(|number| !handled.contains(number)).collect();
    assert!(lost.is_empty(), "{} numbers lost, the first {:?}", lost.len(), lost.first());
    ledger.len() - handled.len()
}

/// In each partition the offsets of each process in order, and no process further than one behind the greatest offset
/// that was handled before: else something unfinished had been committed.
fn order_of_partitions(ledger: &[Line]) -> Check {
    let mut greatest = HashMap::<i32, i64>::new();
    let mut last = HashMap::<i32, &Line>::new();
    for line in ledger {
        let Line { process, partition, offset, .. } = line;
        let greatest = greatest.entry(*partition).or_insert(-1);
        assert!(*offset <= *greatest + 1, "partition {partition}: {offset} after {greatest} skips unfinished work");
        if let Some(before) = last.insert(*partition, line).filter(|before| before.process == *process) {
            assert!(
                *offset == before.offset + 1,
                "partition {partition}: {process} handled {offset} after {}",
                before.offset
            );
        }
        *greatest = (*greatest).max(*offset);
    }
    Ok(())
}

/// In each key the offsets of each process in order, and the numbers handled for the first time in the order in which they
/// were published.
fn order_of_keys(ledger: &[Line]) -> Check {
    let mut last = HashMap::<u64, &Line>::new();
    let mut first_time = HashMap::<u64, u64>::new();
    let mut overtaken = 0_u64;
    let mut greatest = HashMap::<i32, i64>::new();
    for line in ledger {
        let key = line.number % KEYS;
        if let Some(before) = last.insert(key, line).filter(|before| before.process == line.process) {
            assert!(before.offset < line.offset, "key {key}: {} handled after {}", line.offset, before.offset);
        }
        let next = first_time.entry(key).or_insert(key);
        assert!(line.number <= *next, "key {key}: {} was handled first, before {next}", line.number);
        if line.number == *next {
            *next += KEYS;
        }
        let greatest = greatest.entry(line.partition).or_insert(-1);
        overtaken += u64::from(line.offset < *greatest);
        *greatest = (*greatest).max(line.offset);
    }
    // Or nothing has been tried.
    assert!(overtaken > 1000, "only {overtaken} records were overtaken by those of other keys");
    Ok(())
}

/// Random enough for moments to kill at; the seed is printed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded() -> Result<Self, Box<dyn std::error::Error>> {
        let seed = match std::env::var("BABELQUEUE_SEED") {
            Ok(seed) => seed.parse()?,
            Err(_) => u64::from(std::process::id()),
        };
        println!("BABELQUEUE_SEED={seed}");
        Ok(Self(seed | 1))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
