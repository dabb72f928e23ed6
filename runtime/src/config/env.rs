//! Connection settings from environment variables.

use std::ffi::OsString;

use super::{
    Config, ConfigError,
    security::{Mechanism, Protocol, Sasl, Tls},
};

const BROKERS: &str = "BABELQUEUE_BROKERS";
const CLIENT_ID: &str = "BABELQUEUE_CLIENT_ID";
const PROTOCOL: &str = "BABELQUEUE_SECURITY_PROTOCOL";
const MECHANISM: &str = "BABELQUEUE_SASL_MECHANISM";
const USER: &str = "BABELQUEUE_SASL_USERNAME";
const PASSWORD: &str = "BABELQUEUE_SASL_PASSWORD";
const CA_FILE: &str = "BABELQUEUE_SSL_CA_FILE";
const CERTIFICATE_FILE: &str = "BABELQUEUE_SSL_CERTIFICATE_FILE";
const KEY_FILE: &str = "BABELQUEUE_SSL_KEY_FILE";
const KEY_PASSWORD: &str = "BABELQUEUE_SSL_KEY_PASSWORD";

const SASL: [&str; 3] = [MECHANISM, USER, PASSWORD];
const SSL: [&str; 4] = [CA_FILE, CERTIFICATE_FILE, KEY_FILE, KEY_PASSWORD];
/// A variable that begins so and is none of the above is a misspelt one. Without its setting the client would connect
/// in another way than was meant.
const PREFIXES: [&str; 3] = ["BABELQUEUE_SECURITY_", "BABELQUEUE_SASL_", "BABELQUEUE_SSL_"];

/// Takes over what the variables say; one that is not set, or blank, says nothing.
pub(crate) fn apply(
    config: &mut Config,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<(), ConfigError> {
    let variables = Variables::read(variables)?;
    if let Some(brokers) = variables.get(BROKERS) {
        config.brokers = brokers.to_owned();
    }
    if let Some(client_id) = variables.get(CLIENT_ID) {
        config.client_id = client_id.to_owned();
    }
    let protocol = match variables.get(PROTOCOL) {
        Some(name) => Some(Protocol::named(name).ok_or_else(|| wrong(PROTOCOL, one_of(Protocol::NAMES)))?),
        None => None,
    };
    for (names, needed, protocols) in [
        (&SASL[..], protocol.is_some_and(|protocol| protocol.sasl), "SASL_PLAINTEXT or SASL_SSL"),
        (&SSL[..], protocol.is_some_and(|protocol| protocol.tls), "SSL or SASL_SSL"),
    ] {
        if let Some(name) = names.iter().find(|name| !needed && variables.get(name).is_some()) {
            return Err(wrong(name, format!("is of no use unless {PROTOCOL} is {protocols}")));
        }
    }
    if let Some(protocol) = protocol {
        config.security.tls = if protocol.tls { Some(variables.tls()?) } else { None };
        config.security.sasl = if protocol.sasl { Some(variables.sasl()?) } else { None };
    }
    Ok(())
}

/// Those that begin with `BABELQUEUE_`.
struct Variables(Vec<(String, String)>);

impl Variables {
    fn read(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Self, ConfigError> {
        let mut read = Vec::new();
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with("BABELQUEUE_")) else { continue };
            let known = [BROKERS, CLIENT_ID, PROTOCOL].iter().chain(&SASL).chain(&SSL).any(|known| *known == name);
            if known {
                let value = value.into_string().map_err(|_| wrong(name, "is not valid Unicode"))?;
                read.push((name.to_owned(), value));
            } else if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                let known = [&[PROTOCOL][..], &SASL, &SSL].concat().join(", ");
                return Err(wrong(name, format!("is not known; there are {known}")));
            }
        }
        Ok(Self(read))
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
        value.filter(|value| !value.trim().is_empty())
    }

    fn needed(&self, name: &'static str, by: &str) -> Result<&str, ConfigError> {
        self.get(name).ok_or_else(|| wrong(name, format!("is not set, and {by} needs it")))
    }

    fn sasl(&self) -> Result<Sasl, ConfigError> {
        let by = format!("this {PROTOCOL}");
        let mechanism = self.needed(MECHANISM, &by)?;
        let mechanism = Mechanism::named(mechanism).ok_or_else(|| wrong(MECHANISM, one_of(Mechanism::NAMES)))?;
        Ok(Sasl::new(mechanism, self.needed(USER, &by)?, self.needed(PASSWORD, &by)?))
    }

    fn tls(&self) -> Result<Tls, ConfigError> {
        let mut tls = self.get(CA_FILE).map_or_else(Tls::system_roots, Tls::ca_file);
        match (self.get(CERTIFICATE_FILE), self.get(KEY_FILE)) {
            (Some(certificate), Some(key)) => tls = tls.certificate_files(certificate, key),
            (Some(_), None) => return Err(wrong(KEY_FILE, format!("is not set, and {CERTIFICATE_FILE} needs it"))),
            (None, Some(_)) => return Err(wrong(CERTIFICATE_FILE, format!("is not set, and {KEY_FILE} needs it"))),
            (None, None) => {}
        }
        if let Some(password) = self.get(KEY_PASSWORD) {
            self.needed(KEY_FILE, KEY_PASSWORD)?;
            tls = tls.key_password(password);
        }
        Ok(tls)
    }
}

