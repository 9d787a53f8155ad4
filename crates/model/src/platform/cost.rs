// SPDX-License-Identifier: Apache-2.0
//! What actions cost: `[costs.send]` and the like.

use std::collections::BTreeMap;

use whimbrel_hardware::{Cost, Costs};

use super::keys::CostTable;
use crate::problem::Problem;
use crate::schema::Noted;

/// What `[costs]` says. What it does not name costs nothing.
pub(super) fn all(costs: BTreeMap<String, CostTable>) -> Costs {
    let mut all = Costs::default();
    costs.into_iter().for_each(|(name, cost)| all.set(&name, cost.into()));
    all
}

impl From<CostTable> for Cost {
    fn from(CostTable { cycles, cycles_per_unit, ps, .. }: CostTable) -> Self {
        Self { cycles, cycles_per_unit, ps }
    }
}

impl CostTable {
    pub(super) fn check(&self, noted: &mut Noted<'_>) {
        let keys = ["cycles", "cycles_per_unit", "time_us"];
        if !keys.iter().any(|key| self.keys.contains_key(*key)) {
            let problem = Problem::new(format!("{} states no cost", noted.title()));
            let problem = problem.at(self.place.clone(), "this one");
            noted.problems.push(problem.help("add `cycles`, `cycles_per_unit` or `time_us`"));
        }
    }
}
