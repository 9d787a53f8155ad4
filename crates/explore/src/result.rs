// SPDX-License-Identifier: Apache-2.0
//! What an exploration found.

use serde::Serialize;

use crate::candidate::{Candidate, Objective, Outcome};

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
#[derive(Debug, Clone, PartialEq)]
pub struct RateResult {
    /// Thousandths of a frame per second; 0: there is none.
    pub rate_millihz: u64,
    /// How candidates were chosen.
    pub method: Method,
    /// Whether everything was done that was to be done.
    pub complete: bool,
    /// Candidates that could not be on the front, and did not run.
    pub bounded: u64,
    /// Candidates that could not run, and why: the first of them in the order of candidates.
    pub failed: Vec<(Candidate, String)>,
    /// Every candidate that ran, in the order of candidates.
    pub entries: Vec<Entry>,
}

impl RateResult {
    /// The entries on the front, the one of least energy first.
    pub fn front(&self) -> Vec<&Entry> {
        let mut front: Vec<&Entry> = self.entries.iter().filter(|entry| entry.pareto).collect();
        front.sort_by(|a, b| a.outcome.energy_mj.total_cmp(&b.outcome.energy_mj));
        front
    }

    /// What keeps every deadline with the least energy.
    pub fn best(&self) -> Option<&Entry> {
        let fixed = |entry: &&Entry| entry.candidate.policy == "static";
        let kept = self.entries.iter().filter(|e| e.outcome.misses == 0).filter(fixed);
        kept.min_by(|a, b| a.outcome.energy_mj.total_cmp(&b.outcome.energy_mj))
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Exploration {
    /// What was to be low.
    pub objectives: Vec<Objective>,
    /// For each frame rate, ascending.
    pub rates: Vec<RateResult>,
}

impl Exploration {
    /// Whether everything was done that was to be done.
    pub fn complete(&self) -> bool {
        self.rates.iter().all(|rate| rate.complete)
    }

    /// Every candidate that ran, by its number.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rates.iter().flat_map(|rate| &rate.entries)
    }
}
