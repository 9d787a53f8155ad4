// SPDX-License-Identifier: Apache-2.0
//! Those of all candidates that ran which may be among the survivors of a generation, now or later.
//!
//! Each candidate that dominates another has a lower rank, whatever else runs. So if as many
//! dominate it as survive, it never survives. What it dominates is dominated by these as well:
//! without it, no other candidate has another rank. The candidates that remain are a k-skyband: D.
//! Papadias, Y. Tao, G. Fu, B. Seeger: "Progressive Skyline Computation in Database Systems", ACM
//! Transactions on Database Systems 30(1), 2005.
//!
//! Of candidates that are equal in every objective, the last and as many as survive remain. Any
//! other one has neighbours that are equal to it, so its crowding distance is 0, and the first ones
//! precede it. Its neighbours' distances are the same without it.

use std::cmp::Ordering;

use crate::candidate::Candidate;
use crate::pareto::dominates;

/// The candidates from which a generation is chosen.
pub(super) struct Band {
    /// How many survive.
    survive: usize,
    members: Vec<Member>,
}

struct Member {
    candidate: Candidate,
    point: Vec<f64>,
    /// How many dominate it, at least: from `survive` on it is left out.
    dominators: usize,
}

impl Band {
    pub fn new(survive: usize) -> Self {
        Self { survive, members: Vec::new() }
    }

    /// Takes in candidates that are not in it.
    pub fn extend(&mut self, more: impl IntoIterator<Item = (Candidate, Vec<f64>)>) {
        for (candidate, point) in more {
            let mut dominators = 0;
            for member in &mut self.members {
                if dominates(&member.point, &point) {
                    dominators += 1;
                } else if dominates(&point, &member.point) {
                    member.dominators += 1;
                }
            }
            if dominators < self.survive {
                self.members.push(Member { candidate, point, dominators });
            }
        }
        let survive = self.survive;
        self.members.retain(|member| member.dominators < survive);
        self.members.sort_by(|a, b| {
            by_point(&a.point, &b.point).then_with(|| a.candidate.cmp(&b.candidate))
        });
        let equal = self.members.chunk_by(|a, b| by_point(&a.point, &b.point).is_eq());
        let mut stay: Vec<bool> = Vec::new();
        for equal in equal {
            stay.extend((1..=equal.len()).map(|nth| nth <= survive || nth == equal.len()));
        }
        let mut stay = stay.into_iter();
        self.members.retain(|_| stay.next().unwrap_or(true));
    }

    /// Its candidates with their objectives.
    pub fn members(&self) -> impl Iterator<Item = (&Candidate, &Vec<f64>)> {
        self.members.iter().map(|member| (&member.candidate, &member.point))
    }
}

fn by_point(a: &[f64], b: &[f64]) -> Ordering {
    let objectives = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    objectives.fold(Ordering::Equal, Ordering::then)
}
