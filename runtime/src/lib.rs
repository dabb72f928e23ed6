//! Typed Kafka messaging on the BabelQueue wire contract.
