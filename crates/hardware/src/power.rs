// SPDX-License-Identifier: Apache-2.0
//! Power at an operating point and a temperature.
//!
//! `P = P_dynamic(point) + P_static(point) * exp((T - T_ref) / slope)`. The dynamic part, which
//! goes with `f V^2` (A. Chandrakasan, S. Sheng, R. Brodersen: "Low-power CMOS digital design",
//! IEEE JSSC 27(4), 1992), is what a point consumes beyond its static part. The static part, mostly
//! subthreshold leakage, grows exponentially with temperature over the range of a chip in use: the
//! law of W. Liao, L. He, K. Lepak ("Temperature and supply voltage aware performance and power
//! modeling at microarchitecture level", IEEE TCAD 24(7), 2005) around the reference temperature.
//!
//! The exponential is the `libm` crate's, so every machine computes the same bits; the result is
//! rounded to microwatts, and everything after it is integer arithmetic.

use serde::{Deserialize, Serialize};

use crate::description::{Leakage, Point};

/// What a core draws in tasks and without, in microwatts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Draw {
    /// In tasks.
    pub active_uw: u64,
    /// Without, clocks gated.
    pub idle_uw: u64,
}

/// What a core draws at `point` and `temperature_mc`; without `leakage` or a temperature, what the
/// point says. A power below the static part, as that of a core which is shut down when idle, is
/// static as a whole.
pub fn draw(point: &Point, leakage: Option<&Leakage>, temperature_mc: Option<i32>) -> Draw {
    let factor = match (leakage, temperature_mc) {
        (Some(leakage), Some(temperature_mc)) => leakage_factor(leakage, temperature_mc),
        _ => 1.0,
    };
    let at = |total_uw: u32| {
        let fixed = point.static_uw.min(total_uw);
        u64::from(total_uw - fixed) + scaled(fixed, factor)
    };
    Draw { active_uw: at(point.active_uw), idle_uw: at(point.idle_uw) }
}

/// How many times the static power of the reference temperature a core draws at `temperature_mc`.
/// Beyond 20 slopes from the reference the law says nothing, and the factor stays.
pub fn leakage_factor(leakage: &Leakage, temperature_mc: i32) -> f64 {
    let above_c = f64::from(temperature_mc) / 1e3 - f64::from(leakage.reference_mc) / 1e3;
    libm::exp((above_c / leakage.slope_c).clamp(-20.0, 20.0))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and at most e^20 times a number of 32 bits"
)]
fn scaled(power_uw: u32, factor: f64) -> u64 {
    (f64::from(power_uw) * factor).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: Point = Point {
        hz: 400_000_000,
        microvolts: 1_000_000,
        active_uw: 500_000,
        idle_uw: 150_000,
        static_uw: 100_000,
    };
    const LEAKAGE: Leakage = Leakage { reference_mc: 25_000, slope_c: 40.0 };

    #[test]
    fn at_the_reference_temperature_a_point_draws_what_it_says() {
        let said = Draw { active_uw: 500_000, idle_uw: 150_000 };
        assert_eq!(draw(&POINT, Some(&LEAKAGE), Some(25_000)), said);
        assert_eq!(draw(&POINT, None, Some(90_000)), said);
        assert_eq!(draw(&POINT, Some(&LEAKAGE), None), said);
    }

    #[test]
    fn a_slope_above_the_reference_static_power_is_e_times_as_much() {
        // 400 mW dynamic + 100 mW * e = 671.828 mW; idle: 50 mW + 271.828 mW.
        let hot = Draw { active_uw: 671_828, idle_uw: 321_828 };
        assert_eq!(draw(&POINT, Some(&LEAKAGE), Some(65_000)), hot);
    }

    #[test]
    fn a_core_that_is_shut_down_when_idle_leaks_nothing_then() {
        let point = Point { idle_uw: 0, ..POINT };
        assert_eq!(draw(&point, Some(&LEAKAGE), Some(125_000)).idle_uw, 0);
    }

    #[test]
    fn the_law_ends_twenty_slopes_away() {
        let at = |mc| leakage_factor(&LEAKAGE, mc).to_bits();
        assert_eq!(at(25_000 + 800_000), at(i32::MAX));
        assert_eq!(at(25_000 - 800_000), at(i32::MIN));
    }
}
