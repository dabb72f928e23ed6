//! What `routes!` checks at compile time.

use std::marker::PhantomData;

use crate::job::Job;

/// The URN of a type: this constant for a job, the one of [`NotAJob`] for any other type. That it is no job is reported
/// where it is registered, and not here a second time.
pub struct UrnOf<J>(PhantomData<J>);

impl<J: Job> UrnOf<J> {
    /// The URN.
    pub const URN: Option<&'static str> = Some(J::URN);
}

/// What the types have that are no jobs.
pub trait NotAJob {
    /// No URN.
    const URN: Option<&'static str> = None;
}

impl<J> NotAJob for UrnOf<J> {}

/// Fails to compile when the job at `index` has the URN of one before it. A job is its URN and its type's name.
#[track_caller]
pub const fn assert_first_of_urn(jobs: &[(Option<&str>, &str)], index: usize) {
    let (Some(urn), name) = jobs[index] else { return };
    let mut earlier = 0;
    while earlier < index {
        let (other_urn, other_name) = jobs[earlier];
        if let Some(other_urn) = other_urn
            && same(urn, other_urn)
        {
            let message = Message::new()
                .and("`")
                .and(name)
                .and("` has the same URN as `")
                .and(other_name)
                .and("`: `")
                .and(urn)
                .and("`; a URN has one handler, so remove one of them or give one type a URN of its own");
            panic!("{}", message.text());
        }
        earlier += 1;
    }
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A text put together at compile time, where nothing can be allocated.
struct Message {
    bytes: [u8; Message::CAPACITY],
    len: usize,
}

impl Message {
    const CAPACITY: usize = 1024;

    const fn new() -> Self {
        Self { bytes: [0; Self::CAPACITY], len: 0 }
    }

    /// Adds `text`, or leaves it out where it is too long.
    const fn and(mut self, text: &str) -> Self {
        if text.len() > Self::CAPACITY - self.len {
            return self;
        }
        let mut index = 0;
        while index < text.len() {
            self.bytes[self.len] = text.as_bytes()[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "two jobs have one URN",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOBS: [(Option<&str>, &str); 4] =
        [(Some("urn:a"), "A"), (Some("urn:b"), "B"), (Some("urn:a"), "C"), (None, "D")];

    #[test]
    fn jobs_with_urns_of_their_own_pass() {
        assert_first_of_urn(&JOBS, 0);
        assert_first_of_urn(&JOBS, 1);
        assert_first_of_urn(&[(Some("urn:ab"), "A"), (Some("urn:a"), "B"), (Some(""), "C")], 2);
    }

    #[test]
    fn a_type_that_is_no_job_is_left_to_the_compiler() {
        assert_first_of_urn(&JOBS, 3);
        assert_first_of_urn(&[(None, "A"), (None, "B"), (Some("urn:a"), "C")], 1);
        assert_first_of_urn(&[(None, "A"), (None, "B"), (Some("urn:a"), "C")], 2);
    }

    #[test]
    #[should_panic(expected = "`C` has the same URN as `A`: `urn:a`; a URN has one handler")]
    fn the_second_of_two_jobs_with_one_urn_is_named_with_the_first() {
        assert_first_of_urn(&JOBS, 2);
    }

    #[test]
    fn a_text_too_long_for_the_message_is_left_out() {
        let long = "é".repeat(600);
        assert_eq!(Message::new().and("`").and(&long).and("`").text(), "``");
    }
}
