//! Places of schemas.

use std::rc::Rc;

use crate::error::Problem;
use crate::json::Json;
use crate::load::Document;
use crate::pointer::Pointer;

/// The place of a schema.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) document: Rc<Document>,
    pub(crate) pointer: Pointer,
}

impl Location {
    pub(crate) fn root(document: &Rc<Document>) -> Self {
        Self { document: Rc::clone(document), pointer: Pointer::default() }
    }

    pub(crate) fn join(&self, token: &str) -> Self {
        Self { document: Rc::clone(&self.document), pointer: self.pointer.join(token) }
    }

    pub(crate) fn json(&self) -> Option<&Json> {
        self.document.root.pointer(&self.pointer)
    }

    pub(crate) fn problem(&self, reason: impl Into<String>) -> Problem {
        self.document.problem(&self.pointer, reason)
    }

    /// What tells this place from every other one.
    pub(crate) fn id(&self) -> (String, Pointer) {
        (self.document.path.clone(), self.pointer.clone())
    }
}
