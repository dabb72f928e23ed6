//! The topics of retries and dead letters on a real broker (contract section 4).

use std::{
    collections::HashMap,
    future::IntoFuture as _,
    time::{Duration, Instant},
};

use babelqueue::{EnsureTopicsError, Kafka, Publisher, RetryTopics, TopicFinding};
use futures_util::future::try_join;
use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, ResourceSpecifier},
    client::DefaultClientContext,
};

use crate::{
    Check,
    interop::python,
    jobs::{Numbered, brokers, create_topic, kafka, unique},
    security::{PASSWORD, connect},
};

const TIMEOUT: Duration = Duration::from_secs(10);

fn tiers(work: &str) -> RetryTopics {
    RetryTopics::for_topic(work).tiers([Duration::from_secs(5), Duration::from_secs(60)])
}

/// Partitions, replicas and settings as a plain client reads them.
async fn read_back(topic: &str) -> Result<(usize, usize, HashMap<String, String>), Box<dyn std::error::Error>> {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", brokers()).set("allow.auto.create.topics", "false").create()?;
    // A topic is created before it is seen.
    let deadline = Instant::now() + TIMEOUT;
    let (partitions, replicas) = loop {
        let metadata = admin.inner().fetch_metadata(Some(topic), TIMEOUT)?;
        let partitions = metadata.topics().first().ok_or("no such topic")?.partitions();
        match partitions.first() {
            Some(first) => break (partitions.len(), first.replicas().len()),
            None if Instant::now() > deadline => return Err(format!("`{topic}` does not exist").into()),
            None => {}
        }
    };
    let options = AdminOptions::new().request_timeout(Some(TIMEOUT));
    let described = admin.describe_configs(&[ResourceSpecifier::Topic(topic)], &options).await?.remove(0)?;
    let settings = described.entries.into_iter().filter_map(|entry| Some((entry.name, entry.value?))).collect();
    Ok((partitions, replicas, settings))
}

async fn assert_settings(topic: &str, partitions: usize, expected: &[(&str, &str)]) -> Check {
    let (has, replicas, settings) = read_back(topic).await?;
    assert_eq!((has, replicas), (partitions, 1), "{topic}");
    for (name, value) in expected {
        assert_eq!(settings.get(*name).map(String::as_str), Some(*value), "{topic} {name}");
    }
    Ok(())
}

/// Topic, the setting that mends it or else what is wrong, and whether nothing may start.
fn in_short(finding: &TopicFinding) -> (&str, &str, bool) {
    let short = finding.remedy.split_once("--add-config ").map_or(finding.problem.as_str(), |(_, setting)| setting);
    (&finding.topic, short, finding.fatal)
}

pub(crate) async fn what_is_missing_is_created_with_the_right_settings_and_only_once() -> Check {
    let work = unique("ensured");
    create_topic(&work, 3, &[("max.message.bytes", "3000000")]).await?;
    let kafka = kafka()?;
    let topics = tiers(&work);
    let names = [format!("{work}.retry.1"), format!("{work}.retry.2"), format!("{work}.dlq")];

    // Before that a start says what is missing, all at once, and asking creates nothing.
    for _ in 0..2 {
        let missing = kafka.check_topics(std::slice::from_ref(&topics)).await.unwrap_err();
        let findings: Vec<_> = names.iter().map(|name| (name.as_str(), "does not exist", true)).collect();
        assert_eq!(missing.findings().iter().map(in_short).collect::<Vec<_>>(), findings);
    }

    // Two instances that start at once.
    let (one, other) =
        try_join(kafka.ensure_topics(&topics).into_future(), kafka.ensure_topics(&topics).into_future()).await?;
    let mut created = [one.created, other.created].concat();
    created.sort_by_key(|created| names.iter().position(|name| name == created));
    assert_eq!((created.as_slice(), one.existing.len() + other.existing.len()), (&names[..], names.len()));
    assert_eq!([one.warnings, other.warnings], [[], []]);
    let common = [("message.timestamp.type", "LogAppendTime"), ("cleanup.policy", "delete"), ("retention.bytes", "-1")];
    for name in &names {
        assert_settings(name, 3, &common).await?;
    }
    assert_settings(&names[0], 3, &[("retention.ms", "604805000"), ("max.message.bytes", "3065536")]).await?;
    assert_settings(&names[1], 3, &[("retention.ms", "604860000")]).await?;
    assert_settings(&names[2], 3, &[("retention.ms", "2592000000"), ("max.message.bytes", "4065536")]).await?;

    let report = kafka.ensure_topics(&topics).await?;
    assert_eq!((report.created.len(), report.existing.as_slice(), report.warnings.len()), (0, &names[..], 0));
    let start = Instant::now();
    assert_eq!(kafka.check_topics(&[topics]).await?, []);
    println!("checked within {:?}", start.elapsed());
    Ok(())
}

