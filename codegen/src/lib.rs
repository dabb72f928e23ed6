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
//!   required objects to a string or an integer, which may be optional, nullable or both.
//!
//! A schema with the status `deprecated` gives a type with `#[deprecated]`. Other members are left alone.
//!
//! # The schemas
//!
//! Draft-04 to 2020-12, by `$schema`; draft-07 where it is absent, or what [`Config::default_dialect`] says. A keyword of
//! another edition than the schema's own is an annotation, as is every keyword that no edition knows.
//!
//! A type takes every value that its schema allows, and writes it back as it was. Where a type cannot say all that a
//! schema says, it says less: in the end the value is a `Json`, which keeps the spelling of its numbers. What a type
//! lets through, the validation of payloads (feature `validate` of the runtime crate) refuses.
//!
//! Each keyword is *typed* (it shapes the Rust type), *checked by the type* (a value that breaks it does not decode; the
//! error names its JSON Pointer and the rule), *validated* (left to the validation of payloads), or an *annotation*.
//!
//! | keyword | |
//! |---|---|
//! | `type` | typed: see below; a list of kinds is an enum with a variant a kind, `null` in it an `Option` |
//! | `enum`, `const` | typed: an enum where strings are among the values; checked by the type otherwise. A required member with one value has no field: it is written and checked |
//! | `properties`, `required` | typed: the fields of a struct |
//! | `additionalProperties`, `unevaluatedProperties` | typed: `BTreeMap<String, T>`, beside fields as the field `extra`; `false` is checked by the type |
//! | `patternProperties` | typed where one pattern describes all members; otherwise members beside the `properties` are `Json` |
//! | `items`, `additionalItems`, `unevaluatedItems` | typed: `Vec<T>`; `false` is checked by the type |
//! | `prefixItems`, `items` as a list | typed: a tuple where the length is fixed; otherwise `Vec<Json>` |
//! | `$ref`, `$id`, `id`, `$anchor`, `definitions`, `$defs` | typed: the type of the place that is named, in the file or in another file of the schema folder |
//! | `$dynamicRef`, `$dynamicAnchor`, `$recursiveRef`, `$recursiveAnchor` | typed where one place alone can be meant; otherwise `Json` |
//! | `allOf` | typed: all of it in one type |
//! | `anyOf`, `oneOf` | typed: an enum where the branches are told apart by kind, by a member with different constant values, or by members that one must have and the other cannot; with `null` an `Option`; otherwise what the branches share |
//! | `true`, `false` as a schema | typed: `Json`; a member that must not be there |
//! | `format` | typed for integers (`int8` to `int64`, `uint8` to `uint64`) and numbers (`float`, `double`), and for strings where [`Config::format`] names a type; otherwise an annotation |
//! | `default` | typed: see [`Config::fill_defaults`]. One that does not fit is passed over with a warning of Cargo's |
//! | `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf` | checked by the type; a minimum from 0 on gives `u64` |
//! | `minLength`, `maxLength`, `minItems`, `maxItems`, `uniqueItems`, `minProperties`, `maxProperties` | checked by the type |
//! | `dependentRequired`, `dependencies` on names | checked by the type |
//! | `not` | checked by the type where it refuses kinds or values; validated otherwise |
//! | `contains`, `minContains`, `maxContains`, `propertyNames` | checked by the type where rules of this table say all of their schema; validated otherwise |
//! | `pattern` | validated. A pattern that is no regular expression is an error |
//! | `if`, `then`, `else`, `dependentSchemas`, `dependencies` on schemas | validated |
//! | `contentEncoding`, `contentMediaType`, `contentSchema` | annotation |
//! | `title`, `description` | annotation: names and documentation |
//! | `x-rust-name`, `x-rust-type` | the Rust name, or the path of the Rust type to use |
//! | `x-gdpr-sensitive` | personal data: masked by `Debug` (contract section 7) |
//! | `$comment`, `examples`, `deprecated`, `readOnly`, `writeOnly`, `$vocabulary` and all others | annotation |
//!
//! | kind | Rust |
//! |---|---|
//! | object | a struct; a `BTreeMap<String, T>` without `properties` and `required` |
//! | array | `Vec<T>` or a tuple |
//! | string | `String`, an enum, or the type of its `format` |
//! | integer | `i64`; `u64` where it cannot be negative; by `format`. `1.0` is an integer too |
//! | number | `f64`, or `f32` by the format `float` |
//! | boolean | `bool` |
//! | null | `()`; beside others an `Option` |
//! | several, or any | an enum with a variant for each that has a type; `Json` where none has |
//!
//! A number that neither `i64` nor `f64` holds exactly is the one value that a type refuses, or rounds, although the
//! schema allows it; [`Config::exact_numbers`] keeps the spelling of numbers without bounds.
//!
//! The payload of a message is an object, so the schema of one need not say so. A schema that no value satisfies, a
//! reference that leads nowhere or back to itself, and a keyword with a value that it cannot have are errors, all of a run
//! at once, each with file, line, JSON Pointer and reason. Nothing outside the schema folder is read, and nothing is
//! fetched: a reference to `https://…` leads to the file with that `$id`, or where [`Config::map_uri`] says.
//!
//! A type that messages of one topic share by reference exists once in its module; each topic has its own.
//!
//! | member | field |
//! |---|---|
//! | required | `T` |
//! | required, may be null | `Option<T>`, but missing is an error |
//! | optional | `Option<T>`, but null is an error; not written when `None` |
//! | optional, may be null | `Option<Option<T>>`; `Some(None)` is null |
//! | optional with a default | `T`, or `Option<T>` if it may be null |
//! | not in the schema, and allowed | in the map `extra`; see [`Config::keep_unknown`] |
//!
//! # Names
//!
//! A schema file's type has its title, else the stem of the file; a definition's type has the definition's name, with
//! that of the file before it if two files define it; a form of a union has the union's name and that of its variant;
//! every other type has its parent's name and that of the property. Two types of one name are an error, except that a type
//! inside another one gets a number; `x-rust-name` in the schema, or [`Config::rename`], asks for another name.
//! `Publisher`, `Handlers` and `H`, which the module needs itself, become `PublisherType` and so on.
//!
//! A variant of a union is called by its tag, its definition, its title or its kind. Names are ASCII; the name on the wire
//! is always kept. Fields and variants of one name get a number, keywords are written `r#type`, or `self_` where that
//! cannot be. The map of other members is called `extra`, or `extra_2` beside a member of that name.
//!
//! # Cargo
//!
//! The run prints `cargo:rerun-if-changed` for each file that it read and for the schema folder. With a line of that
//! kind, Cargo no longer runs the build script for every change in the package: a script that reads other files too
//! must print a line for each, or call [`Config::rerun_if_changed`].
//!
//! # Editors
//!
//! The code is one file without modules in files of their own, `target/debug/build/<package>-<hash>/out/babelqueue_contracts.rs`.
//! An editor that runs build scripts finds it, and opens it where a type is defined; for rust-analyzer that is the setting
//! `rust-analyzer.cargo.buildScripts.enable`, which is on unless somebody turned it off.

pub mod folder;
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
mod model;
#[cfg(feature = "schema")]
mod names;
#[cfg(feature = "schema")]
mod pointer;
#[cfg(feature = "schema")]
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
