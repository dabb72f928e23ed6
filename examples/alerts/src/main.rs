//! Contracts from a schema set of several files: `allOf` over files in other folders, closed objects, a recursive type, a
//! tagged union.
//!
//! `cargo run -p alerts` publishes the alerts of `schemas/*.example.json` and handles them, on an embedded broker.

use std::error::Error;

use babelqueue::{Delivery, HandlerError, testing::TestBroker};
use tokio::sync::mpsc;

babelqueue::include_contracts!();
use alerts::{AllClear, Area, Flood, FloodPeak, Source, Storm};

const STORM: &str = include_str!("../schemas/storm.example.json");
const FLOOD: &str = include_str!("../schemas/flood.example.json");
const ALL_CLEAR: &str = include_str!("../schemas/all-clear.example.json");

/// Puts what it is told into words.
struct Board {
    lines: mpsc::UnboundedSender<String>,
}

impl Board {
    fn show(&self, line: String) -> Result<(), HandlerError> {
        Ok(self.lines.send(line)?)
    }
}

impl alerts::Handlers for Board {
    async fn storm(&self, storm: Storm, _: &Delivery) -> Result<(), HandlerError> {
        let source = match &storm.source {
            Source::Observed(observed) => format!("measured by {}", observed.instrument),
            Source::Forecast(forecast) => {
                format!("{} says so with {:.0} %", forecast.model, forecast.probability * 100.0)
            }
        };
        let area = storm.area.as_ref().map_or_else(|| "around the station".to_owned(), places);
        self.show(format!("storm      {:?}: gusts of {} m/s, {area}; {source}", storm.severity, storm.gusts))
    }

    async fn flood(&self, flood: Flood, _: &Delivery) -> Result<(), HandlerError> {
        let peak = match &flood.peak {
            Some(FloodPeak::Integer(hours)) => format!("highest in {hours} hours"),
            Some(FloodPeak::String(time)) => format!("highest at {time}"),
            None => "nobody knows how high it will rise".to_owned(),
        };
        self.show(format!("flood      {:?}: {} cm at {}; {peak}", flood.severity, flood.level_cm, flood.station.id))
    }

    async fn all_clear(&self, clear: AllClear, _: &Delivery) -> Result<(), HandlerError> {
        self.show(format!("all clear  {} alerts of {} end", clear.ends.len(), clear.station.id))
    }
}

/// The names of a region and of all regions in it.
fn places(area: &Area) -> String {
    let parts: Vec<String> = area.parts.iter().flatten().map(places).collect();
    if parts.is_empty() { area.name.clone() } else { format!("{} ({})", area.name, parts.join(", ")) }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let broker = TestBroker::start(&[("alerts", 2)])?;
    let kafka = broker.kafka()?;

    let publisher = alerts::Publisher::new(&kafka);
    publisher.storm(&serde_json::from_str(STORM)?).await?;
    publisher.flood(&serde_json::from_str(FLOOD)?).await?;
    publisher.all_clear(&serde_json::from_str(ALL_CLEAR)?).await?;

    let (lines, mut shown) = mpsc::unbounded_channel();
    let done = async move {
        for _ in 0..3 {
            println!("{}", shown.recv().await.unwrap_or_default());
        }
    };
    let consumer = kafka.consumer("alerts-board").serve(alerts::routes(Board { lines }));
    let summary = consumer.run_until(done).await?;
    println!("summary    {} handled", summary.handled);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde::{Serialize, de::DeserializeOwned};
    use serde_json::Value;

    use super::*;

    /// Decodes an example into its type and encodes it again.
    fn kept<T: DeserializeOwned + Serialize>(example: &str) -> T {
        let job: T = serde_json::from_str(example).unwrap();
        let example: Value = serde_json::from_str(example).unwrap();
        assert_eq!(serde_json::to_value(&job).unwrap(), example);
        job
    }

    #[test]
    fn every_example_is_kept_whole() {
        assert_eq!(kept::<Storm>(STORM).station.id, "HEL-1");
        assert_eq!(kept::<Flood>(FLOOD).peak, Some(FloodPeak::Integer(6)));
        assert_eq!(kept::<AllClear>(ALL_CLEAR).station.extra["commissioned"].as_str(), "1998");
    }

    #[test]
    fn what_breaks_a_schema_is_refused_with_its_place() {
        let refused =
            |from: &str, to: &str| serde_json::from_str::<Storm>(&STORM.replace(from, to)).unwrap_err().to_string();
        let reasons = [("0.85", "1.85"), ("\"forecast\"", "\"rumour\""), ("\"gusts\"", "\"gales\"")];
        let reasons = reasons.map(|(from, to)| refused(from, to));
        assert!(reasons[0].contains("above the maximum 1"), "{reasons:?}");
        assert!(reasons[1].contains("expected one of `\"observed\"`, `\"forecast\"`"), "{reasons:?}");
        assert!(reasons[2].contains("`gales`"), "{reasons:?}");
    }

    #[test]
    fn personal_data_does_not_reach_the_log() {
        let storm: Storm = serde_json::from_str(STORM).unwrap();
        assert!(!format!("{storm:?}").contains("ops@alerts.example"));
    }
}
