//! Keywords of all editions.

/// Keywords that cannot be raw identifiers.
const NEVER_RAW: [&str; 4] = ["self", "Self", "super", "crate"];

/// Every other strict or reserved keyword of the editions 2015 to 2024.
const KEYWORDS: [&str; 49] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
];

/// `name`, or what stands for it where it is a keyword: `r#type`, and `self_`, which cannot be raw.
pub(super) fn escape(name: String) -> String {
    if NEVER_RAW.contains(&name.as_str()) {
        name + "_"
    } else if KEYWORDS.contains(&name.as_str()) {
        format!("r#{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::escape;

    // B19, B20
    #[test]
    fn every_escaped_keyword_is_an_identifier() {
        for word in super::KEYWORDS.iter().chain(&super::NEVER_RAW) {
            let name = escape((*word).to_owned());
            assert!(syn::parse_str::<syn::Ident>(&name).is_ok(), "{name}");
        }
        assert_eq!(escape("self".to_owned()), "self_");
        assert_eq!(escape("gen".to_owned()), "r#gen");
    }
}
