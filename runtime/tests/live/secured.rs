//! A broker that is encrypted and asks who comes: `BABELQUEUE_SECURED_…` name its listeners and the certificates. Accounts
//! may do what a rule allows them, and nothing else.

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
    sync::Arc,
    time::Duration,
};

use babelqueue::{Delivery, HandlerError, Kafka, KafkaBuilder, Publisher, Sasl, Tls, routes};
use tokio::sync::Notify;

use crate::{
    Check,
    interop::python,
    jobs::{Numbered, create_topic_on, runtime, unique},
};

/// The first argument of the process that connects by environment variables alone.
pub(crate) const WORKER: &str = "secured-worker";

const PASSWORD: &str = "alice-secret";
const KEY_PASSWORD: &str = "key-secret";
const TIMEOUT: Duration = Duration::from_secs(30);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn variable(name: &str) -> Result<String> {
    let name = format!("BABELQUEUE_SECURED_{name}");
    std::env::var(&name)
        .map_err(|_| format!("{name} is not set: this test needs what `cargo xtask test live` starts").into())
}

/// Under the name that the broker's certificate has.
fn listener(name: &str) -> Result<String> {
    Ok(format!("localhost:{}", variable(&format!("{name}_PORT"))?))
}

fn certificate(file: &str) -> Result<PathBuf> {
    Ok(PathBuf::from(variable("CERTIFICATES")?).join(file))
}

fn trusting(ca: &str) -> Result<Tls> {
    Ok(Tls::ca_file(certificate(ca)?))
}

/// The plain listener, where everything is allowed.
fn plain() -> Result<String> {
    Ok(format!("127.0.0.1:{}", variable("PLAIN_PORT")?))
}

fn to(listener_name: &str) -> Result<KafkaBuilder> {
    Ok(Kafka::builder().brokers(listener(listener_name)?))
}

/// Lets an account do things: what it is about, its name, the operation.
fn allow(account: &str, rules: &[[&str; 3]]) -> Check {
    let brokers = plain()?;
    python("allow.py", &[&[brokers.as_str(), account], rules.as_flattened()].concat(), "").map(drop)
}

/// A topic that these accounts may write and read, by a group of the same name.
async fn shared(name: &str, accounts: &[&str]) -> Result<String> {
    let topic = unique(name);
    create_topic_on(&plain()?, &topic, 1, &[]).await?;
    for account in accounts {
        allow(account, &[["TOPIC", &topic, "READ"], ["TOPIC", &topic, "WRITE"], ["GROUP", &topic, "READ"]])?;
    }
    Ok(topic)
}

async fn tell(seen: &Notify, _: Numbered, _: &Delivery) -> std::result::Result<(), HandlerError> {
    seen.notify_one();
    Ok(())
}

/// Publishes a record, and has it handled by a member of the group that has the topic's name.
async fn round_trip(kafka: &Kafka, topic: &str) -> Check {
    Publisher::<Numbered>::new(kafka).topic(topic).publish(&Numbered::new(1)).await?;
    let seen = Arc::new(Notify::new());
    let consumer = kafka.consumer(topic).topics([topic]).serve(routes![Arc::clone(&seen); Numbered => tell]);
    let summary = tokio::time::timeout(TIMEOUT, consumer.run_until(seen.notified())).await??;
    assert_eq!(summary.handled, 1);
    Ok(())
}

pub(crate) async fn a_private_ca_is_trusted_from_a_file_and_from_text() -> Check {
    let topic = shared("tls", &[]).await?;
    round_trip(&to("TLS")?.tls(trusting("ca.pem")?).build()?, &topic).await?;
    // One that is not the broker's beside it does no harm.
    let pem = ["other-ca.pem", "ca.pem"].map(|file| fs::read_to_string(certificate(file)?).map_err(Into::into));
    let pem = pem.into_iter().collect::<Result<String>>()?;
    round_trip(&to("TLS")?.tls(Tls::ca_pem(pem)).build()?, &topic).await
}