pub(crate) async fn topics_are_created_as_asked() -> Check {
    let work = unique("asked");
    create_topic(&work, 4, &[]).await?;
    let kafka = kafka()?;
    let report = kafka
        .ensure_topics(&tiers(&work).dead_letter_topic(format!("{work}-undelivered")))
        .partitions(6)
        .replication(1)
        .retention(Duration::from_secs(2 * 24 * 3600))
        .dead_letter_retention(Duration::from_secs(3 * 24 * 3600))
        .await?;
    assert_eq!(report.created.len(), 3);
    assert_settings(&format!("{work}.retry.1"), 6, &[("retention.ms", "172800000")]).await?;
    assert_settings(&format!("{work}-undelivered"), 6, &[("retention.ms", "259200000")]).await?;

    // More replicas than brokers: each refusal is told, with the command that another account may run.
    let refused = kafka.ensure_topics(&tiers(&unique("asked"))).partitions(1).replication(3).await;
    let Err(EnsureTopicsError::Topics(refused)) = refused else { return Err(format!("{refused:?}").into()) };
    let fatal = refused.findings().iter().filter(|finding| finding.fatal);
    let fatal: Vec<_> = fatal.filter(|finding| finding.remedy.contains("--create --topic")).collect();
    assert_eq!(fatal.len(), 3, "{refused}");
    assert!(fatal[0].problem.contains("InvalidReplicationFactor"), "{refused}");

    // Nothing says how many partitions.
    let unknown = kafka.ensure_topics(&tiers(&unique("asked"))).await;
    assert!(matches!(&unknown, Err(EnsureTopicsError::Topics(all)) if all.to_string().contains(".partitions(")));
    Ok(())
}

pub(crate) async fn more_replicas_to_be_in_sync_than_there_are_are_as_many_as_there_are() -> Check {
    let topic = unique("in-sync");
    create_topic(&topic, 1, &[("min.insync.replicas", "2")]).await?;
    Publisher::new(&kafka()?).topic(&topic).publish(&Numbered::new(1)).await?;
    Ok(())
}

pub(crate) async fn a_topic_that_exists_is_not_touched_and_all_that_is_wrong_with_it_is_said() -> Check {
    let work = unique("wrong");
    create_topic(&work, 2, &[]).await?;
    let [first, second, dlq] = [format!("{work}.retry.1"), format!("{work}.retry.2"), format!("{work}.dlq")];
    let wrong_first = [("retention.ms", "5000"), ("retention.bytes", "1000000")];
    create_topic(&first, 1, &wrong_first).await?;
    let wrong_dlq = [("cleanup.policy", "compact"), ("max.message.bytes", "1000"), ("min.insync.replicas", "2")];
    create_topic(&dlq, 2, &wrong_dlq).await?;

    let kafka = kafka()?;
    let refused = kafka.ensure_topics(&tiers(&work)).await;
    let Err(EnsureTopicsError::Topics(refused)) = refused else { return Err(format!("{refused:?}").into()) };
    let fewer = "has 1 partitions";
    let expected = [
        (first.as_str(), fewer, false),
        (&first, "retention.ms=604805000", true),
        (&first, "retention.bytes=-1", false),
        (&first, "message.timestamp.type=LogAppendTime", false),
        (&dlq, "cleanup.policy=delete", true),
        (&dlq, "max.message.bytes=1463653", true),
        (&dlq, "min.insync.replicas=1", false),
    ];
    let mut findings: Vec<_> = refused.findings().iter().map(in_short).collect();
    findings[0].1 = findings[0].1.get(..fewer.len()).unwrap_or_default();
    assert_eq!(findings, expected);
    println!("{refused}");

    // What was missing is there, and what was there is as it was.
    assert_settings(&second, 2, &[("message.timestamp.type", "LogAppendTime")]).await?;
    assert_settings(&first, 1, &wrong_first).await?;
    assert_settings(&first, 1, &[("message.timestamp.type", "CreateTime")]).await?;
    assert_settings(&dlq, 2, &wrong_dlq).await?;

    // A start says the same.
    assert_eq!(kafka.check_topics(&[tiers(&work)]).await.unwrap_err(), refused);
    Ok(())
}

