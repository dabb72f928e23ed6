//! The process that keeps the ledger: it reads what everybody tells, keeps it in a file, and judges it as it comes. Those
//! who tell may be killed; it is not.

use std::{
    fs::File,
    io::{self, BufRead as _, BufWriter, Write as _},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    judge::{Figures, Judge, Promise},
    line::{Line, unix_ms},
    plan::{Order, Plan},
};

/// How often it says how far the run has come, and looks for stalls.
const TICK: Duration = Duration::from_millis(200);
/// Faults of one promise that are told; all are counted.
const TOLD: usize = 10;

/// What it prints, a line each, for who started it.
pub(crate) enum Said {
    State {
        settled: u64,
        behind: u64,
    },
    Fault(String),
    /// A line for the table at the end.
    Row(String),
    /// Nothing was wrong.
    Well,
}

impl Said {
    pub(crate) fn read(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_once('\t').unwrap_or((line, ""));
        match kind {
            "state" => {
                let (settled, behind) = rest.split_once('\t')?;
                Some(Self::State { settled: settled.parse().ok()?, behind: behind.parse().ok()? })
            }
            "fault" => Some(Self::Fault(rest.to_owned())),
            "row" => Some(Self::Row(rest.to_owned())),
            "well" => Some(Self::Well),
            _ => None,
        }
    }
}

/// The arguments: the seed, the file to keep, and `order=records` for each topic.
pub(crate) fn run(words: &[String]) -> io::Result<()> {
    let wrong = || io::Error::other("ledger: seed file order=records…");
    let [seed, file, topics @ ..] = words else { return Err(wrong()) };
    let topics = topics.iter().map(|topic| {
        let (order, records) = topic.split_once('=')?;
        Some((Order::of(order)?, records.parse().ok()?))
    });
    let topics = topics.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    // How long handlers take is not judged.
    let plan = Plan { seed: seed.parse().map_err(io::Error::other)?, crowd: u64::MAX };
    let mut kept = BufWriter::new(File::create(file)?);
    let judge = Mutex::new((Judge::new(plan, &topics), 0));
    let (started, over) = (Instant::now(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(TICK);
                let mut judge = lock(&judge);
                judge.0.look(started.elapsed());
                let state = judge.0.state();
                println!("state\t{}\t{}", state.settled, state.behind);
                tell_faults(&mut judge);
            }
        });
        let read = read(&judge, started, &mut kept);
        over.store(true, Ordering::Relaxed);
        read
    })?;
    kept.flush()?;
    let mut judge = lock(&judge);
    judge.0.close();
    tell_faults(&mut judge);
    rows(&judge.0, &topics);
    if judge.0.faults().is_empty() {
        println!("well");
    }
    Ok(())
}

type Judging = (Judge, usize);

fn read(judge: &Mutex<Judging>, started: Instant, kept: &mut impl io::Write) -> io::Result<()> {
    let mut flushed = Instant::now();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if flushed.elapsed() > TICK {
            kept.flush()?;
            flushed = Instant::now();
        }
        writeln!(kept, "{} {line}", unix_ms())?;
        match Line::read(&line) {
            Some(Line::Over) => return Ok(()),
            Some(line) => lock(judge).0.take(started.elapsed(), &line),
            None => return Err(io::Error::other(format!("nobody should say {line:?}"))),
        }
    }
    Ok(())
}

fn lock(judge: &Mutex<Judging>) -> MutexGuard<'_, Judging> {
    judge.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the faults that were not told, the first of each promise.
fn tell_faults(judge: &mut Judging) {
    let (judge, told) = judge;
    let faults = judge.faults();
    for (index, fault) in faults.iter().enumerate().skip(*told) {
        let before = faults[..index].iter().filter(|other| other.promise == fault.promise).take(TOLD).count();
        if before < TOLD {
            println!("fault\t{}: {}", fault.promise.name(), fault.text);
        }
    }
    *told = faults.len();
}

fn rows(judge: &Judge, topics: &[(Order, u64)]) {
    let row = |name: &str, columns: &[String]| {
        let columns: Vec<_> = columns.iter().map(|column| format!("{column:>11}")).collect();
        println!("row\t{name:<36}{}", columns.concat());
    };
    let figures = judge.figures();
    row("", &topics.iter().map(|(order, _)| order.name().to_owned()).collect::<Vec<_>>());
    row("records", &topics.iter().map(|(_, records)| records.to_string()).collect::<Vec<_>>());
    type Of = fn(&Figures) -> u64;
    let all: [(&str, Of); 12] = [
        ("handled", |figures| figures.handled),
        ("failed, as planned", |figures| figures.failed),
        ("dead letters", |figures| figures.dead),
        ("assignments that got to work", |figures| figures.turns),
        ("handled again", |figures| figures.again),
        ("  by a member that had lost it", |figures| figures.again_elsewhere),
        ("  at most, as so many were in flight", |figures| figures.in_flight),
        ("further copies of retries", |figures| figures.copies),
        ("failed writes", |figures| figures.write_failures),
        ("failed commits", |figures| figures.commit_failures),
        ("commits seen to go back", |figures| figures.commits_back),
        ("held by a partition at most", |figures| figures.held),
    ];
    for (name, of) in all {
        row(name, &figures.iter().map(|(_, figures, _)| of(figures).to_string()).collect::<Vec<_>>());
    }
    let stalls = figures.iter().map(|(_, _, stall)| format!("{:.1} s", stall.as_secs_f64()));
    row("longest stall", &stalls.collect::<Vec<_>>());
    for promise in Promise::ALL {
        let count = judge.faults().iter().filter(|fault| fault.promise == promise).count();
        row(promise.name(), &[count.to_string()]);
    }
}
