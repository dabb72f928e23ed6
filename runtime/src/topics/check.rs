//! The rules that retry topics and dead-letter topics have to keep. Pure: from what was found to findings.
//!
//! Fatal is what loses records, or refuses what is moved to the topic: a missing topic, a cleanup by key, a retention that
//! is over before the record is due, a size limit under the work topic's. All else is a warning: time by the writer's clock is
//! clamped by the reinjector, and fewer partitions or replicas work until they do not.

use std::time::Duration;

use super::{
    finding::TopicFinding,
    wanted::{
        Asked, CLEANUP, MAX_BYTES, MIN_IN_SYNC, Purpose, RETENTION, RETENTION_BYTES, TIMESTAMP, max_bytes, millis,
        purposes, setting, work,
    },
};
use crate::{
    error::KafkaError,
    kafka::{Found, FoundTopics, NewTopic, Settings},
    retry_topics::RetryTopics,
};

/// A retention that leaves less than this to mend what stands still gets a warning.
const MARGIN: Duration = Duration::from_secs(24 * 60 * 60);

/// Everything that is wrong, in the order of the topics; what could not be seen comes last.
pub(super) fn check(topics: &RetryTopics, found: &FoundTopics, brokers: &str) -> Vec<TopicFinding> {
    let work_topic = topics.work_topic();
    let mut check = Check { topics, work: work(topics, found), brokers, findings: Vec::new(), unseen: Vec::new() };
    match check.work {
        Some(Found::Missing) => check.work_is_missing(),
        Some(Found::Unseen(error) | Found::There { settings: Err(error), .. }) => check.unseen(work_topic, error),
        Some(Found::There { .. }) | None => {}
    }
    for (topic, purpose) in purposes(topics) {
        match found.get(&topic) {
            Some(Found::Missing) => check.is_missing(&topic, purpose),
            Some(Found::Unseen(error)) => check.unseen(&topic, error),
            Some(Found::There { partitions, replicas, settings }) => {
                check.layout(&topic, purpose, *partitions, *replicas);
                match settings {
                    Ok(settings) => check.settings(&topic, purpose, *replicas, settings),
                    Err(error) => check.unseen(&topic, error),
                }
            }
            None => {}
        }
    }
    check.finish()
}

/// Retry topics and dead-letter topics that the account may not even see: every right to a topic includes that one, so it
/// may not write them, and what is to be moved there would stay where it is.
pub(super) fn forbidden(topics: &RetryTopics, found: &FoundTopics, brokers: &str) -> Vec<TopicFinding> {
    let is_forbidden = |topic: &str| matches!(found.get(topic), Some(Found::Unseen(error)) if error.is_about_a_right());
    let finding = |topic: String| TopicFinding {
        problem: "may not be written by this account".to_owned(),
        remedy: format!(
            "kafka-acls.sh --bootstrap-server {brokers} --add --allow-principal User:… --operation Write --topic {topic}"
        ),
        topic,
        fatal: true,
    };
    purposes(topics).into_iter().map(|(topic, _)| topic).filter(|topic| is_forbidden(topic)).map(finding).collect()
}

struct Check<'a> {
    topics: &'a RetryTopics,
    work: Option<&'a Found>,
    brokers: &'a str,
    findings: Vec<TopicFinding>,
    /// Topics by the reason why they could not be seen.
    unseen: Vec<(&'a KafkaError, Vec<String>)>,
}

impl<'a> Check<'a> {
    fn find(&mut self, fatal: bool, topic: &str, problem: impl Into<String>, remedy: impl Into<String>) {
        let (topic, problem, remedy) = (topic.to_owned(), problem.into(), remedy.into());
        self.findings.push(TopicFinding { topic, problem, remedy, fatal });
    }

    fn unseen(&mut self, topic: &str, error: &'a KafkaError) {
        match self.unseen.iter_mut().find(|(other, _)| *other == error) {
            Some((_, topics)) => topics.push(topic.to_owned()),
            None => self.unseen.push((error, vec![topic.to_owned()])),
        }
    }

    fn work_is_missing(&mut self) {
        let topic = self.topics.work_topic();
        let create = format!("kafka-topics.sh --bootstrap-server {} --create --topic {topic}", self.brokers);
        let remedy = format!("call `kafka.create_topic_if_missing({topic:?}, …)`, or run `{create} --partitions …`");
        self.find(false, topic, "does not exist yet", remedy);
    }

