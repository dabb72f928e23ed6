//! A consuming process that is killed with SIGKILL at random moments, or suspended. Its handler writes a ledger, a line a
//! record, with one write each, so that what it handled is known whatever happens to the process.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use babelqueue::{Delivery, Event, HandlerError, Kafka, routes};

use crate::{
    Check,
    jobs::{Numbered, brokers, committed, create_topic, kafka, publish_numbers, runtime, unique},
};

/// The first argument of the consuming process.
pub(crate) const WORKER: &str = "crash-worker";
const RECORDS: u64 = 100_000;
const PARTITIONS: i32 = 4;
const KILLS: usize = 6;

/// The consuming process: `brokers topic group ledger`.
pub(crate) fn worker(settings: &[String]) -> ExitCode {
    let [brokers, topic, group, ledger] = settings else { return ExitCode::FAILURE };
    match consume(brokers, topic, group, Path::new(ledger)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn consume(brokers: &str, topic: &str, group: &str, ledger: &Path) -> Check {
    async fn note(ledger: &File, job: Numbered, cx: &Delivery) -> Result<(), HandlerError> {
        let mut ledger = ledger;
        ledger.write_all(
            format!("{} {} {} {}\n", std::process::id(), cx.partition(), cx.offset(), job.number).as_bytes(),
        )?;
        Ok(())
    }
    let ledger = File::options().create(true).append(true).open(ledger)?;
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
        .on_event(|event| println!("{event}"))
        .serve(routes![ledger; Numbered => note]);
    runtime().block_on(consumer.run())?;
    Ok(())
}

pub(crate) async fn killed_at_random_moments_nothing_is_lost() -> Check {
    let (topic, group) = (unique("crash"), unique("group"));
    create_topic(&topic, PARTITIONS, &[]).await?;
    publish_numbers(&kafka()?, &topic, 0..RECORDS).await?;
    let folder = tempfile::tempdir()?;
    let ledger = folder.path().join("ledger");

    let mut random = Random::seeded()?;
    for _ in 0..KILLS {
        let before = lines(&ledger);
        let mut child = start(&topic, &group, &ledger)?;
        let goal = before + 1 + random.below(RECORDS / u64::try_from(KILLS)? / 2);
        let reached = wait_for(&mut child, || lines(&ledger) >= goal);
        child.kill()?;
        child.wait()?;
        reached?;
    }
    let mut child = start(&topic, &group, &ledger)?;
    let ended = wait_for(&mut child, || {
        (0..PARTITIONS).filter_map(|partition| committed(&group, &topic, partition).ok().flatten()).sum::<i64>()
            == RECORDS.cast_signed()
    });
    child.kill()?;
    child.wait()?;
    ended?;
    check(&std::fs::read_to_string(&ledger)?)
}

fn start(topic: &str, group: &str, ledger: &Path) -> std::io::Result<Child> {
    let brokers = brokers();
    let mut command = Command::new(std::env::current_exe()?);
    command.args([WORKER, &brokers, topic, group]).arg(ledger).stdout(Stdio::piped()).spawn()
}

pub(crate) async fn a_suspended_member_hears_that_its_partitions_were_lost() -> Check {
    let (topic, group) = (unique("suspended"), unique("group"));
    create_topic(&topic, 1, &[]).await?;
    let folder = tempfile::tempdir()?;
    let mut child = start(&topic, &group, &folder.path().join("ledger"))?;
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

/// Polls the ledger or the broker: neither tells when it changes.
fn wait_for(child: &mut Child, mut done: impl FnMut() -> bool) -> Check {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !done() {
        if let Some(status) = child.try_wait()? {
            return Err(format!("the consuming process ended by itself: {status}").into());
        }
        if Instant::now() > deadline {
            return Err("no end within two minutes".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn lines(ledger: &Path) -> u64 {
    std::fs::read(ledger).map_or(0, |text| text.iter().map(|byte| u64::from(*byte == b'\n')).sum())
}

/// Every number handled; in each partition the offsets of each process in order, and no process further than one behind
/// the greatest offset that was handled before: else something unfinished had been committed.
fn check(ledger: &str) -> Check {
    let mut handled = HashMap::<u64, u32>::new();
    let mut partitions = BTreeMap::<i32, Vec<(u32, i64)>>::new();
    for line in ledger.lines() {
        let fields: Vec<_> = line.split(' ').collect();
        let [process, partition, offset, number] = fields[..] else { return Err(format!("{line:?}").into()) };
        *handled.entry(number.parse()?).or_default() += 1;
        partitions.entry(partition.parse()?).or_default().push((process.parse()?, offset.parse()?));
    }
    let lost: Vec<_> = (0..RECORDS).filter(|number| !handled.contains_key(number)).collect();
    assert!(lost.is_empty(), "{} numbers lost, the first {:?}", lost.len(), lost.first());
    for (partition, records) in &partitions {
        let mut greatest = -1;
        let mut last: Option<(u32, i64)> = None;
        for (process, offset) in records {
            assert!(*offset <= greatest + 1, "partition {partition}: {offset} after {greatest} skips unfinished work");
            if let Some((before, at)) = last.filter(|(before, _)| before == process) {
                assert!(*offset == at + 1, "partition {partition}: process {before} handled {offset} after {at}");
            }
            greatest = greatest.max(*offset);
            last = Some((*process, *offset));
        }
    }
    let again: u32 = handled.values().map(|count| count - 1).sum();
    println!("{RECORDS} records, killed {KILLS} times: 0 lost, 0 skipped, order kept, {again} handled again");
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