pub(crate) async fn an_account_that_may_not_look_is_warned_and_one_that_may_not_write_does_not_start() -> Check {
    let work = unique("hidden");
    create_topic(&work, 2, &[]).await?;
    let topics = tiers(&work);
    kafka()?.ensure_topics(&topics).await?;
    let [first, second, dlq] = [format!("{work}.retry.1"), format!("{work}.retry.2"), format!("{work}.dlq")];
    let hidden = unique("hidden-dlq");
    create_topic(&hidden, 2, &[]).await?;
    // From now on these are for whom a rule names: their settings or, for the last, even its being there are hidden.
    let rules = [["TOPIC", &first, "READ"], ["TOPIC", &second, "WRITE"], ["TOPIC", &dlq, "WRITE"]];
    python("allow.py", &[&[brokers().as_str(), "alice"], rules.as_flattened()].concat(), "")?;
    python("allow.py", &[&brokers(), "bob", "TOPIC", &hidden, "READ"], "")?;

    let kafka = connect("alice-secret")?;
    let part = format!("could not be checked, nor could `{second}`, `{dlq}`: its settings");
    // A rule is acknowledged before it is kept.
    let deadline = Instant::now() + TIMEOUT;
    let warning = loop {
        match kafka.check_topics(std::slice::from_ref(&topics)).await?.as_slice() {
            [warning] if warning.problem.contains(&part) => break warning.clone(),
            warnings if Instant::now() > deadline => return Err(format!("{warnings:?}").into()),
            _ => {}
        }
    };
    assert_eq!(warning.topic, first);
    assert!(!warning.fatal && warning.remedy.contains("--operation DescribeConfigs"), "{warning}");
    println!("{warning}");

    // What may not be seen may not be written either.
    let topics = [topics.dead_letter_topic(&hidden)];
    let refused = loop {
        match kafka.check_topics(&topics).await {
            Err(refused) => break refused,
            Ok(warnings) if Instant::now() > deadline => return Err(format!("{warnings:?}").into()),
            Ok(_) => {}
        }
    };
    println!("{refused}");
    let fatal: Vec<_> = refused.findings().iter().filter(|finding| finding.fatal).collect();
    assert!(matches!(fatal.as_slice(), [finding] if finding.topic == hidden), "{refused}");
    assert!(fatal[0].remedy.ends_with(&format!("--operation Write --topic {hidden}")), "{refused}");
    Ok(())
}

pub(crate) async fn a_broker_that_does_not_let_in_is_a_warning_after_a_few_seconds() -> Check {
    let start = Instant::now();
    let warnings = connect(PASSWORD)?.check_topics(&[tiers(&unique("refused"))]).await?;
    assert!(start.elapsed() < Duration::from_secs(7), "{:?}", start.elapsed());
    assert_eq!(warnings.len(), 1);
    println!("after {:?}: {}", start.elapsed(), warnings[0]);
    let nobody = Kafka::connect("127.0.0.1:1")?.ensure_topics(&tiers("orders")).await;
    assert!(matches!(&nobody, Err(EnsureTopicsError::Kafka(_))), "{nobody:?}");
    Ok(())
}
