// SPDX-License-Identifier: Apache-2.0
//! What actions cost: `[costs.send]` and the like.

use std::collections::BTreeMap;

use whimbrel_hardware::{Cost, Costs};

use super::keys::CostTable;
use crate::problem::Problem;
use crate::schema::Noted;

/// What `[costs]` says. What it does not name costs nothing.
pub(super) fn all(mut costs: BTreeMap<String, CostTable>) -> Costs {
    let mut take = |name: &str| costs.remove(name).map(Cost::from);
    Costs {
        actions: Costs::ACTIONS.iter().map(|name| take(name).unwrap_or_default()).collect(),
        switch: take("switch").unwrap_or_default(),
        clock: take("clock").unwrap_or_default(),
        copy: take("copy").unwrap_or_default(),
        load: take("load").unwrap_or_default(),
        interrupt: take("interrupt").unwrap_or_default(),
        send_internal: take("send_internal"),
        receive_internal: take("receive_internal"),
    }
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
