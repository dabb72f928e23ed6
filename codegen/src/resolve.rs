//! `$ref`: from the text of a reference to a place in a file of the schema folder. Never over the network.

use std::rc::Rc;

use percent_encoding::percent_decode_str;

use crate::error::Problem;
use crate::json::Json;
use crate::load::{Document, Failure, Sources};
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

/// The place that the reference `text` in the file `from` names.
pub(crate) fn resolve(sources: &mut Sources, from: &Rc<Document>, text: &str) -> Result<Location, Failure> {
    let refuse = |reason: String| Err(Failure::Unreadable(reason));
    let (file, fragment) = text.split_once('#').unwrap_or((text, ""));
    if file.contains(':') || file.starts_with("//") {
        return refuse(
            "only files of the schema folder can be referred to, by a relative path; the network is never asked"
                .to_owned(),
        );
    }
    if file.contains('?') {
        return refuse("a reference to a file takes no query".to_owned());
    }
    let (Ok(file), Ok(fragment)) = (percent_decode_str(file).decode_utf8(), percent_decode_str(fragment).decode_utf8())
    else {
        return refuse("the reference is not UTF-8 once its `%` escapes are read".to_owned());
    };
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return refuse(
            "a reference to an anchor is not supported yet; use a JSON Pointer, such as `#/definitions/party`"
                .to_owned(),
        );
    }
    let Some(pointer) = Pointer::parse(&fragment) else {
        return refuse("the reference holds a `~` that is neither `~0` nor `~1`".to_owned());
    };
    let document = if file.is_empty() { Rc::clone(from) } else { sources.open(&from.path, &file)? };
    if document.root.pointer(&pointer).is_none() {
        return refuse(format!("the reference leads nowhere: `{}` has no `{pointer}`", document.path.escape_debug()));
    }
    Ok(Location { document, pointer })
}
