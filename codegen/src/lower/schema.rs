//! One schema: its references, its shape and the slot that it gives.

use std::collections::HashSet;

use super::{Lowering, scalar};
use crate::json::{Json, Value};
use crate::keywords;
use crate::load::Failure;
use crate::model::{Kind, Slot, Struct, Type};
use crate::resolve::{self, Location};

/// How many lists, maps and references between them may stand inside each other without a struct in between.
const MAX_NESTING: usize = 32;

/// What kind of Rust type a schema gives.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    Struct,
    Map,
    List,
    /// A string enum with its values.
    Enum(Vec<String>),
    Scalar(Type),
}

/// The text that describes a schema to a reader of the generated code.
pub(super) fn docs(json: &Json) -> Option<String> {
    let text = |name| json.get(name).and_then(Json::as_str).filter(|text| !text.trim().is_empty());
    text("description").or_else(|| text("title")).map(str::to_owned)
}

/// A slot without rules.
pub(super) fn plain(ty: Type, nullable: bool) -> Slot {
    Slot { ty, nullable, rules: Vec::new() }
}

impl Lowering<'_> {
    /// The type of the schema at `at`; `None` once what is wrong with it is reported.
    pub(super) fn slot(&mut self, at: &Location, nesting: usize) -> Option<Slot> {
        if nesting > MAX_NESTING {
            return self.report(
                at,
                "lists, maps and references nest too deeply, or for ever, without an object with `properties` in between",
            );
        }
        let target = self.follow(at)?;
        let slot = match self.index.get(&target.id()) {
            Some(&(id, nullable)) => plain(Type::Named(id), nullable),
            None => {
                let (shape, nullable) = self.shape(&target, false)?;
                let ty = self.ty(&target, shape, nullable, nesting)?;
                let slot = plain(ty, nullable);
                self.pend_default(&target, &slot, None);
                slot
            }
        };
        if at.id() != target.id() {
            self.pend_default(at, &slot, None);
        }
        Some(slot)
    }

    fn ty(&mut self, at: &Location, shape: Shape, nullable: bool, nesting: usize) -> Option<Type> {
        let kind = match shape {
            Shape::Scalar(ty) => return Some(ty),
            Shape::List => return Some(Type::List(Box::new(self.slot(&at.join("items"), nesting + 1)?))),
            Shape::Map => return Some(Type::Map(Box::new(self.slot(&at.join("additionalProperties"), nesting + 1)?))),
            Shape::Enum(values) => scalar::string_enum(values),
            Shape::Struct => Kind::Struct(Struct::default()),
        };
        let is_struct = matches!(kind, Kind::Struct(_));
        let id = self.add(at, kind);
        self.index.insert(at.id(), (id, nullable));
        if is_struct {
            self.queue.push_back((id, at.clone()));
        }
        Some(Type::Named(id))
    }

    /// Where the schema at `at` leads once every `$ref` is followed.
    pub(super) fn follow(&mut self, at: &Location) -> Option<Location> {
        let mut place = at.clone();
        let mut seen = HashSet::new();
        loop {
            let Some(reference) = place.json().and_then(|json| json.get("$ref")) else { return Some(place) };
            let member = place.join("$ref");
            let Some(text) = reference.as_str() else { return self.report(&member, "`$ref` must be a string") };
            if !seen.insert(place.id()) {
                return self.report(&member, "the reference leads back to itself and to nothing else");
            }
            if let Some(json) = place.json() {
                // Draft-07 ignores what stands beside `$ref`, 2020-12 does not: what they would read differently is refused.
                let found = keywords::check(&place, json, &["$ref"], "a reference", &mut self.run.problems);
                self.run.definitions.extend(found);
            }
            place = match resolve::resolve(&mut self.run.sources, &place.document, text) {
                Ok(target) => target,
                Err(Failure::Unreadable(reason)) => return self.report(&member, reason),
                Err(Failure::Reported) => return None,
            };
        }
    }

    /// What the schema at `at`, which is no reference, describes, and whether null stands beside it.
    ///
    /// The payload of a message is always an object, so the root of a payload need not say so.
    pub(super) fn shape(&mut self, at: &Location, payload: bool) -> Option<(Shape, bool)> {
        let json = at.json()?;
        match &json.value {
            Value::Object(_) => {}
            Value::Bool(_) => return self.report(at, "a schema that is only `true` or `false` is not supported yet"),
            _ => return self.report(at, "a schema must be an object"),
        }
        let types = self.type_names(at, json)?;
        let nullable = types.iter().any(|name| name == "null");
        let mut others = types.iter().filter(|name| *name != "null");
        let name = match (others.next(), others.next()) {
            (Some(name), None) => name.as_str(),
            (Some(_), Some(_)) => {
                return self.report(&at.join("type"), "more than one type beside `null` is not supported yet");
            }
            (None, _) if nullable => {
                return self.report(&at.join("type"), "a schema that takes only null is not supported yet");
            }
            (None, _) if json.get("enum").is_some() => "string",
            (None, _) if payload => "object",
            (None, _) => return self.untyped(at, json),
        };
        let (supported, what): (&[&str], _) = match name {
            "string" => (&["type", "enum", "format"], "a string"),
            "boolean" => (&["type", "enum"], "a boolean"),
            "integer" => (&["type", "enum", "format"], "an integer"),
            "number" => (&["type", "enum", "format"], "a number"),
            "array" => (&["type", "enum", "items"], "an array"),
            "object" => (&["type", "enum", "properties", "required", "additionalProperties"], "an object"),
            other => {
                let reason = format!("`{}` is no type of JSON Schema", other.escape_debug());
                return self.report(&at.join("type"), reason);
            }
        };
        self.check(at, json, supported, what);
        if json.get("enum").is_some() {
            if name != "string" {
                return self.report(&at.join("enum"), "an `enum` of other values than strings is not supported yet");
            }
            let (values, null) = self.enum_values(at, json)?;
            return Some((Shape::Enum(values), null && (nullable || types.is_empty())));
        }
        let shape = match name {
            "string" => Shape::Scalar(Type::String),
            "boolean" => Shape::Scalar(Type::Bool),
            "integer" => Shape::Scalar(self.integer(at, json)?),
            "number" => Shape::Scalar(self.number(at, json)?),
            "array" => self.list(at, json)?,
            _ => self.object(at, json, payload)?,
        };
        Some((shape, nullable))
    }

    fn check(&mut self, at: &Location, json: &Json, supported: &[&str], what: &str) {
        let found = keywords::check(at, json, supported, what, &mut self.run.problems);
        self.run.definitions.extend(found);
    }

    fn type_names(&mut self, at: &Location, json: &Json) -> Option<Vec<String>> {
        let names = match json.get("type").map(|json| &json.value) {
            None => Some(Vec::new()),
            Some(Value::String(name)) => Some(vec![name.clone()]),
            Some(Value::Array(names)) if !names.is_empty() => {
                names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
            }
            Some(_) => None,
        };
        match names {
            Some(names) => Some(names),
            None => self.report(&at.join("type"), "`type` must be a string or a list of strings"),
        }
    }

    /// A schema without `type`: any JSON value, or one whose other keywords cannot be typed. All of it is reported.
    fn untyped<T>(&mut self, at: &Location, json: &Json) -> Option<T> {
        let objectlike = ["properties", "required", "additionalProperties"];
        if objectlike.iter().any(|name| json.get(name).is_some()) {
            return self.report(
                at,
                "the schema has no `type`, so it takes other values than objects too; add `\"type\": \"object\"`",
            );
        }
        let before = self.run.problems.len();
        self.check(at, json, &["items", "format"], "a schema without `type`");
        if self.run.problems.len() == before {
            return self.report(at, "a schema without `type`, which takes any JSON value, is not supported yet");
        }
        None
    }
}
