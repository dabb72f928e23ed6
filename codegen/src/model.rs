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

/// A struct, an enum or a union.
#[derive(Debug)]
pub(crate) struct TypeDef {
    /// The identifier of the type.
    pub(crate) name: String,
    /// `x-rust-name`, or what the build script asks for.
    pub(crate) asked: Option<String>,
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
    Struct(Struct),
    /// Values that are all known.
    Enum(Vec<Variant>),
    /// One of several forms.
    Union(Vec<Alternative>),
}

#[derive(Debug, Default)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    /// Members that must be there and have one value, so that they need no field: the name and the value as JSON.
    pub(crate) constants: Vec<(String, String)>,
    /// What becomes of a member that has no field.
    pub(crate) rest: Rest,
    /// Names that no member may have.
    pub(crate) forbidden: Vec<String>,
    /// What the object as a whole must keep to; only rules of objects.
    pub(crate) rules: Vec<Rule>,
}

/// Members of an object that have no field.
#[derive(Debug, Default)]
pub(crate) enum Rest {
    /// There may be none.
    Closed,
    /// They are passed over.
    #[default]
    Dropped,
    /// They are kept in a map with this field name.
    Kept { name: String, value: Slot },
}

#[derive(Debug)]
pub(crate) struct Field {
    /// The name of the member in JSON.
    pub(crate) wire: String,
    /// The identifier of the field.
    pub(crate) name: String,
    /// `x-rust-name`, or what the build script asks for.
    pub(crate) asked: Option<String>,
    pub(crate) docs: Option<String>,
    pub(crate) slot: Slot,
    pub(crate) presence: Presence,
    /// Whether the type would be infinitely large without a box.
    pub(crate) boxed: bool,
    /// Personal data (`x-gdpr-sensitive`): `Debug` masks it.
    pub(crate) sensitive: bool,
}

/// What a member that is missing means.
#[derive(Debug, PartialEq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// A missing member has this value.
    Default(Value),
}

/// A value of an `enum` or `const`.
#[derive(Debug)]
pub(crate) struct Variant {
    /// The value as JSON text, compact: `"paid"`, `1`, `null`, `{"a":[1]}`.
    pub(crate) json: String,
    /// The identifier of the variant.
    pub(crate) name: String,
}

/// One form of a union. A value is read as the first form whose guard it passes; where several forms have the same
/// guard, as the first of them that takes it.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// The identifier of the variant.
    pub(crate) name: String,
    /// What the name is made from: the tag, a title, a definition's name or a kind.
    pub(crate) natural: String,
    pub(crate) docs: Option<String>,
    pub(crate) slot: Slot,
    pub(crate) boxed: bool,
    /// The guard: the kinds of JSON values of this form…
    pub(crate) kinds: Kinds,
    /// … and, for objects, a member and the values (as JSON text) that it has in this form.
    pub(crate) tag: Option<(String, Vec<String>)>,
}

/// A type, whether null stands beside it, and what its values must keep to beyond the type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    pub(crate) ty: Type,
    pub(crate) nullable: bool,
    pub(crate) rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// The JSON value null and nothing else: `()`.
    Null,
    Bool,
    String,
    Integer(Integer),
    F32,
    F64,
    /// Any JSON value, kept as it is spelled.
    Json,
    List(Box<Slot>),
    /// An array of exactly these.
    Tuple(Vec<Slot>),
    Map(Box<Slot>),
    Named(TypeId),
    /// A type of the user's or of another crate, by its path; its values are strings or whatever it reads.
    Foreign(String),
}

/// A Rust integer type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Integer {
    pub(crate) name: &'static str,
    pub(crate) min: i128,
    pub(crate) max: i128,
}

/// A set of kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kinds(u8);

/// A rule of a schema that costs little to check. A rule says nothing of values of other kinds than its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Only for [`Type::Json`]: other types have their kinds by themselves.
    Kinds(Kinds),
    /// Bounds and divisors keep their JSON spelling.
    Minimum(String),
    Maximum(String),
    ExclusiveMinimum(String),
    ExclusiveMaximum(String),
    MultipleOf(String),
    MinLength(u64),
    MaxLength(u64),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    MinProperties(u64),
    MaxProperties(u64),
    Required(Vec<String>),
    /// A member, and those that must be there with it.
    DependentRequired(String, Vec<String>),
    /// One of these JSON values.
    OneOf(Vec<String>),
    /// None of these JSON values.
    NoneOf(Vec<String>),
    /// How many items at least and at most keep to these rules.
    Contains(u64, u64, Vec<Rule>),
    /// What the names of members keep to.
    Names(Vec<Rule>),
}

/// A value of a known type, as Rust would write it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    String(String),
    /// JSON text.
    Json(String),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A variant of an enum by its index.
    Variant(TypeId, usize),
    /// An alternative of a union by its index, and what it holds.
    Alternative(TypeId, usize, Box<Value>),
    /// One value a field, in the order of the fields, and what the map of other members holds.
    Struct(TypeId, Vec<Value>, Vec<(String, Value)>),
    None,
    Some(Box<Value>),
    Boxed(Box<Value>),
}

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    /// Numbers without a fraction, also those that are written with one, such as `1.0`.
    pub(crate) const INTEGER: Self = Self(4);
    /// Numbers with a fraction.
    pub(crate) const FRACTION: Self = Self(8);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const NUMBER: Self = Self(4 | 8);
    pub(crate) const ALL: Self = Self(127);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl TypeDef {
    /// The fields of a struct; other types have none.
    pub(crate) fn fields(&self) -> &[Field] {
        match &self.kind {
            Kind::Struct(object) => &object.fields,
            Kind::Enum(_) | Kind::Union(_) => &[],
        }
    }
}
