// SPDX-License-Identifier: Apache-2.0
//! The policies that come with Whimbrel: what is known of them here. Which parameters they have,
//! and which policies an application brings, the helpers know.

use crate::problem::nearest;

/// What a policy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decides {
    /// Nothing: tasks and points stay as they begin.
    Nothing,
    /// Where tasks are.
    Moves,
    /// Where tasks are, and operating points.
    MovesAndPoints,
    /// The same, and which cores are off.
    MovesPointsAndOff,
}

/// A policy.
#[derive(Debug)]
pub struct Policy {
    /// As options and messages have it.
    pub name: &'static str,
    /// What it decides.
    pub decides: Decides,
    /// What it does, with its name as the subject.
    pub does: &'static str,
}

/// In the order in which they are offered.
pub const POLICIES: [Policy; 9] = [
    policy("static", Decides::Nothing, "never decides"),
    policy("table", Decides::MovesPointsAndOff, "has a mapping for each frame rate (see --table)"),
    policy("spread", Decides::MovesAndPoints, "makes every core as lightly loaded as possible"),
    policy("consolidate", Decides::MovesAndPoints, "packs tasks on few cores"),
    policy("balance", Decides::Moves, "evens loads out when that is worth its cost"),
    policy("sticky", Decides::Moves, "does so but prefers the core where a task ran last"),
    policy("gossip", Decides::Moves, "is balance without a coordinator, between neighbours"),
    policy("thermal", Decides::MovesAndPoints, "moves load from hot cores to cool ones"),
    policy(
        "leakage",
        Decides::MovesPointsAndOff,
        "takes the least power, with what hot cores leak",
    ),
];

/// What to write instead of a policy that a helper refuses for the reason `why`; of a parameter
/// that the policy does not have, that ends with those that it has.
pub fn instead_of_policy(name: &str, why: &str) -> String {
    let meant = match why.split_once("; it has ") {
        Some((said, known)) => {
            nearest(said.rsplit('`').nth(1).unwrap_or_default(), known.split(", "))
        }
        None => nearest(name, POLICIES.iter().map(|known| known.name)),
    };
    match meant.filter(|meant| *meant != name) {
        Some(meant) => format!("write `{meant}`"),
        None => "name a policy of `whimbrel list policies` with its parameters \
                 (docs/policies.md), or export `wb_policy_NAME` from the application's module"
            .to_owned(),
    }
}

const fn policy(name: &'static str, decides: Decides, does: &'static str) -> Policy {
    Policy { name, decides, does }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_middleware() {
        let list = include_str!("../../../middleware/src/decide/policy/all.h");
        let named = |line: &'static str| line.strip_prefix("WB_POLICY(")?.strip_suffix(')');
        let mut here = POLICIES.map(|policy| policy.name);
        here.sort_unstable();
        assert_eq!(list.lines().filter_map(named).collect::<Vec<_>>(), here);
    }
}
