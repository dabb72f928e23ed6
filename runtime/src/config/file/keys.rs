//! The Java client's keys, and what they are here.

use crate::config::Scope;

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A property of the client library that means the same.
    Same(Scope, &'static str),
    /// The same, counted in kilobytes there.
    Kilobytes(Scope, &'static str),
    /// The same, with other words for some values.
    Words(Scope, &'static str, &'static [(&'static str, &'static str)]),
    /// What this crate does anyway; another value would be refused.
    Anyway(&'static [&'static str]),
    /// About Java alone: a warning says that it has no effect.
    NoEffect,
    /// What would be missed, and what to do.
    Refused(&'static str),
}

use Rule::{Anyway, Kilobytes, NoEffect, Refused, Same, Words};
use Scope::{Both, Consumer, Publisher};

const OWN_CODE: &str = "it names a Java class";
const BY_PROPERTY: &str = "give librdkafka's settings for it to `property` of the builder";

/// Those of security are not among them, nor brokers, client id and delivery timeout.
const KEYS: [(&str, Rule); 59] = [
    ("client.dns.lookup", Same(Both, "client.dns.lookup")),
    ("client.rack", Same(Both, "client.rack")),
    ("connections.max.idle.ms", Same(Both, "connections.max.idle.ms")),
    ("metadata.max.age.ms", Same(Both, "metadata.max.age.ms")),
    ("receive.buffer.bytes", Same(Both, "socket.receive.buffer.bytes")),
    ("reconnect.backoff.max.ms", Same(Both, "reconnect.backoff.max.ms")),
    ("reconnect.backoff.ms", Same(Both, "reconnect.backoff.ms")),
    ("request.timeout.ms", Same(Both, "socket.timeout.ms")),
    ("retry.backoff.max.ms", Same(Both, "retry.backoff.max.ms")),
    ("retry.backoff.ms", Same(Both, "retry.backoff.ms")),
    ("send.buffer.bytes", Same(Both, "socket.send.buffer.bytes")),
    ("socket.connection.setup.timeout.ms", Same(Both, "socket.connection.setup.timeout.ms")),
    // An empty value switches the check of host names off.
    ("ssl.endpoint.identification.algorithm", Words(Both, "ssl.endpoint.identification.algorithm", &[("", "none")])),
    ("batch.size", Same(Publisher, "batch.size")),
    ("buffer.memory", Kilobytes(Publisher, "queue.buffering.max.kbytes")),
    ("compression.type", Same(Publisher, "compression.type")),
    ("linger.ms", Same(Publisher, "linger.ms")),
    ("max.in.flight.requests.per.connection", Same(Publisher, "max.in.flight.requests.per.connection")),
    ("max.request.size", Same(Publisher, "message.max.bytes")),
    ("retries", Same(Publisher, "retries")),
    ("auto.offset.reset", Words(Consumer, "auto.offset.reset", &[("none", "error")])),
    ("check.crcs", Same(Consumer, "check.crcs")),
    ("fetch.max.bytes", Same(Consumer, "fetch.max.bytes")),
    ("fetch.max.wait.ms", Same(Consumer, "fetch.wait.max.ms")),
    ("fetch.min.bytes", Same(Consumer, "fetch.min.bytes")),
    ("group.instance.id", Same(Consumer, "group.instance.id")),
    ("heartbeat.interval.ms", Same(Consumer, "heartbeat.interval.ms")),
    ("isolation.level", Same(Consumer, "isolation.level")),
    ("max.partition.fetch.bytes", Same(Consumer, "max.partition.fetch.bytes")),
    ("max.poll.interval.ms", Same(Consumer, "max.poll.interval.ms")),
    (
        "partition.assignment.strategy",
        Words(
            Consumer,
            "partition.assignment.strategy",
            &[
                ("org.apache.kafka.clients.consumer.RangeAssignor", "range"),
                ("org.apache.kafka.clients.consumer.RoundRobinAssignor", "roundrobin"),
                ("org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"),
            ],
        ),
    ),
    ("session.timeout.ms", Same(Consumer, "session.timeout.ms")),
    ("acks", Anyway(&["all", "-1"])),
    ("enable.auto.commit", Anyway(&["false"])),
    ("enable.idempotence", Anyway(&["true"])),
    ("auto.include.jmx.reporter", NoEffect),
    ("default.api.timeout.ms", NoEffect),
    ("enable.metrics.push", NoEffect),
    ("key.deserializer", NoEffect),
    ("key.serializer", NoEffect),
    ("max.block.ms", NoEffect),
    ("max.poll.records", NoEffect),
    ("metric.reporters", NoEffect),
    ("metrics.num.samples", NoEffect),
    ("metrics.recording.level", NoEffect),
    ("metrics.sample.window.ms", NoEffect),
    ("value.deserializer", NoEffect),
    ("value.serializer", NoEffect),
    ("interceptor.classes", Refused(OWN_CODE)),
    ("partitioner.class", Refused("it is murmur2, as in the Java client without this key")),
    ("sasl.client.callback.handler.class", Refused(OWN_CODE)),
    ("sasl.kerberos.service.name", Refused(BY_PROPERTY)),
    ("sasl.login.callback.handler.class", Refused(OWN_CODE)),
    ("sasl.login.class", Refused(OWN_CODE)),
    ("security.providers", Refused(OWN_CODE)),
    ("ssl.cipher.suites", Refused("OpenSSL has other names for them; give those to `property` of the builder")),
    ("ssl.enabled.protocols", Refused("TLS 1.2 and 1.3 are used, as OpenSSL is set up to")),
    ("ssl.engine.factory.class", Refused(OWN_CODE)),
    ("ssl.protocol", Refused("TLS 1.2 and 1.3 are used, as OpenSSL is set up to")),
];

pub(super) fn rule(key: &str) -> Option<Rule> {
    KEYS.iter().find(|(other, _)| *other == key).map(|(_, rule)| *rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka;

    #[test]
    fn the_client_library_knows_every_property_that_a_key_stands_for() {
        for (key, rule) in KEYS {
            let (name, values): (_, &[&str]) = match rule {
                Same(_, name) | Kilobytes(_, name) => {
                    (name, &["1", "60000", "none", "read_committed", "use_all_dns_ips", "true"])
                }
                Words(_, name, words) => (name, &words.iter().map(|(_, to)| *to).collect::<Vec<_>>()),
                _ => continue,
            };
            let is_known = values.iter().any(|value| kafka::check_property(name, value).is_ok());
            assert!(is_known || needs_tls(name), "{key}: {name} takes none of {values:?}");
        }
    }

    fn needs_tls(name: &str) -> bool {
        cfg!(not(feature = "tls")) && name.starts_with("ssl.")
    }

    #[test]
    fn a_key_has_one_rule() {
        for (index, (key, _)) in KEYS.iter().enumerate() {
            assert!(KEYS.iter().skip(index + 1).all(|(other, _)| other != key), "{key}");
        }
    }
}
