//! Records: bodies through all that is done with an envelope, payloads through their types, headers as they are read.

mod make;
mod payloads;

use std::io;
use std::path::Path;

use babelqueue::Schemas;
use babelqueue::envelope::{
    DeadLetter, Envelope, Verdict, decode, make as draft, poison_dead_letter, redriven, with_attempts, with_dead_letter,
};
use babelqueue::private::conformance::{headers_of, trace_of};
use babelqueue::private::fuzz::told_by;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::value::RawValue;

use crate::corpus::root;
use crate::input::Input;
use crate::random::Random;
use crate::run::{Broken, Target, promise};

pub(crate) struct Envelopes {
    corpus: Vec<Vec<u8>>,
    schemas: Schemas,
}

impl Envelopes {
    pub(crate) fn new() -> io::Result<Self> {
        let schemas = Schemas::from_registry(root().join("fuzz/schemas/registry.json")).map_err(io::Error::other)?;
        Ok(Self { corpus: make::corpus()?, schemas })
    }
}

impl Target for Envelopes {
    const NAME: &'static str = "envelopes";

    fn input(&self, random: &mut Random) -> Input {
        make::input(random, &self.corpus)
    }

    fn check(&self, input: &Input, _: &Path) -> Result<bool, Broken> {
        let body = input.file("body");
        headers(input.file("headers"))?;
        poison(body)?;
        match decode(body) {
            Verdict::Ok(envelope) => {
                hops(body, &envelope)?;
                made_anew(&envelope)?;
                if let Some(data) = envelope.data() {
                    payloads::check(&self.schemas, data)?;
                }
                Ok(true)
            }
            Verdict::NoIdentity => {
                let next = with_attempts(body, 1);
                let next = next.as_deref().map(decode);
                let known = matches!(next, Ok(Verdict::Ok(_)));
                promise(!known, "a hop gives nobody an identity", || text(body))?;
                Ok(false)
            }
            Verdict::Poison(poison) => {
                promise(!poison.to_string().is_empty(), "poison says why", || text(body))?;
                // Poison is never spliced as an envelope is, but it must not end the process.
                let _ = (with_attempts(body, 1), with_dead_letter(body, 1, &block(1)), redriven(body));
                Ok(false)
            }
        }
    }
}

fn block(attempts: i64) -> DeadLetter<'static> {
    DeadLetter {
        reason: "failed",
        error: Some("a \"text\"\n\u{0}"),
        exception: None,
        failed_at: 1_749_132_727_000,
        original_queue: "orders",
        attempts,
        lang: "rust",
    }
}

/// What a hop must leave as it is.
fn kept<'a>(envelope: &'a Envelope<'_>) -> [Option<&'a str>; 6] {
    [
        Some(envelope.urn()),
        envelope.trace_id(),
        envelope.data(),
        envelope.message_id(),
        envelope.queue(),
        envelope.lang(),
    ]
}

/// The bodies of the next hops decode to the same message.
fn hops(body: &[u8], envelope: &Envelope<'_>) -> Result<(), Broken> {
    let counted = envelope.attempts().max(0).saturating_add(1);
    let block = block(counted);
    let next = hop(envelope, with_attempts(body, counted).ok(), counted, body)?;
    let dead = hop(envelope, with_dead_letter(body, counted, &block).ok(), counted, body)?;
    let again = hop(envelope, redriven(&dead).ok(), 0, body)?;
    if let Verdict::Ok(dead) = decode(&dead) {
        let read = dead.dead_letter().unwrap_or_default();
        let same = (read.reason.as_deref(), read.error.as_deref(), read.attempts);
        promise(same == (Some("failed"), block.error, Some(counted)), "the block reads as it was written", || {
            text(body)
        })?;
    }
    let kept = matches!(decode(&again), Verdict::Ok(again) if again.dead_letter().is_none());
    promise(kept, "a redriven message is no dead letter", || text(body))?;
    // A second hop of one kind changes nothing more.
    let twice = with_attempts(&next, counted).unwrap_or_default();
    promise(twice == next, "the same hop twice is one", || format!("{}\n{}", text(&next), text(&twice)))?;
    let twice = with_dead_letter(&dead, counted, &block).unwrap_or_default();
    promise(twice == dead, "the same dead letter twice is one", || format!("{}\n{}", text(&dead), text(&twice)))
}

