// SPDX-License-Identifier: Apache-2.0
//! Runs batches of candidates at one frame rate.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::descend::Descent;
use super::{Budget, Options, Progress, Surroundings};
use crate::candidate::{Candidate, Evaluate, Failure, Objective, Outcome, Taker};
#[cfg(feature = "parquet")]
use crate::export::part;
use crate::pareto::Front;
use crate::result::{Method, RateResult, Varies};
use crate::rows::{PIECE, Rows};
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
    found: Mutex<Outcomes>,
    done: AtomicU64,
    total: Option<u64>,
    bounded: u64,
    /// Where points are searched: the candidates of the latest batch that no earlier one had.
    tried: Vec<Candidate>,
    /// What is no longer among the verdicts.
    rows: Rows,
    failed: u64,
    first_failed: Option<(Candidate, String)>,
}

#[derive(Default)]
struct Outcomes {
    /// The latest, by candidate, so that the order does not depend on threads.
    verdicts: BTreeMap<Candidate, Verdict>,
    /// Where points are searched: whether each that ever ran missed no deadline, by its key.
    kept_all: HashMap<u128, bool>,
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
        rate_millihz: u64,
        deadline: Option<Instant>,
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
            tried: Vec::new(),
            rows: Rows::default(),
            failed: 0,
            first_failed: None,
        }
    }

    /// Says how many candidates there will be.
    pub fn expect(&mut self, total: u64) {
        self.total = Some(total);
    }

    /// Runs what is worth it of a batch that no later one depends on; returns false when no further
    /// one is to be run.
    pub fn run_worth(&mut self, batch: &[Candidate]) -> Result<bool, String> {
        let worth = self.worth(batch);
        let go_on = self.run(&worth)?;
        self.settle()?;
        Ok(go_on)
    }

    /// Takes verdicts out of memory where they are many: nobody asks for them any more.
    pub fn settle(&mut self) -> Result<(), String> {
        if lock(&self.found).verdicts.len() >= PIECE { self.put_away() } else { Ok(()) }
    }

    /// Without those of which it is known that nothing can put them on the front.
    fn worth(&mut self, batch: &[Candidate]) -> Vec<Candidate> {
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
        if self.space.checked.auto {
            self.descend(batch);
        } else {
            self.all(batch, 1);
        }
        let mut found = lock(&self.found);
        match found.fatal.take() {
            Some(why) => Err(why),
            None => Ok(!found.cut),
        }
    }

    /// Descends from each candidate of a batch, all of them step by step: so a budget ends them
    /// after the same runs whatever the number of threads.
    fn descend(&mut self, batch: &[Candidate]) {
        self.tried.clear();
        let mut descents: Vec<_> = batch.iter().map(|top| Descent::new(self.space, top)).collect();
        while !descents.is_empty() {
            let wanted: BTreeSet<Candidate> =
                descents.iter_mut().filter_map(Descent::next).collect();
            let new: Vec<Candidate> =
                wanted.into_iter().filter(|c| self.kept_all(c).is_none()).collect();
            self.all(&new, 0);
            self.tried.extend(new);
            let before = descents.len();
            descents.retain_mut(|descent| {
                let kept_all = descent.next().and_then(|probe| self.kept_all(&probe));
                kept_all.map(|kept_all| descent.tell(kept_all)).is_some()
            });
            self.tell((before - descents.len()) as u64);
        }
    }

    /// Runs candidates that are all different and did not run, as far as the budget goes. Each
    /// counts for so many that are done.
    fn all(&mut self, candidates: &[Candidate], done: u64) {
        let most = |left: u64| usize::try_from(left).unwrap_or(usize::MAX);
        let affordable =
            self.runs_left.map_or(candidates.len(), |left| candidates.len().min(most(left)));
        self.runs_left = self.runs_left.map(|left| left - affordable as u64);
        let (affordable, rest) = candidates.split_at(affordable);
        let new: Vec<Candidate> =
            affordable.iter().filter(|candidate| !self.knows(candidate, done)).cloned().collect();
        self.evaluate.all(&new, &Counting { runner: self, done });
        lock(&self.found).cut |= !rest.is_empty();
    }

    /// Whether it is known what comes of a candidate, which is taken over then.
    fn knows(&self, candidate: &Candidate, done: u64) -> bool {
        let known = lock(&self.store).take(candidate);
        match known {
            Ok(None) => return false,
            Ok(Some(verdict)) => {
                self.keep(candidate, verdict);
                self.tell(done);
            }
            Err(error) => self.fatal(format!("what was found cannot be read back: {error}")),
        }
        true
    }

    /// Takes a verdict into what was found.
    fn keep(&self, candidate: &Candidate, verdict: Verdict) {
        let mut found = lock(&self.found);
        if let Ok(outcome) = &verdict {
            found.front.offer(self.values(outcome), ());
        }
        if self.space.checked.auto {
            let kept_all = verdict.as_ref().is_ok_and(|outcome| outcome.misses == 0);
            found.kept_all.insert(candidate.key(), kept_all);
        }
        found.verdicts.insert(candidate.clone(), verdict);
    }

    /// The same of one that has just run, and for later.
    fn keep_new(&self, candidate: &Candidate, outcome: Result<Outcome, Failure>) {
        let verdict = match outcome {
            Ok(outcome) => Ok(outcome),
            Err(Failure::Candidate(why)) => Err(why),
            Err(Failure::Fatal(why)) => return self.fatal(why),
        };
        match lock(&self.store).put(candidate, &verdict) {
            Ok(()) => self.keep(candidate, verdict),
            Err(error) => self.fatal(format!("what was found cannot be kept: {error}")),
        }
    }

    /// Whether a candidate missed no deadline; `None`: it did not run.
    fn kept_all(&self, candidate: &Candidate) -> Option<bool> {
        lock(&self.found).kept_all.get(&candidate.key()).copied()
    }

    /// The objectives of what ran since [`Self::settle`]; `None`: it could not, or did not.
    pub fn point(&self, candidate: &Candidate) -> Option<Vec<f64>> {
        let found = lock(&self.found);
        let outcome = found.verdicts.get(candidate)?.as_ref().ok()?;
        Some(self.values(outcome))
    }

    /// The candidates of the latest batch that no earlier one had, where points are searched. A
    /// budget may have left out some.
    pub fn take_tried(&mut self) -> Vec<Candidate> {
        std::mem::take(&mut self.tried)
    }

    /// Takes every verdict out of memory, in pieces.
    fn put_away(&mut self) -> Result<(), String> {
        let mut verdicts = std::mem::take(&mut lock(&self.found).verdicts);
        while !verdicts.is_empty() {
            let mut piece = Vec::with_capacity(PIECE);
            while let Some((candidate, verdict)) =
                (piece.len() < PIECE).then(|| verdicts.pop_first()).flatten()
            {
                match verdict {
                    Ok(outcome) => piece.push((candidate, outcome)),
                    Err(why) => {
                        self.failed += 1;
                        let first = self.first_failed.as_ref();
                        if first.is_none_or(|(first, _)| candidate < *first) {
                            self.first_failed = Some((candidate, why));
                        }
                    }
                }
            }
            self.write(&piece)
                .map_err(|error| format!("what was found cannot be kept: {error}"))?;
        }
        Ok(())
    }

    /// Writes a sorted piece to where it is read at the end, and for those who read already.
    fn write(&mut self, piece: &[(Candidate, Outcome)]) -> io::Result<()> {
        let store = &self.store;
        #[cfg(feature = "parquet")]
        if !piece.is_empty() {
            let path = lock(store).next_part();
            path.map_or(Ok(()), |path| part(self.space.system(), piece, &path))?;
        }
        self.rows.push(piece, || lock(store).scratch())
    }

    /// What was found, before it is looked through.
    pub fn finish(mut self, method: Method) -> Result<RateResult, String> {
        self.put_away()?;
        let complete = !lock(&self.found).cut;
        Ok(RateResult {
            rate_millihz: self.rate_millihz,
            method,
            complete,
            bounded: self.bounded,
            failed: self.failed,
            first_failed: self.first_failed,
            ran: 0,
            front: Vec::new(),
            best: None,
            kept: false,
            varies: Varies::default(),
            rows: self.rows,
        })
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

    fn fatal(&self, why: String) {
        // When its user ends it, what then fails does so because of that.
        if !self.over() {
            lock(&self.found).fatal = Some(why);
        }
    }

    fn tell(&self, more: u64) {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        let front = lock(&self.found).front.len();
        let Self { rate_millihz, total, .. } = *self;
        (self.around.watch)(Progress { rate_millihz, done, total, front });
    }
}

/// Takes what has just run; each counts for so many that are done.
struct Counting<'r, 'a> {
    runner: &'r Runner<'a>,
    done: u64,
}

impl Taker for Counting<'_, '_> {
    fn has_enough(&self) -> bool {
        self.runner.over()
    }

    fn take(&self, candidate: &Candidate, outcome: Result<Outcome, Failure>) {
        self.runner.keep_new(candidate, outcome);
        self.runner.tell(self.done);
    }
}

/// A panic of another thread ends the exploration anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
