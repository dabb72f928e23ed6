//! A consuming process that is killed with SIGKILL behind the acknowledgement of its retries and before their commit.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Lines, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, ExitCode, Stdio},
    time::Duration,
};

use babelqueue::{Delivery, HandlerError, Kafka, RetryTopics, Settled, routes};

use super::{Ledger, numbered, publish};
use crate::{
    Check,
    jobs::{Numbered, brokers, committed, create_topic, kafka, runtime, unique},
};

/// The first argument of the consuming process.
pub(crate) const WORKER: &str = "settling-worker";
const RECORDS: u64 = 2000;

/// The consuming process: `brokers topic group ledger commit-interval-in-seconds`.
pub(crate) fn worker(settings: &[String]) -> ExitCode {
    let [brokers, topic, group, ledger, commit_interval] = settings else { return ExitCode::FAILURE };
    match consume(brokers, topic, group, Path::new(ledger), commit_interval) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Notes even numbers in the ledger and fails odd ones; prints a line for each acknowledged retry.
fn consume(brokers: &str, topic: &str, group: &str, ledger: &Path, commit_interval: &str) -> Check {
    async fn handle(ledger: &File, job: Numbered, _: &Delivery) -> Result<(), HandlerError> {
        if job.number % 2 == 1 {
            return Err(HandlerError::new("odd"));
        }
        let mut ledger = ledger;
        Ok(ledger.write_all(format!("{}\n", job.number).as_bytes())?)
    }
    let ledger = File::options().create(true).append(true).open(ledger)?;
    let kafka = Kafka::builder()
        .brokers(brokers)
        // The member that follows a killed one gets its partitions at once instead of a session timeout later.
        .consumer_property("group.instance.id", "worker")
        .build()?;
    let consumer = kafka
        .consumer(group)
        .topics([topic])
        .retry_topics(RetryTopics::for_topic(topic).tiers([Duration::from_secs(5)]))
        .commit_interval(Duration::from_secs(commit_interval.parse()?))
        .on_error(|error| {
            if matches!(error.settled, Settled::Retry { .. }) {
                println!("{}", error.offset);
            }
        })
        .serve(routes![ledger; Numbered => handle]);
    runtime().block_on(consumer.run())?;
    Ok(())
}

struct Process {
    child: Child,
    retries: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(
        topic: &str,
        group: &str,
        ledger: &Path,
        commit_interval: &str,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([WORKER, &brokers(), topic, group])
            .arg(ledger)
            .arg(commit_interval)
            .stdout(Stdio::piped())
            .spawn()?;
        let retries = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
        Ok(Self { child, retries })
    }

    /// Waits until so many retries were acknowledged.
    fn retries(&mut self, count: u64) -> Check {
        for seen in 0..count {
            self.retries.next().ok_or_else(|| format!("it ended after {seen} of {count} retries"))??;
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn killed_between_the_acknowledgement_and_the_commit_nothing_is_lost() -> Check {
    let (topic, group) = (unique("killed"), unique("group"));
    let retry = format!("{topic}.retry.1");
    for topic in [&topic, &retry, &format!("{topic}.dlq")] {
        create_topic(topic, 1, &[]).await?;
    }
    publish(&kafka()?, &topic, &numbered(0..RECORDS)).await?;
    let folder = tempfile::tempdir()?;
    let ledger = folder.path().join("ledger");
    // In the middle of its work, and behind its last write: all of it acknowledged, nothing committed.
    for retries in [1, RECORDS / 4, RECORDS / 2] {
        Process::start(&topic, &group, &ledger, "3600")?.retries(retries)?;
        assert_eq!(committed(&group, &topic, 0)?, None);
    }
    let mut last = Process::start(&topic, &group, &ledger, "0")?;
    last.retries(RECORDS / 2)?;
    // Its commits are not told.
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while committed(&group, &topic, 0)? != Some(RECORDS.cast_signed()) {
        assert!(std::time::Instant::now() < deadline, "the last process does not commit");
        tokio::task::yield_now().await;
    }
    drop(last);

    let handled = Ledger::default();
    for line in std::fs::read_to_string(&ledger)?.lines() {
        *handled.0.lock().map_err(|_| "poisoned")?.entry(line.parse()?).or_default() += 1;
    }
    handled.balance("killed before the commit, 3 times", 0..RECORDS, &[&retry])
}
