// SPDX-License-Identifier: Apache-2.0
//! What C knows of a core without a call: `struct engine_core` in `kernels/sim/engine.h`.
//!
//! Most cores change between work and none all the time, and have nothing else to them: no idle
//! states to sink through, no cache to lose, no interval at which they look. Of such a core C adds
//! up the times, and the model has to hear of them only when something depends on its energy.

use whimbrel_hardware::{DoorbellKind, Hardware, Residency};

/// A core as C has it.
#[repr(C)]
#[derive(Debug)]
pub struct Ledger {
    /// Up to when the times are complete.
    since_ps: u64,
    active_ps: u64,
    idle_ps: u64,
    /// A cycle takes so many picoseconds, over two to the power of `period_shift`.
    period_factor: u64,
    period_shift: u32,
    /// What it draws, in microwatts.
    active_uw: u32,
    idle_uw: u32,
    /// C keeps it; else it calls for every change.
    is_plain: bool,
    is_idle: bool,
}

impl Ledger {
    /// Those of all cores, at a time when the models know everything.
    pub fn all(hardware: &Hardware, now_ps: u64) -> Vec<Self> {
        let looks = hardware.doorbell().kind() != DoorbellKind::Interrupt;
        let ledger = |core| {
            let state = hardware.state(core);
            let mut ledger = Ledger {
                since_ps: now_ps,
                active_ps: 0,
                idle_ps: 0,
                period_factor: 0,
                period_shift: 0,
                active_uw: 0,
                idle_uw: 0,
                is_plain: !looks && state.asleep_ps().is_empty() && !hardware.has_cache(core),
                is_idle: state.idle_since().is_some(),
            };
            ledger.follow(hardware, core);
            ledger
        };
        (0..hardware.cores()).map(ledger).collect()
    }

    /// Tells the model what the core has done until now.
    pub fn fold(&mut self, hardware: &mut Hardware, core: usize, now_ps: u64) {
        if !self.is_plain {
            return;
        }
        let last = if self.is_idle { &mut self.idle_ps } else { &mut self.active_ps };
        *last += now_ps - self.since_ps;
        let spent = Residency { active_ps: self.active_ps, idle_ps: self.idle_ps };
        hardware.account(now_ps, core, spent, self.is_idle);
        (self.since_ps, self.active_ps, self.idle_ps) = (now_ps, 0, 0);
    }

    /// The core's frequency or what it draws has changed.
    pub fn follow(&mut self, hardware: &Hardware, core: usize) {
        let draw = hardware.state(core).draw();
        (self.period_factor, self.period_shift) = hardware.clock(core).period();
        (self.active_uw, self.idle_uw) = (draw.active_uw as u32, draw.idle_uw as u32);
    }
}
