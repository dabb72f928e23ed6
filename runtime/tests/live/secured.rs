//! A broker that is encrypted and asks who comes: `BABELQUEUE_SECURED_…` name its listeners and the certificates. Accounts
//! may do what a rule allows them, and nothing else.

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
    sync::Arc,
    time::{Duration, Instant},
};

use babelqueue::{
    ConsumerError, Delivery, Event, HandlerError, Kafka, KafkaBuilder, KafkaError, PublishError, Publisher,
    RetryTopics, Sasl, Tls, routes,
};
use futures_util::future::try_join_all;
use tokio::sync::{Notify, mpsc::unbounded_channel};

use crate::{
    Check,
    interop::python,
    jobs::{Numbered, create_topic_on, read_from, runtime, unique},
};

/// The first argument of the process that connects by environment variables alone.
pub(crate) const WORKER: &str = "secured-worker";

const PASSWORD: &str = "alice-secret";
const WRONG_PASSWORD: &str = "not-her-password";
const KEY_PASSWORD: &str = "key-secret";
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a refusal may take to be told.
const SOON: Duration = Duration::from_secs(10);

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

/// Connections that no broker lets in, each with the code of the error that says why.
fn locked_out() -> Result<Vec<(&'static str, KafkaBuilder, &'static str)>> {
    let ca = || trusting("ca.pem");
    let by_address = |port: &str| Ok::<_, Box<dyn std::error::Error>>(format!("127.0.0.1:{}", variable(port)?));
    let mallory = ca()?.certificate_files(certificate("mallory.pem")?, certificate("mallory.key")?);
    Ok(vec![
        (
            "a wrong password, SCRAM",
            to("SASL")?.tls(ca()?).sasl(Sasl::scram_sha_512("alice", WRONG_PASSWORD)),
            "Authentication",
        ),
        (
            "a wrong password, PLAIN",
            to("SASL")?.tls(ca()?).sasl(Sasl::plain("alice", WRONG_PASSWORD)),
            "Authentication",
        ),
        ("a wrong CA", to("TLS")?.tls(trusting("other-ca.pem")?), "BrokerCertificate"),
        ("another host name", Kafka::builder().brokers(by_address("TLS_PORT")?).tls(ca()?), "HostName"),
        (
            "another host name for an account",
            Kafka::builder().brokers(by_address("SASL_PORT")?).tls(ca()?).sasl(Sasl::plain("alice", PASSWORD)),
            "HostName",
        ),
        ("plain text to a TLS port", to("TLS")?, "SecurityProtocol"),
        (
            "an account in plain text to a TLS port",
            to("SASL")?.sasl(Sasl::plain("alice", PASSWORD)),
            "SecurityProtocol",
        ),
        ("TLS to a plain port", Kafka::builder().brokers(plain()?).tls(ca()?), "SecurityProtocol"),
        (
            "an account to a port that wants none",
            Kafka::builder().brokers(plain()?).sasl(Sasl::plain("alice", PASSWORD)),
            "SecurityProtocol",
        ),
        ("TLS without an account", to("SASL")?.tls(ca()?), "SecurityProtocol"),
        ("no certificate of its own", to("MUTUAL_TLS")?.tls(ca()?), "ClientCertificate"),
        ("a certificate of another CA", to("MUTUAL_TLS")?.tls(mallory), "ClientCertificate"),
    ])
}

fn assert_refused(case: &str, error: &KafkaError, code: &str, start: Instant) {
    println!("{case}, after {:?}: {error}", start.elapsed());
    assert!(start.elapsed() < SOON, "{case}: {:?}", start.elapsed());
    assert!(error.is_refused() && error.code() == code, "{case}: {error}");
    let text = error.to_string();
    assert!(text.contains("check ") && !text.contains(PASSWORD) && !text.contains(WRONG_PASSWORD), "{case}: {text}");
}

