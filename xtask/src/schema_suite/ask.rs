//! Puts messages to the compiled program, which may be ended by one of them.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process::run;

/// A message for the payload type of a group.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) id: &'a str,
    pub(super) message: String,
}

/// What the payload type made of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Decoded, and encoded as this.
    Encoded(String),
    /// Not decoded, for this reason.
    Refused(String),
    /// Decoded but not encoded, for this reason.
    Unencodable(String),
    /// A panic, or the end of the program.
    Panicked(String),
}

/// The answers, one for each question.
///
/// # Errors
/// If the program cannot be run, or fails by itself.
pub(super) fn ask(program: &Path, folder: &Path, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
    let (asked, answered) = (folder.join("questions.jsonl"), folder.join("answers.jsonl"));
    let mut lines = String::new();
    for question in questions {
        lines.push_str(&serde_json::to_string(&(question.id, &question.message))?);
        lines.push('\n');
    }
    fs::write(&asked, lines)?;
    File::create(&answered)?;
    loop {
        let status = run(Command::new(program).arg(&asked).arg(&answered))?;
        let mut answers = fs::read_to_string(&answered)?;
        if status.success() {
            let answers = answers.lines().map(read).collect::<Result<Vec<_>>>()?;
            ensure!(answers.len() == questions.len(), "{} answers to {} questions", answers.len(), questions.len());
            return Ok(answers);
        }
        // A stack that overflows ends a program. The question that did it has no answer; the next one goes on behind it.
        let signal = status.signal().with_context(|| format!("the program that answers failed: {status}"))?;
        answers.push_str(&format!("[\"panicked\",\"the program ended with signal {signal}\"]\n"));
        fs::write(&answered, answers)?;
    }
}

fn read(line: &str) -> Result<Answer> {
    let (outcome, text): (String, String) = serde_json::from_str(line).with_context(|| format!("no answer: {line}"))?;
    Ok(match outcome.as_str() {
        "encoded" => Answer::Encoded(text),
        "refused" => Answer::Refused(text),
        "unencodable" => Answer::Unencodable(text),
        "panicked" => Answer::Panicked(text),
        other => bail!("an unknown outcome `{other}`"),
    })
}
