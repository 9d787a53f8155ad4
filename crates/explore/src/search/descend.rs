// SPDX-License-Identifier: Apache-2.0
//! The lowest operating points at which no deadline is missed, by halving.
//!
//! A slower core makes nothing earlier: with all else equal, what misses a deadline at one point
//! misses one at every lower point. So for each core in turn the lowest point without a miss is
//! found by bisection, the others staying where they are; once all had their turn, none can be
//! lowered alone. Every probe is a candidate like others and may be on the front itself.

use crate::candidate::Candidate;
use crate::space::Space;
use crate::store::Verdict;

/// Descends from a candidate whose cores are at their highest points. `probe` says what comes of a
/// candidate; `None` ends the descent.
pub(super) fn descend(
    space: &Space,
    from: &Candidate,
    probe: &dyn Fn(&Candidate) -> Option<Verdict>,
) {
    let keeps_all = |candidate: &Candidate| {
        let verdict = probe(candidate)?;
        Some(verdict.is_ok_and(|outcome| outcome.misses == 0))
    };
    let policy = space.policy_of(from);
    if keeps_all(from) != Some(true) || !policy.keeps_points() {
        return;
    }
    let mut at = from.clone();
    for core in from.cores() {
        let choices = &space.checked.points[core];
        // The answer lies in low..=high, and is yes at high.
        let (mut low, mut high) = (0, choices.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            at.points[core] = choices[middle];
            let mut canonical = at.clone();
            policy.symmetry.canonicalise(&mut canonical);
            let kept = if space.keeps_up(&at) { keeps_all(&canonical) } else { Some(false) };
            match kept {
                None => return,
                Some(true) => high = middle,
                Some(false) => low = middle + 1,
            }
        }
        at.points[core] = choices[high];
    }
}
