// SPDX-License-Identifier: Apache-2.0
//! The compiled part of the Python package (`python/whimbrel/_core.pyi`): functions on text and
//! bytes. Types and names for people are in the package's Python.

mod calls;
mod events;
mod exploring;
mod failing;
mod searching;
mod stepping;

use std::io;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use whimbrel::library;

use failing::Raise;

/// Names the folder of the helpers.
#[pyfunction]
fn helpers_are_in(folder: PathBuf) {
    library::helpers_are_in(folder);
}

/// An application, once it was checked, as JSON: its path and the text of its app.toml.
#[pyfunction]
fn application(py: Python<'_>, path: PathBuf, set: Vec<(String, String)>) -> PyResult<String> {
    py.detach(|| library::application(&path, &set)).map(|app| app.to_string()).raise(py)
}

/// The path of a platform's file, once it was checked.
#[pyfunction]
fn platform(py: Python<'_>, wanted: String) -> PyResult<PathBuf> {
    py.detach(|| library::platform(&wanted)).raise(py)
}

/// Writes a file as the command does.
#[pyfunction]
fn write(py: Python<'_>, path: PathBuf, contents: Vec<u8>) -> PyResult<()> {
    py.detach(|| library::write(&path, &contents)).map_err(|error| named(error, &path))
}

/// As Python says it, with the file's name.
fn named(error: io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let words = io::Error::from_raw_os_error(number).to_string();
            PyOSError::new_err((number, words, path.to_owned()))
        }
        None => io::Error::new(error.kind(), format!("{}: {error}", path.display())).into(),
    }
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    library::show_parameters(true);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(helpers_are_in, module)?)?;
    module.add_function(wrap_pyfunction!(application, module)?)?;
    module.add_function(wrap_pyfunction!(platform, module)?)?;
    module.add_function(wrap_pyfunction!(write, module)?)?;
    module.add_function(wrap_pyfunction!(calls::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(calls::rerun, module)?)?;
    module.add_function(wrap_pyfunction!(calls::trace, module)?)?;
    module.add_function(wrap_pyfunction!(calls::report, module)?)?;
    module.add_function(wrap_pyfunction!(events::events, module)?)?;
    module.add_function(wrap_pyfunction!(exploring::explore, module)?)?;
    module.add_function(wrap_pyfunction!(exploring::work, module)?)?;
    module.add_class::<searching::Candidates>()?;
    module.add_class::<searching::Search>()?;
    module.add_class::<stepping::Steps>()
}
