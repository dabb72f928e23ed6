//! What happens to members and brokers, by a schedule that the seed gives. Each lane does one thing at a time, and
//! ends when nothing more is published and each thing has happened at least once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use tokio::sync::watch;

use crate::{
    brokers::{Ask, Brokers},
    director::Result,
    line::Teller,
    member::SESSION,
    members::Members,
    plan::Order,
    random::Random,
};

/// How often each kind of event has happened.
#[derive(Clone, Default)]
pub(crate) struct Counts(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Counts {
    fn add(&self, kind: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
    }

    pub(crate) fn all(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the lanes share.
pub(crate) struct Scene {
    pub(crate) seed: u64,
    pub(crate) nodes: usize,
    pub(crate) counts: Counts,
    pub(crate) begun: Instant,
    /// Whether all is published.
    pub(crate) published: watch::Receiver<bool>,
    pub(crate) ledger: Teller,
}

impl Scene {
    /// Every kind once in each round, in an order of its own.
    async fn rounds<K: Copy>(
        &self,
        lane: &str,
        kinds: &[K],
        mut happen: impl AsyncFnMut(K, &mut Random) -> Result<()>,
    ) -> Result<()> {
        let mut random = Random::new(self.seed, lane);
        let mut first = true;
        while first || !*self.published.borrow() {
            for kind in random.shuffled(kinds) {
                if !first && *self.published.borrow() {
                    break;
                }
                happen(kind, &mut random).await?;
            }
            first = false;
        }
        Ok(())
    }

    pub(crate) fn say(&self, what: &str) {
        eprintln!("{:>6.1} s  {what}", self.begun.elapsed().as_secs_f64());
    }

    fn note(&self, kind: &'static str, what: &str) {
        self.counts.add(kind);
        self.say(&format!("{kind}{what}"));
    }
}

#[derive(Clone, Copy)]
enum OfMember {
    Kill,
    Suspend,
    Leave,
    Visit,
    Visits,
}

/// What happens to the members of one group; gives them back.
pub(crate) async fn of_members(scene: &Scene, order: Order, mut members: Members) -> Result<Members> {
    let kinds = [OfMember::Kill, OfMember::Suspend, OfMember::Kill, OfMember::Leave, OfMember::Visit, OfMember::Visits];
    let name = format!(", order by {}", order.name());
    scene
        .rounds(order.name(), &kinds, async |kind, random| {
            tokio::time::sleep(random.millis(200, 2500)).await;
            let index = random.below(members.count());
            match kind {
                OfMember::Kill => {
                    scene.note("member killed", &name);
                    members.kill(index, random.millis(0, 2500)).await
                }
                OfMember::Suspend => {
                    scene.note("member suspended", &name);
                    members.suspend(index, SESSION + random.millis(1000, 4000)).await
                }
                OfMember::Leave => {
                    scene.note("member left", &name);
                    members.leave(index, random.millis(0, 2000)).await
                }
                OfMember::Visit => {
                    scene.note("member joined and left", &name);
                    members.visit(random.millis(2000, 5000)).await
                }
                OfMember::Visits => come_and_go(scene, &mut members, random).await,
            }
        })
        .await?;
    Ok(members)
}

/// One after another joins and leaves at once, so that partitions are back before handlers have ended.
pub(crate) async fn come_and_go(scene: &Scene, members: &mut Members, random: &mut Random) -> Result<()> {
    scene.note("members came and went", &format!(", order by {}", members.order().name()));
    for _ in 0..3 {
        members.visit(random.millis(500, 2000)).await?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum OfBroker {
    Kill,
    Restart,
    /// The majority: nothing can be written, and there is no controller.
    KillTwo,
}

pub(crate) async fn of_brokers(scene: &Scene) -> Result<()> {
    let kinds: &[OfBroker] = match scene.nodes {
        1 => &[OfBroker::Kill, OfBroker::Restart],
        _ => &[OfBroker::Kill, OfBroker::Restart, OfBroker::KillTwo],
    };
    let mut brokers = Brokers::new(scene.nodes, scene.ledger.clone());
    scene
        .rounds("brokers", kinds, async |kind, random| {
            // The replicas catch up meanwhile.
            tokio::time::sleep(random.millis(6000, 12_000)).await;
            let node = 1 + random.below(scene.nodes);
            match kind {
                OfBroker::Kill => {
                    scene.note("broker killed", &format!(", node {node}"));
                    brokers.ask(Ask::Kill, node).await?;
                    tokio::time::sleep(random.millis(500, 5000)).await;
                    brokers.ask(Ask::Start, node).await
                }
                OfBroker::Restart => {
                    scene.note("broker restarted", &format!(", node {node}"));
                    brokers.ask(Ask::Stop, node).await?;
                    tokio::time::sleep(random.millis(0, 3000)).await;
                    brokers.ask(Ask::Start, node).await
                }
                OfBroker::KillTwo => {
                    let other = 1 + node % scene.nodes;
                    scene.note("two brokers killed", &format!(", nodes {node} and {other}"));
                    brokers.ask(Ask::Kill, node).await?;
                    brokers.ask(Ask::Kill, other).await?;
                    tokio::time::sleep(random.millis(3000, 6000)).await;
                    brokers.ask(Ask::Start, node).await?;
                    brokers.ask(Ask::Start, other).await
                }
            }
        })
        .await
}