pub(crate) async fn a_publisher_that_is_not_let_in_is_told_why_within_seconds() -> Check {
    let cases = locked_out()?.into_iter().map(async |(case, builder, code)| {
        let kafka = builder.build()?;
        // A second one does not wait until the client tries to connect again.
        for _ in 0..2 {
            let start = Instant::now();
            let published = Publisher::<Numbered>::new(&kafka).publish(&Numbered::new(1)).await;
            let Err(PublishError::NotDelivered { error, .. }) = published else {
                return Err(format!("{case}: {published:?}").into());
            };
            assert_refused(case, &error, code, start);
        }
        Ok(())
    });
    try_join_all(cases).await.map(drop)
}

pub(crate) async fn a_consumer_that_is_not_let_in_ends_with_the_reason_within_seconds() -> Check {
    let cases = locked_out()?.into_iter().map(async |(case, builder, code)| {
        let start = Instant::now();
        let consumer = builder.build()?.consumer("workers").topics(["orders"]).serve(routes![Numbered => ignore]);
        let ended = tokio::time::timeout(TIMEOUT, consumer.run()).await?;
        let Err(ConsumerError::Kafka { error, .. }) = ended else { return Err(format!("{case}: {ended:?}").into()) };
        assert_refused(case, &error, code, start);
        Ok(())
    });
    try_join_all(cases).await.map(drop)
}

pub(crate) async fn topics_are_not_created_for_who_is_not_let_in() -> Check {
    let cases = locked_out()?.into_iter().map(async |(case, builder, code)| {
        let start = Instant::now();
        let created = builder.build()?.create_topic_if_missing("orders", 1).await;
        let Err(error) = created else { return Err(format!("{case}: {created:?}").into()) };
        assert_refused(case, &error, code, start);
        Ok(())
    });
    try_join_all(cases).await.map(drop)
}

fn signed_in(user: &str, password: &str) -> Result<Kafka> {
    Ok(to("SASL")?.tls(trusting("ca.pem")?).sasl(Sasl::plain(user, password)).build()?)
}

pub(crate) async fn no_right_to_write_a_topic_fails_a_publish() -> Check {
    let (closed, readable) = (shared("rights", &[]).await?, shared("rights", &[]).await?);
    // bob may write nothing at all, so not even begin as an idempotent producer.
    allow("bob", &[["TOPIC", &readable, "READ"]])?;
    for (user, password, topic) in
        [("alice", PASSWORD, &closed), ("bob", "bob-secret", &closed), ("bob", "bob-secret", &readable)]
    {
        let kafka = signed_in(user, password)?;
        let publisher = Publisher::<Numbered>::new(&kafka).topic(topic);
        for _ in 0..2 {
            let start = Instant::now();
            let published = publisher.publish(&Numbered::new(1)).await;
            let Err(refused) = published else { return Err("published".into()) };
            assert!(refused.to_string().contains(topic), "{refused}");
            let PublishError::NotDelivered { error, .. } = refused else { return Err(refused.into()) };
            println!("{user}: {error}");
            assert!(error.is_refused() && error.to_string().contains("check "), "{error}");
            assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        }
    }
    Ok(())
}

pub(crate) async fn no_right_to_a_group_or_to_see_a_topic_ends_the_consumer() -> Check {
    let (no_group, no_topic) = (shared("rights", &[]).await?, shared("rights", &[]).await?);
    allow("alice", &[["TOPIC", &no_group, "READ"], ["GROUP", &no_topic, "READ"]])?;
    for (topic, code) in [(&no_group, "GroupAuthorizationFailed"), (&no_topic, "TopicAuthorizationFailed")] {
        let start = Instant::now();
        let consumer = signed_in("alice", PASSWORD)?.consumer(topic).topics([topic]).serve(routes![Numbered => ignore]);
        let ended = tokio::time::timeout(TIMEOUT, consumer.run()).await?;
        let Err(ConsumerError::Kafka { error, .. }) = ended else { return Err(format!("{ended:?}").into()) };
        assert_refused(topic, &error, code, start);
        assert!(error.to_string().contains(topic.as_str()), "{error}");
    }
    Ok(())
}

