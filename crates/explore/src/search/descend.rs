// SPDX-License-Identifier: Apache-2.0
//! The lowest operating points at which no deadline is missed, by halving.
//!
//! A slower core makes nothing earlier: with all else equal, what misses a deadline at one point
//! misses one at every lower point. So for each core in turn the lowest point without a miss is
//! found by bisection, the others staying where they are; once all had their turn, none can be
//! lowered alone. Every probe is a candidate like others and may be on the front itself.

use crate::candidate::Candidate;
use crate::space::Space;

/// One descent, from a candidate whose cores are at their highest points. It says what is to run
/// next and is told whether that missed no deadline, so that many descents may run side by side.
pub(super) struct Descent<'s> {
    space: &'s Space,
    at: Candidate,
    /// Whether the candidate that it begins with is still to run.
    at_top: bool,
    /// The cores that did not have their turn, the one that has it last.
    cores: Vec<usize>,
    /// The answer for that core lies between these positions among its points, and is yes at the
    /// higher one.
    range: (usize, usize),
}

impl<'s> Descent<'s> {
    pub fn new(space: &'s Space, from: &Candidate) -> Self {
        let lowers = space.policy_of(from).keeps_points();
        let mut cores = if lowers { from.cores() } else { Vec::new() };
        cores.reverse();
        let mut descent = Self { space, at: from.clone(), at_top: true, cores, range: (0, 0) };
        descent.begin_core();
        descent
    }

    /// What is to run next, the same until [`Self::tell`]; `None`: the descent is over.
    pub fn next(&mut self) -> Option<Candidate> {
        if self.at_top {
            return Some(self.at.clone());
        }
        while let Some(core) = self.cores.last().copied() {
            let choices = &self.space.checked.points[core];
            let (low, high) = self.range;
            self.at.points[core] = choices[usize::midpoint(low, high)];
            if low == high {
                self.cores.pop();
                self.begin_core();
            } else if self.space.keeps_up(&self.at) {
                let mut canonical = self.at.clone();
                self.space.policy_of(&self.at).symmetry.canonicalise(&mut canonical);
                return Some(canonical);
            } else {
                self.tell(false);
            }
        }
        None
    }

    /// Says whether what was to run next missed no deadline.
    pub fn tell(&mut self, kept_all: bool) {
        let (low, high) = self.range;
        let middle = usize::midpoint(low, high);
        if self.at_top {
            self.at_top = false;
            if !kept_all {
                self.cores.clear();
            }
        } else if kept_all {
            self.range = (low, middle);
        } else {
            self.range = (middle + 1, high);
        }
    }

    fn begin_core(&mut self) {
        let points = self.cores.last().map_or(1, |core| self.space.checked.points[*core].len());
        self.range = (0, points - 1);
    }
}
