//! Build-script generator of `BabelQueue`: `registry.json` and the JSON Schemas beside it in, typed Rust contracts out.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), babelqueue_codegen::Error> {
//!     babelqueue_codegen::configure().registry("schemas/registry.json").generate()
//! }
//! ```
//!
//! `generate` writes `babelqueue_contracts.rs` into `OUT_DIR`, and nothing else; `babelqueue::include_contracts!()`
//! includes it. For each topic it holds a module with the payload structs, a `Publisher`, a `Handlers` trait and
//! `routes`. The code is the same whatever the order of the registry or of the files, and the file is left alone when
//! its content would not change.
//!
//! # The registry
//!
//! Contract section 7: `{"schemas": [{"urn", "schema", "owner", "status"}]}`, `schema` a path relative to the
//! registry, and two members of our own:
//!
//! - `topic`: by default the context of the URN, `orders` for `urn:babel:orders:created`. A URN of another form must
//!   name its topic.
//! - `key`: the record key, a JSON Pointer into the payload, such as `/order_id` or `/customer/id`. It leads through
//!   required objects to a string or an integer, which may be optional or nullable.
//!
//! A schema with the status `deprecated` gives a type with `#[deprecated]`. Other members are left alone.
//!
//! # The schemas
//!
//! Draft-07 and 2020-12. The keywords of this table have a meaning; every other one is an error, so that no type is
//! ever looser than its schema without a word.
//!
//! | schema | Rust |
//! |---|---|
//! | `type: object` with `properties` | a struct; `additionalProperties: false` refuses unknown members, otherwise they are passed over |
//! | `type: object` with a schema in `additionalProperties` and no `properties` | `BTreeMap<String, T>` |
//! | `type: array` with one schema in `items` | `Vec<T>` |
//! | `type: string`, whatever the `format` | `String` |
//! | `type: integer` | `i64`, or by `format` `int8` to `int64` and `uint8` to `uint64` |
//! | `type: number` | `f64`, or `f32` by the format `float` |
//! | `type: boolean` | `bool` |
//! | `enum` of strings | an enum |
//! | `type: [X, "null"]` | null as well |
//! | `$ref` to a place in the file or in another file of the folder | the type of that place, boxed where it holds itself |
//! | `default` | the value of an optional member that is missing; one that does not fit is an error. Only a default at the property itself, also beside `$ref`, counts; elsewhere it is checked and does no more |
//! | `title`, `description` | names and documentation |
//! | `$schema`, `$id` (of a file), `$comment`, `examples`, `deprecated`, `readOnly`, `writeOnly`, `x-…` | no meaning |
//!
//! `definitions` and `$defs` are both read. A definition that nothing refers to is checked all the same, but gives no
//! type. A type that messages of one topic share by reference exists once in its module; each topic has its own.
//!
//! | member | field |
//! |---|---|
//! | required | `T` |
//! | required, may be null | `Option<T>`, but missing is an error |
//! | optional | `Option<T>`, but null is an error; not written when `None` |
//! | optional, may be null | `Option<Option<T>>`; `Some(None)` is null |
//! | optional with a default | `T`, or `Option<T>` if it may be null |
//!
//! # Names
//!
//! A schema file's type has its title, else the stem of the file; a definition's type has the definition's name, with
//! that of the file before it if two files define it; every other type has its parent's name and that of the
//! property. Two types of one name are an error, except that a type inside another one gets a number. `Publisher`,
//! `Handlers` and `H`, which the module needs itself, become `PublisherType` and so on. Names are ASCII; the name on the wire is always kept. Fields
//! and variants of one name get a number, keywords are written `r#type`, or `self_` where that cannot be.
//!
//! # Cargo
//!
//! The run prints `cargo:rerun-if-changed` for each file that it read and for the schema folder. With a line of that
//! kind, Cargo no longer runs the build script for every change in the package: a script that reads other files too
//! must print a line for each, or call [`Config::rerun_if_changed`].

pub mod topic;
pub mod urn;

#[cfg(feature = "schema")]
mod builder;
#[cfg(feature = "schema")]
mod emit;
#[cfg(feature = "schema")]
mod error;
#[cfg(feature = "schema")]
pub mod evolution;
#[cfg(feature = "schema")]
mod json;
#[cfg(feature = "schema")]
mod lines;
#[cfg(feature = "schema")]
mod load;
#[cfg(feature = "schema")]
mod lower;
#[cfg(feature = "schema")]
#[allow(dead_code)] // The rest of it waits for the stage that makes it.
mod model;
#[cfg(feature = "schema")]
mod names;
#[cfg(feature = "schema")]
mod pointer;
#[cfg(feature = "schema")]
#[allow(dead_code, reason = "the lowering does not ask for everything yet")]
mod resolve;
#[cfg(feature = "schema")]
mod schema;

#[cfg(feature = "schema")]
pub use builder::{Config, configure};
#[cfg(feature = "schema")]
pub use error::Error;
#[cfg(feature = "schema")]
pub use evolution::evolution;
#[cfg(feature = "schema")]
pub use resolve::Dialect;
