// SPDX-License-Identifier: Apache-2.0
//! What a machine does besides, to a task that comes to a core which has kept nothing of it.
//!
//! Under an operating system or a hypervisor most first firings after a sleep take much the same
//! time, and some take a multiple of it: an interrupt, a page table that the host has dropped, a
//! processor that others share. Here a part of them takes longer, each by an exponential draw, so
//! that median and mean of a task's firings are as far apart as they were measured.
//!
//! Draws are those of SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014. The logarithm is that of `libm`, not the machine's: the same bits
//! everywhere.

use serde::{Deserialize, Serialize};

use crate::description;

/// The draws of one core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    part_ppm: u32,
    mean_ps: u64,
    random: u64,
}

impl Disturbance {
    /// That of a core, by its number.
    pub fn new(description: &description::Disturbance, core: u64) -> Self {
        let description::Disturbance { part_ppm, mean_ps } = *description;
        Self { part_ppm, mean_ps, random: core }
    }

    /// For how long the next one is disturbed, in picoseconds; 0: it is not.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 37 times a time of microseconds"
    )]
    pub fn next_ps(&mut self) -> u64 {
        if self.part_ppm == 0 || self.draw() % 1_000_000 >= u64::from(self.part_ppm) {
            return 0;
        }
        // Above 0, at most 1, in steps of 2^-53.
        let part = ((self.draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (-libm::log(part) * self.mean_ps as f64) as u64
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(part_ppm: u32, core: u64) -> Vec<u64> {
        let described = description::Disturbance { part_ppm, mean_ps: 70_000_000 };
        let mut disturbance = Disturbance::new(&described, core);
        (0..100_000).map(|_| disturbance.next_ps()).collect()
    }

    #[test]
    fn a_part_is_disturbed_each_for_the_mean_and_with_the_variance_of_an_exponential() {
        let all: Vec<f64> =
            drawn(120_000, 0).into_iter().filter(|ps| *ps > 0).map(|ps| ps as f64 / 70e6).collect();
        let (n, sum) = (all.len() as f64, all.iter().sum::<f64>());
        let squares: f64 = all.iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
        // Four standard errors of each.
        assert!((n - 12_000.0).abs() < 4.0 * 103.0, "{n}");
        assert!((sum / n - 1.0).abs() < 4.0 / n.sqrt(), "{}", sum / n);
        assert!((squares / n - 1.0).abs() < 4.0 * (8.0 / n).sqrt(), "{}", squares / n);
    }

    #[test]
    fn cores_are_disturbed_apart_and_the_same_in_each_run() {
        assert_eq!(drawn(500_000, 3), drawn(500_000, 3));
        assert_ne!(drawn(500_000, 3), drawn(500_000, 4));
        assert_eq!(drawn(0, 3), vec![0; 100_000]);
    }
}
