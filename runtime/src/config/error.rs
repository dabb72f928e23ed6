//! Why settings are not taken.

use std::path::PathBuf;

/// Why settings were not taken. The text names settings, never their values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No broker was named.
    #[error("no brokers: give `host:port`, several separated by commas{hint}")]
    NoBrokers {
        /// Where they were looked for.
        hint: &'static str,
    },
    /// A property that this crate sets itself.
    #[error("property `{name}` cannot be set: {reason}")]
    Owned {
        /// The property.
        name: String,
        /// What to do instead.
        reason: &'static str,
    },
    /// A property that librdkafka does not take.
    #[error("property `{name}` is not accepted: {reason}")]
    Property {
        /// The property.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("{what} cannot be read from {}: {reason}", path.display())]
    File {
        /// What the file is for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Something that this build cannot do.
    #[error("{what} needs the feature `{feature}` of the crate `babelqueue`, which this program was built without")]
    Feature {
        /// What was asked for.
        what: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// A setting of the environment.
    #[error("environment variable `{name}` {reason}")]
    Environment {
        /// The variable.
        name: String,
        /// The rule that it breaks.
        reason: String,
    },
    /// A line of a properties file that is no setting.
    #[error("the line {reason}")]
    Line {
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A setting of a properties file.
    #[error("{}, line {line}: {error}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The line in it, from 1.
        line: usize,
        /// What is wrong with the setting.
        error: Box<ConfigError>,
    },
    /// A setting outside its range.
    #[error("`{name}` {reason}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// Retry topics that cannot work.
    #[error("the retry topics of `{topic}`: {reason}")]
    RetryTopics {
        /// The work topic.
        topic: String,
        /// Why not.
        reason: &'static str,
    },
    /// Settings that do not go together, as librdkafka says when its client is made.
    #[error("the Kafka client does not start with these settings: {reason}")]
    Client {
        /// What it says.
        reason: String,
    },
}
