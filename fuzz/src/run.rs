//! A run: inputs one after another, each watched from outside for the time and the memory that it takes.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::input::Input;
use crate::memory;
use crate::random::Random;

/// How long one input may take; the slowest takes a small part of it, on a busy machine, too.
const DEADLINE: Duration = Duration::from_secs(10);
/// How much memory the process may take, in MiB.
const MEMORY: u64 = 256;
/// The inputs are tried on a small stack, as this is compiled with optimisation and a build script is not.
const STACK: usize = 512 * 1024;
const WATCH: Duration = Duration::from_millis(20);
/// A run with so many different faults has said enough.
const MAX_FAULTS: usize = 20;

/// What is fuzzed.
pub(crate) trait Target: Sync {
    const NAME: &'static str;

    fn input(&self, random: &mut Random) -> Input;

    /// Tries an input, whose files are also in `folder`. Whether it was accepted; inputs that are refused are no
    /// failure, but a promise that does not hold is.
    fn check(&self, input: &Input, folder: &Path) -> Result<bool, Broken>;
}

/// A promise that does not hold.
#[derive(Debug)]
pub(crate) struct Broken {
    /// The promise: the same text for the same fault.
    pub(crate) promise: String,
    pub(crate) detail: String,
}

/// An error unless `holds`.
pub(crate) fn promise(holds: bool, promise: &str, detail: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { promise: promise.to_owned(), detail: detail() }) }
}

#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) time: Duration,
    pub(crate) seed: u64,
}

#[derive(Default)]
struct Count {
    accepted: u64,
    refused: u64,
    /// Where the smallest input of each fault is, and its size.
    faults: HashMap<String, (PathBuf, usize)>,
    slowest: Duration,
}

/// What the last panic said.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Tries random inputs; whether all is well.
pub(crate) fn random<T: Target>(target: &T, options: Options, faults: &Path) -> io::Result<bool> {
    let started = Instant::now();
    let mut count = Count::default();
    eprintln!("{}: seed {}", T::NAME, options.seed);
    let inputs = (0..).map(|index| (index, target.input(&mut Random::new(options.seed, index))));
    let inputs = inputs.take_while(|_| started.elapsed() < options.time);
    watched(target, inputs, &mut count, faults)?;
    eprintln!(
        "{}: {} inputs in {:.0} s, seed {}: {} accepted, {} refused, {} faults; slowest {} ms, peak memory {}",
        T::NAME,
        count.accepted + count.refused,
        started.elapsed().as_secs_f64(),
        options.seed,
        count.accepted,
        count.refused,
        count.faults.len(),
        count.slowest.as_millis(),
        memory::peak().map_or_else(|| "not known here".to_owned(), |peak| format!("{peak} MiB")),
    );
    Ok(count.faults.is_empty())
}

/// Tries the input in the folder `saved`; whether all is well.
pub(crate) fn saved<T: Target>(target: &T, saved: &Path, faults: &Path) -> io::Result<bool> {
    let mut count = Count::default();
    let input = Input::load(saved)?;
    watched(target, [(0, input)].into_iter(), &mut count, faults)?;
    let outcome = if count.accepted > 0 { "accepted" } else { "refused" };
    eprintln!("{}: {outcome} in {} ms, {} faults", T::NAME, count.slowest.as_millis(), count.faults.len());
    Ok(count.faults.is_empty())
}

/// Tries the inputs in a thread of their own and looks at it from here: a thread that hangs says nothing.
fn watched<T: Target>(
    target: &T,
    inputs: impl Iterator<Item = (u64, Input)> + Send,
    count: &mut Count,
    faults: &Path,
) -> io::Result<()> {
    panic::set_hook(Box::new(|panic| *lock(&PANIC) = Some(panic.to_string())));
    // An input is here before it is tried. So it is also known where the whole process ends, by its stack, say.
    let folder = running_folder(faults).join(format!("babelqueue-fuzz-{}-{}", T::NAME, process::id()));
    eprintln!("{}: what is being tried is in {}", T::NAME, folder.display());
    let running: Mutex<Option<Running>> = Mutex::new(None);
    let tried = thread::scope(|scope| {
        let work = || try_all(target, inputs, count, &running, &folder, faults);
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        while !worker.is_finished() {
            thread::sleep(WATCH);
            if let Some((running, fault)) =
                lock(&running).as_ref().and_then(|running| Some((running, running.fault()?)))
            {
                // Nothing stops a thread: the process ends here.
                let _ = report::<T>(running.index, &running.input, &fault, faults);
                let _ = fs::remove_dir_all(&folder);
                process::exit(1);
            }
        }
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the run itself panicked")))
    });
    let _ = panic::take_hook();
    let ended = lock(&PANIC).take();
    tried.map_err(|error| io::Error::other(format!("{error} {}", ended.unwrap_or_default())))?;
    fs::remove_dir_all(&folder)
}

/// In memory where that is a folder: thousands of small files a second are written there.
fn running_folder(faults: &Path) -> &Path {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory } else { faults }
}

struct Running {
    index: u64,
    input: Input,
    since: Instant,
}

impl Running {
    /// What is wrong with it by now.
    fn fault(&self) -> Option<Broken> {
        let taken = memory::now().unwrap_or_default();
        let broken = |promise: String| Some(Broken { promise, detail: String::new() });
        if self.since.elapsed() > DEADLINE {
            broken(format!("hangs: not done in {} s", DEADLINE.as_secs()))
        } else if taken > MEMORY {
            broken(format!("takes more than {MEMORY} MiB of memory"))
        } else {
            None
        }
    }
}

fn try_all<T: Target>(
    target: &T,
    inputs: impl Iterator<Item = (u64, Input)>,
    count: &mut Count,
    running: &Mutex<Option<Running>>,
    folder: &Path,
    faults: &Path,
) -> io::Result<()> {
    for (index, input) in inputs {
        input.save(folder)?;
        let since = Instant::now();
        *lock(running) = Some(Running { index, input: input.clone(), since });
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| target.check(&input, folder)));
        lock(running).take();
        count.slowest = count.slowest.max(since.elapsed());
        let outcome = outcome.unwrap_or_else(|_| {
            let text = lock(&PANIC).take().unwrap_or_default();
            // The place is the same for the same fault; what the text says may not be.
            let promise = text.lines().next().unwrap_or_default().to_owned();
            Err(Broken { promise, detail: text })
        });
        match outcome {
            Ok(true) => count.accepted += 1,
            Ok(false) => count.refused += 1,
            Err(broken) => {
                count.refused += 1;
                let known = count.faults.get(&broken.promise);
                if known.is_none_or(|(_, size)| input.size() < *size) {
                    if let Some((larger, _)) = known {
                        fs::remove_dir_all(larger)?;
                    }
                    let saved = report::<T>(index, &input, &broken, faults)?;
                    count.faults.insert(broken.promise, (saved, input.size()));
                }
                if count.faults.len() >= MAX_FAULTS {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Keeps an input that failed, and says where.
fn report<T: Target>(index: u64, input: &Input, broken: &Broken, faults: &Path) -> io::Result<PathBuf> {
    let folder = faults.join(format!("{}-{:016x}", T::NAME, input.hash()));
    input.save(&folder)?;
    let Broken { promise, detail } = broken;
    eprintln!("FAULT: {promise}\n  {detail}\n  input {index}, {} bytes: {}", input.size(), folder.display());
    Ok(folder)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
