//! What can be said of generated code without compiling it.

use std::collections::HashSet;

use syn::{Fields, Item};

use crate::run::{Broken, promise};

/// The code is Rust, and no two things of one place have one name.
pub(super) fn check(code: &str) -> Result<(), Broken> {
    match syn::parse_file(code) {
        Ok(file) => items(&file.items),
        Err(error) => promise(false, "the generated code is Rust", || format!("{error}\n{code}")),
    }
}

fn items(items_: &[Item]) -> Result<(), Broken> {
    let mut types = HashSet::new();
    for item in items_ {
        let name = match item {
            Item::Struct(item) => {
                if let Fields::Named(fields) = &item.fields {
                    distinct(
                        fields.named.iter().filter_map(|field| field.ident.as_ref()),
                        "fields of a type have different names",
                    )?;
                }
                &item.ident
            }
            Item::Enum(item) => {
                distinct(
                    item.variants.iter().map(|variant| &variant.ident),
                    "variants of a type have different names",
                )?;
                &item.ident
            }
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Mod(item) => {
                items(item.content.as_ref().map_or(&[], |(_, items)| items))?;
                &item.ident
            }
            _ => continue,
        };
        promise(types.insert(name), "items of a module have different names", || name.to_string())?;
    }
    Ok(())
}

fn distinct<'a>(mut names: impl Iterator<Item = &'a syn::Ident>, what: &str) -> Result<(), Broken> {
    let mut seen = HashSet::new();
    match names.find(|name| !seen.insert(*name)) {
        Some(name) => promise(false, what, || name.to_string()),
        None => Ok(()),
    }
}
