//! Schemas made of any keywords.

use crate::damage::ODD;
use crate::json::{Json, quoted};
use crate::random::Random;

/// The shape of a keyword's value.
#[derive(Clone, Copy)]
enum Shape {
    Schema,
    Schemas,
    SchemaOrList,
    SchemaByName,
    SchemaByPattern,
    Dependencies,
    Names,
    NamesByName,
    Type,
    Value,
    Values,
    Number,
    Count,
    Flag,
    Text,
    Pattern,
    Format,
    Reference,
    Identity,
    Anchor,
    RustName,
    RustType,
    Sensitive,
    Edition,
}

/// Each keyword, and how often it is written.
const KEYWORDS: [(&str, Shape, usize); 67] = [
    ("type", Shape::Type, 40),
    ("properties", Shape::SchemaByName, 30),
    ("required", Shape::Names, 12),
    ("$ref", Shape::Reference, 18),
    ("allOf", Shape::Schemas, 8),
    ("anyOf", Shape::Schemas, 8),
    ("oneOf", Shape::Schemas, 8),
    ("not", Shape::Schema, 4),
    ("if", Shape::Schema, 3),
    ("then", Shape::Schema, 3),
    ("else", Shape::Schema, 2),
    ("enum", Shape::Values, 8),
    ("const", Shape::Value, 6),
    ("items", Shape::SchemaOrList, 10),
    ("prefixItems", Shape::Schemas, 5),
    ("additionalItems", Shape::Schema, 2),
    ("unevaluatedItems", Shape::Schema, 2),
    ("contains", Shape::Schema, 3),
    ("minContains", Shape::Count, 2),
    ("maxContains", Shape::Count, 2),
    ("minItems", Shape::Count, 3),
    ("maxItems", Shape::Count, 3),
    ("uniqueItems", Shape::Flag, 2),
    ("patternProperties", Shape::SchemaByPattern, 3),
    ("additionalProperties", Shape::Schema, 6),
    ("unevaluatedProperties", Shape::Schema, 2),
    ("propertyNames", Shape::Schema, 2),
    ("dependencies", Shape::Dependencies, 2),
    ("dependentRequired", Shape::NamesByName, 2),
    ("dependentSchemas", Shape::SchemaByName, 2),
    ("minProperties", Shape::Count, 2),
    ("maxProperties", Shape::Count, 2),
    ("minimum", Shape::Number, 4),
    ("maximum", Shape::Number, 4),
    ("exclusiveMinimum", Shape::Number, 3),
    ("exclusiveMaximum", Shape::Number, 3),
    ("multipleOf", Shape::Number, 3),
    ("minLength", Shape::Count, 3),
    ("maxLength", Shape::Count, 3),
    ("pattern", Shape::Pattern, 3),
    ("format", Shape::Format, 4),
    ("default", Shape::Value, 5),
    ("title", Shape::Text, 3),
    ("description", Shape::Text, 2),
    ("$comment", Shape::Text, 1),
    ("examples", Shape::Values, 1),
    ("deprecated", Shape::Flag, 1),
    ("readOnly", Shape::Flag, 1),
    ("writeOnly", Shape::Flag, 1),
    ("contentMediaType", Shape::Text, 1),
    ("contentEncoding", Shape::Text, 1),
    ("contentSchema", Shape::Schema, 1),
    ("definitions", Shape::SchemaByName, 2),
    ("$defs", Shape::SchemaByName, 2),
    ("$id", Shape::Identity, 2),
    ("id", Shape::Identity, 1),
    ("$anchor", Shape::Anchor, 2),
    ("$dynamicAnchor", Shape::Anchor, 2),
    ("$dynamicRef", Shape::Reference, 2),
    ("$recursiveAnchor", Shape::Flag, 1),
    ("$recursiveRef", Shape::Reference, 1),
    ("$vocabulary", Shape::Schema, 1),
    ("$schema", Shape::Edition, 1),
    ("x-rust-name", Shape::RustName, 2),
    ("x-rust-type", Shape::RustType, 1),
    ("x-gdpr-sensitive", Shape::Sensitive, 2),
    ("unknown", Shape::Value, 1),
];

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];
const NAMES: [&str; 20] = [
    "a",
    "b",
    "kind",
    "value",
    "next",
    "A",
    "a_b",
    "a-b",
    "aB",
    "type",
    "self",
    "",
    "extra",
    "Publisher",
    "2",
    "ключ",
    "~/%",
    "a\"b\\c\n",
    "Self",
    "new",
];
const TEXTS: [&str; 8] =
    ["", "Order", "an order", "*/ ``` #![]", "a\r\nb\u{0}\u{202e}", "Handlers", "注文 \u{1F600}", "\\\"{}"];
