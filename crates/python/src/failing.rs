// SPDX-License-Identifier: Apache-2.0
//! What goes wrong, as exceptions of `whimbrel.errors`.

use pyo3::prelude::*;
use whimbrel::library::{Trouble, Wrong};

/// Results that Python is told of.
pub trait Raise<T> {
    /// With an exception.
    fn raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> Raise<T> for Result<T, Wrong> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|wrong| {
            let made = match wrong {
                Wrong::Input(troubles) => exception(py, "InputError", troubles),
                Wrong::Run(troubles) => exception(py, "RunError", troubles),
            };
            made.unwrap_or_else(|instead| instead)
        })
    }
}

/// A failed run, in words of this crate.
pub fn failed<T>(message: &str, cure: &str) -> Result<T, Wrong> {
    let (message, cure) = (message.to_owned(), Some(cure.to_owned()));
    Err(Wrong::Run(vec![Trouble { message, file: None, place: None, line: None, cure }]))
}

/// Makes the exception, whose class is Python's.
fn exception(py: Python<'_>, kind: &str, troubles: Vec<Trouble>) -> PyResult<PyErr> {
    let plain = |Trouble { message, file, place, line, cure }| (message, file, place, line, cure);
    let all: Vec<_> = troubles.into_iter().map(plain).collect();
    let made = py.import("whimbrel.errors")?.call_method1("made", (kind, all))?;
    Ok(PyErr::from_value(made))
}
