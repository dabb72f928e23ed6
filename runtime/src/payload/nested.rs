//! Values that are read a second time, from their own text: forms of unions, and values with rules that need the text.
//!
//! Each such text starts a new deserializer, which would begin to count the nesting anew, and forms may have to be tried
//! at every level. So all of it is counted from the outermost text on, in a place of the thread.

use std::cell::Cell;

use super::{
    decode::Decode,
    misfit::{self, Tracked},
    rules::Rules,
};
use crate::json;

/// What `serde_json` allows, too.
const LEVELS: usize = 128;

/// How many texts may be open inside each other. One and the same text is read several times where unions hold unions.
const OPEN: usize = 2 * LEVELS;

/// How often, by its length, a text may be read with everything in it. A form at each level takes as many readings as
/// there are levels; forms that can only be told apart by trying could take an exponential number.
const READINGS: usize = 2 * LEVELS;

/// What may be read in any case, as a short text may have many forms.
const BYTES: usize = 1 << 20;

#[derive(Clone, Copy)]
struct Count {
    open: usize,
    /// Bytes that may still be read.
    left: usize,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { open: 0, left: 0 }) };
    static POINTERS: Cell<bool> = const { Cell::new(false) };
}

type Plain<'t, 'de> = &'t mut serde_json::Deserializer<serde_json::de::StrRead<'de>>;

/// Reads `text` with [`Decode::decode`].
pub(super) fn decode<C: Decode<T>, T>(text: &str, rules: Rules) -> Result<T, String> {
    run(text, |plain| C::decode(plain, rules), |tracked| C::decode(tracked, rules))
}

/// Reads `text` with [`Decode::read`].
pub(super) fn read<C: Decode<T>, T>(text: &str, rules: Rules) -> Result<T, String> {
    run(text, |plain| C::read(plain, rules), |tracked| C::read(tracked, rules))
}

fn run<T>(
    text: &str,
    plain: impl FnOnce(Plain<'_, '_>) -> Result<T, serde_json::Error>,
    tracked: impl FnOnce(Tracked<'_, '_, '_>) -> Result<T, serde_json::Error>,
) -> Result<T, String> {
    let _open = Open::new(text)?;
    if POINTERS.get() {
        misfit::track(text, tracked).map_err(|misfit| misfit.to_string())
    } else {
        plain(&mut serde_json::Deserializer::from_str(text)).map_err(|error| misfit::reason(&error))
    }
}

/// A text that is being read.
struct Open {
    before: usize,
}

impl Open {
    fn new(text: &str) -> Result<Self, String> {
        let count = COUNT.get();
        let left = if count.open == 0 {
            if json::nesting(text) > LEVELS {
                return Err(format!("the value nests deeper than {LEVELS} levels"));
            }
            text.len().saturating_mul(READINGS).saturating_add(BYTES)
        } else {
            count.left
        };
        let Some(left) = left.checked_sub(text.len()) else {
            return Err("too many forms would have to be tried to tell what the value is".to_owned());
        };
        if count.open == OPEN {
            return Err("the value is read in a circle: a form that leads to itself".to_owned());
        }
        COUNT.set(Count { open: count.open + 1, left });
        Ok(Self { before: count.open })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        COUNT.set(Count { open: self.before, ..COUNT.get() });
    }
}

/// While it exists, errors of texts say where in the text they are, which costs time.
pub(super) struct Pointers {
    before: bool,
}

impl Pointers {
    pub(super) fn new() -> Self {
        Self { before: POINTERS.replace(true) }
    }
}

impl Drop for Pointers {
    fn drop(&mut self) {
        POINTERS.set(self.before);
    }
}
