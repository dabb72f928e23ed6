//! Encryption and accounts: from typed settings to the client library's properties. Secrets are never shown.

use std::{
    fmt,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::ConfigError;

/// What stands for a secret in the output of `Debug`.
const HIDDEN: &str = "***";

/// Encryption by TLS: whom to trust, and how to prove who this client is (mutual TLS). Needs feature `tls`.
///
/// The broker's certificate is always checked, and so is the host name in it. Where a test cluster has certificates of
/// another name, `.property("ssl.endpoint.identification.algorithm", "none")` of the builder leaves out the latter; then
/// whoever holds any certificate of the same CA can pose as the broker.
///
/// Files are read when the client starts; [`KafkaBuilder::build`](crate::KafkaBuilder::build) only looks whether they can
/// be read.
///
/// ```
/// use babelqueue::Tls;
///
/// let tls = Tls::ca_file("/etc/kafka/ca.pem")
///     .certificate_files("/etc/kafka/orders.pem", "/etc/kafka/orders.key")
///     .key_password("of the key file");
/// assert!(!format!("{tls:?}").contains("of the key file"));
/// ```
#[derive(Clone)]
pub struct Tls {
    trusted: Trusted,
    identity: Option<Identity>,
    key_password: Option<String>,
}

#[derive(Clone)]
enum Trusted {
    System,
    File(PathBuf),
    Pem(String),
}

#[derive(Clone)]
enum Identity {
    Files { certificate: PathBuf, key: PathBuf },
    Pem { certificate: String, key: String },
    Pkcs12(PathBuf),
}

impl Tls {
    /// Trusts the certificate authorities that OpenSSL finds on this system.
    #[must_use]
    pub fn system_roots() -> Self {
        Self::trusting(Trusted::System)
    }

    /// Trusts the certificate authorities of a PEM file, and no others.
    #[must_use]
    pub fn ca_file(path: impl Into<PathBuf>) -> Self {
        Self::trusting(Trusted::File(path.into()))
    }

    /// Trusts the certificate authorities of a PEM text, and no others.
    #[must_use]
    pub fn ca_pem(pem: impl Into<String>) -> Self {
        Self::trusting(Trusted::Pem(pem.into()))
    }

    fn trusting(trusted: Trusted) -> Self {
        Self { trusted, identity: None, key_password: None }
    }

    /// The certificate of this client with those that lead to its CA, and its key: PEM files, which may be one.
    #[must_use]
    pub fn certificate_files(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.identity = Some(Identity::Files { certificate: certificate.into(), key: key.into() });
        self
    }

    /// The same as PEM texts.
    #[must_use]
    pub fn certificate_pem(mut self, certificate: impl Into<String>, key: impl Into<String>) -> Self {
        self.identity = Some(Identity::Pem { certificate: certificate.into(), key: key.into() });
        self
    }

    /// The same from a PKCS #12 key store, which [`Tls::key_password`] opens.
    #[must_use]
    pub fn certificate_pkcs12(mut self, path: impl Into<PathBuf>) -> Self {
        self.identity = Some(Identity::Pkcs12(path.into()));
        self
    }

    /// The password of the client's key or key store.
    #[must_use]
    pub fn key_password(mut self, password: impl Into<String>) -> Self {
        self.key_password = Some(password.into());
        self
    }

    /// Refuses files that cannot be read.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if let Trusted::File(path) = &self.trusted {
            readable("the CA file", path)?;
        }
        match &self.identity {
            Some(Identity::Files { certificate, key }) => {
                readable("the client's certificate", certificate)?;
                readable("the client's key", key)
            }
            Some(Identity::Pkcs12(path)) => readable("the client's key store", path),
            Some(Identity::Pem { .. }) => Ok(()),
            None if self.key_password.is_some() => Err(ConfigError::Setting {
                name: "key_password",
                reason: "is of no use without a certificate and a key of the client",
            }),
            None => Ok(()),
        }
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.display().to_string();
        let mut properties = match &self.trusted {
            Trusted::System => Vec::new(),
            Trusted::File(path) => vec![("ssl.ca.location", text(path))],
            Trusted::Pem(pem) => vec![("ssl.ca.pem", pem.clone())],
        };
        match &self.identity {
            Some(Identity::Files { certificate, key }) => {
                properties.push(("ssl.certificate.location", text(certificate)));
                properties.push(("ssl.key.location", text(key)));
            }
            Some(Identity::Pem { certificate, key }) => {
                properties.push(("ssl.certificate.pem", certificate.clone()));
                properties.push(("ssl.key.pem", key.clone()));
            }
            Some(Identity::Pkcs12(path)) => properties.push(("ssl.keystore.location", text(path))),
            None => {}
        }
        if let Some(password) = &self.key_password {
            let of_store = matches!(self.identity, Some(Identity::Pkcs12(_)));
            let name = if of_store { "ssl.keystore.password" } else { "ssl.key.password" };
            properties.push((name, password.clone()));
        }
        properties
    }
}

