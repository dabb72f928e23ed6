//! The run from its beginning to its end: topics, ledger, members, events, judgement.

use std::{
    error::Error,
    io::{self, BufRead as _, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use babelqueue::Kafka;
use futures_util::future::try_join_all;
use tokio::sync::watch;

use crate::{
    brokers::Admin,
    events::{Counts, Scene, come_and_go, of_brokers, of_members},
    ledger::Said,
    line::{Line, Teller},
    member::{retry_topics, topic},
    members::{Members, Starter},
    observer::Observer,
    options::Options,
    plan::{Order, PARTITIONS},
    publish::publish,
    random::Random,
};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Over this time the records are published, or longer where there are many.
const LOAD: Duration = Duration::from_secs(75);
/// How many records a second are published on the whole.
const RATE: u64 = 4000;
/// So long nothing may be left to do before the run is over: longer than the longest tier.
const QUIET: Duration = Duration::from_secs(4);
/// How long what is left at the end of the load may take; the judge tells of a stall long before.
const LAST: Duration = Duration::from_secs(300);

/// Directs a run; whether all is well.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(direct(options))
}

async fn direct(options: &Options) -> Result<bool> {
    let begun = Instant::now();
    let topics = share(options.records, &options.orders);
    create_topics(options).await?;
    let (ledger_end, told) = io::pipe()?;
    let mut ledger = Ledger::start(options, &topics, ledger_end)?;
    // What members of the last run heard is of no use any more.
    let _ = std::fs::remove_file(options.ledger.with_file_name("members.log"));
    let starter = Arc::new(Starter {
        brokers: options.brokers.clone(),
        seed: options.seed,
        crowds: topics.iter().map(|(order, records)| (*order, crowd(*records))).collect(),
        ledger: told.try_clone()?,
        log: options.ledger.with_file_name("members.log"),
        ids: AtomicU32::new(1),
        faults: Mutex::default(),
        fenced: AtomicU32::new(0),
    });
    let teller = Teller::new(told);
    let observer = Observer::new(&options.brokers, &options.orders, teller.clone())?;
    let observed = Arc::new(AtomicBool::new(false));
    let observer = {
        let observed = Arc::clone(&observed);
        thread::spawn(move || {
            if let Err(error) = observer.run(&observed) {
                // Nothing can be judged without it. Who started this ends what it has started.
                eprintln!("observer: {error}");
                std::process::exit(1);
            }
        })
    };

    let (all_published, published) = watch::channel(false);
    let counts = Counts::default();
    let scene = Scene {
        seed: options.seed,
        nodes: options.nodes,
        counts: counts.clone(),
        begun,
        published,
        ledger: teller.clone(),
    };
    let load = LOAD.max(Duration::from_secs(options.records / RATE));
    let publish =
        |order, numbers, time| publish(options.brokers.clone(), options.seed, order, numbers, time, teller.clone());
    let publishing = async {
        try_join_all(topics.iter().map(|(order, records)| publish(*order, 0..crowd(*records), load))).await?;
        scene.say("all but the last is published");
        let _ = all_published.send(true);
        Ok(())
    };
    let groups = options.orders.iter().map(|order| {
        let count = if options.orders.len() == 1 { 3 } else { 2 };
        Ok(of_members(&scene, *order, Members::start(*order, count, Arc::clone(&starter))?))
    });
    let groups = try_join_all(groups.collect::<Result<Vec<_>>>()?);
    let (mut members, ..) = tokio::try_join!(groups, publishing, of_brokers(&scene))?;
    // The rest comes at once. What is paused then moves, and nothing else happens to it afterwards.
    try_join_all(topics.iter().map(|(order, records)| publish(*order, crowd(*records)..*records, Duration::ZERO)))
        .await?;
    scene.say("all is published");
    let visits = members.iter_mut().map(async |members| {
        come_and_go(&scene, members, &mut Random::new(options.seed, &format!("last {}", members.order().name()))).await
    });
    try_join_all(visits).await?;
    scene.say("the last event is over");
    ledger.quiet(options.records).await?;
    scene.say("nothing is left to do");
    for members in members {
        members.end_all().await?;
    }
    observed.store(true, Ordering::SeqCst);
    tokio::task::spawn_blocking(move || observer.join()).await?.map_err(|_| "the observer panicked")?;
    teller.tell(&Line::Over)?;
    let well = ledger.end()?;
    for (kind, count) in counts.all() {
        eprintln!("{kind:<36}{count:>11}");
    }
    eprintln!("{:<36}{:>11.0}", "seconds", begun.elapsed().as_secs_f64());
    let faults = starter.faults.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("{:<36}{:>11}", "members that ended otherwise", faults.len());
    eprintln!("{:<36}{:>11}", "members fenced by their own past", starter.fenced.load(Ordering::Relaxed));
    let well = well && faults.is_empty();
    if !well {
        eprintln!("\nNot well. Repeat with --seed {}", options.seed);
    }
    Ok(well)
}

/// The records of each topic: as many as of the others, or one more.
fn share(records: u64, orders: &[Order]) -> Vec<(Order, u64)> {
    let count = orders.len() as u64;
    (0..).zip(orders).map(|(index, order)| (*order, (records + count - 1 - index) / count)).collect()
}

/// The first number of what comes at the end: enough for more to wait than a member takes in of a partition.
fn crowd(records: u64) -> u64 {
    records - (records * 60 / 100).min(24_000)
}

async fn create_topics(options: &Options) -> Result<()> {
    let admin = Admin::new(&options.brokers)?;
    let kafka = Kafka::connect(&options.brokers)?;
    for order in &options.orders {
        admin.create_topic(&topic(*order), PARTITIONS, i32::try_from(options.nodes.min(3))?).await?;
        // One replica: while a broker is down writes to its retry topics and dead letters fail, and all else goes on. A
        // killed broker keeps what it has acknowledged.
        kafka.ensure_topics(&retry_topics(*order)).replication(1).await?;
    }
    kafka.close(Duration::from_secs(5)).await;
    Ok(())
}

/// The ledger's process, and what it said last.
struct Ledger {
    child: Child,
    state: watch::Receiver<(u64, u64)>,
    reader: Option<thread::JoinHandle<io::Result<bool>>>,
}

impl Ledger {
    fn start(options: &Options, topics: &[(Order, u64)], told: io::PipeReader) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["ledger", &options.seed.to_string()])
            .arg(&options.ledger)
            .args(topics.iter().map(|(order, records)| format!("{}={records}", order.name())))
            .stdin(told)
            .stdout(Stdio::piped())
            .spawn()?;
        let said = child.stdout.take().ok_or("no standard output")?;
        let (send, state) = watch::channel((0, 0));
        let reader = Some(thread::spawn(move || listen(said, &send)));
        Ok(Self { child, state, reader })
    }

    /// Waits until nothing is left to do.
    async fn quiet(&mut self, records: u64) -> Result<()> {
        let deadline = Instant::now() + LAST;
        let mut since = Instant::now();
        while since.elapsed() < QUIET {
            self.state.changed().await.map_err(|_| "the ledger has ended")?;
            let (settled, behind) = *self.state.borrow_and_update();
            if settled < records || behind > 0 {
                since = Instant::now();
            }
            if Instant::now() > deadline {
                // The judge says what is missing.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for its judgement, after the last line.
    fn end(mut self) -> Result<bool> {
        let well = match self.reader.take().map(thread::JoinHandle::join) {
            Some(Ok(well)) => well?,
            _ => false,
        };
        Ok(self.child.wait()?.success() && well)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes on what the ledger says; whether it said that all is well.
fn listen(said: ChildStdout, state: &watch::Sender<(u64, u64)>) -> io::Result<bool> {
    let mut well = false;
    for line in BufReader::new(said).lines() {
        match Said::read(&line?) {
            Some(Said::State { settled, behind }) => drop(state.send((settled, behind))),
            Some(Said::Fault(text)) => eprintln!("FAULT {text}"),
            Some(Said::Row(text)) => eprintln!("{text}"),
            Some(Said::Well) => well = true,
            None => {}
        }
    }
    Ok(well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_belongs_to_one_topic() {
        for records in [0, 1, 2, 100, 101] {
            let shares = share(records, &Order::ALL);
            assert_eq!(shares.iter().map(|(_, share)| share).sum::<u64>(), records, "{shares:?}");
        }
    }
}
