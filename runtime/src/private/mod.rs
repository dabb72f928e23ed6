//! The one hidden door for macros and generated code. Not part of the public API: it changes without notice.

pub mod conformance;
pub mod fuzz;
mod state;
mod urns;

use std::{borrow::Cow, sync::Arc};

#[cfg(feature = "schemars")]
pub use schemars;
pub use serde;

pub use crate::payload::*;

pub use self::{
    state::{Share, State},
    urns::{NotAJob, UrnOf, assert_first_of_urn},
};

use crate::{
    batch_handler::{BatchHandler, BatchMethod},
    handler::{Handler, Method},
    job::{Job, RecordKey},
    router::{Route, Routes},
};

// Of a handler that does not fit, the compiler shows the parameter's line: the comments there are for the user.

/// A route whose handler is a function of job and delivery, or a [`Handler`].
pub fn route<J: Job>(
    handler: impl Handler<J>, // async fn(job: J, cx: &Delivery) -> Result<(), HandlerError>; a method: routes![state; J => S::method]
) -> Route {
    Route::of(handler)
}

/// A route whose handler is a function of state, job and delivery.
pub fn route_with<S: Send + Sync + 'static, J: Job>(
    state: &Arc<S>,
    method: impl Method<S, J>, // async fn(state: &S, job: J, cx: &Delivery) -> Result<(), HandlerError>; no state: routes![J => …]
) -> Route {
    Route::with_state(Arc::clone(state), method)
}

/// A route whose handler is a function of many jobs, or a [`BatchHandler`].
pub fn batch_route<J: Job>(
    max: usize,
    handler: impl BatchHandler<J>, // async fn(batch: JobBatch<J>) -> Result<(), HandlerError>, or -> Result<Failures, HandlerError>
) -> Route {
    Route::of_batch(max, handler)
}

/// A route whose handler is a function of state and many jobs.
pub fn batch_route_with<S: Send + Sync + 'static, J: Job>(
    state: &Arc<S>,
    max: usize,
    method: impl BatchMethod<S, J>, // async fn(state: &S, batch: JobBatch<J>) -> Result<(), HandlerError>, or -> Result<Failures, HandlerError>
) -> Route {
    Route::of_batch_with_state(Arc::clone(state), max, method)
}

/// The routes of one `routes!`, whose URNs it has compared at compile time.
pub fn routes<const N: usize>(routes: [Route; N]) -> Routes {
    Routes::new(routes)
}

/// The record key of a field.
pub fn record_key<K: RecordKey + ?Sized>(field: &K) -> Option<Cow<'_, [u8]>> {
    field.record_key()
}