fn one_of(names: &str) -> String {
    format!("has to be {names}")
}

fn wrong(name: &str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Environment { name: name.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let mut config = Config::new("before:9092".to_owned());
        apply(&mut config, variables.iter().map(|(name, value)| (name.into(), value.into())))?;
        Ok(config)
    }

    fn properties(variables: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        applied(variables).unwrap().security.properties()
    }

    #[test]
    fn what_is_not_said_stays_as_it_was() {
        let config = applied(&[("BABELQUEUE_BROKERS", " "), ("PATH", "/bin"), ("BABELQUEUE_SSL_CA_FILE", "")]).unwrap();
        assert_eq!((config.brokers.as_str(), config.client_id.as_str()), ("before:9092", "babelqueue"));
        assert_eq!(config.security.properties(), []);
        let config = applied(&[("BABELQUEUE_BROKERS", "a:1,b:2"), ("BABELQUEUE_CLIENT_ID", "orders")]).unwrap();
        assert_eq!((config.brokers.as_str(), config.client_id.as_str()), ("a:1,b:2", "orders"));
    }

    #[test]
    fn an_account_over_tls_is_taken_over() {
        let expected = [
            ("security.protocol", "SASL_SSL"),
            ("ssl.ca.location", "ca.pem"),
            ("ssl.certificate.location", "a.pem"),
            ("ssl.key.location", "a.key"),
            ("ssl.key.password", "k"),
            ("sasl.mechanism", "SCRAM-SHA-512"),
            ("sasl.username", "alice"),
            ("sasl.password", "secret"),
        ];
        let found = properties(&[
            ("BABELQUEUE_SECURITY_PROTOCOL", "sasl_ssl"),
            ("BABELQUEUE_SSL_CA_FILE", "ca.pem"),
            ("BABELQUEUE_SSL_CERTIFICATE_FILE", "a.pem"),
            ("BABELQUEUE_SSL_KEY_FILE", "a.key"),
            ("BABELQUEUE_SSL_KEY_PASSWORD", "k"),
            ("BABELQUEUE_SASL_MECHANISM", "SCRAM-SHA-512"),
            ("BABELQUEUE_SASL_USERNAME", "alice"),
            ("BABELQUEUE_SASL_PASSWORD", "secret"),
        ]);
        assert_eq!(found, expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(properties(&[("BABELQUEUE_SECURITY_PROTOCOL", "SSL")]).len(), 1);
        assert_eq!(properties(&[("BABELQUEUE_SECURITY_PROTOCOL", "PLAINTEXT")]), []);
    }

    #[test]
    fn a_misspelt_or_contradicting_variable_is_named_and_its_value_is_not() {
        const ON: (&str, &str) = (PROTOCOL, "SASL_SSL");
        const SECRET: &str = "hunter2";
        for (variables, named) in [
            (&[(PROTOCOL, SECRET)][..], PROTOCOL),
            (&[("BABELQUEUE_SASL_PASWORD", SECRET)], "BABELQUEUE_SASL_PASWORD"),
            // Without a protocol nothing would be encrypted.
            (&[(CA_FILE, SECRET)], CA_FILE),
            (&[(PASSWORD, SECRET)], PASSWORD),
            (&[(PROTOCOL, "SSL"), (PASSWORD, SECRET)], PASSWORD),
            (&[(PROTOCOL, "SASL_PLAINTEXT"), (CA_FILE, SECRET)], CA_FILE),
            (&[ON, (USER, SECRET), (PASSWORD, SECRET)], MECHANISM),
            (&[ON, (MECHANISM, SECRET), (USER, SECRET), (PASSWORD, SECRET)], MECHANISM),
            (&[ON, (MECHANISM, "PLAIN"), (PASSWORD, SECRET)], USER),
            (&[ON, (MECHANISM, "PLAIN"), (USER, SECRET), (PASSWORD, " ")], PASSWORD),
            (&[(PROTOCOL, "SSL"), (CERTIFICATE_FILE, SECRET)], KEY_FILE),
            (&[(PROTOCOL, "SSL"), (KEY_FILE, SECRET)], CERTIFICATE_FILE),
            (&[(PROTOCOL, "SSL"), (KEY_PASSWORD, SECRET)], KEY_FILE),
        ] {
            let error = applied(variables).unwrap_err();
            assert!(matches!(&error, ConfigError::Environment { name, .. } if name == named), "{error}");
            assert!(!error.to_string().contains(SECRET), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_not_unicode_is_refused_and_a_foreign_one_is_none_of_our_business() {
        use std::os::unix::ffi::OsStringExt as _;
        let broken = || OsString::from_vec(vec![0xff]);
        let mut config = Config::new("before:9092".to_owned());
        let ours = apply(&mut config, [(OsString::from(PASSWORD), broken())].into_iter());
        assert!(matches!(ours, Err(ConfigError::Environment { name, .. }) if name == PASSWORD));
        assert_eq!(apply(&mut config, [(broken(), broken())].into_iter()), Ok(()));
    }
}
