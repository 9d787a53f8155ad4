// SPDX-License-Identifier: Apache-2.0
//! A simulation that Python comes along with.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde_json::Value;
use whimbrel::library::{self, Callbacks, DecidedMove, DecidedPoint, Decision, Parameters, Status};

use crate::failing::Raise;

/// What Python is asked and told while the interpreter is free for others.
struct Caller {
    /// Told the virtual time in nanoseconds, and how many tasks live.
    progress: Option<Py<PyAny>>,
    /// Asked with what a policy sees, as JSON.
    decide: Option<Py<PyAny>>,
    /// What it has raised, which ends the run.
    raised: Option<PyErr>,
}

/// What a policy in Python gives: tasks with cores, and cores with operating points.
type Decided = (Vec<(u32, u32)>, Vec<(u32, u32)>);

impl Caller {
    /// Keeps what Python raises; `None`: it did.
    fn keep<T>(&mut self, done: PyResult<T>) -> Option<T> {
        match done {
            Ok(value) => Some(value),
            Err(error) => {
                self.raised.get_or_insert(error);
                None
            }
        }
    }
}

impl Callbacks for Caller {
    fn goes_on(&mut self) -> bool {
        // Ctrl-C is an exception of Python's.
        let signals = Python::attach(|py| py.check_signals());
        self.keep(signals).is_some() && self.raised.is_none()
    }

    fn watches(&self) -> bool {
        self.progress.is_some()
    }

    fn totals(&mut self, totals: &Status) {
        let Some(progress) = &self.progress else { return };
        let done = Python::attach(|py| progress.call1(py, (totals.time_ns, totals.live)).map(drop));
        self.keep(done);
    }

    fn decide(&mut self, snapshot: &Value) -> Option<Decision> {
        let decide = self.decide.as_ref()?;
        let decided =
            Python::attach(|py| decide.call1(py, (snapshot.to_string(),))?.extract::<Decided>(py));
        let (moves, points) = self.keep(decided)?;
        let moves = moves.into_iter().map(|(task, core)| DecidedMove { task, core });
        let points = points.into_iter().map(|(core, point)| DecidedPoint { core, point });
        Some(Decision { moves: moves.collect(), points: points.collect() })
    }
}

/// Simulates by parameters, each as texts; gives the summary as JSON.
#[pyfunction]
#[pyo3(signature = (given, progress=None, decide=None))]
pub fn simulate(
    py: Python<'_>,
    given: BTreeMap<String, Vec<String>>,
    progress: Option<Py<PyAny>>,
    decide: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut caller = Caller { progress, decide, raised: None };
    let done = py.detach(|| library::simulate(Parameters(given), &mut caller));
    match caller.raised {
        Some(error) => Err(error),
        None => done.raise(py),
    }
}
