// SPDX-License-Identifier: Apache-2.0
//! Cycles to picoseconds, without a division in the hot path.
//!
//! `ps = cycles * 10^12 / f` is computed as `(cycles * r) >> s`, where `r` is `2^s * 10^12 / f`
//! rounded up and `s` the largest shift for which `r` fits 64 bits: one multiplication of 64 by 64
//! bits. The error is at least 0 and below `1 + cycles / 2^s` picoseconds beyond the exact quotient
//! rounded down. At 1 kHz or more `s` is at least 34, so it is below one picosecond (beyond the
//! rounding) for 2^34 cycles; at 500 MHz, for 2^53. Where f divides 10^12 there is none.

use serde::{Deserialize, Serialize};

/// Picoseconds in a second.
pub const SECOND_PS: u64 = 1_000_000_000_000;

/// A factor that counts are multiplied by, in binary fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scale {
    factor: u64,
    shift: u32,
}

impl Scale {
    /// `numerator / denominator`, rounded up at the last bit.
    ///
    /// # Panics
    /// When `denominator` is 0.
    pub fn ratio(numerator: u64, denominator: u64) -> Self {
        let widest = (numerator / denominator).leading_zeros();
        let scaled = |shift: u32| (u128::from(numerator) << shift).div_ceil(denominator.into());
        // Rounding up can carry into a 65th bit.
        let shift = if scaled(widest) > u128::from(u64::MAX) { widest - 1 } else { widest };
        Self { factor: saturated(scaled(shift)), shift }
    }

    /// Exactly `value`, which must be finite and not negative; below 2^-60 it is taken as 0, and
    /// at most 2^53 - 1.
    pub fn of(value: f64) -> Self {
        const MANTISSA_BITS: i32 = 52;
        const BIAS: i32 = 1023;
        const LEAST: f64 = 1.0 / (1u64 << 60) as f64;
        const MOST: f64 = ((1u64 << 53) - 1) as f64;
        if value < LEAST {
            return Self::default();
        }
        let bits = value.min(MOST).to_bits();
        let mantissa = (bits & ((1 << MANTISSA_BITS) - 1)) | (1 << MANTISSA_BITS);
        let exponent = (bits >> MANTISSA_BITS) as i32 - BIAS;
        // Between 2^-60 and 2^53 the shift lies from 0 to 112.
        Self { factor: mantissa, shift: (MANTISSA_BITS - exponent).unsigned_abs() }
    }

    /// `count` times the factor, rounded down; `u64::MAX` where it does not fit.
    #[inline]
    pub fn of_count(self, count: u64) -> u64 {
        saturated((u128::from(count) * u128::from(self.factor)) >> self.shift)
    }
}

/// The clock of a core, a bus or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    hz: u64,
    period: Scale,
}

impl Clock {
    /// A clock of `hz` cycles per second.
    ///
    /// # Panics
    /// When `hz` is 0.
    pub fn new(hz: u64) -> Self {
        Self { hz, period: Scale::ratio(SECOND_PS, hz) }
    }

    /// Cycles per second.
    pub fn hz(self) -> u64 {
        self.hz
    }

    /// Its period in picoseconds is the first number over two to the power of the second.
    pub fn period(self) -> (u64, u32) {
        (self.period.factor, self.period.shift)
    }

    /// The time that `cycles` take, in picoseconds; at most `u64::MAX`.
    #[inline]
    pub fn ps(self, cycles: u64) -> u64 {
        self.period.of_count(cycles)
    }

    /// How many whole cycles pass in `ps` picoseconds; at most `u64::MAX`. It divides, so it is for
    /// what happens seldom: a computation that a change of frequency interrupts.
    pub fn cycles(self, ps: u64) -> u64 {
        saturated(u128::from(ps) * u128::from(self.hz) / u128::from(SECOND_PS))
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(cycles: u64, hz: u64) -> u128 {
        u128::from(cycles) * u128::from(SECOND_PS) / u128::from(hz)
    }

    #[test]
    fn a_clock_whose_period_is_whole_is_exact_for_any_number_of_cycles() {
        for hz in [1_000, 100_000_000, 200_000_000, 320_000_000, 500_000_000, 1_000_000_000] {
            let clock = Clock::new(hz);
            for cycles in [0, 1, 7, 104_986, 1 << 32, 18_000_000_000] {
                assert_eq!(u128::from(clock.ps(cycles)), exact(cycles, hz), "{cycles} at {hz} Hz");
            }
        }
    }

    #[test]
    fn a_second_of_cycles_takes_a_second_at_any_frequency() {
        for hz in [3_000, 7_777_777, 260_000_000, 333_333_333, 2_999_999_999, 999_999_999_999] {
            assert_eq!(Clock::new(hz).ps(hz), SECOND_PS, "{hz} Hz");
        }
    }

    #[test]
    fn a_time_that_does_not_fit_is_the_longest_there_is() {
        assert_eq!(Clock::new(1_000).ps(u64::MAX), u64::MAX);
        assert_eq!(Scale::of(f64::MAX).of_count(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_factor_of_a_fraction_is_exact_where_the_fraction_is() {
        assert_eq!(Scale::of(0.25).of_count(4096), 1024);
        assert_eq!(Scale::of(0.0).of_count(u64::MAX), 0);
        assert_eq!(Scale::of(1e-30).of_count(u64::MAX), 0);
        assert_eq!(Scale::of(2500.5).of_count(1 << 32), 2500 * (1 << 32) + (1 << 31));
        assert_eq!(Scale::of(1.0 / (1u64 << 60) as f64).of_count(1 << 63), 8);
    }

    proptest! {
        #[test]
        fn time_differs_from_the_exact_one_by_no_more_than_a_picosecond(
            cycles in 0u64..1 << 34, hz in 1_000u64..=SECOND_PS,
        ) {
            let ps = u128::from(Clock::new(hz).ps(cycles));
            prop_assert!(ps - exact(cycles, hz) <= 1);
        }

        #[test]
        fn cycles_of_a_time_are_never_more_than_it_was_made_of(
            cycles in 0u64..1 << 34, hz in 1_000u64..=SECOND_PS,
        ) {
            let clock = Clock::new(hz);
            let back = clock.cycles(clock.ps(cycles));
            prop_assert!(back == cycles || back + 1 == cycles);
        }
    }
}
