// SPDX-License-Identifier: Apache-2.0
//! What actions cost, compiled for a frequency.
//!
//! `t = ps + (cycles + units * cycles_per_unit) / f`: a fixed part, rounded to the picosecond when
//! the table is made, and a part per unit as a [`Scale`]. Applying it is one multiplication.

use serde::{Deserialize, Serialize};

use crate::description::{Cost, Costs, Doorbell};
use crate::time::{SECOND_PS, Scale};

/// Everything that is charged; the numbers below [`Charge::ACTIONS`] are `enum wb_action`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Charge(usize);

impl Charge {
    /// How many actions the middleware has.
    pub const ACTIONS: usize = Costs::ACTIONS.len();
    /// A slot given back once its message was read.
    pub const RELEASE: Self = Self(5);
    /// A switch from one task to another.
    pub const SWITCH: Self = Self(Self::ACTIONS);
    /// Reading the clock.
    pub const CLOCK: Self = Self(Self::ACTIONS + 1);
    /// Copying a task's memory; units: bytes.
    pub const COPY: Self = Self(Self::ACTIONS + 2);
    /// Loading a task's program; units: bytes of its stack and heap.
    pub const LOAD: Self = Self(Self::ACTIONS + 3);
    /// Ringing another core's doorbell.
    pub const RING: Self = Self(Self::ACTIONS + 4);
    /// Being rung, or one look of a polling core.
    pub const RUNG: Self = Self(Self::ACTIONS + 5);
    /// An interrupt of the core's own timer.
    pub const INTERRUPT: Self = Self(Self::ACTIONS + 6);
    /// A message copied into or out of internal memory: the numbers follow each other as those of
    /// the two actions do.
    pub const INTERNAL: Self = Self(Self::ACTIONS + 7);
    const COUNT: usize = Self::ACTIONS + 9;

    /// The same of an action on internal memory: of sending and receiving, the first two.
    pub fn internal(self) -> Self {
        Self(Self::INTERNAL.0 + self.0)
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// Its number: of an action that of `enum wb_action`.
    pub fn number(self) -> usize {
        self.0
    }

    /// The middleware's action of this number; `None` if it has none.
    pub fn action(number: usize) -> Option<Self> {
        (number < Self::ACTIONS).then_some(Self(number))
    }
}

/// A [`Cost`] at one frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Compiled {
    fixed_ps: u64,
    per_unit: Scale,
}

impl Compiled {
    /// Compiles `cost` for a core at `hz`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a float beyond 64 bits becomes the largest, and a frequency is below 2^53"
    )]
    pub fn new(cost: &Cost, hz: u64) -> Self {
        let ps = |cycles: f64| cycles * SECOND_PS as f64 / hz as f64;
        Self {
            fixed_ps: cost.ps.saturating_add(ps(cost.cycles).round() as u64),
            per_unit: Scale::of(ps(cost.cycles_per_unit)),
        }
    }

    /// The time that `units` take, in picoseconds; at most `u64::MAX`.
    #[inline]
    pub fn ps(self, units: u64) -> u64 {
        self.fixed_ps.saturating_add(self.per_unit.of_count(units))
    }
}

/// Every charge at one frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table([Compiled; Charge::COUNT]);

impl Table {
    /// Compiles the costs of a platform for a core at `hz`; an action that they lack costs nothing.
    pub fn new(costs: &Costs, doorbell: &Doorbell, hz: u64) -> Self {
        let mut table = [Compiled::default(); Charge::COUNT];
        for (slot, cost) in table.iter_mut().zip(costs.actions.iter().take(Charge::ACTIONS)) {
            *slot = Compiled::new(cost, hz);
        }
        let others = [
            (Charge::SWITCH, &costs.switch),
            (Charge::CLOCK, &costs.clock),
            (Charge::COPY, &costs.copy),
            (Charge::LOAD, &costs.load),
            (Charge::RING, &doorbell.send),
            (Charge::RUNG, &doorbell.receive),
            (Charge::INTERRUPT, &costs.interrupt),
        ];
        let internal = [&costs.send_internal, &costs.receive_internal];
        for (number, cost) in internal.into_iter().enumerate() {
            let slot = cost.as_ref().map(|cost| Compiled::new(cost, hz));
            table[Charge::INTERNAL.0 + number] = slot.unwrap_or(table[number]);
        }
        for (charge, cost) in others {
            table[charge.0] = Compiled::new(cost, hz);
        }
        Self(table)
    }

    /// True if a charge takes no time.
    pub fn is_free(&self, charge: Charge) -> bool {
        self.0[charge.0] == Compiled::default()
    }

    /// The time that `units` of a charge take, in picoseconds.
    #[inline]
    pub fn ps(&self, charge: Charge, units: u64) -> u64 {
        self.0[charge.0].ps(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_its_time_and_its_cycles_at_the_frequency() {
        let cost = Cost { cycles: 150.0, cycles_per_unit: 0.5, ps: 2_000 };
        let at_100_mhz = Compiled::new(&cost, 100_000_000);
        assert_eq!(at_100_mhz.ps(0), 2_000 + 150 * 10_000);
        assert_eq!(at_100_mhz.ps(4096), 2_000 + 150 * 10_000 + 4096 * 5_000);
        assert_eq!(Compiled::new(&cost, 500_000_000).ps(3), 2_000 + 150 * 2_000 + 3 * 1_000);
    }

    #[test]
    fn a_cost_that_is_huge_takes_the_longest_time() {
        let cost = Cost { cycles: 1e300, cycles_per_unit: 1e300, ps: 5 };
        assert_eq!(Compiled::new(&cost, 1_000).ps(1), u64::MAX);
    }

    #[test]
    fn every_charge_has_its_own_place_and_an_action_that_is_missing_costs_nothing() {
        let cost = |ps| Cost { ps, ..Cost::default() };
        let costs = Costs {
            actions: (1..=3).map(cost).collect(),
            switch: cost(100),
            clock: cost(101),
            copy: cost(102),
            load: cost(103),
            interrupt: cost(106),
            send_internal: None,
            receive_internal: Some(cost(107)),
        };
        let doorbell = Doorbell { send: cost(104), receive: cost(105), ..Doorbell::default() };
        let table = Table::new(&costs, &doorbell, 1_000_000);
        let ps = |number| table.ps(Charge::action(number).unwrap(), 1);
        assert_eq!([ps(0), ps(1), ps(2), ps(3), ps(14)], [1, 2, 3, 0, 0]);
        assert_eq!(Charge::action(15), None);
        let others = Charge::all().skip(Charge::ACTIONS).map(|c| table.ps(c, 0));
        // Sending to internal memory costs what sending does, where nothing else is said.
        assert!(others.eq((100..=106).chain([1, 107])));
        let known = [Charge::SWITCH, Charge::RING, Charge::RUNG, Charge::INTERRUPT];
        assert_eq!(known.map(|c| table.ps(c, 0)), [100, 104, 105, 106]);
    }
}
