// SPDX-License-Identifier: Apache-2.0
//! Every mapping of tasks to cores that differs from the others, once, by branch and bound.
//!
//! Classes of tasks are dealt out one after the other: so many to each core. Among cores of a class
//! that were dealt the same so far (they are tied), one after another gets no more than the one
//! before it; so of each orbit exactly the least mapping is made (see `symmetry.rs`). A branch ends
//! where a core has more to do than it can at its highest frequency.

use std::ops::ControlFlow;

use super::{Space, SpacePolicy};
use crate::bound::ROUNDING;

/// What is done with a mapping: the core of each task, and for each core the one before it that it
/// is tied with.
type Visit<'v> = dyn FnMut(&[u32], &[Option<usize>]) -> ControlFlow<()> + 'v;

/// Visits every mapping to the available cores.
pub(crate) fn distribute(
    space: &Space,
    policy: &SpacePolicy,
    available: &[bool],
    rate_millihz: u64,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    let cores = space.system.cores.len();
    let mut before = vec![None; cores];
    for class in policy.symmetry.classes(available).iter() {
        for pair in class.windows(2).filter(|pair| available[pair[0]] == available[pair[1]]) {
            before[pair[1]] = Some(pair[0]);
        }
    }
    let mut deal = Assignment {
        space,
        policy,
        available,
        rate_millihz,
        mapping: vec![0; space.system.tasks.len()],
        counts: vec![0; cores],
        loads: vec![0.0; cores],
        tasks: vec![0; cores],
    };
    deal.class(0, &before, visit)
}

struct Assignment<'s> {
    space: &'s Space,
    policy: &'s SpacePolicy,
    available: &'s [bool],
    rate_millihz: u64,
    /// The core of each task dealt so far.
    mapping: Vec<u32>,
    /// Tasks of the present class on each core.
    counts: Vec<usize>,
    /// Load of each core at its highest frequency.
    loads: Vec<f64>,
    /// Tasks on each core.
    tasks: Vec<usize>,
}

impl Assignment<'_> {
    fn class(
        &mut self,
        class: usize,
        ties: &[Option<usize>],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let Some(tasks) = self.policy.symmetry.tasks.get(class) else {
            let empty =
                |core: usize| self.available[core] && self.tasks[core] == 0 && !self.policy.fills();
            if (0..self.tasks.len()).any(empty) {
                return ControlFlow::Continue(());
            }
            return visit(&self.mapping, ties);
        };
        self.core(class, 0, tasks.len(), ties, visit)
    }

    /// Deals `left` tasks of a class to the cores from `core` on.
    fn core(
        &mut self,
        class: usize,
        core: usize,
        left: usize,
        ties: &[Option<usize>],
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let tasks = &self.policy.symmetry.tasks[class];
        if core == self.counts.len() {
            if left > 0 {
                return ControlFlow::Continue(());
            }
            let counts = std::mem::take(&mut self.counts);
            self.counts = vec![0; counts.len()];
            let still = |core: usize| ties[core].filter(|before| counts[*before] == counts[core]);
            let ties: Vec<Option<usize>> = (0..counts.len()).map(still).collect();
            let flow = self.class(class + 1, &ties, visit);
            self.counts = counts;
            return flow;
        }
        let may = self.available[core] && self.space.checked.allowed[tasks[0]][core];
        let most = if may { left } else { 0 };
        let most = ties[core].map_or(most, |before| most.min(self.counts[before]));
        let highest = self.space.system.cores[core].points.last().map_or(1, |point| point.hz);
        let load = self.space.system.load(tasks[0], core, highest, self.rate_millihz);
        let free = self.loads[core];
        for count in (0..=most).rev() {
            #[expect(clippy::cast_precision_loss, reason = "a number of tasks")]
            let loaded = free + load * count as f64;
            // A policy may take some off again: then only the sum is bounded, by the space.
            if loaded > 1.0 + ROUNDING && count > 0 && !self.policy.fills() {
                continue;
            }
            let dealt = tasks.len() - left;
            let number = u32::try_from(core).unwrap_or(u32::MAX);
            tasks[dealt..dealt + count].iter().for_each(|task| self.mapping[*task] = number);
            self.counts[core] = count;
            self.loads[core] = loaded;
            self.tasks[core] += count;
            let flow = self.core(class, core + 1, left - count, ties, visit);
            self.tasks[core] -= count;
            flow?;
        }
        self.loads[core] = free;
        self.counts[core] = 0;
        ControlFlow::Continue(())
    }
}
