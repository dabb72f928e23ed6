//! The one hidden door for macros and generated code. Not part of the public API: it changes without notice.

mod state;
mod urns;

use std::{borrow::Cow, sync::Arc};

pub mod decode;

pub use serde;

pub use self::{
    state::{Share, State},
    urns::assert_first_of_urn,
};

use crate::{
    handler::{Handler, MethodFn},
    job::{Job, RecordKey},
    router::{Route, Routes},
};

/// A route whose handler is a function of job and delivery, or a [`Handler`].
pub fn route<J: Job>(handler: impl Handler<J>) -> Route {
    Route::of(handler)
}

/// A route whose handler is a function of state, job and delivery.
pub fn route_with<S, J, M>(state: &Arc<S>, method: M) -> Route
where
    S: Send + Sync + 'static,
    J: Job,
    M: for<'a> MethodFn<'a, S, J>,
    for<'a> <M as MethodFn<'a, S, J>>::Future: Send,
{
    Route::with_state(Arc::clone(state), method)
}

/// The routes of one `routes!`, whose URNs it has compared at compile time.
pub fn routes<const N: usize>(routes: [Route; N]) -> Routes {
    Routes::new(routes)
}

/// The record key of a field.
pub fn record_key<K: RecordKey + ?Sized>(field: &K) -> Option<Cow<'_, [u8]>> {
    field.record_key()
}
