//! The surface of `babelqueue` that generated code uses, without Kafka.

use std::fmt;
use std::future::{Future, IntoFuture, Ready, ready};
use std::marker::PhantomData;

pub use babelqueue_codegen_stub_macros::babel_job;

/// A payload.
pub trait Job {
    /// Its identity.
    const URN: &'static str;
    /// Its topic.
    const TOPIC: &'static str;
    /// Its record key, as `Debug` shows it.
    fn key(&self) -> Option<String>;
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Kafka;

/// Retry topics of a topic.
#[derive(Clone, Debug)]
pub struct RetryTopics;

/// A publisher of one payload.
#[derive(Clone, Debug)]
pub struct Publisher<T>(PhantomData<T>);

impl<T> Publisher<T> {
    /// A publisher.
    #[must_use]
    pub fn new(_kafka: &Kafka) -> Self {
        Self(PhantomData)
    }

    /// Retry topics.
    #[must_use]
    pub fn retry_topics(self, _topics: RetryTopics) -> Self {
        self
    }

    /// A message.
    pub fn message<'a>(&'a self, job: &'a T) -> Message<'a, T> {
        Message(job)
    }
}

/// A message to send.
#[derive(Debug)]
#[must_use]
pub struct Message<'a, T>(&'a T);

impl<T: Job> IntoFuture for Message<'_, T> {
    type Output = (&'static str, &'static str, Option<String>);
    type IntoFuture = Ready<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        ready((T::URN, T::TOPIC, self.0.key()))
    }
}

/// What a handler knows beside the payload.
#[derive(Debug)]
pub struct Delivery;

/// What a handler failed with.
#[derive(Debug)]
pub struct HandlerError;

/// The URNs that have a handler.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Routes(pub Vec<&'static str>);

impl Routes {
    /// Adds the handler of `T`; the future that it gives must be able to move between threads.
    pub fn add<'a, H: 'a, T: Job, F>(&mut self, _handler: fn(&'a H, T, &'a Delivery) -> F)
    where
        F: Future<Output = Result<(), HandlerError>> + Send + 'a,
    {
        self.0.push(T::URN);
    }
}

impl fmt::Display for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// Registers handlers.
#[macro_export]
macro_rules! routes {
    (crate = $path:path; $($rest:tt)*) => { $crate::routes![$($rest)*] };
    ($handlers:expr; $($job:ty => $handler:expr),* $(,)?) => {{
        fn register<H>(_handlers: H, routes: $crate::Routes, add: impl FnOnce($crate::Routes) -> $crate::Routes) -> $crate::Routes {
            add(routes)
        }
        register($handlers, ::core::default::Default::default(), |mut routes: $crate::Routes| {
            $(routes.add::<_, $job, _>($handler);)*
            routes
        })
    }};
}

#[path = "../../../../runtime/src/json/mod.rs"]
mod json;
#[allow(dead_code, unused_imports)] // Only the runtime crate's consumer asks where a payload does not fit.
#[path = "../../../../runtime/src/payload/mod.rs"]
mod payload;

pub use json::Json;

/// The door for generated code.
pub mod private {
    pub use schemars;
    pub use serde;

    pub use crate::payload::*;
}