pub(crate) async fn no_right_to_read_a_topic_is_told_as_soon_as_it_is_assigned() -> Check {
    let topic = shared("rights", &[]).await?;
    allow("alice", &[["TOPIC", &topic, "DESCRIBE"], ["GROUP", &topic, "READ"]])?;
    let (sender, mut troubles) = unbounded_channel();
    let start = Instant::now();
    let consumer = signed_in("alice", PASSWORD)?
        .consumer(&topic)
        .topics([&topic])
        .on_event(move |event| {
            if let Event::Trouble { error } = event {
                let _ = sender.send(error.clone());
            }
        })
        .serve(routes![Numbered => ignore]);
    let mut told = None;
    let until = async { told = troubles.recv().await };
    tokio::time::timeout(TIMEOUT, consumer.run_until(until)).await??;
    let error = told.ok_or("nothing was told")?;
    assert_refused("reading", &error, "TopicAuthorizationFailed", start);
    assert!(error.to_string().contains(&topic), "{error}");
    Ok(())
}

pub(crate) async fn a_dead_letter_topic_that_may_not_be_written_holds_the_record_and_is_told() -> Check {
    let topic = shared("rights", &["alice"]).await?;
    let dlq = format!("{topic}.dlq");
    create_topic_on(&plain()?, &dlq, 1, &[]).await?;
    let start = Instant::now();
    let topics = RetryTopics::for_topic(&topic);
    let kafka = signed_in("alice", PASSWORD)?;
    Publisher::<Numbered>::new(&kafka).topic(&topic).publish(&Numbered::new(1)).await?;
    async fn fail(_: Numbered, _: &Delivery) -> std::result::Result<(), HandlerError> {
        Err(HandlerError::fatal("no luck"))
    }
    // Whoever may not even see a topic may not write it: nothing starts.
    let consumer = || kafka.consumer(&topic).topics([&topic]).retry_topics(topics.clone());
    let ended = tokio::time::timeout(TIMEOUT, consumer().serve(routes![Numbered => fail]).run()).await?;
    let Err(ConsumerError::Topics(findings)) = ended else { return Err(format!("{ended:?}").into()) };
    let text = findings.to_string();
    println!("after {:?}: {text}", start.elapsed());
    assert!(text.contains(&dlq) && text.contains("--operation Write"), "{text}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());

    // Who may see it is told when the first record should go there; the record stays where it is until it may.
    allow("alice", &[["TOPIC", &dlq, "DESCRIBE"], ["TOPIC", &dlq, "DESCRIBE_CONFIGS"]])?;
    let (sender, mut failed) = unbounded_channel();
    let start = Instant::now();
    let consumer = consumer()
        .on_event(move |event| {
            if let Event::WriteFailed { topic, error, .. } = event {
                let _ = sender.send((topic.clone(), error.clone()));
            }
        })
        .serve(routes![Numbered => fail]);
    let running = consumer.handle();
    let running_task = tokio::spawn(consumer.run());
    let (named, error) = tokio::time::timeout(TIMEOUT, failed.recv()).await?.ok_or("it ended")?;
    assert_eq!(named, dlq);
    assert_refused("giving up", &error, "TopicAuthorizationFailed", start);
    allow("alice", &[["TOPIC", &dlq, "WRITE"]])?;
    let dead = read_from(&plain()?, &dlq, 1)?;
    assert_eq!(dead.len(), 1);
    running.shutdown();
    assert_eq!(running_task.await??.dead_lettered, 1);
    Ok(())
}

async fn ignore(_: Numbered, _: &Delivery) -> std::result::Result<(), HandlerError> {
    Ok(())
}
