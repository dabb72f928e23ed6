//! How small and how large values are: numbers, lengths, counts.

use super::decimal::Decimal;
use crate::model::{Kinds, Rule};

/// The limits that all schemas of a set of values set together.
#[derive(Default)]
pub(crate) struct Limits {
    low: Option<Bound>,
    high: Option<Bound>,
    divisors: Vec<Decimal>,
    pub(crate) length: Range,
    pub(crate) items: Range,
    pub(crate) properties: Range,
    pub(crate) unique: bool,
}

/// A bound of numbers.
#[derive(Clone)]
struct Bound {
    value: Decimal,
    /// The value itself is no longer within.
    exclusive: bool,
}

/// A range of counts.
#[derive(Default)]
pub(crate) struct Range {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
}

impl Range {
    fn at_least(&mut self, count: u64) {
        self.least = self.least.max(count);
    }

    pub(crate) fn at_most(&mut self, count: usize) {
        self.limit(u64::try_from(count).unwrap_or(u64::MAX));
    }

    fn limit(&mut self, count: u64) {
        self.most = Some(self.most.map_or(count, |most| most.min(count)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.most.is_some_and(|most| most < self.least)
    }

    pub(crate) fn is_within(&self, most: u64) -> bool {
        self.most.is_some_and(|own| own <= most)
    }
}

impl Limits {
    /// Adds what `rules` say.
    pub(crate) fn add(&mut self, rules: &[Rule]) {
        for rule in rules {
            match rule {
                Rule::Minimum(text) => self.raise(text, false),
                Rule::ExclusiveMinimum(text) => self.raise(text, true),
                Rule::Maximum(text) => self.lower(text, false),
                Rule::ExclusiveMaximum(text) => self.lower(text, true),
                Rule::MultipleOf(text) => self.divisors.extend(Decimal::parse(text)),
                Rule::MinLength(count) => self.length.at_least(*count),
                Rule::MaxLength(count) => self.length.limit(*count),
                Rule::MinItems(count) => self.items.at_least(*count),
                Rule::MaxItems(count) => self.items.limit(*count),
                Rule::UniqueItems => self.unique = true,
                Rule::MinProperties(count) => self.properties.at_least(*count),
                Rule::MaxProperties(count) => self.properties.limit(*count),
                _ => {}
            }
        }
    }

    // A bound that nobody can read says nothing here.
    fn raise(&mut self, text: &str, exclusive: bool) {
        let Some(value) = Decimal::parse(text) else { return };
        let tighter = |low: &Bound| value > low.value || (value == low.value && exclusive);
        if self.low.as_ref().is_none_or(tighter) {
            self.low = Some(Bound { value, exclusive });
        }
    }

    fn lower(&mut self, text: &str, exclusive: bool) {
        let Some(value) = Decimal::parse(text) else { return };
        let tighter = |high: &Bound| value < high.value || (value == high.value && exclusive);
        if self.high.as_ref().is_none_or(tighter) {
            self.high = Some(Bound { value, exclusive });
        }
    }

    /// The lower bound; `whole` if there are only whole numbers.
    fn low(&self, whole: bool) -> Option<Bound> {
        let low = self.low.as_ref()?;
        let next = whole.then(|| low.value.floor()).flatten().map(|floor| {
            let above = low.exclusive || !low.value.is_whole();
            Bound { value: Decimal::whole(floor.saturating_add(i128::from(above))), exclusive: false }
        });
        Some(next.unwrap_or_else(|| low.clone()))
    }

    fn high(&self, whole: bool) -> Option<Bound> {
        let high = self.high.as_ref()?;
        let next = whole.then(|| high.value.floor()).flatten().map(|floor| {
            let below = high.exclusive && high.value.is_whole();
            Bound { value: Decimal::whole(floor.saturating_sub(i128::from(below))), exclusive: false }
        });
        Some(next.unwrap_or_else(|| high.clone()))
    }

    /// Those of `kinds` of which no value is within the limits.
    pub(crate) fn excluded(&self, kinds: Kinds) -> Kinds {
        let excluded = [
            (Kinds::NUMBER, self.no_number(!kinds.meets(Kinds::FRACTION))),
            (Kinds::STRING, self.length.is_empty()),
            (Kinds::ARRAY, self.items.is_empty()),
            (Kinds::OBJECT, self.properties.is_empty()),
        ];
        excluded.into_iter().filter(|(_, excluded)| *excluded).fold(Kinds::NONE, |all, (kind, _)| all.or(kind))
    }

    /// Whether no number is within the bounds; `whole` if there are only whole ones.
    fn no_number(&self, whole: bool) -> bool {
        match (self.low(whole), self.high(whole)) {
            (Some(low), Some(high)) => {
                low.value > high.value || (low.value == high.value && (low.exclusive || high.exclusive))
            }
            _ => false,
        }
    }

    /// Whether every number within the limits keeps to `rule`, which is one about numbers; `whole` if there are only
    /// whole ones. What cannot be read is compared by its text elsewhere.
    pub(crate) fn keep(&self, rule: &Rule, whole: bool) -> bool {
        let above = |text: &str, exclusive: bool| match (self.low(whole), Decimal::parse(text)) {
            (Some(low), Some(value)) => low.value > value || (low.value == value && (low.exclusive || !exclusive)),
            _ => false,
        };
        let below = |text: &str, exclusive: bool| match (self.high(whole), Decimal::parse(text)) {
            (Some(high), Some(value)) => high.value < value || (high.value == value && (high.exclusive || !exclusive)),
            _ => false,
        };
        match rule {
            Rule::Minimum(text) => above(text, false),
            Rule::ExclusiveMinimum(text) => above(text, true),
            Rule::Maximum(text) => below(text, false),
            Rule::ExclusiveMaximum(text) => below(text, true),
            Rule::MultipleOf(text) => Decimal::parse(text).is_some_and(|divisor| {
                let one = Decimal::whole(1);
                let whole = whole.then_some(&one);
                self.divisors.iter().chain(whole).any(|own| own.is_multiple_of(&divisor) == Some(true))
            }),
            _ => false,
        }
    }
}
