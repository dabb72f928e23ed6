//! Distinct names for siblings whose natural names are the same.

use std::collections::HashSet;

/// One name for each `(wire, natural)`, in the order given.
///
/// Of siblings with one natural name the one that is written like it keeps it, else the first; the others get the
/// first free number, never one that is another sibling's natural name.
pub(super) fn names<'a>(siblings: impl Iterator<Item = (&'a str, String)>, separator: &str) -> Vec<String> {
    let siblings: Vec<_> = siblings.collect();
    let exact: HashSet<_> =
        siblings.iter().filter(|(wire, natural)| *wire == bare(natural)).map(|(wire, _)| *wire).collect();
    let mut taken: HashSet<String> = siblings.iter().map(|(_, natural)| natural.clone()).collect();
    let mut given: HashSet<String> = HashSet::new();
    let mut name = |wire: &str, natural: &str| {
        let first = if exact.contains(bare(natural)) { wire == bare(natural) } else { !given.contains(natural) };
        if first && given.insert(natural.to_owned()) {
            return natural.to_owned();
        }
        free(natural, separator, &mut taken)
    };
    siblings.iter().map(|(wire, natural)| name(wire, natural)).collect()
}

fn bare(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// The first of `natural2`, `natural3`, … that is not taken; it is taken then.
pub(super) fn free(natural: &str, separator: &str, taken: &mut HashSet<String>) -> String {
    let bare = bare(natural).trim_end_matches('_');
    let mut number = 2_usize;
    loop {
        let name = format!("{bare}{separator}{number}");
        if taken.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    fn given(siblings: &[(&str, &str)]) -> Vec<String> {
        names(siblings.iter().map(|(wire, natural)| (*wire, (*natural).to_owned())), "_")
    }

    // B16
    #[test]
    fn the_sibling_that_is_written_like_its_name_keeps_it() {
        assert_eq!(given(&[("M", "m"), ("m", "m")]), ["m_2", "m"]);
        assert_eq!(given(&[("_url", "url"), ("URL", "url")]), ["url", "url_2"]);
    }

    // B15
    #[test]
    fn a_number_never_takes_the_name_of_another_sibling() {
        assert_eq!(
            given(&[("count", "count"), ("__count__", "count"), ("count_2", "count_2")]),
            ["count", "count_3", "count_2"]
        );
    }
}
