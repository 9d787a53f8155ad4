// SPDX-License-Identifier: Apache-2.0
//! What an exploration found.

use std::collections::BTreeSet;
use std::io;

use serde::Serialize;

use crate::candidate::{Candidate, Objective, Outcome};
use crate::pareto::{Front, boxed};
use crate::rows::{Head, Rows};
use crate::settings::Settings;

/// How candidates were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// All of them, but those that cannot be on the front.
    Exhaustive,
    /// By a genetic search (NSGA-II).
    Genetic,
}

/// A candidate that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number among all entries, from 0.
    pub id: usize,
    /// The candidate.
    pub candidate: Candidate,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether it is on the front of its frame rate.
    pub pareto: bool,
}

/// What was found at one frame rate.
#[derive(Debug, Clone)]
pub struct RateResult {
    /// Thousandths of a frame per second; 0: there is none.
    pub rate_millihz: u64,
    /// How candidates were chosen.
    pub method: Method,
    /// Whether everything was done that was to be done.
    pub complete: bool,
    /// Candidates that could not be on the front, and did not run.
    pub bounded: u64,
    /// Candidates that could not run.
    pub failed: u64,
    /// The first of them in the order of candidates, and why.
    pub first_failed: Option<(Candidate, String)>,
    /// Candidates that ran.
    pub ran: usize,
    /// The entries on the front, the one of least energy first.
    pub front: Vec<Entry>,
    /// What keeps every deadline with the least energy, of the policy `static`.
    pub best: Option<Entry>,
    /// Whether anything keeps every deadline.
    pub kept: bool,
    /// In what the candidates that ran differ.
    pub varies: Varies,
    /// All that ran, in the order of candidates.
    pub(crate) rows: Rows,
}

/// In what candidates differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Varies {
    /// In the slots of channels.
    pub slots: bool,
    /// In how messages go through channels.
    pub ways: bool,
    /// In the policy.
    pub policy: bool,
}

impl RateResult {
    /// Looks once through all that ran for the front, the best, and in what candidates differ. The
    /// first of them has the number `first`.
    pub(crate) fn look(
        &mut self,
        first: usize,
        objectives: &[Objective],
        tolerance: &[f64],
    ) -> io::Result<()> {
        let mut front = Front::default();
        let mut one: Option<Candidate> = None;
        for (id, head) in (first..).zip(self.rows.sorted()) {
            let Head { candidate, outcome, .. } = head?;
            let one = one.get_or_insert_with(|| candidate.clone());
            self.ran += 1;
            self.kept |= outcome.misses == 0;
            self.varies.slots |= candidate.slots != one.slots;
            self.varies.ways |= candidate.ways != one.ways;
            self.varies.policy |= candidate.policy != one.policy;
            let entry = Entry { id, candidate, outcome, pareto: false };
            let least = self.best.as_ref().map_or(f64::INFINITY, |best| best.outcome.energy_mj);
            let energy_mj = entry.outcome.energy_mj;
            let better = self.best.is_none() || energy_mj.total_cmp(&least).is_lt();
            if better && entry.outcome.misses == 0 && entry.candidate.policy == "static" {
                self.best = Some(entry.clone());
            }
            front.offer(objectives.iter().map(|of| of.of(&entry.outcome)).collect(), entry);
        }
        if tolerance.iter().any(|part| *part > 0.0) {
            // Of the front only: what another beats is no example of those that are about as good.
            let mut boxes = Front::default();
            for entry in by_number(front) {
                let values = objectives.iter().map(|of| of.of(&entry.outcome)).zip(tolerance);
                boxes.offer(values.map(|(value, part)| boxed(value, *part)).collect(), entry);
            }
            front = boxes;
        }
        self.front = by_number(front);
        self.front.iter_mut().for_each(|entry| entry.pareto = true);
        self.front.sort_by(|a, b| a.outcome.energy_mj.total_cmp(&b.outcome.energy_mj));
        let on = |best: &Entry| self.front.iter().any(|entry| entry.id == best.id);
        if let Some(best) = self.best.take() {
            self.best = Some(Entry { pareto: on(&best), ..best });
        }
        Ok(())
    }
}

/// The members of a front, by their numbers.
fn by_number(front: Front<Entry>) -> Vec<Entry> {
    let mut members: Vec<Entry> = front.into_members().collect();
    members.sort_by_key(|entry| entry.id);
    members
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Exploration {
    /// What outcomes depend on besides candidates.
    pub settings: Settings,
    /// What was to be low.
    pub objectives: Vec<Objective>,
    /// As in [`crate::Options::tolerance`].
    pub tolerance: Vec<f64>,
    /// For each frame rate, ascending.
    pub rates: Vec<RateResult>,
}

impl Exploration {
    /// Whether everything was done that was to be done.
    pub fn complete(&self) -> bool {
        self.rates.iter().all(|rate| rate.complete)
    }

    /// Every candidate that ran, by its number. Most are not in memory, and are read as they are
    /// asked for.
    pub fn entries(&self) -> impl Iterator<Item = io::Result<Entry>> {
        let on: BTreeSet<usize> =
            self.rates.iter().flat_map(|rate| &rate.front).map(|entry| entry.id).collect();
        let rows = self.rates.iter().flat_map(|rate| rate.rows.sorted());
        rows.enumerate().map(move |(id, head)| {
            let Head { candidate, outcome, .. } = head?;
            Ok(Entry { id, candidate, outcome, pareto: on.contains(&id) })
        })
    }

    /// How many candidates ran.
    pub fn ran(&self) -> usize {
        self.rates.iter().map(|rate| rate.ran).sum()
    }
}