/// Opens the file and reads from it: a folder can be opened too.
fn readable(what: &'static str, path: &Path) -> Result<(), ConfigError> {
    let read = File::open(path).and_then(|mut file| file.read(&mut [0]));
    let failed = |error: std::io::Error| ConfigError::File { what, path: path.to_owned(), reason: error.to_string() };
    read.map(drop).map_err(failed)
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trusted, identity): (&dyn fmt::Debug, &dyn fmt::Debug) = (
            match &self.trusted {
                Trusted::System => &"system",
                Trusted::File(path) => path,
                Trusted::Pem(_) => &"PEM",
            },
            match &self.identity {
                Some(Identity::Files { certificate, .. }) => certificate,
                Some(Identity::Pem { .. }) => &"PEM",
                Some(Identity::Pkcs12(path)) => path,
                None => &"none",
            },
        );
        let password = self.key_password.as_ref().map(|_| HIDDEN);
        f.debug_struct("Tls")
            .field("trusted", trusted)
            .field("certificate", identity)
            .field("key_password", &password)
            .finish()
    }
}

/// An account, by user name and password (SASL).
///
/// Without [`Tls`] the traffic is not encrypted, and with `PLAIN` neither is the password. The two kinds of SCRAM need
/// feature `tls` in any case, for OpenSSL's hashes.
///
/// What the brokers refuse ends in an error that says so within ten seconds ([`KafkaError::is_refused`]): wrong
/// credentials, certificates or protocols before the first record, and a missing right when it is needed. The rights
/// (ACLs) that an account needs, each with its operation:
///
/// - to publish: `Write` on the topic;
/// - to consume: `Read` on the topics and on the group; `Write` on retry topics and dead-letter topic, and
///   `DescribeConfigs` on them for [`Kafka::check_topics`](crate::Kafka::check_topics);
/// - to reinject: `Read` on the retry topics and on the group, `Write` on the work topics;
/// - to redrive: `Read` and `Write` on the dead-letter topic, `Read` on the group, `Write` on the topics written to.
///
/// No transactional id is used, so no right to one is needed.
///
/// [`KafkaError::is_refused`]: crate::KafkaError::is_refused
///
/// ```
/// use babelqueue::{Kafka, Sasl};
///
/// let kafka = Kafka::builder().brokers("localhost:9092").sasl(Sasl::plain("orders", "secret")).build()?;
/// assert!(!format!("{kafka:?}").contains("secret"));
/// # Ok::<(), babelqueue::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Sasl {
    mechanism: Mechanism,
    user: String,
    password: String,
}

/// How the password is shown to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    Plain,
    ScramSha256,
    ScramSha512,
}

impl Mechanism {
    const ALL: [Self; 3] = [Self::Plain, Self::ScramSha256, Self::ScramSha512];
    pub(crate) const NAMES: &str = "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512";

    /// In any case of letters, as librdkafka takes them.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

impl Sasl {
    /// Mechanism `PLAIN`: the password itself is sent.
    #[must_use]
    pub fn plain(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Mechanism::Plain, user, password)
    }

    /// Mechanism `SCRAM-SHA-256`: the password is proved and not sent. Needs feature `tls`.
    #[must_use]
    pub fn scram_sha_256(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Mechanism::ScramSha256, user, password)
    }

    /// Mechanism `SCRAM-SHA-512`: the password is proved and not sent. Needs feature `tls`.
    #[must_use]
    pub fn scram_sha_512(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Mechanism::ScramSha512, user, password)
    }

    pub(crate) fn new(mechanism: Mechanism, user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { mechanism, user: user.into(), password: password.into() }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        for (name, text) in [("the user name of `sasl`", &self.user), ("the password of `sasl`", &self.password)] {
            if text.is_empty() {
                return Err(ConfigError::Setting { name, reason: "is empty" });
            }
        }
        Ok(())
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![
            ("sasl.mechanism", self.mechanism.name().to_owned()),
            ("sasl.username", self.user.clone()),
            ("sasl.password", self.password.clone()),
        ]
    }
}

impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sasl")
            .field("mechanism", &self.mechanism)
            .field("user", &self.user)
            .field("password", &HIDDEN)
            .finish()
    }
}

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
