//! Objects: structs, maps and lists.

use super::Lowering;
use super::schema::{self, Shape};
use crate::json::{Json, Value};
use crate::model::{Field, Kind, Presence, Rest, Struct, TypeId};
use crate::resolve::Location;

impl Lowering<'_> {
    pub(super) fn list(&mut self, at: &Location, json: &Json) -> Option<Shape> {
        match json.get("items").map(|items| &items.value) {
            Some(Value::Array(_)) => {
                self.report(&at.join("items"), "a list of schemas in `items` is not supported yet")
            }
            Some(_) => Some(Shape::List),
            None => {
                self.report(at, "an array without `items`, whose elements are any JSON values, is not supported yet")
            }
        }
    }

    /// Whether an object is a struct or a map.
    pub(super) fn object(&mut self, at: &Location, json: &Json, payload: bool) -> Option<Shape> {
        let place = at.join("additionalProperties");
        let fixed = payload || json.get("properties").is_some();
        match json.get("additionalProperties").map(|rest| &rest.value) {
            Some(Value::Bool(false)) => Some(Shape::Struct),
            None | Some(Value::Bool(true)) if fixed => Some(Shape::Struct),
            None | Some(Value::Bool(true)) => self.report(
                at,
                "an object with neither `properties` nor a schema in `additionalProperties`, whose members are any JSON values, is not supported yet",
            ),
            Some(Value::Object(_)) if fixed => {
                let reason = if payload {
                    "a schema in `additionalProperties` is not supported yet at the root of a payload"
                } else {
                    "a schema in `additionalProperties` beside `properties` is not supported yet"
                };
                self.report(&place, reason)
            }
            Some(Value::Object(_)) if json.get("required").is_some() => {
                self.report(&at.join("required"), "`required` without `properties` is not supported yet")
            }
            Some(Value::Object(_)) => Some(Shape::Map),
            Some(_) => self.report(&place, "`additionalProperties` must be a schema"),
        }
    }

    /// Gives the struct `id` the fields of the object at `at`.
    pub(super) fn fill(&mut self, id: TypeId, at: &Location) {
        let Some(json) = at.json() else { return };
        let required = self.required(at, json);
        let mut fields = Vec::new();
        let place = at.join("properties");
        let properties = json.get("properties");
        if properties.is_some_and(|json| json.as_object().is_none()) {
            self.report::<()>(&place, "`properties` must be an object");
        }
        for (wire, member) in properties.and_then(Json::as_object).into_iter().flatten() {
            let property = place.join(wire);
            let Some(slot) = self.slot(&property, 0) else { continue };
            self.pend_default(&property, &slot, Some((id, fields.len())));
            let presence = if required.contains(wire) { Presence::Required } else { Presence::Optional };
            let docs = schema::docs(&member.json);
            fields.push(Field {
                wire: wire.clone(),
                name: String::new(),
                asked: None,
                docs,
                slot,
                presence,
                boxed: false,
                sensitive: member.json.get("x-gdpr-sensitive").is_some(),
            });
        }
        let closed = matches!(json.get("additionalProperties").map(|rest| &rest.value), Some(Value::Bool(false)));
        if let Some(ty) = self.types.get_mut(id) {
            let rest = if closed { Rest::Closed } else { Rest::Dropped };
            ty.kind = Kind::Struct(Struct { fields, rest, ..Struct::default() });
        }
    }

    fn required(&mut self, at: &Location, json: &Json) -> Vec<String> {
        let place = at.join("required");
        let Some(required) = json.get("required") else { return Vec::new() };
        let names = required.as_array().and_then(|names| names.iter().map(Json::as_str).collect::<Option<Vec<_>>>());
        let Some(names) = names else {
            self.report::<()>(&place, "`required` must be a list of strings");
            return Vec::new();
        };
        for (index, name) in names.iter().enumerate() {
            if json.get("properties").is_none_or(|properties| properties.get(name).is_none()) {
                let reason = format!("the required member `{}` is not among the `properties`", name.escape_debug());
                self.report::<()>(&place.join(&index.to_string()), reason);
            }
        }
        names.into_iter().map(str::to_owned).collect()
    }
}
