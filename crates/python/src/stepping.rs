// SPDX-License-Identifier: Apache-2.0
//! A simulation that Python takes from one decision to the next.

use std::collections::BTreeMap;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use whimbrel::library::{Parameters, Steps as Inner};

use crate::failing::{Raise, failed};

/// How often Python may raise while the simulator computes.
const LOOK: Duration = Duration::from_millis(100);

/// The simulator of `whimbrel.gym`, which is told lines and answers with lines.
#[pyclass(module = "whimbrel._core")]
pub struct Steps(Inner);

#[pymethods]
impl Steps {
    #[new]
    fn new(py: Python<'_>, given: BTreeMap<String, Vec<String>>) -> PyResult<Self> {
        py.detach(|| Inner::new(Parameters(given))).map(Self).raise(py)
    }

    /// Takes other parameters of the same simulation.
    fn change(&mut self, py: Python<'_>, given: BTreeMap<String, Vec<String>>) -> PyResult<()> {
        py.detach(|| self.0.change(Parameters(given))).raise(py)
    }

    /// The plan.
    fn plan(&self) -> String {
        self.0.plan()
    }

    /// The process; None: there is none.
    #[getter]
    fn pid(&self) -> Option<u32> {
        self.0.pid()
    }

    /// Begins from a seed, with a simulator that waits for it, or a new one.
    #[pyo3(signature = (seed, anew=false))]
    fn begin(&mut self, py: Python<'_>, seed: u64, anew: bool) -> PyResult<()> {
        match py.detach(|| self.0.begin(seed, anew)) {
            Ok(()) => Ok(()),
            Err(error) => {
                let cure = "build it again; `whimbrel doctor` shows what is missing";
                failed(&format!("the simulator cannot be started: {error}"), cure).raise(py)
            }
        }
    }

    /// Tells the simulator a line, if it is given, and waits for its next one; none of a simulator
    /// that has gone.
    #[pyo3(signature = (line=None))]
    fn ask<'py>(&mut self, py: Python<'py>, line: Option<&str>) -> PyResult<Bound<'py, PyBytes>> {
        let mut answer = Vec::new();
        let mut told = line;
        loop {
            let done = py.detach(|| {
                told.take().into_iter().for_each(|line| self.0.tell(line));
                self.0.listen(&mut answer, LOOK)
            });
            // Ctrl-C is an exception of Python's.
            py.check_signals()?;
            if done? {
                return Ok(PyBytes::new(py, &answer));
            }
        }
    }

    /// How a simulator has ended that has gone.
    fn last_words(&mut self) -> String {
        self.0.last_words()
    }

    /// Ends the simulator.
    fn end(&mut self, py: Python<'_>) {
        py.detach(|| self.0.end());
    }
}
