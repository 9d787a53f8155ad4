// SPDX-License-Identifier: Apache-2.0
//! Candidates of a space, chosen by a search that is not ours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use serde_json::{Value, json};
use whimbrel_explore::{
    Candidate, Evaluate, Failure, Objective, Options, Outcome, Store, Surroundings, Taker, Words,
};
use whimbrel_run::args::Parameters;

use crate::cli::ExploreArgs;
use crate::explore::{self, Prepared};
use crate::wrong::{Trouble, Wrong, input};

/// How often a search that waits for outcomes looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What there is to choose from, and the simulators that run candidates.
#[derive(Debug)]
pub struct Candidates {
    prepared: Arc<Prepared>,
    options: Options,
}

impl Candidates {
    /// Of the parameters of an exploration.
    ///
    /// # Errors
    /// Bad input, or there is no simulator.
    pub fn new(given: Parameters) -> Result<Self, Wrong> {
        let args = ExploreArgs::of(given).map_err(|problem| input(problem.into()))?;
        let prepared = Arc::new(explore::prepared(&args).map_err(input)?);
        let options = explore::options(&args).map_err(|problem| input(problem.into()))?;
        Ok(Self { prepared, options })
    }

    /// The variables, each with its name and its values, and the objectives.
    pub fn described(&self) -> Value {
        let word = |of: &Objective| Objective::ALL.iter().find(|(_, known)| known == of);
        let objectives: Vec<&str> =
            self.options.objectives.iter().filter_map(word).map(|(word, _)| *word).collect();
        json!({ "variables": self.prepared.space.variables(), "objectives": objectives })
    }

    /// Runs candidates, each a position for each variable, on all processors. For each there is
    /// what an exploration's table says of it, and its objectives; or `failed`, why it cannot run.
    ///
    /// # Errors
    /// A candidate does not fit the space, or none can run.
    pub fn evaluate(&self, positions: &[Vec<usize>]) -> Result<Vec<Value>, Wrong> {
        let candidates = positions.iter().map(|of| self.prepared.space.candidate(of));
        let candidates: Vec<Candidate> =
            candidates.collect::<Result<_, _>>().map_err(|problem| input(problem.into()))?;
        let rows = candidates.par_iter().with_max_len(1).map(|candidate| self.row(candidate));
        rows.collect()
    }

    fn row(&self, candidate: &Candidate) -> Result<Value, Wrong> {
        let Prepared { space, simulator, .. } = self.prepared.as_ref();
        let outcome = match space.fits(candidate) {
            true => simulator.run(candidate),
            false => Err(Failure::Candidate("its channels have no room for its batches".into())),
        };
        let (outcome, failed) = match outcome {
            Ok(outcome) => (Some(outcome), None),
            Err(Failure::Candidate(why)) => (None, Some(why)),
            Err(Failure::Fatal(message)) => {
                return Err(Wrong::Run(vec![Trouble { message, ..Trouble::default() }]));
            }
        };
        let values = |outcome: &Outcome| -> Vec<f64> {
            self.options.objectives.iter().map(|of| of.of(outcome)).collect()
        };
        let words = Words(space.system());
        Ok(json!({
            "policy": candidate.policy,
            "mapping": words.mapping(candidate),
            "points": words.points(candidate),
            "slots": words.slots(candidate),
            "channels": words.ways(candidate),
            "objectives": outcome.as_ref().map(values),
            "outcome": outcome,
            "failed": failed,
        }))
    }
}

/// Our own search, whose candidates somebody else runs: batch by batch, as an exploration does.
#[derive(Debug)]
pub struct Search {
    prepared: Arc<Prepared>,
    objectives: Vec<Objective>,
    asked: Receiver<Batch>,
    told: Sender<Told>,
    stop: Arc<AtomicBool>,
    batch: u64,
}

/// Candidates that do not depend on each other, with the number of the batch.
type Batch = (u64, Vec<Candidate>);

/// What came of one: the number of its batch, its place there, and the outcome.
type Told = (u64, usize, Result<Outcome, Failure>);

/// A batch that comes next in a [`Search`].
#[derive(Debug)]
pub enum Next {
    /// Each a position for each variable.
    Batch(Vec<Vec<usize>>),
    /// It has not come yet.
    Later,
    /// There is none.
    Over,
}

impl Search {
    /// Begins one.
    pub fn new(candidates: &Candidates) -> Self {
        let (prepared, options) = (Arc::clone(&candidates.prepared), candidates.options.clone());
        let ((ask, asked), (told, hear)) = (mpsc::channel(), mpsc::channel());
        let stop = Arc::new(AtomicBool::new(false));
        let objectives = options.objectives.clone();
        let search = Self { prepared, objectives, asked, told, stop: Arc::clone(&stop), batch: 0 };
        let prepared = Arc::clone(&search.prepared);
        thread::spawn(move || {
            let outside = Outside { ask, hear: Mutex::new((0, hear)) };
            let around = Surroundings { stop: &stop, watch: &|_| {} };
            let space = &prepared.space;
            // What it has found, who has told the outcomes knows.
            drop(whimbrel_explore::explore(
                space,
                &outside,
                &mut Store::default(),
                &options,
                around,
            ));
        });
        search
    }

    /// The next batch, once everything of the last one has been told, within so long.
    pub fn ask(&mut self, wait: Duration) -> Next {
        match self.asked.recv_timeout(wait) {
            Ok((number, batch)) => {
                self.batch = number;
                Next::Batch(batch.iter().map(|one| self.prepared.space.positions(one)).collect())
            }
            Err(RecvTimeoutError::Timeout) => Next::Later,
            Err(RecvTimeoutError::Disconnected) => Next::Over,
        }
    }

    /// Tells what came of a candidate of the last batch, or that it could not run; gives the
    /// values to minimise, infinite if it could not.
    pub fn tell(&self, place: usize, outcome: Option<Outcome>) -> Vec<f64> {
        let value = |of: &Objective| outcome.as_ref().map_or(f64::INFINITY, |it| of.of(it));
        let values = self.objectives.iter().map(value).collect();
        let failed = || Failure::Candidate("it could not run".into());
        // A search that is over wants no more.
        let _ = self.told.send((self.batch, place, outcome.ok_or_else(failed)));
        values
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Has candidates run by who asks for them.
struct Outside {
    ask: Sender<Batch>,
    /// How many batches there were, and what came of the last one.
    hear: Mutex<(u64, Receiver<Told>)>,
}

impl Evaluate for Outside {
    fn run(&self, _: &Candidate) -> Result<Outcome, Failure> {
        Err(Failure::Fatal("candidates run in batches only".into()))
    }

    fn all(&self, candidates: &[Candidate], taker: &dyn Taker) {
        let mut hear = self.hear.lock().unwrap_or_else(PoisonError::into_inner);
        hear.0 += 1;
        if candidates.is_empty() || self.ask.send((hear.0, candidates.to_vec())).is_err() {
            return;
        }
        let mut left = candidates.len();
        while left > 0 && !taker.has_enough() {
            match hear.1.recv_timeout(LOOK) {
                Ok((batch, place, outcome)) if batch == hear.0 => {
                    taker.take(&candidates[place], outcome);
                    left -= 1;
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}
