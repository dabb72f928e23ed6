//! Decodes messages into generated types and encodes them again.
//!
//! `answers <questions> <answers>`: reads a line `["group","message"]` for each question, and adds a line
//! `["outcome","text"]` for each answer, behind the answers that are there already.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::panic::catch_unwind;

type Answer = fn(&str) -> (&'static str, String);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (questions, answers) = (arguments.next().ok_or("no questions")?, arguments.next().ok_or("no answers")?);
    let groups: HashMap<&str, Answer> = all_groups().into_iter().flatten().copied().collect();
    let done = fs::read_to_string(&answers)?.lines().count();
    let mut answers = File::options().append(true).open(answers)?;
    for question in fs::read_to_string(questions)?.lines().skip(done) {
        let (group, message): (&str, String) = serde_json::from_str(question)?;
        let answer = groups.get(group).ok_or("an unknown group")?;
        let answer = catch_unwind(|| answer(&message));
        let answer = answer.unwrap_or_else(|_| ("panicked", "a panic while decoding or encoding".to_owned()));
        // One write a line, not buffered: if the next question ends this program, this answer is there.
        answers.write_all(format!("{}\n", serde_json::to_string(&answer)?).as_bytes())?;
    }
    Ok(())
}