    fn is_missing(&mut self, topic: &str, purpose: Purpose) {
        let new = Asked::default().new_topic(topic, purpose, self.work);
        let remedy = format!(
            "call `kafka.ensure_topics(…)` with these retry topics, or run `{}`",
            create_command(&new, self.brokers)
        );
        self.find(true, topic, "does not exist", remedy);
    }

    fn layout(&mut self, topic: &str, purpose: Purpose, partitions: i32, replicas: i32) {
        let Some(Found::There { partitions: of_work, replicas: replicas_of_work, .. }) = self.work else { return };
        let (brokers, work) = (self.brokers, self.topics.work_topic());
        if matches!(purpose, Purpose::Retry { .. }) && partitions < *of_work {
            let problem = format!(
                "has {partitions} partitions, `{work}` has {of_work}: records wait behind those of keys that are apart on the work topic"
            );
            let remedy = format!(
                "kafka-topics.sh --bootstrap-server {brokers} --alter --topic {topic} --partitions {of_work}, while it is empty: keys change their partition"
            );
            self.find(false, topic, problem, remedy);
        }
        if replicas < *replicas_of_work {
            let problem = format!(
                "has {replicas} replicas, `{work}` has {replicas_of_work}: a broker's loss may take records that the work topic would have kept"
            );
            let remedy = format!(
                "kafka-reassign-partitions.sh --bootstrap-server {brokers} --execute --reassignment-json-file … with {replicas_of_work} replicas for each partition"
            );
            self.find(false, topic, problem, remedy);
        }
    }

    fn settings(&mut self, topic: &str, purpose: Purpose, replicas: i32, settings: &Settings) {
        let number = |name: &str| settings.get(name).and_then(|value| value.parse::<i64>().ok());
        let work = self.topics.work_topic();
        if let Some(policy) = settings.get(CLEANUP).filter(|policy| policy.contains("compact")) {
            let problem = format!(
                "has {CLEANUP}={policy}: of each key only the last record is kept, and a record without a key is refused"
            );
            self.set(true, topic, problem, CLEANUP, "delete");
        }
        if let Some(retention) = number(RETENTION) {
            self.retention(topic, purpose, retention);
        }
        if let Some(bytes) = number(RETENTION_BYTES).filter(|bytes| *bytes >= 0) {
            let problem = format!("has {RETENTION_BYTES}={bytes}: beyond that records are deleted however young");
            self.set(false, topic, problem, RETENTION_BYTES, "-1");
        }
        if let (Some(bytes), Some(largest)) = (number(MAX_BYTES), setting(self.work, MAX_BYTES))
            && bytes < largest
        {
            let problem = format!(
                "has {MAX_BYTES}={bytes}, `{work}` has {largest}: a record that fits there could not be moved here"
            );
            self.set(true, topic, problem, MAX_BYTES, &max_bytes(purpose, largest).to_string());
        }
        if let Some(in_sync) = number(MIN_IN_SYNC) {
            let replicas = i64::from(replicas);
            let of_work = setting(self.work, MIN_IN_SYNC).unwrap_or(in_sync);
            if in_sync > replicas {
                let problem = format!(
                    "has {MIN_IN_SYNC}={in_sync} and {replicas} replicas: Kafka 4 takes the lesser number, an older broker may refuse every write"
                );
                self.set(false, topic, problem, MIN_IN_SYNC, &replicas.to_string());
            } else if in_sync < of_work.min(replicas) {
                let problem = format!(
                    "has {MIN_IN_SYNC}={in_sync}, `{work}` has {of_work}: a write is acknowledged that a broker's loss may take"
                );
                self.set(false, topic, problem, MIN_IN_SYNC, &of_work.min(replicas).to_string());
            }
        }
        // A dead letter's time decides nothing but its retention, which goes by the time of the write.
        if matches!(purpose, Purpose::Retry { .. })
            && let Some(time) = settings.get(TIMESTAMP).filter(|time| time.as_str() != "LogAppendTime")
        {
            let problem =
                format!("has {TIMESTAMP}={time}: when a record is due depends on the clock of whoever wrote it");
            self.set(false, topic, problem, TIMESTAMP, "LogAppendTime");
        }
    }

