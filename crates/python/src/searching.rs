// SPDX-License-Identifier: Apache-2.0
//! Candidates for searches that are not ours.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use whimbrel::library::{Candidates as Inner, Parameters};

use crate::failing::Raise;

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
