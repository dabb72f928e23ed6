//! Connection settings from a properties file as Java clients have it.

mod jaas;
mod keys;
mod pem;
mod properties;
mod stores;

use std::{fs, path::Path, time::Duration};

use self::{
    keys::{Rule, rule},
    properties::{Malformed, Property},
};
use super::{
    Config, ConfigError, OWNED,
    security::{Mechanism, Protocol, Sasl},
};

const PROTOCOL: &str = "security.protocol";
const MECHANISM: &str = "sasl.mechanism";
const JAAS: &str = "sasl.jaas.config";

/// Takes over what the file says. `check` asks the client library whether it takes a property.
pub(crate) fn apply(
    config: &mut Config,
    path: &Path,
    check: impl Fn(&str, &str) -> Result<(), ConfigError>,
) -> Result<(), ConfigError> {
    let bytes = fs::read(path).map_err(|error| ConfigError::File {
        what: "the properties file",
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let in_file = |line, error| ConfigError::InFile { path: path.to_owned(), line, error: Box::new(error) };
    let properties =
        properties::parse(&bytes).map_err(|Malformed { line, reason }| in_file(line, ConfigError::Line { reason }))?;
    let mut given = Given(Vec::new());
    for property in properties {
        let Property { line, key, value } = &property;
        if is_about_security(key) {
            given.0.push(property);
            continue;
        }
        match setting(config, key, value.trim(), &check) {
            Ok(true) => {}
            Ok(false) => tracing::warn!(file = %path.display(), line, key, "a setting that has no effect here"),
            Err(error) => return Err(in_file(*line, error)),
        }
    }
    given.apply(config).map_err(|(property, error)| in_file(property.line, error))
}

fn is_about_security(key: &str) -> bool {
    [PROTOCOL, MECHANISM, JAAS, stores::KEY_PASSWORD].iter().chain(&stores::KEYS).any(|other| *other == key)
}

/// Takes over one setting; `false` when it has no effect.
fn setting(
    config: &mut Config,
    key: &str,
    value: &str,
    check: impl Fn(&str, &str) -> Result<(), ConfigError>,
) -> Result<bool, ConfigError> {
    let refused = |reason: &str| ConfigError::Property { name: key.to_owned(), reason: reason.to_owned() };
    match key {
        "bootstrap.servers" => config.brokers = value.to_owned(),
        "client.id" => config.client_id = value.to_owned(),
        "delivery.timeout.ms" => {
            let millis: Option<u32> =
                value.parse().ok().filter(|millis| (1..=i32::MAX.cast_unsigned()).contains(millis));
            let millis = millis.ok_or_else(|| refused("has to be a number of milliseconds, up to 2147483647"))?;
            config.delivery_timeout = Duration::from_millis(millis.into());
        }
        _ => {
            let (scope, name, value) = match rule(key) {
                Some(Rule::Same(scope, name)) => (scope, name, value.to_owned()),
                Some(Rule::Kilobytes(scope, name)) => {
                    let bytes: u64 = value.parse().map_err(|_| refused("has to be a number of bytes"))?;
                    (scope, name, bytes.div_ceil(1024).to_string())
                }
                Some(Rule::Words(scope, name, words)) => (scope, name, in_other_words(value, words)),
                Some(Rule::Anyway(values)) if values.contains(&value) => return Ok(true),
                Some(Rule::NoEffect) => return Ok(false),
                Some(Rule::Refused(reason)) => return Err(refused(reason)),
                Some(Rule::Anyway(_)) | None => {
                    return Err(match OWNED.iter().find(|(owned, _)| *owned == key) {
                        Some((_, reason)) => ConfigError::Owned { name: key.to_owned(), reason },
                        None => refused(
                            "no setting of the Java client that is known here; give a property of librdkafka to \
                             `property` of the builder",
                        ),
                    });
                }
            };
            check(name, &value).map_err(|error| match error {
                ConfigError::Property { reason, .. } => refused(&reason),
                other => other,
            })?;
            config.set(scope, name.to_owned(), value);
        }
    }
    Ok(true)
}

/// A list is taken word by word.
fn in_other_words(value: &str, words: &[(&str, &str)]) -> String {
    let other = |word: &str| words.iter().find(|(from, _)| *from == word).map_or(word, |(_, to)| *to).to_owned();
    value.split(',').map(|word| other(word.trim())).collect::<Vec<_>>().join(",")
}

/// Those properties of the file that are about security.
struct Given(Vec<Property>);

impl Given {
    fn get(&self, key: &str) -> Option<&Property> {
        self.0.iter().find(|property| property.key == key)
    }

    fn apply(&self, config: &mut Config) -> Result<(), (&Property, ConfigError)> {
        let refused = |property: &Property, reason: &str| ConfigError::Property {
            name: property.key.clone(),
            reason: reason.to_owned(),
        };
        let protocol = self.get(PROTOCOL);
        let (tls, sasl) = match protocol.map(|property| (property, Protocol::named(property.value.trim()))) {
            Some((property, None)) => {
                return Err((property, refused(property, &format!("has to be {}", Protocol::NAMES))));
            }
            Some((_, Some(Protocol { tls, sasl }))) => (tls, sasl),
            None => (false, false),
        };
        for property in &self.0 {
            let (is_used, protocols) = match property.key.as_str() {
                PROTOCOL => continue,
                MECHANISM | JAAS => (sasl, "SASL_PLAINTEXT or SASL_SSL"),
                _ => (tls, "SSL or SASL_SSL"),
            };
            if !is_used {
                let reason = format!("is of no use unless `security.protocol` is {protocols}");
                return Err((property, refused(property, &reason)));
            }
        }
        let Some(protocol) = protocol else { return Ok(()) };
        config.security.tls = if tls { Some(stores::tls(self)?) } else { None };
        config.security.sasl = if sasl { Some(self.sasl(protocol)?) } else { None };
        Ok(())
    }

    fn sasl<'a>(&'a self, protocol: &'a Property) -> Result<Sasl, (&'a Property, ConfigError)> {
        let refused =
            |property: &'a Property, reason| (property, ConfigError::Property { name: property.key.clone(), reason });
        let needed = |key| self.get(key).ok_or_else(|| refused(protocol, format!("needs `{key}`")));
        let mechanism = needed(MECHANISM)?;
        let jaas = needed(JAAS)?;
        let known = Mechanism::named(mechanism.value.trim()).ok_or_else(|| {
            let others = "give librdkafka's settings for another one to `property` of the builder";
            refused(mechanism, format!("has to be {}; {others}", Mechanism::NAMES))
        })?;
        jaas::account(&jaas.value, known).map_err(|reason| refused(jaas, reason))
    }
}

#[cfg(test)]
mod tests;
