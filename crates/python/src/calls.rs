// SPDX-License-Identifier: Apache-2.0
//! A simulation that Python comes along with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use serde_json::Value;
use whimbrel::library::{self, Callbacks, DecidedMove, DecidedPoint, Decision, Parameters, Status};

use crate::exploring::LOOK;
use crate::failing::{Raise, failed};

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

/// Repeats a recorded simulation or an exploration; gives each file of the result with how it
/// differs.
#[pyfunction]
pub fn rerun(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(String, Option<String>)>> {
    let stop = AtomicBool::new(false);
    let (compared, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let stop = &stop;
            let compared = scope.spawn(move || {
                let _done = done;
                library::rerun(&folder, stop)
            });
            // Here, for signals of Python are the main thread's.
            let mut raised = None;
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    stop.store(true, Ordering::Relaxed);
                    raised.get_or_insert(error);
                }
            }
            (compared.join(), raised)
        })
    });
    match raised {
        Some(error) => Err(error),
        None => compared.unwrap_or_else(|_| failed("internal error", "report it")).raise(py),
    }
}

/// Writes a recorded run for a viewer.
#[pyfunction]
pub fn trace(py: Python<'_>, folder: PathBuf, format: String, to: PathBuf) -> PyResult<()> {
    py.detach(|| library::trace(&folder, &format, &to)).raise(py)
}

/// Writes recorded runs and explorations as a page.
#[pyfunction]
pub fn report(py: Python<'_>, folders: Vec<PathBuf>, to: PathBuf) -> PyResult<()> {
    py.detach(|| library::report(&folders, &to)).raise(py)
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
