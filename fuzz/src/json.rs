//! JSON as a tree of spellings, so that it may hold what no value type does: huge numbers, names written twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// A number, a string, a literal, or anything else that is written as it stands.
    Leaf(String),
    List(Vec<Json>),
    /// Names as they are spelled, quotes and all.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn leaf(text: impl Into<String>) -> Self {
        Self::Leaf(text.into())
    }

    pub(crate) fn string(text: &str) -> Self {
        Self::Leaf(quoted(text))
    }

    pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (quoted(name), value)).collect())
    }

    /// The value that `text` spells.
    pub(crate) fn read(text: &str) -> Option<Self> {
        Some(match text.trim_start().as_bytes().first()? {
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Self::List(items.iter().map(|item| Self::read(item.get())).collect::<Option<_>>()?)
            }
            b'{' => {
                let Members(members) = serde_json::from_str(text).ok()?;
                let read = |(name, value): (Box<RawValue>, Box<RawValue>)| {
                    Some((name.get().to_owned(), Self::read(value.get())?))
                };
                Self::Object(members.into_iter().map(read).collect::<Option<_>>()?)
            }
            _ => Self::Leaf(serde_json::from_str::<&RawValue>(text).ok()?.get().to_owned()),
        })
    }

    /// How many values it holds, itself included.
    pub(crate) fn size(&self) -> usize {
        1 + self.children().map(Self::size).sum::<usize>()
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = &Json> {
        let (items, members): (&[Json], &[(String, Json)]) = match self {
            Self::Leaf(_) => (&[], &[]),
            Self::List(items) => (items, &[]),
            Self::Object(members) => (&[], members),
        };
        items.iter().chain(members.iter().map(|(_, value)| value))
    }

    /// The value at `index`, counted from the root (0) in the order of the text.
    pub(crate) fn at(&mut self, index: usize) -> Option<&mut Json> {
        if index == 0 {
            return Some(self);
        }
        let mut passed = 1;
        let children: Box<dyn Iterator<Item = &mut Json>> = match self {
            Self::Leaf(_) => Box::new(std::iter::empty()),
            Self::List(items) => Box::new(items.iter_mut()),
            Self::Object(members) => Box::new(members.iter_mut().map(|(_, value)| value)),
        };
        for child in children {
            let size = child.size();
            if index < passed + size {
                return child.at(index - passed);
            }
            passed += size;
        }
        None
    }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{name}:{value}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

struct Members(Vec<(Box<RawValue>, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}
