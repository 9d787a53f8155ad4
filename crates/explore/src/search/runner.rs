// SPDX-License-Identifier: Apache-2.0
//! Runs batches of candidates at one frame rate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use super::{Budget, Options, Progress, Surroundings, descend, entries};
use crate::candidate::{Candidate, Evaluate, Failure, Objective, Outcome};
use crate::pareto::Front;
use crate::result::Entry;
use crate::space::Space;
use crate::store::{Store, Verdict};

/// What is shared by threads.
pub(super) struct Runner<'a> {
    space: &'a Space,
    evaluate: &'a dyn Evaluate,
    objectives: &'a [Objective],
    around: Surroundings<'a>,
    rate_millihz: u64,
    deadline: Option<Instant>,
    runs_left: Option<u64>,
    store: Mutex<&'a mut Store>,
    found: Mutex<Found>,
    done: AtomicU64,
    total: Option<u64>,
    bounded: u64,
}

#[derive(Default)]
struct Found {
    /// By candidate, so that the order does not depend on threads.
    verdicts: BTreeMap<Candidate, Verdict>,
    front: Front<()>,
    fatal: Option<String>,
    /// Whether something was left out because of the user, the time or the budget.
    cut: bool,
}

impl<'a> Runner<'a> {
    pub fn new(
        space: &'a Space,
        evaluate: &'a dyn Evaluate,
        store: &'a mut Store,
        options: &'a Options,
        around: Surroundings<'a>,
        (rate_millihz, deadline): (u64, Option<Instant>),
    ) -> Self {
        let runs_left = match options.budget {
            Budget::Runs(runs) => Some(runs),
            _ => None,
        };
        Self {
            space,
            evaluate,
            objectives: &options.objectives,
            around,
            rate_millihz,
            deadline,
            runs_left,
            store: Mutex::new(store),
            found: Mutex::default(),
            done: AtomicU64::new(0),
            total: None,
            bounded: 0,
        }
    }

    /// Says how many candidates there will be.
    pub fn expect(&mut self, total: u64) {
        self.total = Some(total);
    }

    /// Without those of which it is known that nothing can put them on the front.
    pub fn worth(&mut self, batch: &[Candidate]) -> Vec<Candidate> {
        let found = lock(&self.found);
        // Where points are searched, a candidate stands for many that have no bound in common.
        let covered = |candidate: &&Candidate| {
            let floor = self.space.floor(candidate, self.objectives);
            !self.space.checked.auto && found.front.covers(&floor)
        };
        let (out, worth): (Vec<_>, Vec<_>) = batch.iter().partition(covered);
        drop(found);
        self.bounded += out.len() as u64;
        self.done.fetch_add(out.len() as u64, Ordering::Relaxed);
        worth.into_iter().cloned().collect()
    }

    /// Runs a batch; returns false when no further one is to be run.
    pub fn run(&mut self, batch: &[Candidate]) -> Result<bool, String> {
        let affordable = self.runs_left.map_or(batch.len(), |left| {
            batch.len().min(usize::try_from(left).unwrap_or(usize::MAX))
        });
        let before = lock(&self.found).verdicts.len() as u64;
        batch[..affordable].par_iter().for_each(|candidate| {
            if self.space.checked.auto {
                descend::descend(self.space, candidate, &|probe| self.one(probe));
            } else {
                self.one(candidate);
            }
            self.tell();
        });
        let mut found = lock(&self.found);
        found.cut |= affordable < batch.len();
        let ran = found.verdicts.len() as u64 - before;
        self.runs_left = self.runs_left.map(|left| left.saturating_sub(ran));
        match found.fatal.take() {
            Some(why) => Err(why),
            None => Ok(!found.cut),
        }
    }

    /// What came of a candidate; `None`: it is not to run any more.
    fn one(&self, candidate: &Candidate) -> Option<Verdict> {
        let known = lock(&self.store).get(candidate).cloned();
        let verdict = if let Some(known) = known {
            known
        } else {
            if self.over() {
                return None;
            }
            let verdict = match self.evaluate.run(candidate) {
                Ok(outcome) => Ok(outcome),
                Err(Failure::Candidate(why)) => Err(why),
                Err(Failure::Fatal(why)) => return self.fatal(why),
            };
            let kept = lock(&self.store).put(candidate.clone(), verdict.clone());
            if let Err(error) = kept {
                return self.fatal(format!("what was found cannot be kept: {error}"));
            }
            verdict
        };
        let mut found = lock(&self.found);
        if let Ok(outcome) = &verdict {
            found.front.offer(self.values(outcome), ());
        }
        found.verdicts.insert(candidate.clone(), verdict.clone());
        Some(verdict)
    }

    /// The objectives of what ran; `None`: it could not, or did not.
    pub fn point(&self, candidate: &Candidate) -> Option<Vec<f64>> {
        let found = lock(&self.found);
        let verdict = found.verdicts.get(candidate)?;
        verdict.as_ref().ok().map(|outcome| self.values(outcome))
    }

    /// Everything that ran so far, in the order of candidates.
    pub fn ran(&self) -> Vec<Candidate> {
        let found = lock(&self.found);
        let fine = found.verdicts.iter().filter(|(_, verdict)| verdict.is_ok());
        fine.map(|(candidate, _)| candidate.clone()).collect()
    }

    pub fn complete(&self) -> bool {
        !lock(&self.found).cut
    }

    pub fn bounded(&self) -> u64 {
        self.bounded
    }

    /// What could not run, and what did.
    pub fn finish(self) -> (Vec<(Candidate, String)>, Vec<Entry>) {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (mut failed, mut ran) = (Vec::new(), Vec::new());
        for (candidate, verdict) in found.verdicts {
            match verdict {
                Ok(outcome) => ran.push((candidate, outcome)),
                Err(why) => failed.push((candidate, why)),
            }
        }
        (failed, entries(ran, self.objectives))
    }

    fn values(&self, outcome: &Outcome) -> Vec<f64> {
        self.objectives.iter().map(|of| of.of(outcome)).collect()
    }

    /// Whether the user, the time or a failure ends it.
    fn over(&self) -> bool {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut found = lock(&self.found);
        found.cut |= late || self.around.stop.load(Ordering::Relaxed);
        found.cut || found.fatal.is_some()
    }

    fn fatal(&self, why: String) -> Option<Verdict> {
        // When its user ends it, what then fails does so because of that.
        if !self.over() {
            lock(&self.found).fatal = Some(why);
        }
        None
    }

    fn tell(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let front = lock(&self.found).front.len();
        let Self { rate_millihz, total, .. } = *self;
        (self.around.watch)(Progress { rate_millihz, done, total, front });
    }
}

/// A panic of another thread ends the exploration anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
