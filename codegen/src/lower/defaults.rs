//! `default`: a value that must fit its own type. One that does not is passed over, with a warning.

use std::collections::HashMap;

use super::Lowering;
use crate::json::{Json, Value as Raw};
use crate::model::{Alternative, Integer, Kind, Presence, Rest, Rule, Slot, Type, TypeDef, TypeId, Value};
use crate::pointer::Pointer;
use crate::resolve::Location;
use crate::schema::{Decimal, Literal, SchemaId};

/// How deep defaults may lead to the defaults of the members that they leave out.
const MAX_DEPTH: usize = 32;

/// A default and the type that it must fit.
pub(super) struct Pending {
    at: Location,
    slot: Slot,
    /// The field that a missing member leaves to the default.
    field: (TypeId, usize),
}

impl Lowering<'_> {
    /// Notes the default of the schema `id`, if it has one, to be judged when all types are known; a missing `field` has
    /// that value.
    pub(super) fn pend_default(&mut self, id: SchemaId, slot: &Slot, field: (TypeId, usize)) {
        let at = self.arena.place(id);
        if self.options.fill_defaults && at.json().is_some_and(|json| json.get("default").is_some()) {
            self.defaults.push(Pending { at: at.join("default"), slot: slot.clone(), field });
        }
    }

    pub(super) fn settle_defaults(&mut self) {
        let mut pending = std::mem::take(&mut self.defaults);
        pending.retain(|pending| self.may_be_filled(pending.field));
        // One that does not fit leaves its member an option, which the values of the others must know.
        let settled = loop {
            let of_field: HashMap<_, _> = pending.iter().map(|pending| (pending.field, &pending.at)).collect();
            let reader = Reader { types: &self.types, of_field: &of_field };
            let (mut settled, mut misfits) = (Vec::new(), Vec::new());
            for (index, Pending { at, slot, field }) in pending.iter().enumerate() {
                let Some(json) = at.json() else { continue };
                match reader.slot(slot, json, &Pointer::default(), 0) {
                    Ok(value) => settled.push((*field, value)),
                    Err((place, reason)) => {
                        let place = place.tokens().fold(at.clone(), |at, token| at.join(&token));
                        let reason = format!("the default does not fit its schema: {reason}");
                        misfits.push((index, place.problem(reason)));
                    }
                }
            }
            if misfits.is_empty() {
                break settled;
            }
            for (index, problem) in misfits.into_iter().rev() {
                pending.remove(index);
                self.arena.warnings.push(problem);
            }
        };
        for ((id, index), value) in settled {
            if let Some(Kind::Struct(object)) = self.types.get_mut(id).map(|ty| &mut ty.kind)
                && let Some(field) = object.fields.get_mut(index)
                && field.presence == Presence::Optional
            {
                let value = if field.boxed { boxed(value, field.slot.nullable) } else { value };
                field.presence = Presence::Default(value);
            }
        }
    }

    /// Whether an object that is valid without a member stays valid with it: a default is always written.
    fn may_be_filled(&self, (id, index): (TypeId, usize)) -> bool {
        let Some(Kind::Struct(object)) = self.types.get(id).map(|ty| &ty.kind) else { return false };
        let Some(field) = object.fields.get(index) else { return false };
        !object.rules.iter().any(|rule| match rule {
            Rule::MaxProperties(_) => true,
            Rule::DependentRequired(name, _) => *name == field.wire,
            _ => false,
        })
    }
}

/// A box goes inside the option of a nullable value.
fn boxed(value: Value, nullable: bool) -> Value {
    match value {
        Value::None => Value::None,
        Value::Some(inner) if nullable => Value::Some(Box::new(Value::Boxed(inner))),
        value => Value::Boxed(Box::new(value)),
    }
}

type Outcome = Result<Value, (Pointer, String)>;

struct Reader<'a> {
    types: &'a [TypeDef],
    of_field: &'a HashMap<(TypeId, usize), &'a Location>,
}

