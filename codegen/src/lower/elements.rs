//! The elements of an array, over all the schemas that hold for it.

use super::Lowering;
use super::node::Node;
use crate::schema::SchemaId;

/// What an array may hold.
#[derive(Debug, Default)]
pub(super) struct Elements {
    /// The schemas of the first elements.
    pub(super) prefix: Vec<Vec<SchemaId>>,
    /// The schemas of all elements behind them.
    pub(super) rest: Vec<SchemaId>,
}

impl Lowering<'_> {
    pub(super) fn elements(&mut self, node: &Node) -> Elements {
        let mut elements = Elements::default();
        let schemas: Vec<_> = node.schemas.iter().map(|id| (*id, self.arena.get(*id))).collect();
        let length = schemas.iter().map(|(_, schema)| schema.array.prefix.len()).max().unwrap_or(0);
        elements.prefix = vec![Vec::new(); length];
        for (id, schema) in &schemas {
            for (index, roots) in elements.prefix.iter_mut().enumerate() {
                roots.extend(schema.array.prefix.get(index).copied().or(schema.array.items));
            }
            elements.rest.extend(schema.array.items);
            if let Some(unevaluated) = schema.array.unevaluated
                && let Some(evaluated) = self.evaluated_items(*id, 0)
            {
                elements.prefix.iter_mut().skip(evaluated).for_each(|roots| roots.push(unevaluated));
                // With fewer elements named than evaluated nothing is known of those in between.
                if evaluated <= length {
                    elements.rest.push(unevaluated);
                }
            }
        }
        elements
    }

    /// How many elements the schema `id` and those that hold with it look at; `None` if it may be all.
    fn evaluated_items(&mut self, id: SchemaId, depth: usize) -> Option<usize> {
        let schema = self.arena.get(id);
        let array = &schema.array;
        if depth > 32
            || schema.conditional
            || !schema.unions.is_empty()
            || array.items.is_some()
            || (depth > 0 && array.unevaluated.is_some())
        {
            return None;
        }
        let mut length = array.prefix.len();
        for also in &schema.also {
            length = length.max(self.evaluated_items(*also, depth + 1)?);
        }
        Some(length)
    }
}