    fn retention(&mut self, topic: &str, purpose: Purpose, retention: i64) {
        // -1 is for ever.
        if retention < 0 {
            return;
        }
        let wanted = Asked::default().new_topic(topic, purpose, None).settings;
        let wanted =
            wanted.into_iter().find(|(name, _)| *name == RETENTION).map(|(_, value)| value).unwrap_or_default();
        let has = format!("has {RETENTION}={retention}");
        match purpose {
            Purpose::Retry { tier } if retention <= millis(tier) => {
                let problem =
                    format!("{has}, its tier is {} ms: records are deleted before they are due", millis(tier));
                self.set(true, topic, problem, RETENTION, &wanted);
            }
            Purpose::Retry { tier } if retention < millis(tier.saturating_add(MARGIN)) => {
                let problem = format!(
                    "{has}, its tier is {} ms: a reinjector that stands still for less than a day loses records",
                    millis(tier)
                );
                self.set(false, topic, problem, RETENTION, &wanted);
            }
            Purpose::DeadLetters if retention < millis(MARGIN) => {
                let problem = format!("{has}: a dead letter is deleted within a day");
                self.set(false, topic, problem, RETENTION, &wanted);
            }
            Purpose::Retry { .. } | Purpose::DeadLetters => {}
        }
    }

    /// A setting that is wrong.
    fn set(&mut self, fatal: bool, topic: &str, problem: String, name: &str, value: &str) {
        let remedy = format!(
            "kafka-configs.sh --bootstrap-server {} --alter --entity-type topics --entity-name {topic} --add-config {name}={value}",
            self.brokers
        );
        self.find(fatal, topic, problem, remedy);
    }

    fn finish(mut self) -> Vec<TopicFinding> {
        for (error, topics) in std::mem::take(&mut self.unseen) {
            let remedy = if error.is_about_a_right() {
                let topics: Vec<_> = topics.iter().map(|topic| format!("--topic {topic}")).collect();
                format!(
                    "kafka-acls.sh --bootstrap-server {} --add --allow-principal User:… --operation Describe --operation DescribeConfigs {}",
                    self.brokers,
                    topics.join(" ")
                )
            } else if error.is_refused() {
                "mend first what refuses this client".to_owned()
            } else {
                "it is looked at again at the next start".to_owned()
            };
            let Some((first, others)) = topics.split_first() else { continue };
            let others: Vec<_> = others.iter().map(|topic| format!("`{topic}`")).collect();
            let problem = match others.as_slice() {
                [] => format!("could not be checked: {error}"),
                others => format!("could not be checked, nor could {}: {error}", others.join(", ")),
            };
            self.find(false, first, problem, remedy);
        }
        self.findings
    }
}

