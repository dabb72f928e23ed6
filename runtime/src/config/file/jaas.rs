//! `sasl.jaas.config`: a login module with its options, as Java writes it.

use std::{iter::Peekable, str::Chars};

use crate::config::security::{Mechanism, Sasl};

const PLAIN: &str = "org.apache.kafka.common.security.plain.PlainLoginModule";
const SCRAM: &str = "org.apache.kafka.common.security.scram.ScramLoginModule";

/// `<module> required username="…" password="…";` for this mechanism. The reason of an error holds no value of an option.
pub(super) fn account(text: &str, mechanism: Mechanism) -> Result<Sasl, String> {
    let mut tokens = tokens(text)?.into_iter();
    let module = match tokens.next() {
        Some(Token::Text(module)) => module,
        _ => return Err("does not begin with a login module".to_owned()),
    };
    let expected = if mechanism == Mechanism::Plain { PLAIN } else { SCRAM };
    if module != expected {
        return Err(format!("names a login module that does not go with `sasl.mechanism`, which asks for {expected}"));
    }
    match tokens.next() {
        Some(Token::Text(flag))
            if ["required", "requisite", "sufficient", "optional"]
                .iter()
                .any(|each| flag.eq_ignore_ascii_case(each)) => {}
        _ => return Err("has no `required` behind the login module".to_owned()),
    }
    let (mut user, mut password) = (None, None);
    loop {
        match tokens.next() {
            Some(Token::End) => break,
            Some(Token::Text(name)) => {
                let (Some(Token::Equals), Some(Token::Text(value))) = (tokens.next(), tokens.next()) else {
                    return Err("has an option without a value".to_owned());
                };
                match name.as_str() {
                    "username" => user = Some(value),
                    "password" => password = Some(value),
                    // Passwords with blanks and no quotes end up here, so it is not shown.
                    _ => return Err("has an option other than `username` and `password`".to_owned()),
                }
            }
            _ => return Err("does not end with a semicolon".to_owned()),
        }
    }
    if tokens.next().is_some() {
        return Err("has something behind its semicolon; a client takes one login module".to_owned());
    }
    match (user, password) {
        (Some(user), Some(password)) => Ok(Sasl::new(mechanism, user, password)),
        (None, _) => Err("has no `username`".to_owned()),
        (_, None) => Err("has no `password`".to_owned()),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    Equals,
    End,
}

fn tokens(text: &str) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' | '\n' | '\r' => {}
            '=' => tokens.push(Token::Equals),
            ';' => tokens.push(Token::End),
            '"' | '\'' => tokens.push(Token::Text(quoted(&mut rest, next)?)),
            first => {
                let mut word = String::from(first);
                while let Some(next) = rest.next_if(|next| !" \t\n\r=;\"'".contains(*next)) {
                    word.push(next);
                }
                tokens.push(Token::Text(word));
            }
        }
    }
    Ok(tokens)
}

/// What follows a quote, up to its end.
fn quoted(rest: &mut Peekable<Chars<'_>>, quote: char) -> Result<String, &'static str> {
    const OPEN: &str = "has a quote that does not end";
    let mut text = String::new();
    loop {
        match rest.next().ok_or(OPEN)? {
            '\\' => text.push(match rest.next().ok_or(OPEN)? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'f' => '\u{c}',
                'b' => '\u{8}',
                'a' => '\u{7}',
                'v' => '\u{b}',
                '0'..='7' => return Err("has an octal escape; write the character itself"),
                other => other,
            }),
            next if next == quote => return Ok(text),
            next => text.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::security::Security;

    fn plain(options: &str) -> Result<(String, String), String> {
        let sasl = account(&format!("{PLAIN} required {options}"), Mechanism::Plain)?;
        let properties = Security { tls: None, sasl: Some(sasl) }.properties();
        let value = |name: &str| properties.iter().find(|(other, _)| *other == name).unwrap().1.clone();
        Ok((value("sasl.username"), value("sasl.password")))
    }

    #[test]
    fn quotes_escapes_and_plain_words_are_read() {
        for (options, user, password) in [
            (r#"username="alice" password="alice-secret";"#, "alice", "alice-secret"),
            (r#"password = "a b;=c"   username = alice ;"#, "alice", "a b;=c"),
            (r#"username="al\"ice" password="back\\slash";"#, r#"al"ice"#, r"back\slash"),
            (r"username='alice' password='quo\'te';", "alice", "quo'te"),
            ("username=\"alice\"\n\tpassword=\"ş😀\";", "alice", "ş😀"),
        ] {
            assert_eq!(plain(options), Ok((user.to_owned(), password.to_owned())), "{options}");
        }
    }

    #[test]
    fn the_login_module_has_to_go_with_the_mechanism() {
        let of = |module: &str| format!(r#"{module} required username="alice" password="secret";"#);
        assert!(account(&of(SCRAM), Mechanism::ScramSha512).is_ok());
        for (module, mechanism) in
            [(SCRAM, Mechanism::Plain), (PLAIN, Mechanism::ScramSha256), ("com.example.Own", Mechanism::Plain)]
        {
            assert!(account(&of(module), mechanism).unwrap_err().contains("login module"), "{module}");
        }
    }

    #[test]
    fn what_is_malformed_is_refused_without_its_values() {
        for options in [
            "",
            ";",
            r#"username="alice" password="hunter2""#,
            r#"username="alice" password="hunter2;"#,
            r#"username="alice" password=hunter2 hunter2;"#,
            r#"username="alice" hunter2="x" password="y";"#,
            r#"username="alice" password=;"#,
            r#"username="alice";"#,
            r#"password="hunter2";"#,
            r#"username="alice" password="hunter2"; more;"#,
            r#"username="alice" password="\141hunter2";"#,
        ] {
            let error = plain(options).unwrap_err();
            assert!(!error.contains("hunter2"), "{options}: {error}");
        }
        assert!(account("", Mechanism::Plain).is_err());
        assert!(account(r#"username="a" password="b";"#, Mechanism::Plain).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,80}") {
            let _ = plain(&text);
            let _ = account(&text, Mechanism::Plain);
        }
    }
}
