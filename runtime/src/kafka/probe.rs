//! Finds out why nothing answers: by a connection of its own, as the client library tells only that all brokers are down.
//!
//! A client whose every connection is refused would try for ever. Whether that is so depends on all brokers, and some
//! refusals are logged only, so another client that asks for nothing but the cluster's id listens to the log.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, ClientContext,
    config::RDKafkaLogLevel as Level,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext},
};

use super::{
    refusal::{Refusal, Sign, sign},
    settings,
};
use crate::{config::Config, error::KafkaError, time::deadline};

/// How long a broker may take to let the client in, or to say anything. Slow ones refuse slowly.
const LONGEST: Duration = Duration::from_secs(6);
/// How long the others may take when a connection to one has failed.
const LONG: Duration = Duration::from_secs(3);
/// The same when one has refused for certain.
const SHORT: Duration = Duration::from_secs(1);
/// How long nothing is tried again after no refusal was found: the brokers may be down for long.
const QUIET: Duration = Duration::from_secs(2);
const SLICE: Duration = Duration::from_millis(100);

/// One for each client that may be refused.
pub(super) struct Probe {
    config: ClientConfig,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: bool,
    not_before: Option<Instant>,
}

impl Probe {
    pub(super) fn new(config: &Config) -> Arc<Self> {
        Arc::new(Self { config: settings::admin(config), state: Mutex::default() })
    }

    /// Finds out in a thread of its own, unless that is under way or was done just now. `found` is told why no broker lets
    /// the client in; nothing when one does, or none can be reached.
    pub(super) fn start(self: &Arc<Self>, found: impl FnOnce(Option<KafkaError>) + Send + 'static) {
        let mut state = self.state();
        if state.running || state.not_before.is_some_and(|then| Instant::now() < then) {
            return;
        }
        let probe = Arc::clone(self);
        let run = move || {
            let refusal = refused(&probe.config);
            let not_before = refusal.is_none().then(|| deadline(QUIET));
            // First, so that who comes while `found` is at work can start another.
            *probe.state() = State { running: false, not_before };
            found(refusal);
        };
        state.running = thread::Builder::new().name("babelqueue-probe".to_owned()).spawn(run).is_ok();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why no broker lets a client in. Takes up to some seconds.
pub(super) fn refused(config: &ClientConfig) -> Option<KafkaError> {
    let (refusal, line) = knock(config, LONG)?;
    let refusal = match refusal {
        Refusal::BrokerCertificate if is_trusted_by_another_name(config) => Refusal::HostName,
        other => other,
    };
    Some(refusal.error(&line))
}

/// Whether the certificate is in order but for its name. Neither account nor certificate of the client is shown to a
/// broker that is not known by its name.
fn is_trusted_by_another_name(config: &ClientConfig) -> bool {
    const ALGORITHM: &str = "ssl.endpoint.identification.algorithm";
    if config.get(ALGORITHM) == Some("none") {
        return false;
    }
    let mut config = config.clone();
    config.set("security.protocol", "ssl").set(ALGORITHM, "none");
    for part in ["certificate.location", "certificate.pem", "key.location", "key.pem", "keystore.location"] {
        config.remove(&format!("ssl.{part}"));
    }
    !matches!(knock(&config, SHORT), Some((Refusal::BrokerCertificate, _)))
}

fn knock(config: &ClientConfig, long: Duration) -> Option<(Refusal, String)> {
    let mut config = config.clone();
    config.set_log_level(Level::Info);
    let client: BaseConsumer<Log> = config.create_with_context(Log::default()).ok()?;
    let start = Instant::now();
    loop {
        if client.client().fetch_cluster_id(SLICE).is_some() {
            return None;
        }
        // What is logged is handed out by polling, a line at a time.
        for _ in 0..16 {
            drop(client.poll(Duration::from_millis(1)));
        }
        let last = client.context().last();
        let patience = match last {
            Some((Sign::Certain(_), _)) => SHORT,
            Some(_) => long,
            None => LONGEST,
        };
        if start.elapsed() >= patience {
            return match last? {
                (Sign::Certain(refusal) | Sign::Likely(refusal), line) => Some((refusal, line)),
                (Sign::None, _) => None,
            };
        }
    }
}

/// Keeps the last failed connection; a certain refusal is not replaced by an uncertain one.
#[derive(Default)]
struct Log(Mutex<Option<(Sign, String)>>);

impl Log {
    fn last(&self) -> Option<(Sign, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ClientContext for Log {
    fn log(&self, _level: Level, facility: &str, message: &str) {
        if facility != "FAIL" {
            return;
        }
        // Behind the name of the client library's thread.
        let line = message.split_once("]: ").map_or(message, |(_, line)| line);
        tracing::debug!(line, "a connection that finds out why nothing answers");
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sign = sign(line);
        if !matches!((&*last, sign), (Some((Sign::Certain(_), _)), Sign::Likely(_) | Sign::None)) {
            *last = Some((sign, line.to_owned()));
        }
    }

    fn error(&self, _error: rdkafka::error::KafkaError, _reason: &str) {
        // The log has said it.
    }
}

impl ConsumerContext for Log {}

#[cfg(test)]
mod tests {
    use std::{
        io::Read as _,
        net::{Ipv4Addr, TcpListener},
    };

    use super::*;
    use crate::kafka::mock::MockBroker;

    fn config(brokers: String) -> ClientConfig {
        settings::admin(&Config::new(brokers))
    }

    #[test]
    fn a_broker_that_lets_in_and_one_that_is_not_there_are_no_refusals() {
        let broker = MockBroker::start().unwrap();
        assert_eq!(refused(&config(broker.brokers())), None);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        assert_eq!(refused(&config(free.to_string())), None);
    }

    #[test]
    fn a_listener_that_always_hangs_up_is_one() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                // Reads first: what is unread at the end would reset the connection.
                let _ = stream.and_then(|mut stream| stream.read(&mut [0; 1024]));
            }
        });
        let error = refused(&config(address.to_string())).unwrap();
        assert_eq!(error.code(), "SecurityProtocol");
        assert!(error.is_refused() && error.to_string().contains(&address.to_string()), "{error}");
    }

    #[test]
    fn one_connection_at_a_time_finds_out() {
        let broker = MockBroker::start().unwrap();
        let probe = Probe::new(&Config::new(broker.brokers()));
        let (sender, found) = std::sync::mpsc::channel();
        for _ in 0..5 {
            let sender = sender.clone();
            probe.start(move |refusal| sender.send(refusal).unwrap());
        }
        drop(sender);
        assert_eq!(found.iter().collect::<Vec<_>>(), [None]);
    }
}
