// SPDX-License-Identifier: Apache-2.0
//! What an exploration found.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use whimbrel_model::{Pin, Setting};

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

/// What outcomes depend on besides candidates, in the words of the options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the application.
    pub app: String,
    /// The files of the application, as they were named.
    pub files: Vec<PathBuf>,
    /// The platform, as it was named.
    pub platform: String,
    /// Parameters of the application with their new values.
    pub set: Vec<Setting>,
    /// Tasks that stay on a core, also under policies that move tasks.
    pub pins: Vec<Pin>,
    /// Virtual time of each candidate.
    pub duration_ns: u64,
    /// The seed of the draws.
    pub seed: u64,
    /// Of all of these with what the files said.
    pub identity: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
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

    /// Every candidate that ran, by its number.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rates.iter().flat_map(|rate| &rate.entries)
    }
}
