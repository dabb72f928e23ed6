//! Key stores and trust stores of a properties file: those that OpenSSL reads, and what to do about the others.

use std::{fs::File, io::Read as _, path::Path};

use super::{Given, pem::unfolded, properties::Property};
use crate::config::{ConfigError, Tls};

pub(super) const KEYS: [&str; 9] = [
    TRUST_TYPE,
    TRUST_LOCATION,
    TRUST_CERTIFICATES,
    TRUST_PASSWORD,
    KEY_TYPE,
    KEY_LOCATION,
    KEY,
    CHAIN,
    STORE_PASSWORD,
];
pub(super) const KEY_PASSWORD: &str = "ssl.key.password";

const TRUST_TYPE: &str = "ssl.truststore.type";
const TRUST_LOCATION: &str = "ssl.truststore.location";
const TRUST_CERTIFICATES: &str = "ssl.truststore.certificates";
const TRUST_PASSWORD: &str = "ssl.truststore.password";
const KEY_TYPE: &str = "ssl.keystore.type";
const KEY_LOCATION: &str = "ssl.keystore.location";
const KEY: &str = "ssl.keystore.key";
const CHAIN: &str = "ssl.keystore.certificate.chain";
const STORE_PASSWORD: &str = "ssl.keystore.password";

const NOT_WITH_PEM: &str = "is not for PEM, as in the Java client";
const ALREADY: &str = "is given, and so is the location of a file";

type Refused<'a> = (&'a Property, ConfigError);

/// What the keys say of TLS. The property that is at fault comes with an error.
pub(super) fn tls(given: &Given) -> Result<Tls, Refused<'_>> {
    let tls = trusted(given)?;
    let tls = identity(given, tls)?;
    match given.get(KEY_PASSWORD) {
        Some(password) if given.get(KEY_LOCATION).or(given.get(KEY)).is_none() => {
            refused(password, "is of no use without `ssl.keystore.location` or `ssl.keystore.key`")
        }
        Some(password) if is_pem(given, KEY_TYPE) => Ok(tls.key_password(&password.value)),
        // The client library has one password for the store and the key in it.
        Some(password) if given.get(STORE_PASSWORD).is_none_or(|store| store.value != password.value) => {
            refused(password, "has to be the same as `ssl.keystore.password`")
        }
        _ => Ok(tls),
    }
}

fn trusted(given: &Given) -> Result<Tls, Refused<'_>> {
    let (location, certificates) = (given.get(TRUST_LOCATION), given.get(TRUST_CERTIFICATES));
    let is_pem = is_pem(given, TRUST_TYPE);
    match (location, certificates) {
        (Some(_), Some(certificates)) => return refused(certificates, ALREADY),
        (Some(location), None) if !is_pem => {
            return refused(
                location,
                "a trust store has to be PEM here: write it out by `keytool -list -rfc -keystore THIS-FILE > ca.pem` \
                 and set `ssl.truststore.type=PEM` and `ssl.truststore.location=ca.pem`, without a password",
            );
        }
        (None, Some(certificates)) if !is_pem => return refused(certificates, "needs `ssl.truststore.type=PEM`"),
        _ => {}
    }
    if let Some(password) = given.get(TRUST_PASSWORD) {
        return refused(password, NOT_WITH_PEM);
    }
    match (location, certificates) {
        (Some(location), _) => Ok(Tls::ca_file(location.value.trim())),
        (None, Some(certificates)) => Ok(Tls::ca_pem(text(certificates)?)),
        (None, None) => Ok(Tls::system_roots()),
    }
}

fn identity(given: &Given, tls: Tls) -> Result<Tls, Refused<'_>> {
    let (location, password) = (given.get(KEY_LOCATION), given.get(STORE_PASSWORD));
    let is_pem = is_pem(given, KEY_TYPE);
    match (location, given.get(KEY), given.get(CHAIN)) {
        (Some(_), Some(inside), _) | (Some(_), None, Some(inside)) => refused(inside, ALREADY),
        (None, Some(inside), _) | (None, None, Some(inside)) if !is_pem => {
            refused(inside, "needs `ssl.keystore.type=PEM`")
        }
        (None, Some(key), None) => refused(key, "needs `ssl.keystore.certificate.chain`"),
        (None, None, Some(chain)) => refused(chain, "needs `ssl.keystore.key`"),
        (Some(_), None, None) | (None, Some(_), Some(_)) if is_pem && password.is_some() => {
            password.map_or(Ok(tls), |password| refused(password, NOT_WITH_PEM))
        }
        (None, Some(key), Some(chain)) => Ok(tls.certificate_pem(text(chain)?, text(key)?)),
        (Some(location), None, None) if is_pem => {
            let path = location.value.trim();
            Ok(tls.certificate_files(path, path))
        }
        (Some(location), None, None) => {
            let path = location.value.trim();
            // Java reads both kinds, whatever type is said.
            if is_java_store(path.as_ref()) {
                return refused(
                    location,
                    "is a Java key store (JKS): convert it by `keytool -importkeystore -srckeystore THIS-FILE \
                     -destkeystore client.p12 -deststoretype PKCS12` and set `ssl.keystore.type=PKCS12`",
                );
            }
            match password {
                Some(password) => Ok(tls.certificate_pkcs12(path).key_password(&password.value)),
                None => refused(location, "needs `ssl.keystore.password`"),
            }
        }
        (None, None, None) => match password {
            Some(password) => refused(password, "is of no use without `ssl.keystore.location`"),
            None => Ok(tls),
        },
    }
}

fn is_pem(given: &Given, key: &str) -> bool {
    given.get(key).is_some_and(|kind| kind.value.trim().eq_ignore_ascii_case("PEM"))
}

fn is_java_store(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == [0xfe, 0xed, 0xfe, 0xed]
}

fn text(property: &Property) -> Result<String, Refused<'_>> {
    unfolded(&property.value).map_or_else(|| refused(property, "holds no PEM block"), Ok)
}

fn refused<'a, T>(property: &'a Property, reason: &str) -> Result<T, Refused<'a>> {
    Err((property, ConfigError::Property { name: property.key.clone(), reason: reason.to_owned() }))
}
