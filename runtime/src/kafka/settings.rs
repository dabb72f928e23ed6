//! From connection settings to the client library's.

use rdkafka::{ClientConfig, error::KafkaError as ClientError};

use crate::config::{Config, ConfigError, Scope};

/// Tuned defaults of a consumer; a property of the same name replaces them.
const CONSUMER: [(&str, &str); 6] = [
    // A new group starts with the oldest record: a job that was published is handled.
    ("auto.offset.reset", "earliest"),
    // librdkafka waits this long after its local queue was full; its default of a second costs most of the throughput.
    ("fetch.queue.backoff.ms", "10"),
    // A partition that is resumed waits for the fetch that is under way, which without records takes this long.
    ("fetch.wait.max.ms", "100"),
    // Enough to keep the handlers busy, at a quarter of the memory.
    ("queued.min.messages", "10000"),
    // For all partitions together: with many of them, or large records, the line above would ask for far more.
    ("queued.max.messages.kbytes", "16384"),
    // A topic that is created after the subscription is found within seconds instead of five minutes.
    ("topic.metadata.refresh.interval.ms", "5000"),
];

/// Tuned defaults of a publisher; a property of the same name replaces them.
const PUBLISHER_DEFAULTS: [(&str, &str); 1] = [
    // How long an unknown topic may take to appear before it is an error; the default of 30 s hides a misspelt name.
    ("topic.metadata.propagation.max.ms", "5000"),
];

/// Properties of a publisher that nobody may change.
const PUBLISHER: [(&str, &str); 3] =
    [("enable.idempotence", "true"), ("acks", "all"), ("partitioner", "murmur2_random")];

/// Refuses a property that the client library does not know or a value that it does not take.
pub(crate) fn check(config: &Config) -> Result<(), ConfigError> {
    // The client library would say that a property is not supported.
    if let Some(what) = config.security.needs_openssl()
        && !has_openssl()?
    {
        return Err(ConfigError::Feature { what, feature: "tls" });
    }
    // Each by itself first: an alias is reported by the name that was given.
    for scope in [Scope::Both, Scope::Publisher, Scope::Consumer] {
        for (name, value) in config.properties(scope) {
            check_property(name, value)?;
        }
    }
    for client in [publisher(config), consumer(config, "check")] {
        client.create_native_config().map_err(refused)?;
    }
    Ok(())
}

/// The same for one property.
pub(crate) fn check_property(name: &str, value: &str) -> Result<(), ConfigError> {
    if let Some(what) = needs_openssl(name, value)
        && !has_openssl()?
    {
        return Err(ConfigError::Feature { what, feature: "tls" });
    }
    match ClientConfig::new().set(name, value).create_native_config().map_err(refused) {
        Err(ConfigError::Property { reason, .. }) => Err(ConfigError::Property { name: name.to_owned(), reason }),
        result => result.map(drop),
    }
}

fn needs_openssl(name: &str, value: &str) -> Option<&'static str> {
    let value = value.to_ascii_lowercase();
    match name {
        "security.protocol" if value.contains("ssl") => Some("TLS"),
        "sasl.mechanism" | "sasl.mechanisms" if value.contains("scram") => Some("SCRAM"),
        _ => name.starts_with("ssl.").then_some("TLS"),
    }
}

/// Whether the client library was built with OpenSSL: the feature `tls`, or what another crate has asked for.
fn has_openssl() -> Result<bool, ConfigError> {
    let features = ClientConfig::new().create_native_config().and_then(|config| config.get("builtin.features"));
    Ok(features.map_err(refused)?.split(',').any(|feature| feature.trim() == "ssl"))
}

/// The value stays out of the text: it may be a secret.
pub(super) fn refused(error: ClientError) -> ConfigError {
    match error {
        ClientError::ClientConfig(_, description, name, value) => ConfigError::Property {
            name,
            reason: if value.is_empty() { description } else { description.replace(&value, "(value)") },
        },
        ClientError::ClientCreation(reason) => ConfigError::Client { reason },
        other => ConfigError::Client { reason: other.to_string() },
    }
}

/// What every client needs.
fn common(config: &Config) -> ClientConfig {
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", &config.brokers).set("client.id", &config.client_id);
    for (name, value) in config.security.properties() {
        client.set(name, value);
    }
    for (name, value) in config.properties(Scope::Both) {
        client.set(name, value);
    }
    client
}

/// Asking for a topic must not create it, as some brokers do.
pub(super) fn admin(config: &Config) -> ClientConfig {
    let mut client = common(config);
    client.set("allow.auto.create.topics", "false");
    client
}

pub(super) fn publisher(config: &Config) -> ClientConfig {
    let mut client = common(config);
    for (name, value) in PUBLISHER_DEFAULTS.into_iter().chain(config.properties(Scope::Publisher)) {
        client.set(name, value);
    }
    client.set("message.timeout.ms", config.delivery_timeout.as_millis().to_string());
    for (name, value) in PUBLISHER {
        client.set(name, value);
    }
    client
}

pub(super) fn consumer(config: &Config, group: &str) -> ClientConfig {
    let mut client = common(config);
    for (name, value) in CONSUMER.into_iter().chain(config.properties(Scope::Consumer)) {
        client.set(name, value);
    }
    client.set("group.id", group).set("enable.auto.commit", "false").set("enable.auto.offset.store", "false");
    client
}