const PATTERNS: [&str; 9] =
    ["", "^a", "^[a-z]+$", "(a+)+$", "\\p{L}", "^(?=a)(?!b)", "(", "\\d{1,1000}", "(?<n>x)\\k<n>"];
const FORMATS: [&str; 12] =
    ["int8", "int32", "int64", "uint8", "uint32", "uint64", "float", "double", "date-time", "uuid", "decimal", "\u{0}"];
pub(super) const FILES: [&str; 3] = ["x.json", "y.json", "z z.json"];
const DEFINITIONS: [(&str, &str); 3] = [("definitions", "A"), ("definitions", "Order"), ("$defs", "list")];

pub(super) struct Maker<'a> {
    pub(super) random: &'a mut Random,
    /// Whether keywords may have values that they must not have, and references lead anywhere.
    pub(super) faulty: bool,
    /// How many of [`FILES`] there are.
    pub(super) files: usize,
}

impl Maker<'_> {
    /// A file: a schema with definitions that others refer to.
    pub(super) fn file(&mut self) -> Json {
        let Json::Object(mut members) = self.object(4) else { return Json::leaf("true") };
        // A payload is an object.
        if !self.faulty {
            members.retain(|(name, _)| !["type", "const", "enum", "not"].map(quoted).contains(name));
        }
        if self.random.one_in(3) {
            members.push((quoted("$schema"), self.value(Shape::Edition, 0)));
        }
        for keyword in ["definitions", "$defs"] {
            members.retain(|(name, _)| *name != quoted(keyword));
            let mut definitions: Vec<(String, Json)> = Vec::new();
            for (_, name) in DEFINITIONS.iter().filter(|(of, _)| *of == keyword) {
                definitions.push((quoted(name), self.schema(3)));
            }
            members.push((quoted(keyword), Json::Object(definitions)));
        }
        Json::Object(members)
    }

    /// A file of schemas each of which refers to the next one several times: what is looked at twice at each step is
    /// looked at for ever.
    pub(super) fn chain(&mut self) -> Json {
        let length = self.random.below(60);
        let shape = self.object(1);
        let (keyword, times) =
            (self.random.pick(&["anyOf", "oneOf", "allOf", "if", "properties", "items"]), 1 + self.random.below(3));
        let mut definitions = Vec::new();
        for at in 0..length {
            let next = Json::object([("$ref", Json::string(&format!("#/definitions/{}", at + 1)))]);
            let inner = match keyword {
                "if" => Json::object([("if", next.clone()), ("then", next.clone()), ("else", next)]),
                "items" => Json::object([("items", next.clone()), ("contains", next)]),
                "properties" => {
                    let member = |at: usize| (quoted(NAMES[at]), next.clone());
                    Json::object([("properties", Json::Object((0..times).map(member).collect()))])
                }
                _ => {
                    let mut branches = vec![next; times];
                    branches.push(shape.clone());
                    Json::object([(keyword, Json::List(branches))])
                }
            };
            definitions.push((quoted(&at.to_string()), inner));
        }
        definitions.push((quoted(&length.to_string()), self.object(1)));
        let first = Json::object([("$ref", Json::string("#/definitions/0"))]);
        Json::object([("properties", Json::object([("a", first)])), ("definitions", Json::Object(definitions))])
    }

    /// A schema with schemas inside, at most `depth` deep.
    pub(super) fn schema(&mut self, depth: usize) -> Json {
        if self.random.one_in(20) {
            let literal = if self.random.one_in(3) { "false" } else { "true" };
            return Json::leaf(literal);
        }
        self.object(depth)
    }

    fn object(&mut self, depth: usize) -> Json {
        let mut members: Vec<(String, Json)> = Vec::new();
        for _ in 0..self.random.few(6) + 1 {
            let (name, shape) = self.keyword();
            let spelled = quoted(name);
            if members.iter().all(|(other, _)| *other != spelled) {
                members.push((spelled, self.value(shape, depth)));
            }
        }
        Json::Object(members)
    }

    fn keyword(&mut self) -> (&'static str, Shape) {
        let mut at = self.random.below(KEYWORDS.iter().map(|(_, _, weight)| weight).sum());
        for (name, shape, weight) in KEYWORDS {
            if at < weight && (self.faulty || !matches!(shape, Shape::Identity | Shape::RustType | Shape::Edition)) {
                let shape = if self.faulty && self.random.one_in(30) { self.any_shape() } else { shape };
                return (name, shape);
            }
            at = at.saturating_sub(weight);
        }
        ("type", Shape::Type)
    }

    fn any_shape(&mut self) -> Shape {
        KEYWORDS[self.random.below(KEYWORDS.len())].1
    }

    fn value(&mut self, shape: Shape, depth: usize) -> Json {
        let inner = depth.saturating_sub(1);
        match shape {
            Shape::Schema if depth == 0 => Json::leaf("true"),
            Shape::Schema => self.schema(inner),
            Shape::Schemas => self.list(3, |maker| maker.value(Shape::Schema, depth)),
            Shape::SchemaOrList if self.random.one_in(5) => self.value(Shape::Schemas, depth),
            Shape::SchemaOrList => self.value(Shape::Schema, depth),
            Shape::SchemaByName => self.map(&NAMES, |maker| maker.value(Shape::Schema, depth)),
            Shape::SchemaByPattern => {
                let patterns = if self.faulty { &PATTERNS[..] } else { &PATTERNS[..3] };
                self.map(patterns, |maker| maker.value(Shape::Schema, depth))
            }
            Shape::Dependencies if self.random.one_in(2) => self.value(Shape::NamesByName, depth),
            Shape::Dependencies => self.value(Shape::SchemaByName, depth),
            Shape::Names => self.distinct(|maker| Json::string(maker.random.pick(&NAMES))),
            Shape::NamesByName => self.map(&NAMES, |maker| maker.value(Shape::Names, 0)),
            Shape::Type if self.random.one_in(4) => self.distinct(|maker| Json::string(maker.random.pick(&TYPES))),
            Shape::Type => Json::string(self.random.pick(&TYPES)),
            Shape::Value => self.anything(2),
            Shape::Values => self.distinct(|maker| maker.anything(1)),
            Shape::Number if self.faulty || self.random.one_in(3) => {
                Json::leaf(self.random.pick(&ODD[3..ODD.len() - 8]))
            }
            Shape::Number => Json::leaf(self.random.pick(&["1", "2", "0.5", "3", "10", "100"])),
            Shape::Count if self.faulty && self.random.one_in(4) => {
                Json::leaf(self.random.pick(&ODD[3..ODD.len() - 8]))
            }
            Shape::Count => {
                Json::leaf(self.random.pick(&["0", "1", "2", "3", "1e1", "4.0", "4294967296", "18446744073709551615"]))
            }
            Shape::Flag => Json::leaf(self.random.pick(&["true", "false"])),
            Shape::Text => Json::string(self.random.pick(&TEXTS)),
            Shape::Pattern if self.faulty => Json::string(self.random.pick(&PATTERNS)),
            Shape::Pattern => Json::string(self.random.pick(&PATTERNS[..3])),
            Shape::Format => Json::string(self.random.pick(&FORMATS)),
            Shape::Reference => self.reference(),
            Shape::Identity => Json::string(self.random.pick(&[
                "https://e.test/x.json",
                "https://e.test/sub/y.json",
                "urn:x:y",
                "y.json",
                "#old",
                "sub/",
                "http://[::1",
                "",
            ])),
            Shape::Anchor => Json::string(self.random.pick(&["here", "there", "node"])),
            Shape::RustName if self.faulty => {
                Json::string(self.random.pick(&["Order", "a b", "", "r#type", "Self", "_"]))
            }
            Shape::RustName => Json::string(self.random.pick(&["Order", "Thing", "thing", "Other"])),
            Shape::RustType => Json::string(self.random.pick(&["::std::string::String", "u8", "a b", "Vec<", ""])),
            Shape::Sensitive => Json::leaf(self.random.pick(&["true", "false", r#""email""#])),
            Shape::Edition if self.faulty && self.random.one_in(3) => {
                Json::string(self.random.pick(&["x.json", "#", "https://e.test/x.json", "", "http://[::1"]))
            }
            Shape::Edition => Json::string(self.random.pick(&[
                "http://json-schema.org/draft-04/schema#",
                "http://json-schema.org/draft-06/schema#",
                "http://json-schema.org/draft-07/schema#",
                "https://json-schema.org/draft/2019-09/schema",
                "https://json-schema.org/draft/2020-12/schema",
                "https://json-schema.org/draft/2020-12/schema",
            ])),
        }
    }

    fn reference(&mut self) -> Json {
        let file = if self.random.one_in(3) {
            FILES[self.random.below(self.files)].replace(' ', "%20")
        } else {
            String::new()
        };
        let (keyword, name) = DEFINITIONS[self.random.below(DEFINITIONS.len())];
        let text = match self.random.below(if self.faulty { 10 } else { 8 }) {
            0 => format!("{file}#"),
            8 => file + self.random.pick(&["#here", "#/properties/a", "#/allOf/0", "#/none", "#/~2", "#%zz", "#node"]),
            9 => self
                .random
                .pick(&[
                    "https://e.test/x.json",
                    "http://json-schema.org/draft-07/schema#",
                    "../../etc/x.json",
                    "\u{0}",
                    "urn:x:y",
                    "z.json",
                ])
                .to_owned(),
            _ => format!("{file}#/{keyword}/{name}"),
        };
        Json::string(&text)
    }

    /// Any value.
    pub(super) fn anything(&mut self, depth: usize) -> Json {
        match self.random.below(if depth == 0 { 4 } else { 6 }) {
            0 => Json::leaf(self.random.pick(&ODD)),
            1 => Json::string(self.random.pick(&NAMES)),
            2 | 3 => Json::leaf(self.random.pick(&["1", "2", "true", "null", r#""a""#, r#""b""#])),
            4 => self.list(3, |maker| maker.anything(depth - 1)),
            _ => self.map(&NAMES, |maker| maker.anything(depth - 1)),
        }
    }

    fn list(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> Json) -> Json {
        let count = self.random.below(most) + usize::from(!self.faulty || !self.random.one_in(10));
        Json::List((0..count).map(|_| item(self)).collect())
    }

    fn distinct(&mut self, mut item: impl FnMut(&mut Self) -> Json) -> Json {
        let mut items: Vec<Json> = Vec::new();
        for _ in 0..=self.random.few(4) {
            let item = item(self);
            if self.faulty || items.iter().all(|other| other.to_string() != item.to_string()) {
                items.push(item);
            }
        }
        Json::List(items)
    }

    fn map(&mut self, names: &[&str], mut value: impl FnMut(&mut Self) -> Json) -> Json {
        let mut members: Vec<(String, Json)> = Vec::new();
        for _ in 0..self.random.few(4) + usize::from(!self.random.one_in(10)) {
            let name = quoted(self.random.pick(names));
            if members.iter().all(|(other, _)| *other != name) {
                members.push((name, value(self)));
            }
        }
        Json::Object(members)
    }
}
