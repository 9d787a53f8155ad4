// SPDX-License-Identifier: Apache-2.0
//! Runs candidates on all cores of this machine, and keeps what came of them.
//!
//! Candidates run in batches whose sizes and contents do not depend on threads: what is decided is
//! decided between batches. So a seed gives one result, and an exploration that was ended goes on
//! by doing all again, with what its store has at once.

mod descend;
mod genetic;
mod runner;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, Evaluate, Objective, Outcome};
use crate::pareto::{Front, boxed};
use crate::result::{Entry, Exploration, Method, RateResult, Settings};
use crate::space::Space;
use crate::store::Store;
use runner::Runner;

/// Candidates between two looks at the front: enough that no thread waits long for the others.
const BATCH: usize = 256;

/// When to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Budget {
    /// When everything is done.
    #[default]
    None,
    /// At each frame rate after so many candidates that ran.
    Runs(u64),
    /// After this time; the result then depends on the machine.
    Time(Duration),
}

/// How to explore.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is to be low; not empty.
    pub objectives: Vec<Objective>,
    /// For each of them, by which part of it a candidate must be better to be on the front as well;
    /// empty: by any.
    pub tolerance: Vec<f64>,
    /// Of the search.
    pub seed: u64,
    /// Up to so many candidates of a frame rate are all run; more are searched.
    pub limit: usize,
    /// When to stop.
    pub budget: Budget,
}

/// How far an exploration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The frame rate that is explored.
    pub rate_millihz: u64,
    /// Candidates done at this rate: run, known, or found not worth it.
    pub done: u64,
    /// How many there are to do; `None`: the search decides.
    pub total: Option<u64>,
    /// Size of the front.
    pub front: usize,
}

/// Everything around an exploration.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Set to end it early; what is done is kept.
    pub stop: &'a AtomicBool,
    /// Told of every candidate that is done.
    pub watch: &'a (dyn Fn(Progress) + Sync),
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("stop", self.stop).finish_non_exhaustive()
    }
}

/// Explores a space.
///
/// # Errors
/// The first [`crate::Failure::Fatal`] in words, or a store that cannot be written.
pub fn explore(
    space: &Space,
    evaluate: &dyn Evaluate,
    store: &mut Store,
    options: &Options,
    around: Surroundings<'_>,
) -> Result<Exploration, String> {
    let deadline = match options.budget {
        Budget::Time(time) => Instant::now().checked_add(time),
        _ => None,
    };
    let mut rates = Vec::new();
    for rate in space.rates() {
        let runner = Runner::new(space, evaluate, store, options, around, *rate, deadline);
        rates.push(of_rate(space, options, *rate, runner)?);
    }
    for (id, entry) in rates.iter_mut().flat_map(|rate| &mut rate.entries).enumerate() {
        entry.id = id;
    }
    let (objectives, tolerance) = (options.objectives.clone(), options.tolerance.clone());
    Ok(Exploration { settings: Settings::default(), objectives, tolerance, rates })
}

fn of_rate(
    space: &Space,
    options: &Options,
    rate: u64,
    mut runner: Runner<'_>,
) -> Result<RateResult, String> {
    let (candidates, all) = space.collect(rate, options.limit);
    let method = if all {
        exhaustive(&mut runner, candidates)?;
        Method::Exhaustive
    } else {
        genetic::search(space, options, rate, &mut runner)?;
        Method::Genetic
    };
    let (complete, bounded) = (runner.complete(), runner.bounded());
    let (failed, entries) = runner.finish();
    Ok(RateResult { rate_millihz: rate, method, complete, bounded, failed, entries })
}

/// Runs every candidate that could be on the front.
fn exhaustive(runner: &mut Runner<'_>, candidates: Vec<Candidate>) -> Result<(), String> {
    runner.expect(candidates.len() as u64);
    for batch in candidates.chunks(BATCH) {
        let worth = runner.worth(batch);
        if !runner.run(&worth)? {
            break;
        }
    }
    Ok(())
}

/// An entry for each candidate that ran, in the order in which they are.
fn entries(
    ran: Vec<(Candidate, Outcome)>,
    objectives: &[Objective],
    tolerance: &[f64],
) -> Vec<Entry> {
    let mut front = Front::default();
    for (position, (_, outcome)) in ran.iter().enumerate() {
        front.offer(objectives.iter().map(|of| of.of(outcome)).collect(), position);
    }
    let mut on: BTreeSet<usize> = front.members().copied().collect();
    if tolerance.iter().any(|part| *part > 0.0) {
        // Of the front only: what another beats is no example of those that are about as good.
        let mut boxes = Front::default();
        for position in on {
            let values = objectives.iter().map(|of| of.of(&ran[position].1)).zip(tolerance);
            boxes.offer(values.map(|(value, part)| boxed(value, *part)).collect(), position);
        }
        on = boxes.members().copied().collect();
    }
    let entry = |(position, (candidate, outcome))| Entry {
        id: 0,
        candidate,
        outcome,
        pareto: on.contains(&position),
    };
    ran.into_iter().enumerate().map(entry).collect()
}
