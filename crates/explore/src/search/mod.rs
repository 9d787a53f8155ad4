// SPDX-License-Identifier: Apache-2.0
//! Runs candidates on all cores of this machine, and keeps what came of them.
//!
//! Candidates run in batches whose sizes and contents do not depend on threads: what is decided is
//! decided between batches. So a seed gives one result, and an exploration that was ended goes on
//! by doing all again, with what its store has at once.

mod band;
mod descend;
mod genetic;
mod runner;

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::candidate::{Evaluate, Objective};
use crate::result::{Exploration, Method, RateResult};
use crate::settings::Settings;
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
    let mut rates: Vec<RateResult> = Vec::new();
    for rate in space.rates() {
        let runner = Runner::new(space, evaluate, store, options, around, *rate, deadline);
        let before = rates.iter().map(|rate| rate.ran).sum();
        rates.push(of_rate(space, options, *rate, before, runner)?);
    }
    let (objectives, tolerance) = (options.objectives.clone(), options.tolerance.clone());
    Ok(Exploration { settings: Settings::default(), objectives, tolerance, rates })
}

/// Explores a frame rate; so many candidates ran at those before it.
fn of_rate(
    space: &Space,
    options: &Options,
    rate: u64,
    before: usize,
    mut runner: Runner<'_>,
) -> Result<RateResult, String> {
    let method = match space.count(rate, options.limit) {
        Some(count) => {
            runner.expect(count as u64);
            exhaustive(space, rate, &mut runner)?;
            Method::Exhaustive
        }
        None => {
            genetic::search(space, options, rate, &mut runner)?;
            Method::Genetic
        }
    };
    let mut found = runner.finish(method)?;
    found
        .look(before, &options.objectives, &options.tolerance)
        .map_err(|error| format!("what was found cannot be read back: {error}"))?;
    Ok(found)
}

/// Runs every candidate that could be on the front, each made just before its batch.
fn exhaustive(space: &Space, rate: u64, runner: &mut Runner<'_>) -> Result<(), String> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut failed = Ok(());
    let flow = space.each(rate, &mut |candidate| {
        batch.push(candidate);
        if batch.len() < BATCH {
            return ControlFlow::Continue(());
        }
        match runner.run_worth(&std::mem::take(&mut batch)) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(why) => {
                failed = Err(why);
                ControlFlow::Break(())
            }
        }
    });
    if flow.is_continue() {
        runner.run_worth(&batch)?;
    }
    failed
}