impl Reader<'_> {
    fn slot(&self, slot: &Slot, json: &Json, at: &Pointer, depth: usize) -> Outcome {
        if depth > MAX_DEPTH {
            return Err((Pointer::default(), "it leads to other defaults without end".to_owned()));
        }
        match &json.value {
            Raw::Null if slot.nullable => Ok(Value::None),
            _ => {
                keeps(&slot.rules, json, at)?;
                let value = self.value(&slot.ty, json, at, depth)?;
                Ok(if slot.nullable { Value::Some(Box::new(value)) } else { value })
            }
        }
    }

    fn value(&self, ty: &Type, json: &Json, at: &Pointer, depth: usize) -> Outcome {
        let refuse = |reason: &str| Err((at.clone(), reason.to_owned()));
        match (ty, &json.value) {
            (Type::Json, _) => Ok(Value::Json(Literal::of(json).json)),
            (Type::Null, Raw::Null) => Ok(Value::Null),
            (Type::Null, _) => refuse("it is not null"),
            (Type::Foreign(_), _) => refuse("a type of another crate has no default here"),
            (Type::Bool, Raw::Bool(value)) => Ok(Value::Bool(*value)),
            (Type::Bool, _) => refuse("it is no boolean"),
            (Type::String, Raw::String(text)) => Ok(Value::String(text.clone())),
            (Type::String, _) => refuse("it is no string"),
            (Type::Integer(integer), Raw::Number(text)) => whole(*integer, text).map_err(|reason| (at.clone(), reason)),
            (Type::Integer(_), _) => refuse("it is no integer"),
            (Type::F64, Raw::Number(text)) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Value::Float(value)),
                _ => refuse("the number is out of range"),
            },
            (Type::F32, Raw::Number(text)) => match text.parse::<f32>() {
                Ok(value) if value.is_finite() => Ok(Value::Float(text.parse().unwrap_or_default())),
                _ => refuse("the number is out of range"),
            },
            (Type::F32 | Type::F64, _) => refuse("it is no number"),
            (Type::List(slot), Raw::Array(items)) => {
                let values = items.iter().enumerate();
                let values = values.map(|(index, item)| self.slot(slot, item, &at.join(&index.to_string()), depth + 1));
                Ok(Value::List(values.collect::<Result<_, _>>()?))
            }
            (Type::List(_), _) => refuse("it is no array"),
            (Type::Tuple(slots), Raw::Array(items)) if slots.len() == items.len() => {
                let values = slots.iter().zip(items).enumerate();
                let values =
                    values.map(|(index, (slot, item))| self.slot(slot, item, &at.join(&index.to_string()), depth + 1));
                Ok(Value::Tuple(values.collect::<Result<_, _>>()?))
            }
            (Type::Tuple(_), _) => refuse("it is no array of that many elements"),
            (Type::Map(slot), Raw::Object(members)) => {
                let values = members.iter();
                let values = values.map(|(name, member)| {
                    Ok((name.clone(), self.slot(slot, &member.json, &at.join(name), depth + 1)?))
                });
                Ok(Value::Map(values.collect::<Result<_, _>>()?))
            }
            (Type::Map(_), _) => refuse("it is no object"),
            (Type::Named(id), _) => match self.types.get(*id).map(|ty| &ty.kind) {
                Some(Kind::Enum(variants)) => {
                    let json = Literal::of(json).json;
                    match variants.iter().position(|variant| variant.json == json) {
                        Some(index) => Ok(Value::Variant(*id, index)),
                        None => refuse("it is none of the values of the `enum`"),
                    }
                }
                Some(Kind::Union(forms)) => self.form(*id, forms, json, at, depth),
                _ => self.record(*id, json, at, depth),
            },
        }
    }

    /// The first form that passes the guard and takes the value.
    fn form(&self, id: TypeId, forms: &[Alternative], json: &Json, at: &Pointer, depth: usize) -> Outcome {
        let kind = Literal::of(json).kind;
        let passes = |form: &Alternative| {
            form.kinds.meets(kind)
                && form.tag.as_ref().is_none_or(|(name, values)| {
                    json.get(name).is_none_or(|value| values.contains(&Literal::of(value).json))
                })
        };
        let mut failure = (at.clone(), "no form of the union takes it".to_owned());
        for (index, form) in forms.iter().enumerate().filter(|(_, form)| passes(form)) {
            match self.slot(&form.slot, json, at, depth + 1) {
                Ok(value) => {
                    let value = if form.boxed { boxed(value, form.slot.nullable) } else { value };
                    return Ok(Value::Alternative(id, index, Box::new(value)));
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn record(&self, id: TypeId, json: &Json, at: &Pointer, depth: usize) -> Outcome {
        let (Some(Kind::Struct(object)), Some(members)) = (self.types.get(id).map(|ty| &ty.kind), json.as_object())
        else {
            return Err((at.clone(), "it is no object".to_owned()));
        };
        keeps(&object.rules, json, at)?;
        let named = |name: &str| {
            object.fields.iter().any(|field| field.wire == name)
                || object.constants.iter().any(|(wire, _)| wire == name)
        };
        let mut others = Vec::new();
        for (name, member) in members.iter().filter(|(name, _)| !named(name)) {
            match &object.rest {
                Rest::Kept { value, .. } if !object.forbidden.contains(name) => {
                    others.push((name.clone(), self.slot(value, &member.json, &at.join(name), depth + 1)?));
                }
                // A member that is passed over would be lost on the way into the struct.
                _ => return Err((at.join(name), "the object takes no such member".to_owned())),
            }
        }
        for (wire, json) in &object.constants {
            if members.get(wire).is_none_or(|member| Literal::of(&member.json).json != *json) {
                return Err((at.clone(), format!("the member `{}` must be {json}", wire.escape_debug())));
            }
        }
        let mut values = Vec::new();
        for (index, field) in object.fields.iter().enumerate() {
            let place = at.join(&field.wire);
            let own = self.of_field.get(&(id, index)).and_then(|at| at.json());
            let given = members.get(&field.wire).map(|member| &member.json);
            let value = match given.or(if field.presence == Presence::Required { None } else { own }) {
                Some(json) => self.slot(&field.slot, json, &place, depth + 1)?,
                None if field.presence == Presence::Required => {
                    return Err((at.clone(), format!("the member `{}` is missing", field.wire.escape_debug())));
                }
                None => {
                    values.push(Value::None);
                    continue;
                }
            };
            let value = if field.boxed { boxed(value, field.slot.nullable) } else { value };
            let optional = field.presence == Presence::Optional && own.is_none();
            values.push(if optional { Value::Some(Box::new(value)) } else { value });
        }
        Ok(Value::Struct(id, values, others))
    }
}

/// Whether the value keeps to rules: a default that does not would be written where nothing may be.
fn keeps(rules: &[Rule], json: &Json, at: &Pointer) -> Result<(), (Pointer, String)> {
    match rules.iter().find(|rule| rule.is_kept_by(json) == Some(false)) {
        Some(broken) => Err((at.clone(), format!("it breaks `{}`", broken.keyword()))),
        None => Ok(()),
    }
}

fn whole(integer: Integer, text: &str) -> Result<Value, String> {
    let number = Decimal::parse(text).filter(Decimal::is_whole).ok_or("it is no integer")?;
    match number.floor() {
        Some(value) if (integer.min..=integer.max).contains(&value) => Ok(Value::Integer(value)),
        _ => Err(format!("the number does not fit `{}`", integer.name)),
    }
}
