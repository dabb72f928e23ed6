//! Boxes for types that hold themselves, directly or through others.

use crate::model::{Kind, Slot, Type, TypeDef, TypeId};

/// Boxes every field and every form that is part of a cycle of types. Lists and maps need none: they hold their values
/// elsewhere.
pub(super) fn insert(types: &mut [TypeDef]) {
    let holds: Vec<Vec<TypeId>> = types.iter().map(held).collect();
    let component = components(&holds);
    for (id, ty) in types.iter_mut().enumerate() {
        // What has a type of the same component leads back to this type.
        let leads_back = |slot: &Slot| {
            let mut found = Vec::new();
            in_place(slot, &mut found);
            found.iter().any(|target| component.get(id) == component.get(*target))
        };
        match &mut ty.kind {
            Kind::Struct(object) => object.fields.iter_mut().for_each(|field| field.boxed = leads_back(&field.slot)),
            Kind::Union(forms) => forms.iter_mut().for_each(|form| form.boxed = leads_back(&form.slot)),
            Kind::Enum(_) => {}
        }
    }
}

fn held(ty: &TypeDef) -> Vec<TypeId> {
    let mut found = Vec::new();
    match &ty.kind {
        Kind::Struct(object) => object.fields.iter().for_each(|field| in_place(&field.slot, &mut found)),
        Kind::Union(forms) => forms.iter().for_each(|form| in_place(&form.slot, &mut found)),
        Kind::Enum(_) => {}
    }
    found
}

/// The types that a slot holds in its own place.
fn in_place(slot: &Slot, found: &mut Vec<TypeId>) {
    match &slot.ty {
        Type::Named(id) => found.push(*id),
        Type::Tuple(items) => items.iter().for_each(|item| in_place(item, found)),
        _ => {}
    }
}

/// The strongly connected component of each node (Tarjan's algorithm, with a stack of its own instead of recursion:
/// thousands of structs may hold each other in a row).
fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut state = Tarjan {
        order: vec![usize::MAX; edges.len()],
        low: vec![0; edges.len()],
        component: vec![usize::MAX; edges.len()],
        open: Vec::new(),
        next: 0,
        found: 0,
    };
    for root in 0..edges.len() {
        if state.order[root] == usize::MAX {
            state.visit(root, edges);
        }
    }
    state.component
}

struct Tarjan {
    order: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    open: Vec<usize>,
    next: usize,
    found: usize,
}

impl Tarjan {
    fn visit(&mut self, root: usize, edges: &[Vec<usize>]) {
        self.enter(root);
        let mut calls = vec![(root, 0)];
        while let Some(&mut (node, ref mut edge)) = calls.last_mut() {
            if let Some(&target) = edges[node].get(*edge) {
                *edge += 1;
                if self.order[target] == usize::MAX {
                    self.enter(target);
                    calls.push((target, 0));
                } else if self.component[target] == usize::MAX {
                    self.low[node] = self.low[node].min(self.order[target]);
                }
            } else {
                calls.pop();
                if let Some(&(parent, _)) = calls.last() {
                    self.low[parent] = self.low[parent].min(self.low[node]);
                }
                self.close(node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.open.push(node);
    }

    fn close(&mut self, node: usize) {
        if self.low[node] != self.order[node] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = self.found;
            if member == node {
                break;
            }
        }
        self.found += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn nodes_that_reach_each_other_share_a_component() {
        let found = components(&[vec![1], vec![2], vec![0, 3], vec![4], vec![]]);
        assert_eq!((found[0], found[1]), (found[2], found[2]));
        assert!(found[3] != found[0] && found[4] != found[3] && found[4] != found[0]);
    }

    #[test]
    fn a_chain_of_many_nodes_does_not_exhaust_the_stack() {
        let mut edges: Vec<_> = (1..200_000).map(|next| vec![next]).collect();
        edges.push(vec![0]);
        assert!(components(&edges).iter().all(|component| *component == 0));
    }
}
