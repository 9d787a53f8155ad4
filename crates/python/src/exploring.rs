// SPDX-License-Identifier: Apache-2.0
//! Explorations, here or on a farm that Python has.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use whimbrel::library::{self, Explored, Farm, Parameters, Verdicts};

use crate::failing::{Raise, failed};

/// How often Python may raise, and is told how far it is.
pub const LOOK: Duration = Duration::from_millis(100);

/// A function of Python: takes a list of jobs, and gives pairs of a job's number and its verdict as
/// they come, and None once a second or so while there is none, so that it can be ended.
struct Callable<'a> {
    evaluate: Py<PyAny>,
    raised: &'a Raised,
}

/// What Python has raised, which ends the exploration.
#[derive(Default)]
struct Raised {
    stop: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Raised {
    fn keep(&self, done: PyResult<()>) {
        if let Err(error) = done {
            self.stop.store(true, Ordering::Relaxed);
            if let Ok(mut kept) = self.error.lock() {
                kept.get_or_insert(error);
            }
        }
    }
}

impl Farm for Callable<'_> {
    fn run(&self, jobs: &[String], taker: &Verdicts<'_>) {
        let done = Python::attach(|py| -> PyResult<()> {
            let verdicts = self.evaluate.bind(py).call1((jobs,))?;
            for pair in verdicts.try_iter()? {
                let pair: Option<(usize, String)> = pair?.extract()?;
                let taken =
                    pair.is_none_or(|(job, verdict)| py.detach(|| taker.take(job, &verdict)));
                if !taken {
                    let text = "a worker returned an invalid result";
                    return failed(text, "install the same version on all workers").raise(py);
                }
                if taker.has_enough() {
                    break;
                }
            }
            Ok(())
        });
        self.raised.keep(done);
    }
}

/// Parameters, each as texts; or the command's options, as it has handed them over.
#[derive(FromPyObject)]
pub enum Given {
    Command(String),
    Function(BTreeMap<String, Vec<String>>),
}

/// Explores; gives `front.json`, `explore.parquet` unless the command explores, the fronts for
/// people, and whether deadlines can be kept at every frame rate.
#[pyfunction]
#[pyo3(signature = (given, evaluate=None, progress=None))]
pub fn explore<'py>(
    py: Python<'py>,
    given: Given,
    evaluate: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>, String, bool)> {
    let wants_parquet = matches!(given, Given::Function(_));
    let args = &match given {
        Given::Command(options) => {
            library::show_parameters(false);
            library::handed_over(&options)
        }
        Given::Function(given) => library::explore_options(Parameters(given)),
    }
    .raise(py)?;
    let raised = Raised::default();
    let farm = evaluate.map(|evaluate| Callable { evaluate, raised: &raised });
    let farm = farm.as_ref().map(|farm| -> &dyn Farm { farm });
    let latest: Mutex<Option<Explored>> = Mutex::default();
    let watch = |explored: Explored| {
        if let Ok(mut latest) = latest.lock() {
            *latest = Some(explored);
        }
    };
    let found = py.detach(|| {
        thread::scope(|scope| {
            // The end of the thread closes it, however that ends.
            let (done, is_done) = mpsc::channel::<()>();
            let (stop, watch) = (&raised.stop, &watch);
            let explored = scope.spawn(move || {
                let _done = done;
                let found = library::explore(args, farm, stop, watch)?;
                // Whoever gave the command wants no more than what it writes to files.
                let parquet = wants_parquet.then(|| found.parquet()).transpose()?;
                Ok((found, parquet))
            });
            // Here, for signals of Python are the main thread's.
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let explored = latest.lock().ok().and_then(|mut latest| latest.take());
                raised.keep(Python::attach(|py| tell(py, progress.as_ref(), explored)));
            }
            explored.join()
        })
    });
    if let Some(error) = raised.error.into_inner().ok().flatten() {
        return Err(error);
    }
    let bug = "internal error of the exploration";
    let (found, parquet) = found.unwrap_or_else(|_| failed(bug, "report it")).raise(py)?;
    let parquet = parquet.map(|parquet| PyBytes::new(py, &parquet));
    Ok((found.front, parquet, found.tables, found.kept))
}

/// Lets Python handle its signals, and tells it how far the exploration is.
fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, explored: Option<Explored>) -> PyResult<()> {
    py.check_signals()?;
    let Some((progress, explored)) = progress.zip(explored) else { return Ok(()) };
    progress.call1(py, (explored.done, explored.total)).map(drop)
}

/// Runs a job of an exploration; gives its verdict.
#[pyfunction]
pub fn work(py: Python<'_>, job: String) -> PyResult<String> {
    py.detach(|| library::work(&job)).raise(py)
}
