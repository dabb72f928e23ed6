//! The only place that names the Kafka client library.

mod admin;
mod commit_count;
mod committer;
mod ends;
mod errors;
mod group;
mod lanes;
mod line;
#[cfg(feature = "testing")]
pub(crate) mod mock;
mod native;
mod offsets;
mod outgoing;
mod pipeline;
mod probe;
mod refusal;
mod reports;
mod settings;
mod sink;
mod source;
mod standing;
mod troubles;
mod waker;
mod watch;

pub(crate) use admin::{Admin, Found, FoundTopics, NewTopic, Settings, is_without_admin_calls};
pub(crate) use ends::ends;
pub(crate) use offsets::{Progress, Ticket};
pub use outgoing::OutgoingRecord;
pub(crate) use outgoing::{SendError, Sent};
pub(crate) use pipeline::{Landed, Pipeline};
pub(crate) use settings::{check, check_property};
pub(crate) use sink::Sink;
pub(crate) use source::{Assigned, Batches, Read, Source, SourceEvent, SourceSettings};
pub(crate) use standing::Standing;

#[cfg(test)]
mod tests {
    use std::{
        sync::Arc,
        time::{Duration, Instant},
    };

    use super::{mock::MockBroker, *};
    use crate::config::Config;

    #[tokio::test]
    async fn a_header_name_that_is_not_utf8_travels_and_does_no_harm() {
        let broker = MockBroker::start().unwrap();
        broker.create_topic("orders", 1).unwrap();
        let config = Config::new(broker.brokers());
        let mut record = OutgoingRecord::new("orders".to_owned(), None, Some(b"{}".to_vec()), None);
        record.push_header(b"\xff\xfe", Some(b"\x80"));
        record.push_header(b"\xff\xfe", None);
        record.push_header(b"", Some(b""));
        let expected: Vec<(&[u8], Option<&[u8]>)> =
            vec![(b"\xff\xfe", Some(b"\x80")), (b"\xff\xfe", None), (b"", Some(b""))];
        assert_eq!(record.headers(), expected);
        Sink::new(&config).unwrap().send(record.clone()).await.unwrap();

        let settings = SourceSettings::without_handlers(
            "workers".to_owned(),
            Read::Topics(vec!["orders".to_owned()]),
            Duration::from_secs(1),
        );
        let mut source = Source::start(&config, &settings, Arc::default()).unwrap();
        let mut batches = loop {
            if let SourceEvent::Assigned(mut assigned) = source.next().await.unwrap() {
                break assigned.remove(0).batches;
            }
        };
        let batch = batches.next().await.unwrap();
        let headers: Vec<_> = batch.get(0).unwrap().headers.iter().collect();
        assert_eq!(headers, expected);
        assert!(source.close(Instant::now() + Duration::from_secs(10)).await.is_some());
    }
}
