//! Line and column of a byte offset, for messages.

/// Between two marks the characters are counted anew for each place; a file without line breaks may be large.
const STEP: usize = 1024;

/// Where the lines of a text begin, so that a place is found without reading the text again.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    /// How many characters begin before every `STEP`th byte.
    marks: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let marks = text.as_bytes().chunks(STEP).scan(0, |count, chunk| {
            let before = *count;
            *count += characters(chunk);
            Some(before)
        });
        Self { starts: std::iter::once(0).chain(breaks).collect(), marks: marks.collect() }
    }

    /// Line and column, from 1, of the byte offset `at` in `text`; columns count characters.
    pub(crate) fn place(&self, text: &str, at: usize) -> (usize, usize) {
        let at = at.min(text.len());
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or_default();
        (line, self.characters_before(text, at).saturating_sub(self.characters_before(text, start)) + 1)
    }

    fn characters_before(&self, text: &str, at: usize) -> usize {
        let index = (at / STEP).min(self.marks.len().saturating_sub(1));
        let rest = text.as_bytes().get(index * STEP..at).unwrap_or_default();
        self.marks.get(index).copied().unwrap_or_default() + characters(rest)
    }
}

/// How many characters begin in `bytes`, a part of a UTF-8 text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| !matches!(byte, 0x80..=0xBF)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_text_has_the_line_and_column_that_counting_gives() {
        let text = "ü\n\n".to_owned() + &"aß€😀".repeat(STEP) + "\n" + &"x".repeat(2 * STEP - 1) + "\nü";
        for text in [text.as_str(), "", "\n", "a"] {
            let lines = Lines::new(text);
            let (mut line, mut column) = (1, 1);
            for (at, character) in text.char_indices() {
                assert_eq!(lines.place(text, at), (line, column), "{at}");
                (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            assert_eq!(lines.place(text, text.len()), (line, column));
            assert_eq!(lines.place(text, usize::MAX), (line, column));
        }
    }
}