pub(crate) async fn every_mechanism_signs_in() -> Check {
    let topic = shared("sasl", &["alice"]).await?;
    for sasl in
        [Sasl::plain("alice", PASSWORD), Sasl::scram_sha_256("alice", PASSWORD), Sasl::scram_sha_512("alice", PASSWORD)]
    {
        let kafka = to("SASL")?.tls(trusting("ca.pem")?).sasl(sasl).build()?;
        assert!(!format!("{kafka:?}").contains(PASSWORD));
        round_trip(&kafka, &topic).await?;
    }
    Ok(())
}

pub(crate) async fn a_client_certificate_is_an_account() -> Check {
    let topic = shared("mutual", &["CN=carol"]).await?;
    let certificates = [
        trusting("ca.pem")?.certificate_files(certificate("carol.pem")?, certificate("carol.key")?),
        trusting("ca.pem")?
            .certificate_files(certificate("carol.pem")?, certificate("carol-locked.key")?)
            .key_password(KEY_PASSWORD),
        trusting("ca.pem")?.certificate_pem(
            fs::read_to_string(certificate("carol.pem")?)?,
            fs::read_to_string(certificate("carol.key")?)?,
        ),
        trusting("ca.pem")?.certificate_pkcs12(certificate("carol.p12")?).key_password(KEY_PASSWORD),
    ];
    for tls in certificates {
        round_trip(&to("MUTUAL_TLS")?.tls(tls).build()?, &topic).await?;
    }
    Ok(())
}

pub(crate) async fn a_properties_file_of_a_java_client_connects() -> Check {
    let topic = shared("properties", &["alice", "CN=carol"]).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("client.properties");
    let [ca, store, key, chain] = ["ca.pem", "carol.p12", "carol.key", "carol.pem"].map(certificate);
    // As Java wants a text: each of its lines goes on.
    let text =
        |path: Result<PathBuf>| Ok::<_, Box<dyn std::error::Error>>(fs::read_to_string(path?)?.replace('\n', "\\\n"));
    let (ca, store, key, chain) = (ca?.display().to_string(), store?.display().to_string(), text(key)?, text(chain)?);
    let trust = format!("ssl.truststore.type=PEM\nssl.truststore.location={ca}\n");
    let (sasl, mutual) = (listener("SASL")?, listener("MUTUAL_TLS")?);
    for lines in [
        format!(
            "bootstrap.servers={sasl}\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n{trust}\
             sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  \
             username=\"alice\" password=\"{PASSWORD}\";\nlinger.ms=1\nfetch.min.bytes=1\n"
        ),
        format!(
            "bootstrap.servers={mutual}\nsecurity.protocol=SSL\n{trust}\
             ssl.keystore.type=PEM\nssl.keystore.key={key}\nssl.keystore.certificate.chain={chain}\n"
        ),
        format!(
            "bootstrap.servers={mutual}\nsecurity.protocol=SSL\n{trust}\
             ssl.keystore.type=PKCS12\nssl.keystore.location={store}\nssl.keystore.password={KEY_PASSWORD}\n"
        ),
    ] {
        fs::write(&file, lines)?;
        round_trip(&Kafka::builder().properties_file(&file)?.build()?, &topic).await?;
    }
    Ok(())
}

pub(crate) async fn environment_variables_connect() -> Check {
    let topic = shared("environment", &["alice"]).await?;
    let output = Command::new(std::env::current_exe()?)
        .args([WORKER, &topic])
        .env("BABELQUEUE_BROKERS", listener("SASL")?)
        .env("BABELQUEUE_SECURITY_PROTOCOL", "SASL_SSL")
        .env("BABELQUEUE_SSL_CA_FILE", certificate("ca.pem")?)
        .env("BABELQUEUE_SASL_MECHANISM", "SCRAM-SHA-256")
        .env("BABELQUEUE_SASL_USERNAME", "alice")
        .env("BABELQUEUE_SASL_PASSWORD", PASSWORD)
        .output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Publishes and consumes by environment variables.
pub(crate) fn worker(settings: &[String]) -> ExitCode {
    let [topic] = settings else { return ExitCode::FAILURE };
    let connected = runtime().block_on(async { round_trip(&Kafka::from_env()?, topic).await });
    match connected {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
