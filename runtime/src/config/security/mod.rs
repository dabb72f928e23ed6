//! Encryption and accounts: from typed settings to the client library's properties. Secrets are never shown.

mod sasl;
mod tls;

pub(crate) use self::sasl::Mechanism;
pub use self::{sasl::Sasl, tls::Tls};
use super::ConfigError;

/// What stands for a secret in the output of `Debug`.
const HIDDEN: &str = "***";

/// The security protocol, by its name in every Kafka client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protocol {
    pub(crate) tls: bool,
    pub(crate) sasl: bool,
}

impl Protocol {
    const ALL: [Self; 4] = [
        Self { tls: false, sasl: false },
        Self { tls: true, sasl: false },
        Self { tls: false, sasl: true },
        Self { tls: true, sasl: true },
    ];
    pub(crate) const NAMES: &str = "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL";

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match (self.tls, self.sasl) {
            (false, false) => "PLAINTEXT",
            (true, false) => "SSL",
            (false, true) => "SASL_PLAINTEXT",
            (true, true) => "SASL_SSL",
        }
    }
}

/// How a connection is secured, as far as that was said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Security {
    pub(crate) tls: Option<Tls>,
    pub(crate) sasl: Option<Sasl>,
}

impl Security {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.tls.as_ref().map_or(Ok(()), Tls::validate)?;
        self.sasl.as_ref().map_or(Ok(()), Sasl::validate)
    }

    /// What was asked for that needs OpenSSL.
    pub(crate) fn needs_openssl(&self) -> Option<&'static str> {
        match &self.sasl {
            _ if self.tls.is_some() => Some("TLS"),
            Some(Sasl { mechanism, .. }) if *mechanism != Mechanism::Plain => Some("SCRAM"),
            _ => None,
        }
    }

    /// The client library's properties; none when nothing was said.
    pub(crate) fn properties(&self) -> Vec<(&'static str, String)> {
        let protocol = Protocol { tls: self.tls.is_some(), sasl: self.sasl.is_some() };
        if protocol == Protocol::ALL[0] {
            return Vec::new();
        }
        let mut properties = vec![("security.protocol", protocol.name().to_owned())];
        properties.extend(self.tls.iter().flat_map(Tls::properties));
        properties.extend(self.sasl.iter().flat_map(Sasl::properties));
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(tls: Option<Tls>, sasl: Option<Sasl>) -> Vec<(&'static str, String)> {
        Security { tls, sasl }.properties()
    }

    fn value(properties: &[(&'static str, String)], name: &str) -> Option<String> {
        properties.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn the_protocol_follows_from_what_was_asked_for() {
        let (tls, sasl) = (Tls::system_roots(), Sasl::plain("alice", "secret"));
        for (tls, sasl, protocol) in [
            (None, None, None),
            (Some(tls.clone()), None, Some("SSL")),
            (None, Some(sasl.clone()), Some("SASL_PLAINTEXT")),
            (Some(tls), Some(sasl), Some("SASL_SSL")),
        ] {
            assert_eq!(value(&properties(tls, sasl), "security.protocol").as_deref(), protocol);
        }
    }

    #[test]
    fn each_kind_of_certificate_has_its_properties() {
        let names = |tls: Tls| {
            let mut names: Vec<_> = properties(Some(tls), None).into_iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(Tls::system_roots()), ["security.protocol"]);
        assert_eq!(
            names(Tls::ca_file("ca.pem").certificate_files("a.pem", "a.key").key_password("x")),
            [
                "security.protocol",
                "ssl.ca.location",
                "ssl.certificate.location",
                "ssl.key.location",
                "ssl.key.password"
            ]
        );
        assert_eq!(
            names(Tls::ca_pem("x").certificate_pem("a", "b")),
            ["security.protocol", "ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem"]
        );
        assert_eq!(
            names(Tls::system_roots().key_password("x").certificate_pkcs12("a.p12")),
            ["security.protocol", "ssl.keystore.location", "ssl.keystore.password"]
        );
    }

    #[test]
    fn debug_shows_files_and_names_and_no_secret() {
        let tls = Tls::ca_pem("hunter2").certificate_pem("hunter2", "hunter2").key_password("hunter2");
        let files = Tls::ca_file("ca.pem").certificate_files("a.pem", "a.key");
        let sasl = Sasl::scram_sha_512("alice", "hunter2");
        let text = format!("{tls:?} {files:?} {sasl:?}");
        assert!(!text.contains("hunter2"), "{text}");
        for shown in ["ca.pem", "a.pem", "alice", "ScramSha512"] {
            assert!(text.contains(shown), "{text}");
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("there.pem");
        std::fs::write(&there, "x").unwrap();
        assert_eq!(Tls::ca_file(&there).certificate_files(&there, &there).validate(), Ok(()));
        let missing = folder.path().join("missing.pem");
        for (tls, what) in [
            (Tls::ca_file(&missing), "the CA file"),
            (Tls::ca_file(folder.path()), "the CA file"),
            (Tls::system_roots().certificate_files(&missing, &there), "the client's certificate"),
            (Tls::system_roots().certificate_files(&there, &missing), "the client's key"),
            (Tls::system_roots().certificate_pkcs12(&missing), "the client's key store"),
        ] {
            assert!(matches!(tls.validate(), Err(ConfigError::File { what: found, .. }) if found == what), "{what}");
        }
    }

    #[test]
    fn a_key_password_without_a_key_and_an_empty_account_are_refused() {
        assert!(matches!(Tls::system_roots().key_password("x").validate(), Err(ConfigError::Setting { .. })));
        for sasl in [Sasl::plain("", "x"), Sasl::plain("x", "")] {
            assert!(matches!(sasl.validate(), Err(ConfigError::Setting { .. })), "{sasl:?}");
        }
    }

    #[test]
    fn what_needs_openssl_is_said() {
        let sasl = |mechanism| Some(Sasl::new(mechanism, "a", "b"));
        let needs = |tls, sasl| Security { tls, sasl }.needs_openssl();
        assert_eq!(needs(None, sasl(Mechanism::Plain)), None);
        assert_eq!(needs(None, sasl(Mechanism::ScramSha256)), Some("SCRAM"));
        assert_eq!(needs(Some(Tls::system_roots()), None), Some("TLS"));
    }
}
