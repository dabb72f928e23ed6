//! The members of one group: processes that are started, killed, suspended and asked to leave.

use std::{
    fs::File,
    io,
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{director::Result, member::FENCED, plan::Order};

/// Longer than a member's own time for an orderly end: consumer and reinjector each have ten seconds, and the sending
/// client five.
const END: Duration = Duration::from_secs(25);

/// How members are started.
pub(crate) struct Starter {
    pub(crate) brokers: String,
    pub(crate) seed: u64,
    /// The first number of what comes at the end, by order.
    pub(crate) crowds: Vec<(Order, u64)>,
    /// Where the members' lines go.
    pub(crate) ledger: io::PipeWriter,
    /// The file for what members hear.
    pub(crate) log: PathBuf,
    pub(crate) ids: AtomicU32,
    /// What members did that they should not.
    pub(crate) faults: Mutex<Vec<String>>,
    /// Members that ended as a request of the one before them, killed since, was served after theirs.
    pub(crate) fenced: AtomicU32,
}

impl Starter {
    fn start(&self, order: Order, instance: Option<&str>) -> Result<Running> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        // The program that runs, although another one may be in its place by now.
        let child = Command::new("/proc/self/exe")
            .args(["member", &self.brokers, &self.seed.to_string(), &self.crowd(order).to_string()])
            .args([order.name(), &id.to_string()])
            .arg(instance.unwrap_or("-"))
            .stdin(Stdio::null())
            .stdout(self.ledger.try_clone()?)
            .stderr(File::options().create(true).append(true).open(&self.log)?)
            .spawn()?;
        Ok(Running { id, child })
    }

    fn crowd(&self, order: Order) -> u64 {
        self.crowds.iter().find(|(of, _)| *of == order).map_or(u64::MAX, |(_, crowd)| *crowd)
    }

    fn fault(&self, text: String) {
        eprintln!("fault: {text}");
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

struct Running {
    id: u32,
    child: Child,
}

impl Running {
    fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        Ok(kill_process(pid, signal)?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Members {
    order: Order,
    starter: Arc<Starter>,
    /// Each with the name by which it is known to the group when it comes back, if it has one.
    slots: Vec<(Option<String>, Running)>,
}

impl Members {
    /// Starts so many. Every second one has a name by which it gets its partitions back at once; the others are new to the
    /// group each time.
    pub(crate) fn start(order: Order, count: usize, starter: Arc<Starter>) -> Result<Self> {
        let slots = (0..count).map(|index| {
            let instance = (index % 2 == 0).then(|| format!("{}-{index}", order.name()));
            let running = starter.start(order, instance.as_deref())?;
            Ok((instance, running))
        });
        let slots = slots.collect::<Result<Vec<_>>>()?;
        Ok(Self { order, starter, slots })
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// SIGKILL; the member is away for that long.
    pub(crate) async fn kill(&mut self, index: usize, away: Duration) -> Result<()> {
        self.complain_if_ended(index)?;
        let (_, running) = &mut self.slots[index];
        running.child.kill()?;
        running.child.wait()?;
        tokio::time::sleep(away).await;
        self.start_again(index)
    }

    /// SIGSTOP for that long.
    pub(crate) async fn suspend(&mut self, index: usize, time: Duration) -> Result<()> {
        self.complain_if_ended(index)?;
        let (_, running) = &self.slots[index];
        running.signal(Signal::STOP)?;
        tokio::time::sleep(time).await;
        running.signal(Signal::CONT)
    }

    /// It leaves as when a new version is rolled out, and is away for that long.
    pub(crate) async fn leave(&mut self, index: usize, away: Duration) -> Result<()> {
        self.complain_if_ended(index)?;
        self.end(index).await?;
        tokio::time::sleep(away).await;
        self.start_again(index)
    }

    /// A further one comes for that long.
    pub(crate) async fn visit(&mut self, time: Duration) -> Result<()> {
        self.slots.push((None, self.starter.start(self.order, None)?));
        tokio::time::sleep(time).await;
        let index = self.slots.len() - 1;
        self.end(index).await?;
        drop(self.slots.pop());
        Ok(())
    }

    /// All leave.
    pub(crate) async fn end_all(mut self) -> Result<()> {
        for index in 0..self.slots.len() {
            self.complain_if_ended(index)?;
            self.slots[index].1.signal(Signal::TERM)?;
        }
        for index in 0..self.slots.len() {
            self.end(index).await?;
        }
        Ok(())
    }

    fn start_again(&mut self, index: usize) -> Result<()> {
        let (instance, running) = &mut self.slots[index];
        *running = self.starter.start(self.order, instance.as_deref())?;
        Ok(())
    }

    async fn end(&mut self, index: usize) -> Result<()> {
        let (_, running) = &mut self.slots[index];
        // One that has ended by itself has said why, and is told below.
        let _ = running.signal(Signal::TERM);
        let deadline = Instant::now() + END;
        let status = loop {
            match running.child.try_wait()? {
                Some(status) => break Some(status),
                None if Instant::now() > deadline => break None,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        // A member that has just been started does not listen yet.
        let well = |status: ExitStatus| status.success() || status.signal() == Some(Signal::TERM.as_raw());
        if !status.is_some_and(well) {
            let how = status.map_or_else(|| format!("not within {END:?}"), |status| status.to_string());
            self.starter.fault(format!("{} member {} was asked to end: {how}", self.order.name(), running.id));
        }
        Ok(())
    }

    fn complain_if_ended(&mut self, index: usize) -> Result<()> {
        let (_, running) = &mut self.slots[index];
        if let Some(status) = running.child.try_wait()? {
            if status.code() == Some(i32::from(FENCED)) {
                self.starter.fenced.fetch_add(1, Ordering::Relaxed);
                return self.start_again(index);
            }
            self.starter.fault(format!("{} member {} ended by itself: {status}", self.order.name(), running.id));
            self.start_again(index)?;
        }
        Ok(())
    }
}
