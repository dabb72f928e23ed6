//! The section `poison_dlq`: what the dead letter of a poison record looks like.

use std::{collections::BTreeSet, fmt};

use babelqueue::envelope::{DeadLetter, poison_dead_letter};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use crate::{
    check::{Outcome, same},
    suite::{Suite, member, text},
};

pub(crate) fn dead_letter(suite: &Suite, case: &Value) -> Outcome {
    let body = match case.get("body_base64") {
        None => text(case, "body")?.as_bytes().to_vec(),
        Some(_) => BASE64_STANDARD.decode(text(case, "body_base64")?).map_err(|error| error.to_string())?,
    };
    let queue = text(suite.section("poison_dlq").unwrap_or(&Value::Null), "original_queue")?;
    let block = DeadLetter {
        reason: "poison",
        error: Some("not an envelope"),
        exception: None,
        failed_at: 1_749_132_727_000,
        original_queue: queue,
        attempts: 0,
        lang: "rust",
    };
    let record = String::from_utf8(poison_dead_letter(&body, &block)).map_err(|error| error.to_string())?;

    let mut members = Members::of(&record)?;
    let found = members.take("dead_letter")?;
    same("reason", &Some("poison"), &found["reason"].as_str())?;
    same("original_queue", &Some(queue), &found["original_queue"].as_str())?;

    let expect = member(case, "expect")?;
    match text(expect, "shape")? {
        "splice" => {
            // All original bytes in their order, which is more than the suite asks of this shape.
            let block = serde_json::to_string(&block).map_err(|error| error.to_string())?;
            let (before, behind) = record
                .split_once(&format!(r#""dead_letter":{block}"#))
                .ok_or("the block is not in the record as it is written")?;
            let kept = format!("{}{behind}", before.strip_suffix(',').unwrap_or(before));
            same("bytes", &body.as_slice(), &kept.as_bytes())?;
            same("record", member(expect, "record")?, &members.values()?)
        }
        "wrapper" => same("record", member(expect, "record")?, &members.values()?),
        // This SDK changes bodies by bytes, so it never needs the wrapper here.
        "splice_or_wrapper" => {
            for literal in member(expect, "splice_literals")?.as_array().into_iter().flatten() {
                let literal = literal.as_str().ok_or("a literal of the case is no string")?;
                same(literal, &true, &record.contains(literal))?;
            }
            let keys = member(expect, "splice_keys")?.as_array().into_iter().flatten();
            same("members", &keys.filter_map(Value::as_str).collect(), &members.names())
        }
        shape => Err(format!("unknown shape `{shape}`")),
    }
}

/// The members of an object in order, repeated ones too; the values may be ones that `Value` cannot hold.
struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    fn of(record: &str) -> Result<Self, String> {
        let mut deserializer = serde_json::Deserializer::from_str(record);
        let members = Self::deserialize(&mut deserializer).map_err(|error| format!("no JSON object: {error}"))?;
        deserializer.end().map(|()| members).map_err(|error| format!("not one JSON value: {error}"))
    }

    /// Takes out the one member of this name.
    fn take(&mut self, name: &str) -> Result<Value, String> {
        let count = self.0.iter().filter(|(other, _)| other == name).count();
        same(&format!("members `{name}`"), &1, &count)?;
        let at = self.0.iter().position(|(other, _)| other == name).ok_or("no such member")?;
        serde_json::from_str(self.0.remove(at).1.get()).map_err(|error| error.to_string())
    }

    fn names(&self) -> BTreeSet<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn values(&self) -> Result<Value, String> {
        let parse = |(name, value): &(String, Box<RawValue>)| {
            serde_json::from_str::<Value>(value.get()).map(|value| (name.clone(), value))
        };
        self.0.iter().map(parse).collect::<Result<_, _>>().map(Value::Object).map_err(|error| error.to_string())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}