fn hop(envelope: &Envelope<'_>, next: Option<Vec<u8>>, attempts: i64, body: &[u8]) -> Result<Vec<u8>, Broken> {
    let Some(next) = next else {
        return promise(false, "an envelope has a next hop", || text(body)).map(|()| Vec::new());
    };
    let same = match decode(&next) {
        Verdict::Ok(next) => kept(&next) == kept(envelope) && next.attempts() == attempts && next.warnings().is_empty(),
        _ => false,
    };
    promise(same, "a hop keeps the message", || format!("{}\n{}", text(body), text(&next)))?;
    Ok(next)
}

/// The same payload published anew decodes to what was given.
fn made_anew(envelope: &Envelope<'_>) -> Result<(), Broken> {
    let (Some(data), queue) = (envelope.data(), envelope.queue().unwrap_or_default()) else { return Ok(()) };
    let raw: Box<RawValue> = match serde_json::from_str(data) {
        Ok(raw) => raw,
        Err(error) => return promise(false, "a payload is JSON", || format!("{error}\n{data}")),
    };
    let made = draft(envelope.urn(), queue).encode(&raw);
    let Ok(made) = made else {
        return promise(false, "what was decoded can be made", || format!("{made:?}\n{data}"));
    };
    let same = match decode(&made.body) {
        Verdict::Ok(made) => {
            let _ = headers_of(&made);
            made.accepts() && made.data() == Some(data) && made.queue() == Some(queue)
        }
        _ => false,
    };
    promise(same, "what was made decodes to what was given", || format!("{}\n{data}", text(&made.body)))
}

/// Any bytes become a JSON object with the block, and come back from it.
fn poison(body: &[u8]) -> Result<(), Broken> {
    let block = block(3);
    let dead = poison_dead_letter(body, &block);
    let written = serde_json::to_string(&block).unwrap_or_default();
    let whole = std::str::from_utf8(&dead).is_ok_and(|text| serde_json::from_str::<&RawValue>(text).is_ok());
    promise(whole, "a dead letter is JSON", || format!("{}\n{}", text(body), text(&dead)))?;
    let raw =
        |encoding: &str, raw: String| format!(r#"{{"raw":{raw}{encoding},"dead_letter":{written}}}"#).into_bytes();
    let wrapped = match std::str::from_utf8(body) {
        Ok(text) => raw("", serde_json::to_string(text).unwrap_or_default()),
        Err(_) => raw(r#","raw_encoding":"base64""#, format!("\"{}\"", BASE64_STANDARD.encode(body))),
    };
    let spliced = ["", ","].iter().any(|comma| {
        let added = format!(r#"{comma}"dead_letter":{written}"#).into_bytes();
        let at = dead.windows(added.len()).rposition(|window| window == added);
        at.is_some_and(|at| [&dead[..at], &dead[at + added.len()..]].concat() == body)
    });
    promise(dead == wrapped || spliced, "a dead letter gives back the bytes", || {
        format!("{}\n{}", text(body), text(&dead))
    })
}

fn headers(lines: &[u8]) -> Result<(), Broken> {
    let pairs = lines.split(|byte| *byte == b'\n').map(|line| match line.iter().position(|byte| *byte == b'=') {
        Some(at) => (&line[..at], Some(&line[at + 1..])),
        None => (line, None),
    });
    let (job, attempts, _) = told_by(pairs.clone());
    promise(job.is_none_or(|job| !job.trim().is_empty() || !job.is_ascii()), "a header's URN is not blank", || {
        text(lines)
    })?;
    promise(attempts.is_none_or(|attempts| attempts >= 0), "attempts are counted from 0", || text(lines))?;
    for (_, value) in pairs {
        let trace = trace_of(value, "7b0e6f9a-63a1-4f52-9d0c-0f8a1f3b2c4d");
        let long = trace.is_some_and(|trace| trace.trace_id.len() == 32);
        promise(long, "a message continues a trace", || text(lines))?;
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
