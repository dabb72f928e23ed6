//! What the generated code will hold, in the shape of Rust but without tokens.

use crate::pointer::Pointer;

/// Index of a type in [`Topic::types`].
pub(crate) type TypeId = usize;

/// A topic and everything its module holds.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    /// The identifier of the module.
    pub(crate) module: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) types: Vec<TypeDef>,
}

/// A URN and its payload.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) urn: String,
    pub(crate) payload: TypeId,
    /// The identifier of the method on publisher and handlers.
    pub(crate) method: String,
    /// The fields that lead to the record key: the struct and the index of the field in it.
    pub(crate) key: Option<Vec<(TypeId, usize)>>,
    pub(crate) owner: Option<String>,
    pub(crate) deprecated: bool,
}

/// A struct or an enum.
#[derive(Debug)]
pub(crate) struct TypeDef {
    /// The identifier of the type.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) docs: Option<String>,
    pub(crate) kind: Kind,
}

/// The schema that a type comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) file: String,
    pub(crate) pointer: Pointer,
    /// The title of the file's root schema, else the file's stem.
    pub(crate) file_title: String,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Struct { fields: Vec<Field>, closed: bool },
    Enum { variants: Vec<Variant> },
}

#[derive(Debug)]
pub(crate) struct Field {
    /// The name of the member in JSON.
    pub(crate) wire: String,
    /// The identifier of the field.
    pub(crate) name: String,
    pub(crate) docs: Option<String>,
    pub(crate) slot: Slot,
    pub(crate) presence: Presence,
    /// Whether the type would be infinitely large without a box.
    pub(crate) boxed: bool,
}

/// What a member that is missing means.
#[derive(Debug, PartialEq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// A missing member has this value.
    Default(Value),
}

#[derive(Debug)]
pub(crate) struct Variant {
    /// The string in JSON.
    pub(crate) wire: String,
    /// The identifier of the variant.
    pub(crate) name: String,
}

/// A type and whether null stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    pub(crate) ty: Type,
    pub(crate) nullable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Bool,
    String,
    Integer(Integer),
    F32,
    F64,
    List(Box<Slot>),
    Map(Box<Slot>),
    Named(TypeId),
}

/// A Rust integer type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Integer {
    pub(crate) name: &'static str,
    pub(crate) min: i128,
    pub(crate) max: i128,
}

/// A value of a known type, as Rust would write it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i128),
    Float(f64),
    String(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A variant by its index.
    Variant(TypeId, usize),
    /// One value a field, in the order of the fields.
    Struct(TypeId, Vec<Value>),
    None,
    Some(Box<Value>),
    Boxed(Box<Value>),
}

impl TypeDef {
    /// The fields of a struct; an enum has none.
    pub(crate) fn fields(&self) -> &[Field] {
        match &self.kind {
            Kind::Struct { fields, .. } => fields,
            Kind::Enum { .. } => &[],
        }
    }
}
