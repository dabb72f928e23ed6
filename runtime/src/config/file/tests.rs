use std::path::PathBuf;

use super::*;
use crate::config::{Scope, Security};

const JAAS_SCRAM: &str = "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  \
                          username=\"alice\" password=\"hunter2\";\n";
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE----- \\\n QQ== \\\n -----END CERTIFICATE-----";
const KEY: &str = "-----BEGIN PRIVATE KEY----- QQ== -----END PRIVATE KEY-----";

/// A client library that takes every property.
fn check(name: &str, value: &str) -> Result<(), ConfigError> {
    let refused = || ConfigError::Property { name: name.to_owned(), reason: "is no number".to_owned() };
    if value == "hunter2" { Err(refused()) } else { Ok(()) }
}

/// A folder with a file of each kind.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, bytes) in
            [("store.pem", &b"x"[..]), ("store.p12", b"\x30\x82\x00\x00"), ("store.jks", b"\xfe\xed\xfe\xed\x00")]
        {
            fs::write(folder.path(name), bytes).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `$` stands for this folder.
    fn applied(&self, text: &str) -> Result<Config, ConfigError> {
        let path = self.path("client.properties");
        fs::write(&path, text.replace('$', &self.0.path().display().to_string())).unwrap();
        let mut config = Config::new("before:9092".to_owned());
        apply(&mut config, &path, check)?;
        Ok(config)
    }

    fn security(&self, text: &str) -> Vec<(&'static str, String)> {
        let config = self.applied(text).unwrap();
        config.validate().unwrap();
        let folder = format!("{}/", self.0.path().display());
        config.security.properties().into_iter().map(|(name, value)| (name, value.replace(&folder, ""))).collect()
    }

    /// The line and the key of what is refused.
    fn refused(&self, text: &str) -> (usize, String) {
        let error = self.applied(text).unwrap_err();
        let text = error.to_string();
        assert!(!text.contains("hunter2"), "{text}");
        let ConfigError::InFile { path, line, error } = error else { panic!("{text}") };
        assert_eq!(path, self.path("client.properties"));
        match *error {
            ConfigError::Property { name, .. } | ConfigError::Owned { name, .. } => (line, name),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn the_usual_keys_are_taken_over_for_the_client_that_has_them() {
    let config = Folder::new()
        .applied(
            "bootstrap.servers = a:1, b:2\nclient.id=orders\ndelivery.timeout.ms=10000\nlinger.ms=5\n\
             compression.type=lz4\nbuffer.memory=1048577\nsession.timeout.ms=10000\nauto.offset.reset=none\n\
             request.timeout.ms=9000\nacks=all\nenable.idempotence=true\nenable.auto.commit=false\n\
             key.serializer=org.apache.kafka.common.serialization.StringSerializer\n\
             partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor, \
             org.apache.kafka.clients.consumer.RoundRobinAssignor\n",
        )
        .unwrap();
    assert_eq!((config.brokers.as_str(), config.client_id.as_str()), ("a:1, b:2", "orders"));
    assert_eq!(config.delivery_timeout, Duration::from_secs(10));
    let of = |scope| config.properties(scope).collect::<Vec<_>>();
    assert_eq!(of(Scope::Both), [("socket.timeout.ms", "9000")]);
    assert_eq!(
        of(Scope::Publisher),
        [("linger.ms", "5"), ("compression.type", "lz4"), ("queue.buffering.max.kbytes", "1025")]
    );
    assert_eq!(
        of(Scope::Consumer),
        [
            ("session.timeout.ms", "10000"),
            ("auto.offset.reset", "error"),
            ("partition.assignment.strategy", "range,roundrobin")
        ]
    );
    assert_eq!(config.validate(), Ok(()));
    assert_eq!(config.security.properties(), []);
}

#[test]
fn an_account_over_tls_is_taken_over() {
    let folder = Folder::new();
    let text = format!(
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n{JAAS_SCRAM}\
         ssl.truststore.type=PEM\nssl.truststore.location=$/store.pem\nssl.endpoint.identification.algorithm=\n"
    );
    let expected = [
        ("security.protocol", "SASL_SSL"),
        ("ssl.ca.location", "store.pem"),
        ("sasl.mechanism", "SCRAM-SHA-512"),
        ("sasl.username", "alice"),
        ("sasl.password", "hunter2"),
    ];
    assert_eq!(folder.security(&text), expected.map(|(name, value)| (name, value.to_owned())));
    let config = folder.applied(&text).unwrap();
    let properties: Vec<_> = config.properties(Scope::Both).collect();
    assert_eq!(properties, [("ssl.endpoint.identification.algorithm", "none")]);
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn every_kind_of_store_that_openssl_reads_is_taken() {
    let folder = Folder::new();
    let names = |text: &str| {
        let found = folder.security(&format!("security.protocol=SSL\n{text}"));
        found.into_iter().skip(1).collect::<Vec<_>>()
    };
    let owned = |expected: &[(&'static str, &str)]| -> Vec<_> {
        expected.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    };
    assert_eq!(names(""), []);
    let pem = "-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----\n";
    assert_eq!(
        names(&format!("ssl.truststore.type=PEM\nssl.truststore.certificates={CERTIFICATE}\n")),
        owned(&[("ssl.ca.pem", pem)])
    );
    assert_eq!(
        names(&format!(
            "ssl.keystore.type=PEM\nssl.keystore.key={KEY}\nssl.keystore.certificate.chain={CERTIFICATE}\n\
             ssl.key.password=k\n"
        )),
        owned(&[
            ("ssl.certificate.pem", pem),
            ("ssl.key.pem", "-----BEGIN PRIVATE KEY-----\nQQ==\n-----END PRIVATE KEY-----\n"),
            ("ssl.key.password", "k"),
        ])
    );
    assert_eq!(
        names("ssl.keystore.type=PEM\nssl.keystore.location=$/store.pem\n"),
        owned(&[("ssl.certificate.location", "store.pem"), ("ssl.key.location", "store.pem")])
    );
    // Java takes the one for the other.
    for kind in ["ssl.keystore.type=PKCS12\n", "ssl.keystore.type=JKS\n", ""] {
        for more in ["", "ssl.key.password=k\n"] {
            assert_eq!(
                names(&format!("{kind}ssl.keystore.location=$/store.p12\nssl.keystore.password=k\n{more}")),
                owned(&[("ssl.keystore.location", "store.p12"), ("ssl.keystore.password", "k")])
            );
        }
    }
}

#[test]
fn a_java_key_store_is_refused_with_the_command_that_converts_it() {
    let folder = Folder::new();
    for (text, command) in [
        ("ssl.truststore.location=$/store.jks\nssl.truststore.password=hunter2\n", "keytool -list -rfc"),
        ("ssl.truststore.type=PKCS12\nssl.truststore.location=$/store.p12\n", "keytool -list -rfc"),
        ("ssl.keystore.location=$/store.jks\nssl.keystore.password=hunter2\n", "keytool -importkeystore"),
    ] {
        let error = folder.applied(&format!("security.protocol=SSL\n{text}")).unwrap_err().to_string();
        assert!(error.contains(command) && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn what_cannot_be_taken_is_told_by_line_and_key_and_not_by_value() {
    let folder = Folder::new();
    let on = "security.protocol=SASL_SSL\n";
    let ssl = "security.protocol=SSL\n";
    let pem = "security.protocol=SSL\nssl.keystore.type=PEM\nssl.truststore.type=PEM\n";
    for (text, line, key) in [
        ("\nlinger.msec=hunter2\n".to_owned(), 2, "linger.msec"),
        ("linger.ms=hunter2\n".to_owned(), 1, "linger.ms"),
        ("max.request.size=hunter2\n".to_owned(), 1, "max.request.size"),
        ("buffer.memory=hunter2\n".to_owned(), 1, "buffer.memory"),
        ("delivery.timeout.ms=0\n".to_owned(), 1, "delivery.timeout.ms"),
        ("group.id=hunter2\n".to_owned(), 1, "group.id"),
        ("transactional.id=hunter2\n".to_owned(), 1, "transactional.id"),
        ("acks=1\n".to_owned(), 1, "acks"),
        ("enable.auto.commit=true\n".to_owned(), 1, "enable.auto.commit"),
        ("interceptor.classes=hunter2\n".to_owned(), 1, "interceptor.classes"),
        ("security.protocol=hunter2\n".to_owned(), 1, "security.protocol"),
        // Without a protocol nothing would be encrypted.
        (JAAS_SCRAM.to_owned(), 1, "sasl.jaas.config"),
        ("ssl.truststore.location=$/store.pem\n".to_owned(), 1, "ssl.truststore.location"),
        (format!("{ssl}sasl.mechanism=PLAIN\n"), 2, "sasl.mechanism"),
        (format!("{on}{JAAS_SCRAM}"), 1, "security.protocol"),
        (format!("{on}sasl.mechanism=PLAIN\n"), 1, "security.protocol"),
        (format!("{on}sasl.mechanism=GSSAPI\n{JAAS_SCRAM}"), 2, "sasl.mechanism"),
        (format!("{on}sasl.mechanism=PLAIN\n{JAAS_SCRAM}"), 3, "sasl.jaas.config"),
        (format!("{ssl}ssl.truststore.certificates={CERTIFICATE}\n"), 2, "ssl.truststore.certificates"),
        (format!("{pem}ssl.truststore.certificates=hunter2\n"), 4, "ssl.truststore.certificates"),
        (format!("{pem}ssl.truststore.location=a\nssl.truststore.password=hunter2\n"), 5, "ssl.truststore.password"),
        (format!("{pem}ssl.keystore.location=a\nssl.keystore.password=hunter2\n"), 5, "ssl.keystore.password"),
        (format!("{pem}ssl.keystore.location=a\nssl.keystore.key={KEY}\n"), 5, "ssl.keystore.key"),
        (format!("{pem}ssl.keystore.key={KEY}\n"), 4, "ssl.keystore.key"),
        (format!("{pem}ssl.keystore.certificate.chain=hunter2\n"), 4, "ssl.keystore.certificate.chain"),
        (format!("{ssl}ssl.keystore.key={KEY}\n"), 2, "ssl.keystore.key"),
        (format!("{ssl}ssl.keystore.location=$/store.p12\n"), 2, "ssl.keystore.location"),
        (format!("{ssl}ssl.keystore.password=hunter2\n"), 2, "ssl.keystore.password"),
        (format!("{ssl}ssl.key.password=hunter2\n"), 2, "ssl.key.password"),
        (
            format!("{ssl}ssl.keystore.location=$/store.p12\nssl.keystore.password=a\nssl.key.password=hunter2\n"),
            4,
            "ssl.key.password",
        ),
    ] {
        assert_eq!(folder.refused(&text), (line, key.to_owned()), "{text}");
    }
}

#[test]
fn a_malformed_line_and_a_missing_file_are_named() {
    let folder = Folder::new();
    let error = folder.applied("a=1\n\nclient.id=\\u12\n").unwrap_err();
    let ConfigError::InFile { line: 3, error, .. } = error else { panic!("{error}") };
    assert!(matches!(*error, ConfigError::Line { .. }), "{error}");
    let mut config = Config::new(String::new());
    let missing = apply(&mut config, &folder.path("missing"), check);
    assert!(matches!(missing, Err(ConfigError::File { what: "the properties file", .. })), "{missing:?}");
    assert!(matches!(config.security, Security { tls: None, sasl: None }));
}
