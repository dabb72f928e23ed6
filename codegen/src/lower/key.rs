//! The record key: a pointer from the payload to a string or an integer.

use crate::model::{Kind, Presence, Struct, Type, TypeDef, TypeId};
use crate::pointer::Pointer;

/// Index of each field on the way from `payload` to the key.
pub(super) fn path(types: &[TypeDef], payload: TypeId, key: &Pointer) -> Result<Vec<(TypeId, usize)>, String> {
    let mut path = Vec::new();
    let mut next = Some(payload);
    let mut place = Pointer::default();
    let mut tokens = key.tokens().peekable();
    while let Some(token) = tokens.next() {
        let fields = next.and_then(|id| types.get(id).map(|ty| (id, &ty.kind)));
        let Some((id, Kind::Struct(Struct { fields, .. }))) = fields else {
            return Err(format!("`{place}` is no object with `properties`, so the key cannot lead through it"));
        };
        place = place.join(&token);
        let Some((index, field)) = fields.iter().enumerate().find(|(_, field)| field.wire == token) else {
            return Err(format!("the payload has no `{place}`"));
        };
        path.push((id, index));
        let optional = field.presence == Presence::Optional;
        let leads_on = tokens.peek().is_some() && matches!(field.slot.ty, Type::Named(_));
        if leads_on && (optional || field.slot.nullable) {
            return Err(format!("`{place}` may be missing or null, so the key cannot lead through it"));
        }
        next = match &field.slot.ty {
            Type::Named(id) => Some(*id),
            Type::String | Type::Integer(_) if tokens.peek().is_none() => return Ok(path),
            _ => None,
        };
    }
    Err(format!("`{place}` is neither a string nor an integer"))
}
