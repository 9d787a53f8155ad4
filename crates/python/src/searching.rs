// SPDX-License-Identifier: Apache-2.0
//! Candidates for searches that are not ours.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use whimbrel::library::{Candidates as Inner, Next, Outcome, Parameters, Search as InnerSearch};

use crate::failing::Raise;

/// How often Python may raise while a search thinks.
const LOOK: Duration = Duration::from_millis(100);

/// The variables of a space, and what runs its candidates.
#[pyclass(module = "whimbrel._core", frozen)]
pub struct Candidates(Inner);

#[pymethods]
impl Candidates {
    #[new]
    fn new(py: Python<'_>, given: BTreeMap<String, Vec<String>>) -> PyResult<Self> {
        py.detach(|| Inner::new(Parameters(given))).map(Self).raise(py)
    }

    /// The variables and the objectives, as JSON.
    fn described(&self) -> String {
        self.0.described().to_string()
    }

    /// Runs candidates, each a position for each variable; gives what came of each, as JSON.
    fn evaluate(&self, py: Python<'_>, positions: Vec<Vec<usize>>) -> PyResult<Vec<String>> {
        let rows = py.detach(|| self.0.evaluate(&positions)).raise(py)?;
        Ok(rows.iter().map(ToString::to_string).collect())
    }
}

/// Our own search, of which Python runs the candidates.
#[pyclass(module = "whimbrel._core")]
pub struct Search(Mutex<InnerSearch>);

/// What came of a candidate.
type Told = (f64, u64, Option<f64>, u32, f64, u64, u64);

#[pymethods]
impl Search {
    #[new]
    fn new(candidates: &Candidates) -> Self {
        Self(Mutex::new(InnerSearch::new(&candidates.0)))
    }

    /// The next batch, each candidate a position for each variable; None: there is none.
    fn ask(&self, py: Python<'_>) -> PyResult<Option<Vec<Vec<usize>>>> {
        loop {
            let next = py.detach(|| self.locked().ask(LOOK));
            py.check_signals()?;
            match next {
                Next::Batch(batch) => return Ok(Some(batch)),
                Next::Later => {}
                Next::Over => return Ok(None),
            }
        }
    }

    /// Tells what came of a candidate of the last batch: energy in millijoules, misses, latency in
    /// milliseconds, cores, time in milliseconds, frames and firings; None: it could not run. Gives
    /// the values of the objectives.
    fn tell(&self, place: usize, outcome: Option<Told>) -> Vec<f64> {
        let told =
            |(energy_mj, misses, latency_ms, cores, time_ms, frames, firings): Told| Outcome {
                energy_mj,
                misses,
                latency_ms,
                cores,
                jobs: 0,
                time_ms,
                load: Vec::new(),
                frames,
                firings,
            };
        self.locked().tell(place, outcome.map(told))
    }
}

impl Search {
    fn locked(&self) -> MutexGuard<'_, InnerSearch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
