// SPDX-License-Identifier: Apache-2.0
//! Which core heats which block, and how hot that makes it.
//!
//! A core's mean power over a step is its energy in it; it spreads over the core's blocks by their
//! area. A core is as hot as the hottest of its blocks.

use serde::{Deserialize, Serialize};

use crate::description::{Block, Thermal};
use crate::thermal::Network;

/// A floorplan with its cores.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Heat {
    network: Network,
    due_ps: u64,
    /// For each block its core, and its part of that core's area.
    shares: Vec<Option<(usize, f64)>>,
    cores: Vec<Heated>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Heated {
    /// Energy at the last step.
    energy_aj: u128,
    /// `None` for a core without blocks.
    temperature_mc: Option<i32>,
}

impl Heat {
    /// A floorplan of so many cores, all at the temperature of their surroundings.
    pub fn new(thermal: &Thermal, cores: usize) -> Self {
        let area = |block: &Block| block.width_mm * block.height_mm;
        let mut areas = vec![0.0; cores];
        let mut heated = vec![Heated::default(); cores];
        for block in &thermal.blocks {
            if let Some(core) = block.core {
                areas[core as usize] += area(block);
                heated[core as usize].temperature_mc = Some(thermal.ambient_mc);
            }
        }
        let share = |block: &Block| {
            let core = block.core? as usize;
            Some((core, area(block) / areas[core]))
        };
        let shares = thermal.blocks.iter().map(share).collect();
        let network = Network::new(thermal);
        Self { due_ps: network.step_ps(), network, shares, cores: heated }
    }

    /// See [`crate::Hardware::is_state_of`].
    pub fn is_state_of(&self, like: &Self) -> bool {
        self.network.is_state_of(&like.network)
            && self.shares == like.shares
            && self.cores.len() == like.cores.len()
    }

    /// When the next step is due.
    pub fn due_ps(&self) -> u64 {
        self.due_ps
    }

    /// The temperature of a core; `None` if it has no block.
    pub fn temperature_mc(&self, core: usize) -> Option<i32> {
        self.cores[core].temperature_mc
    }

    /// The floorplan and the temperatures of its blocks.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Passes the step that is due, at the end of which core `i` had used `energy_aj(i)` in all.
    pub fn step(&mut self, energy_aj: impl Fn(usize) -> u128) {
        let step_ps = self.network.step_ps();
        let (shares, cores) = (&self.shares, &self.cores);
        #[expect(clippy::cast_precision_loss, reason = "the mean power of a step")]
        let watts =
            |core: usize| (energy_aj(core) - cores[core].energy_aj) as f64 / step_ps as f64 / 1e6;
        self.network.step(|block| shares[block].map_or(0.0, |(core, part)| part * watts(core)));
        self.due_ps += step_ps;
        for (core, heated) in self.cores.iter_mut().enumerate() {
            *heated = Heated { energy_aj: energy_aj(core), temperature_mc: None };
        }
        for (block, share) in self.shares.iter().enumerate() {
            let Some((core, _)) = share else { continue };
            let hottest = &mut self.cores[*core].temperature_mc;
            *hottest = (*hottest).max(Some(self.network.block_mc(block)));
        }
    }
}
