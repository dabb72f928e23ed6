//! From a URN to the handler of its type.

use std::{collections::HashMap, fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use crate::{
    handler::{Delivery, Handler, HandlerError, Method},
    job::Job,
    payload::{self, Misfit},
};

/// The future of one handler call; one allocation a record.
pub(crate) type Handling<'a> = Pin<Box<dyn Future<Output = Result<(), HandlerError>> + Send + 'a>>;

/// What a consumer handles: a handler for each URN. Made by [`routes!`](crate::routes) or by generated contracts.
pub struct Routes {
    by_urn: HashMap<&'static str, Route>,
}

impl Routes {
    /// Both sets of routes, for a consumer of several topics.
    ///
    /// # Errors
    ///
    /// Both sets have a handler for one URN.
    pub fn and(mut self, other: Routes) -> Result<Routes, DuplicateUrn> {
        for (urn, route) in other.by_urn {
            if self.by_urn.insert(urn, route).is_some() {
                return Err(DuplicateUrn { urn });
            }
        }
        Ok(self)
    }

    /// The URNs that have a handler, sorted.
    #[must_use]
    pub fn urns(&self) -> Vec<&'static str> {
        let mut urns: Vec<_> = self.by_urn.keys().copied().collect();
        urns.sort_unstable();
        urns
    }

    /// The topics of the handled jobs, sorted, each once.
    #[must_use]
    pub fn topics(&self) -> Vec<&'static str> {
        let mut topics: Vec<_> = self.by_urn.values().map(|route| route.topic).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    pub(crate) fn find(&self, urn: &str) -> Option<&Route> {
        self.by_urn.get(urn)
    }

    pub(crate) fn new(routes: impl IntoIterator<Item = Route>) -> Self {
        Self { by_urn: routes.into_iter().map(|route| (route.urn, route)).collect() }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.urns()).finish()
    }
}

/// Two sets of routes both handle one URN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two handlers for `{urn}`: a message can have one handler, remove one of them")]
pub struct DuplicateUrn {
    urn: &'static str,
}

/// One job type and its handler, the type erased.
pub struct Route {
    urn: &'static str,
    topic: &'static str,
    call: Box<dyn Call>,
}

impl Route {
    pub(crate) fn of<J: Job>(handler: impl Handler<J>) -> Self {
        Self::erase::<J>(CallHandler { handler, job: PhantomData })
    }

    pub(crate) fn with_state<S: Send + Sync + 'static, J: Job>(state: Arc<S>, method: impl Method<S, J>) -> Self {
        Self::erase::<J>(CallMethod { state, method, job: PhantomData })
    }

    fn erase<J: Job>(call: impl Call + 'static) -> Self {
        Self { urn: J::URN, topic: J::TOPIC, call: Box::new(call) }
    }

    pub(crate) fn urn(&self) -> &'static str {
        self.urn
    }

    /// Validates `data`, decodes it into the payload type and starts the handler.
    pub(crate) fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError> {
        #[cfg(feature = "validate")]
        if let Some(schemas) = cx.kafka().schemas() {
            schemas.validate(self.urn, data)?;
        }
        self.call.call(data, cx)
    }
}

/// A payload that does not fit its type or its schema; no later attempt can heal it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayloadError {
    #[error("the payload does not fit its type: {0}")]
    Type(#[from] Misfit),
    #[cfg(feature = "validate")]
    #[error(transparent)]
    Schema(#[from] crate::validate::Violations),
}

trait Call: Send + Sync {
    fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError>;
}

struct CallHandler<J, H> {
    handler: H,
    job: PhantomData<fn() -> J>,
}

impl<J: Job, H: Handler<J>> Call for CallHandler<J, H> {
    fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError> {
        let job = payload::decode::<J>(data)?;
        Ok(Box::pin(self.handler.handle(job, cx)))
    }
}

struct CallMethod<S, J, M> {
    state: Arc<S>,
    method: M,
    job: PhantomData<fn() -> J>,
}

impl<S: Send + Sync + 'static, J: Job, M: Method<S, J>> Call for CallMethod<S, J, M> {
    fn call<'a>(&'a self, data: &str, cx: &'a Delivery) -> Result<Handling<'a>, PayloadError> {
        let job = payload::decode::<J>(data)?;
        Ok(Box::pin(self.method.call(&self.state, job, cx)))
    }
}