/// The command that creates a topic.
pub(super) fn create_command(new: &NewTopic, brokers: &str) -> String {
    let mut command = format!("kafka-topics.sh --bootstrap-server {brokers} --create --topic {}", new.topic);
    for (option, value) in [("--partitions", new.partitions), ("--replication-factor", new.replication)] {
        if let Some(value) = value {
            command.push_str(&format!(" {option} {value}"));
        }
    }
    for (name, value) in &new.settings {
        command.push_str(&format!(" --config {name}={value}"));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;

    const BROKERS: &str = "kafka:9092";
    const HOUR: i64 = 3_600_000;

    fn orders() -> RetryTopics {
        RetryTopics::for_topic("orders").tiers([Duration::from_secs(5), Duration::from_secs(3600)])
    }

    fn topic(partitions: i32, replicas: i32, settings: &[(&str, &str)]) -> Found {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Found::There { partitions, replicas, settings: Ok(settings) }
    }

    /// As `ensure_topics` makes them, on a cluster with the settings of Apache Kafka.
    fn in_order() -> FoundTopics {
        let work = topic(
            6,
            3,
            &[
                (CLEANUP, "delete"),
                (MAX_BYTES, "1048588"),
                (MIN_IN_SYNC, "2"),
                (RETENTION, "604800000"),
                (TIMESTAMP, "CreateTime"),
            ],
        );
        let mut found = FoundTopics::new();
        for (name, purpose) in purposes(&orders()) {
            let new = Asked::default().new_topic(&name, purpose, Some(&work));
            let settings: Vec<_> = new.settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
            found.insert(name, topic(new.partitions.unwrap(), new.replication.unwrap(), &settings));
        }
        found.insert("orders".to_owned(), work);
        found
    }

    fn with(name: &str, seen: Found) -> FoundTopics {
        let mut found = in_order();
        found.insert(name.to_owned(), seen);
        found
    }

    fn with_setting(name: &str, setting: &str, value: &str) -> FoundTopics {
        let mut found = in_order();
        match found.get_mut(name) {
            Some(Found::There { settings: Ok(settings), .. }) => settings.insert(setting.to_owned(), value.to_owned()),
            other => panic!("{other:?}"),
        };
        found
    }

    fn refused() -> KafkaError {
        KafkaError::new("TopicAuthorizationFailed", "Topic authorization failed", Class::Refused)
    }

    #[test]
    fn topics_as_they_are_created_are_in_order() {
        assert_eq!(check(&orders(), &in_order(), BROKERS), []);
    }

    #[test]
    fn each_wrong_setting_is_found_with_the_command_that_mends_it() {
        let over_an_hour = (HOUR + 1).to_string();
        // Topic, setting, its wrong value, whether nothing may start, the value that mends it.
        let rules = [
            ("orders.retry.1", CLEANUP, "compact", true, "delete"),
            ("orders.retry.1", CLEANUP, "compact,delete", true, "delete"),
            ("orders.dlq", CLEANUP, "compact", true, "delete"),
            ("orders.retry.1", RETENTION, "5000", true, "604805000"),
            ("orders.retry.2", RETENTION, "3600000", true, "608400000"),
            ("orders.retry.2", RETENTION, &over_an_hour, false, "608400000"),
            ("orders.retry.2", RETENTION, "86400000", false, "608400000"),
            ("orders.dlq", RETENTION, "3600000", false, "2592000000"),
            ("orders.retry.1", RETENTION_BYTES, "1000000", false, "-1"),
            ("orders.dlq", RETENTION_BYTES, "0", false, "-1"),
            ("orders.retry.1", MAX_BYTES, "1048587", true, "1114124"),
            ("orders.dlq", MAX_BYTES, "1000000", true, "1463653"),
            ("orders.retry.1", MIN_IN_SYNC, "4", false, "3"),
            ("orders.dlq", MIN_IN_SYNC, "1", false, "2"),
            ("orders.retry.2", TIMESTAMP, "CreateTime", false, "LogAppendTime"),
        ];
        for (topic, setting, value, fatal, mended) in rules {
            let findings = check(&orders(), &with_setting(topic, setting, value), BROKERS);
            let [finding] = findings.as_slice() else { panic!("{topic} {setting}={value}: {findings:?}") };
            assert_eq!((finding.topic.as_str(), finding.fatal), (topic, fatal), "{finding}");
            assert!(finding.problem.contains(&format!("{setting}={value}")), "{finding}");
            assert_eq!(
                finding.remedy,
                format!(
                    "kafka-configs.sh --bootstrap-server kafka:9092 --alter --entity-type topics --entity-name {topic} --add-config {setting}={mended}"
                )
            );
            let mended = check(&orders(), &with_setting(topic, setting, mended), BROKERS);
            assert_eq!(mended, [], "{topic} {setting}={value}");
        }
    }

    #[test]
    fn what_keeps_the_promise_is_no_finding() {
        let fine = [
            ("orders.retry.2", RETENTION, "-1"),
            ("orders.retry.2", RETENTION, "90000000"),
            ("orders.dlq", RETENTION, "86400000"),
            // What does not fit is cut, and stored all the same.
            ("orders.dlq", MAX_BYTES, "1048588"),
            ("orders.retry.1", MIN_IN_SYNC, "3"),
            ("orders.dlq", TIMESTAMP, "CreateTime"),
            ("orders.retry.1", MAX_BYTES, "no number"),
            ("orders", RETENTION, "1"),
        ];
        for (topic, setting, value) in fine {
            assert_eq!(
                check(&orders(), &with_setting(topic, setting, value), BROKERS),
                [],
                "{topic} {setting}={value}"
            );
        }
        assert_eq!(check(&orders(), &with("orders.retry.1", topic(12, 3, &[])), BROKERS), []);
    }

    #[test]
    fn fewer_partitions_or_replicas_than_the_work_topic_are_warnings() {
        for (layout, number) in [(topic(2, 3, &[]), "2 partitions"), (topic(6, 1, &[]), "1 replicas")] {
            let findings = check(&orders(), &with("orders.retry.1", layout), BROKERS);
            let [finding] = findings.as_slice() else { panic!("{findings:?}") };
            assert!(!finding.fatal && finding.problem.contains(number), "{finding}");
        }
        // Nobody waits for the order of dead letters.
        assert_eq!(check(&orders(), &with("orders.dlq", topic(1, 3, &[])), BROKERS), []);
    }

    #[test]
    fn a_missing_topic_is_fatal_and_its_command_makes_it_as_ensuring_would() {
        for missing in ["orders.retry.1", "orders.dlq"] {
            let findings = check(&orders(), &with(missing, Found::Missing), BROKERS);
            let [finding] = findings.as_slice() else { panic!("{findings:?}") };
            assert!(finding.fatal && finding.remedy.contains("kafka.ensure_topics("), "{finding}");
            for part in [
                &format!("--create --topic {missing} --partitions 6 --replication-factor 3"),
                "--config message.timestamp.type=LogAppendTime",
                "--config min.insync.replicas=2",
            ] {
                assert!(finding.remedy.contains(part), "{finding}");
            }
        }
        // A consumer waits for its work topic.
        let findings = check(&orders(), &with("orders", Found::Missing), BROKERS);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert!(!finding.fatal && finding.remedy.contains("create_topic_if_missing(\"orders\""), "{finding}");
    }

    #[test]
    fn what_the_account_may_not_see_is_one_warning() {
        let mut found = in_order();
        for topic in ["orders", "orders.retry.2"] {
            match found.get_mut(topic) {
                Some(Found::There { settings, .. }) => *settings = Err(refused()),
                other => panic!("{other:?}"),
            }
        }
        found.insert("orders.dlq".to_owned(), Found::Unseen(refused()));
        let findings = check(&orders(), &found, BROKERS);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert!(!finding.fatal, "{finding}");
        assert!(finding.problem.contains("nor could `orders.retry.2`, `orders.dlq`: Topic auth"), "{finding}");
        assert!(finding.remedy.ends_with("--topic orders --topic orders.retry.2 --topic orders.dlq"), "{finding}");
    }

    #[test]
    fn a_topic_to_be_written_that_may_not_be_seen_is_forbidden_and_one_without_an_answer_is_not() {
        let mut found = in_order();
        assert_eq!(forbidden(&orders(), &found, BROKERS), []);
        let unseen = |code| Found::Unseen(KafkaError::new(code, "no", Class::Refused));
        found.insert("orders".to_owned(), unseen("TopicAuthorizationFailed"));
        found.insert("orders.retry.1".to_owned(), unseen("Authentication"));
        found.insert("orders.dlq".to_owned(), unseen("TopicAuthorizationFailed"));
        let findings = forbidden(&orders(), &found, BROKERS);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        assert!(finding.fatal && finding.topic == "orders.dlq", "{finding}");
        assert!(finding.remedy.ends_with("--operation Write --topic orders.dlq"), "{finding}");
    }

    #[test]
    fn a_size_limit_is_not_compared_with_one_that_cannot_be_seen() {
        let mut found = with_setting("orders.retry.1", MAX_BYTES, "1000");
        found.insert("orders".to_owned(), Found::Unseen(refused()));
        let findings = check(&orders(), &found, BROKERS);
        assert!(findings.iter().all(|finding| !finding.fatal), "{findings:?}");
    }

    #[test]
    fn no_tier_is_too_long_to_be_checked() {
        let topics = RetryTopics::for_topic("orders").tiers([Duration::MAX]).without_dead_letters();
        let findings = check(&topics, &with_setting("orders.retry.1", RETENTION, "1"), BROKERS);
        assert!(matches!(findings.as_slice(), [finding] if finding.fatal), "{findings:?}");
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let mut found = with_setting("orders.retry.1", TIMESTAMP, "CreateTime");
        found.insert("orders.retry.2".to_owned(), Found::Missing);
        found.insert("orders.dlq".to_owned(), topic(6, 3, &[(CLEANUP, "compact"), (RETENTION, "1")]));
        let findings = check(&orders(), &found, BROKERS);
        let topics: Vec<_> = findings.iter().map(|finding| (finding.topic.as_str(), finding.fatal)).collect();
        assert_eq!(
            topics,
            [("orders.retry.1", false), ("orders.retry.2", true), ("orders.dlq", true), ("orders.dlq", false)]
        );
    }
}
