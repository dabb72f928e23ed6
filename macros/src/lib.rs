//! Attribute and registration macros of babelqueue; use them through the `babelqueue` crate.

mod attr;
mod expand;
mod model;
mod routes;
mod shape;
mod span;

use proc_macro::TokenStream;

/// Makes a payload type a job: gives it its URN, its topic and its record key.
///
/// Put it on a struct or an enum that derives serde's `Serialize` and `Deserialize`. It leaves the type as it is and
/// implements [`Job`](https://docs.rs/babelqueue/latest/babelqueue/trait.Job.html) for it.
///
/// ```
/// use babelqueue::{Job, babel_job};
/// use serde::{Deserialize, Serialize};
///
/// #[babel_job("urn:babel:orders:created", key = customer.id)]
/// #[derive(Serialize, Deserialize)]
/// struct OrderCreated {
///     order_id: u64,
///     customer: Customer,
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Customer {
///     id: String,
/// }
///
/// let job = OrderCreated { order_id: 1042, customer: Customer { id: "C-7".to_owned() } };
/// assert_eq!(OrderCreated::URN, "urn:babel:orders:created");
/// assert_eq!(OrderCreated::TOPIC, "orders");
/// assert_eq!(job.key().as_deref(), Some(&b"C-7"[..]));
/// ```
///
/// # Arguments
///
/// - The URN, a string literal: the identity on the wire. It is checked at compile time: not empty, no whitespace
///   around it, no control characters. `urn:babel:<context>:<event or command>` is the convention.
/// - `topic = "orders"`: the Kafka topic that the job is published to. A URN that follows the convention has its
///   context as topic; any other needs the argument.
/// - `key = order_id`: the field that is the record key, also deeper ones (`key = customer.id`) and those of a tuple
///   struct (`key = 0`). Its type is a string, an integer, a UUID, an `Option` of one of them, or your own that
///   implements `RecordKey`. Without it the key is null. A key below a `#[cfg]` goes with its field.
/// - `crate = my_facade::babelqueue`: where the `babelqueue` crate is found, if not by its name: a path to it, or to a
///   module that re-exports it whole (`pub use babelqueue::*`).
///
/// A generic type is a job for those parameters with which it can be sent; it has one URN for all of them.
///
/// # What a payload looks like
///
/// Serde's attributes decide how the payload is written, and may be used as anywhere else. It has to be a JSON object.
/// A unit struct, a tuple struct of several fields, or a variant that serde writes as a string does not compile below
/// the attribute; what only serializing shows, such as a struct around a single number, is an error when it is published.
/// A payload outlives the record that it was read from, so it cannot borrow: a lifetime does not compile.
#[proc_macro_attribute]
pub fn babel_job(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::babel_job(args.into(), &item.into()).into()
}

/// Registers a handler for each job type: the routes of a consumer.
///
/// A handler is an async function of job and delivery, or a value that implements
/// [`Handler`](https://docs.rs/babelqueue/latest/babelqueue/trait.Handler.html) for the job:
///
/// ```
/// # use babelqueue::babel_job;
/// # use serde::{Deserialize, Serialize};
/// # #[babel_job("urn:babel:orders:created")]
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderCreated { order_id: u64 }
/// # #[babel_job("urn:babel:orders:cancelled")]
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderCancelled { order_id: u64 }
/// use babelqueue::{Delivery, HandlerError, routes};
///
/// async fn on_created(job: OrderCreated, cx: &Delivery) -> Result<(), HandlerError> {
///     println!("order {} at offset {}", job.order_id, cx.offset());
///     Ok(())
/// }
///
/// async fn on_cancelled(job: OrderCancelled, _: &Delivery) -> Result<(), HandlerError> {
///     println!("order {} cancelled", job.order_id);
///     Ok(())
/// }
///
/// let routes = routes![OrderCreated => on_created, OrderCancelled => on_cancelled];
/// assert_eq!(routes.topics(), ["orders"]);
/// ```
///
/// With a state, `routes![state; …]`, a handler also gets a reference to it, first: that is what a method is. The
/// state is made once and shared by all handlers; give the value, or an `Arc` that other code keeps a clone of.
///
/// ```
/// # use babelqueue::babel_job;
/// # use serde::{Deserialize, Serialize};
/// # #[babel_job("urn:babel:orders:created")]
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderCreated { order_id: u64 }
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use babelqueue::{Delivery, HandlerError, routes};
///
/// #[derive(Default)]
/// struct Worker {
///     seen: AtomicU64,
/// }
///
/// impl Worker {
///     async fn created(&self, job: OrderCreated, _: &Delivery) -> Result<(), HandlerError> {
///         let nth = self.seen.fetch_add(1, Ordering::Relaxed);
///         println!("{nth}: order {}", job.order_id);
///         Ok(())
///     }
/// }
///
/// let routes = routes![Worker::default(); OrderCreated => Worker::created];
/// assert_eq!(routes.urns(), ["urn:babel:orders:created"]);
/// ```
///
/// A handler of `[OrderCreated; 500]` takes at most 500 of them at once: it is a
/// [`BatchHandler`](https://docs.rs/babelqueue/latest/babelqueue/trait.BatchHandler.html), such as an
/// `async fn(batch: JobBatch<OrderCreated>) -> Result<(), HandlerError>`.
///
/// ```
/// # use babelqueue::babel_job;
/// # use serde::{Deserialize, Serialize};
/// # #[babel_job("urn:babel:orders:created")]
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderCreated { order_id: u64 }
/// use babelqueue::{HandlerError, JobBatch, routes};
///
/// async fn store(batch: JobBatch<OrderCreated>) -> Result<(), HandlerError> {
///     println!("{} orders", batch.len());
///     Ok(())
/// }
///
/// let routes = routes![[OrderCreated; 500] => store];
/// ```
///
/// The jobs may be of several topics: the consumer reads them all. Sets of routes that are made apart, such as those of
/// generated modules, are put together by `Routes::and`.
///
/// Two types with one URN do not compile. The types are named where they stand, so they cannot be generic parameters
/// of the function around them.
///
/// A facade that re-exports `babelqueue` says where it is: `routes![crate = my_facade::babelqueue; …]`.
#[proc_macro]
pub fn routes(input: TokenStream) -> TokenStream {
    routes::routes(input.into()).into()
}

#[cfg(test)]
mod tests {
    // C19
    #[test]
    fn no_macro_reads_or_keeps_the_environment_of_the_process() {
        // An editor expands the macros of many packages in one process.
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap().flatten();
        for path in files.map(|entry| entry.path()) {
            let code = std::fs::read_to_string(&path).unwrap();
            let own = code.split("#[cfg(test)]").next().unwrap_or_default();
            for word in ["env::var", "env!", "OnceLock", "LazyLock", "thread_local!", "\nstatic "] {
                assert!(!own.contains(word), "{}: {word}", path.display());
            }
        }
    }
}
