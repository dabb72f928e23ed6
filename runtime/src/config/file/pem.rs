//! Certificates and keys inside a properties file, where their lines are often joined by blanks.

/// What OpenSSL writes in a line, and older versions of it want.
const WIDTH: usize = 64;

/// The blocks of a PEM text, each with its lines broken again; `None` when it holds none, or one that does not end.
pub(super) fn unfolded(text: &str) -> Option<String> {
    let mut pem = String::new();
    let mut rest = text;
    while let Some((_, begun)) = rest.split_once("-----BEGIN ") {
        let (label, body) = begun.split_once("-----")?;
        let (body, after) = body.split_once(&format!("-----END {label}-----"))?;
        let base64: Vec<char> = body.chars().filter(|character| !character.is_whitespace()).collect();
        pem.push_str(&format!("-----BEGIN {label}-----\n"));
        for line in base64.chunks(WIDTH) {
            pem.extend(line);
            pem.push('\n');
        }
        pem.push_str(&format!("-----END {label}-----\n"));
        rest = after;
    }
    (!pem.is_empty()).then_some(pem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_lines_are_broken_again_and_whole_ones_stay() {
        let body = "A".repeat(WIDTH);
        let whole = format!(
            "-----BEGIN CERTIFICATE-----\n{body}\nBB==\n-----END CERTIFICATE-----\n\
             -----BEGIN ENCRYPTED PRIVATE KEY-----\nCC==\n-----END ENCRYPTED PRIVATE KEY-----\n"
        );
        assert_eq!(unfolded(&whole), Some(whole.clone()));
        assert_eq!(unfolded(&whole.replace('\n', " ")), Some(whole.clone()));
        assert_eq!(unfolded(&format!("a comment {}", whole.replace('\n', ""))), Some(whole));
    }

    #[test]
    fn what_is_no_pem_is_none() {
        for text in ["", "AAAA", "-----BEGIN CERTIFICATE-----", "-----BEGIN A----- AA -----END B-----"] {
            assert_eq!(unfolded(text), None, "{text}");
        }
    }
}
