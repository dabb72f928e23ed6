//! Which keywords a schema may hold; every other one is refused, never passed over.

use crate::error::Problem;
use crate::json::{Json, Value};
use crate::resolve::Location;

/// Keywords that say something about a schema without changing what it accepts.
const ANNOTATIONS: &[&str] = &[
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "definitions",
    "$defs",
];

/// The other keywords of draft-04 to 2020-12, to tell them from misspelt ones.
const KEYWORDS: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Checks the members of the schema `json` at `at`, of which `supported` have a meaning; `what` names what it describes.
///
/// Gives the definitions that it holds.
pub(crate) fn check(
    at: &Location,
    json: &Json,
    supported: &[&str],
    what: &str,
    problems: &mut Vec<Problem>,
) -> Vec<Location> {
    let mut definitions = Vec::new();
    for (name, member) in json.as_object().into_iter().flatten() {
        let place = at.join(name);
        let refusal = match name.as_str() {
            "$schema" => refuse_dialect(&member.json),
            "title" | "description" => member.json.as_str().is_none().then(|| format!("`{name}` must be a string")),
            "definitions" | "$defs" => match member.json.as_object() {
                Some(schemas) => {
                    definitions.extend(schemas.keys().map(|key| place.join(key)));
                    None
                }
                None => Some(format!("`{name}` must be an object")),
            },
            "$id" if at.pointer.as_str().is_empty() => None,
            "$id" => Some("keyword `$id` inside a schema file is not supported yet".to_owned()),
            known if supported.contains(&known) || ANNOTATIONS.contains(&known) || known.starts_with("x-") => None,
            known if KEYWORDS.contains(&known) && supported == ["$ref"] => {
                Some(format!("keyword `{name}` is not supported yet beside `$ref`"))
            }
            "format" | "items" | "properties" | "required" | "additionalProperties" | "enum" => {
                Some(format!("keyword `{name}` has no meaning for {what}"))
            }
            known if KEYWORDS.contains(&known) => Some(format!("keyword `{name}` is not supported yet")),
            _ => Some(format!(
                "`{}` is no keyword of JSON Schema; an annotation of your own begins with `x-`",
                name.escape_debug()
            )),
        };
        problems.extend(refusal.map(|reason| place.problem(reason)));
    }
    definitions
}

fn refuse_dialect(json: &Json) -> Option<String> {
    let Value::String(uri) = &json.value else { return Some("`$schema` must be a string".to_owned()) };
    let bare = uri.strip_suffix('#').unwrap_or(uri);
    let bare = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")).unwrap_or(bare);
    let known = matches!(bare, "json-schema.org/draft-07/schema" | "json-schema.org/draft/2020-12/schema");
    (!known).then(|| format!("the dialect `{}` is not supported yet; draft-07 and 2020-12 are", uri.escape_debug()))
}
