//! Encryption: whom to trust, and how to prove who this client is.

use std::{
    fmt,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::HIDDEN;
use crate::config::ConfigError;

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

    pub(super) fn properties(&self) -> Vec<(&'static str, String)> {
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
