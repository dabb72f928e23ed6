//! The file of a URN's schema: a name that is the URN's own on every file system.

use babelqueue_codegen::urn;

pub(super) const SUFFIX: &str = ".schema.json";
/// File systems take 255 bytes; the suffix and the number need some of them.
const LONGEST: usize = 120;

/// `orders.created.schema.json` for `urn:babel:orders:created`.
///
/// Not every URN is so plain: some file systems do not tell capital letters from small ones, or take no colon. The name of
/// any other URN ends in a number that comes from all of it.
pub(super) fn of(urn: &str) -> String {
    if let Some((context, name)) = urn::convention(urn) {
        // A dot in the context would make `a.b` of `c` and `a` of `b.c` the same.
        let plain = !context.contains('.') && !urn.contains(|c: char| c.is_ascii_uppercase()) && urn.len() <= LONGEST;
        if plain {
            return format!("{context}.{name}{SUFFIX}");
        }
    }
    let readable: String = urn
        .strip_prefix("urn:babel:")
        .unwrap_or(urn)
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '.' })
        .take(LONGEST)
        .collect();
    format!("{}-{:016x}{SUFFIX}", readable.trim_start_matches('.'), hash(urn))
}

/// FNV-1a, which is the same everywhere and for ever.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_conventional_urn_gives_a_plain_name() {
        assert_eq!(of("urn:babel:orders:created"), "orders.created.schema.json");
        assert_eq!(of("urn:babel:orders:created.v2"), "orders.created.v2.schema.json");
        assert_eq!(of("urn:babel:order-lines:sold_out"), "order-lines.sold_out.schema.json");
    }

    #[test]
    fn a_name_never_changes() {
        assert_eq!(of("urn:acme:orders/placed"), "urn.acme.orders.placed-13b9c4fe569e704d.schema.json");
        assert_eq!(of("urn:babel:Orders:created"), "orders.created-5b161195c86b281b.schema.json");
    }

    #[test]
    fn no_two_urns_share_a_name_even_where_letters_are_not_told_apart() {
        let urns = [
            "urn:babel:orders:created",
            "urn:babel:orders:Created",
            "urn:babel:ORDERS:created",
            "urn:babel:a.b:c",
            "urn:babel:a:b.c",
            "urn:acme:orders:created",
            "orders.created",
            "orders created",
            "ordérs",
            "注文",
            "../../etc/passwd",
            "a\\b",
            ".",
            &format!("urn:babel:orders:{}", "x".repeat(5000)),
            &format!("urn:babel:orders:{}", "x".repeat(5001)),
        ];
        let mut names: Vec<_> = urns.into_iter().map(|urn| of(urn).to_lowercase()).collect();
        for name in &names {
            assert!(name.len() < 255, "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)), "{name}");
            assert!(!name.starts_with('.'), "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), urns.len());
    }
}
