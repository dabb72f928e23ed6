//! Which containers are open while JSON is scanned.

/// The open containers, a bit each: object or array.
#[derive(Default)]
pub(super) struct Nesting {
    depth: usize,
    bits: u64,
    /// The bits of the levels below the last 64.
    below: Vec<u64>,
}

impl Nesting {
    pub(super) fn push(&mut self, object: bool) {
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.bits);
            self.bits = 0;
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.depth += 1;
    }

    pub(super) fn top(&self) -> Option<bool> {
        (self.depth != 0).then_some(self.bits & 1 == 1)
    }

    pub(super) fn pop(&mut self) {
        self.bits >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.bits = self.below.pop().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_back_in_the_order_they_were_opened_also_beyond_a_word() {
        for depth in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
            let mut open = Nesting::default();
            (0..depth).for_each(|level| open.push(level % 3 == 0));
            for level in (0..depth).rev() {
                assert_eq!(open.top(), Some(level % 3 == 0), "{level} of {depth}");
                open.pop();
            }
            assert_eq!(open.top(), None, "{depth}");
        }
    }
}
