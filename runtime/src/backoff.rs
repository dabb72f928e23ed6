//! Growing delays between tries (contract section 4).

use std::time::Duration;

use crate::config::ConfigError;

/// How long to wait before the next try: `min(max, base * multiplier^(n-1))` after the `n`th failure, for applications
/// that try something themselves. The delays of retry topics are those of their tiers.
///
/// ```
/// use std::time::Duration;
///
/// use babelqueue::{Backoff, Jitter};
///
/// # fn main() -> Result<(), babelqueue::ConfigError> {
/// let backoff = Backoff::exponential(Duration::from_secs(1), 2.0)?.max(Duration::from_secs(10));
/// assert_eq!(backoff.delay(1), Duration::from_secs(1));
/// assert_eq!(backoff.delay(4), Duration::from_secs(8));
/// assert_eq!(backoff.delay(5), Duration::from_secs(10));
///
/// // Many clients that failed together do not try again together.
/// let scattered = backoff.jitter(Jitter::Full);
/// assert!(scattered.delay(5) <= Duration::from_secs(10));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    base: Duration,
    multiplier: f64,
    max: Duration,
    jitter: Jitter,
}

/// Which part of a delay is left to chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// None.
    #[default]
    None,
    /// All of it: any delay from zero to the computed one, each as likely.
    Full,
}

impl Backoff {
    /// The same delay each time.
    #[must_use]
    pub const fn constant(delay: Duration) -> Self {
        Self { base: delay, multiplier: 1.0, max: Duration::ZERO, jitter: Jitter::None }
    }

    /// `base` after the first failure, and after each further one `multiplier` times the delay before it.
    ///
    /// # Errors
    ///
    /// The multiplier is negative or not finite.
    pub fn exponential(base: Duration, multiplier: f64) -> Result<Self, ConfigError> {
        if multiplier.is_finite() && multiplier >= 0.0 {
            Ok(Self { multiplier, ..Self::constant(base) })
        } else {
            Err(ConfigError::Setting { name: "multiplier", reason: "has to be a finite number that is not negative" })
        }
    }

    /// No delay is longer. Zero, the default, is no limit.
    #[must_use]
    pub const fn max(self, max: Duration) -> Self {
        Self { max, ..self }
    }

    /// Default: [`Jitter::None`].
    #[must_use]
    pub const fn jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// The delay after the `n`th failure, from 1; 0 is taken for 1. [`Duration::MAX`] when it is longer than that.
    #[must_use]
    pub fn delay(&self, n: u32) -> Duration {
        let longest = self.longest(n);
        match self.jitter {
            Jitter::None => longest,
            Jitter::Full => part(longest, rand::random()),
        }
    }

    /// The delay without jitter.
    fn longest(&self, n: u32) -> Duration {
        let max = if self.max.is_zero() { Duration::MAX } else { self.max };
        let factor = self.multiplier.powf(f64::from(n.saturating_sub(1)));
        // What does not grow stays exact, and zero times infinity is no number.
        let delay = if factor == 1.0 || self.base.is_zero() {
            self.base
        } else {
            Duration::try_from_secs_f64(self.base.as_secs_f64() * factor).unwrap_or(Duration::MAX)
        };
        delay.min(max)
    }
}

/// A fraction of a duration, from 0 to 1.
fn part(whole: Duration, fraction: f64) -> Duration {
    Duration::try_from_secs_f64(whole.as_secs_f64() * fraction).unwrap_or(whole).min(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn exponential(multiplier: f64) -> Backoff {
        Backoff::exponential(SECOND, multiplier).unwrap()
    }

    #[test]
    fn a_delay_grows_by_its_multiplier_up_to_the_maximum() {
        let backoff = exponential(3.0);
        assert_eq!([1, 2, 3, 4].map(|n| backoff.delay(n).as_secs()), [1, 3, 9, 27]);
        let backoff = backoff.max(SECOND * 10);
        assert_eq!([1, 2, 3, 4, u32::MAX].map(|n| backoff.delay(n).as_secs()), [1, 3, 9, 10, 10]);
        assert_eq!(exponential(0.5).delay(3), Duration::from_millis(250));
        assert_eq!([1, 2, 3].map(|n| exponential(0.0).delay(n)), [SECOND, Duration::ZERO, Duration::ZERO]);
    }

    #[test]
    fn a_constant_delay_stays_and_is_exact() {
        for delay in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_millis(100),
            Duration::new(123_456_789, 123_456_789),
            SECOND * 86_400,
            Duration::MAX,
        ] {
            let backoff = Backoff::constant(delay);
            assert_eq!([0, 1, 2, u32::MAX].map(|n| backoff.delay(n)), [delay; 4]);
        }
        assert_eq!(Backoff::constant(SECOND).max(Duration::from_millis(5)).delay(1), Duration::from_millis(5));
    }

    #[test]
    fn no_input_overflows() {
        for base in [Duration::ZERO, Duration::from_nanos(1), SECOND, Duration::MAX] {
            for multiplier in [0.0, f64::MIN_POSITIVE, 1.0, 1.000_000_1, 2.0, f64::MAX] {
                for max in [Duration::ZERO, SECOND, Duration::MAX] {
                    for jitter in [Jitter::None, Jitter::Full] {
                        let backoff = Backoff::exponential(base, multiplier).unwrap().max(max).jitter(jitter);
                        for n in [0, 1, 2, 1_000_000, u32::MAX] {
                            let limit = if max.is_zero() { Duration::MAX } else { max };
                            assert!(backoff.delay(n) <= limit, "{backoff:?}, {n}");
                        }
                    }
                }
            }
        }
        assert_eq!(exponential(2.0).delay(u32::MAX), Duration::MAX);
        assert_eq!(Backoff::exponential(Duration::ZERO, 2.0).unwrap().delay(u32::MAX), Duration::ZERO);
    }

    #[test]
    fn a_multiplier_that_is_no_factor_is_refused() {
        for multiplier in [-1.0, -f64::MIN_POSITIVE, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(
                matches!(Backoff::exponential(SECOND, multiplier), Err(ConfigError::Setting { .. })),
                "{multiplier}"
            );
        }
    }

    #[test]
    fn full_jitter_takes_any_part_of_the_delay() {
        assert_eq!(part(SECOND * 8, 0.0), Duration::ZERO);
        assert_eq!(part(SECOND * 8, 0.25), SECOND * 2);
        assert_eq!(part(SECOND * 8, 1.0), SECOND * 8);
        assert_eq!(part(Duration::MAX, 1.0), Duration::MAX);

        let backoff = exponential(2.0).max(SECOND * 10).jitter(Jitter::Full);
        let delays: Vec<_> = (0..100).map(|_| backoff.delay(5)).collect();
        assert!(delays.iter().all(|delay| *delay <= SECOND * 10));
        assert!(delays.iter().any(|delay| *delay != delays[0]));
    }
}
