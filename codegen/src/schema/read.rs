//! Keywords whose value has one form, read from a schema; every other form is reported.

use super::{Arena, Decimal, Literal, SchemaId};
use crate::json::{Json, Value};
use crate::resolve::Location;

/// A schema whose keywords are read.
pub(super) struct Reader<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) place: &'a Location,
    pub(super) json: &'a Json,
    /// Every schema that was found inside.
    pub(super) inside: Vec<SchemaId>,
}

impl Reader<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.json.get(name).is_some()
    }

    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let json = self.json.get(name)?;
        match json.as_str() {
            Some(text) => Some(text.to_owned()),
            None => self.refuse(name, format!("`{name}` must be a string")),
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let json = self.json.get(name)?;
        let texts =
            json.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        match texts {
            Some(texts) => Some(texts),
            None => self.refuse(name, format!("`{name}` must be a list of strings")),
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        match self.json.get(name)?.value {
            Value::Bool(value) => Some(value),
            _ => self.refuse(name, format!("`{name}` must be true or false")),
        }
    }

    /// A number, as it is spelled.
    pub(super) fn number(&mut self, name: &str) -> Option<String> {
        match &self.json.get(name)?.value {
            Value::Number(text) => Some(text.clone()),
            _ => self.refuse(name, format!("`{name}` must be a number")),
        }
    }

    /// A count: a number without fraction that is not negative, however it is written.
    pub(super) fn count(&mut self, name: &str) -> Option<u64> {
        let json = self.json.get(name)?;
        let number = match &json.value {
            Value::Number(text) => Decimal::parse(text),
            _ => None,
        };
        match number.filter(|number| number.is_whole() && *number >= Decimal::whole(0)) {
            // Nothing is as long as the greatest.
            Some(number) => Some(number.floor().and_then(|count| count.try_into().ok()).unwrap_or(u64::MAX)),
            None => self.refuse(name, format!("`{name}` must be a whole number from 0 on")),
        }
    }

    pub(super) fn values(&mut self, name: &str) -> Option<Vec<Literal>> {
        let json = self.json.get(name)?;
        match json.as_array() {
            Some(items) => Some(items.iter().map(Literal::of).collect()),
            None => self.refuse(name, format!("`{name}` must be a list")),
        }
    }

    /// One schema.
    pub(super) fn schema(&mut self, name: &str) -> Option<SchemaId> {
        let json = self.json.get(name)?;
        self.schema_at(&self.place.join(name), json)
    }

    /// A list of schemas, which must not be empty.
    pub(super) fn schemas(&mut self, name: &str) -> Option<Vec<SchemaId>> {
        let json = self.json.get(name)?;
        let Some(items) = json.as_array().filter(|items| !items.is_empty()) else {
            return self.refuse(name, format!("`{name}` must be a list of schemas"));
        };
        let place = self.place.join(name);
        Some(
            items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| self.schema_at(&place.join(&index.to_string()), item))
                .collect(),
        )
    }

    /// Schemas by name.
    pub(super) fn schema_map(&mut self, name: &str) -> Vec<(String, SchemaId)> {
        let Some(json) = self.json.get(name) else { return Vec::new() };
        let Some(members) = json.as_object() else {
            self.refuse::<()>(name, format!("`{name}` must be an object whose members are schemas"));
            return Vec::new();
        };
        let place = self.place.join(name);
        members
            .iter()
            .filter_map(|(key, member)| Some((key.clone(), self.schema_at(&place.join(key), &member.json)?)))
            .collect()
    }

    pub(super) fn schema_at(&mut self, place: &Location, json: &Json) -> Option<SchemaId> {
        if !matches!(json.value, Value::Object(_) | Value::Bool(_)) {
            self.arena.report(place, "a schema must be an object, or `true` or `false`");
            return None;
        }
        let id = self.arena.at(place);
        self.inside.push(id);
        Some(id)
    }

    pub(super) fn refuse<T>(&mut self, name: &str, reason: impl Into<String>) -> Option<T> {
        self.arena.report(&self.place.join(name), reason);
        None
    }
}
