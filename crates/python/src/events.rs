// SPDX-License-Identifier: Apache-2.0
//! The events of a recorded run as columns: bytes that Arrow takes as they are.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use whimbrel::library::{Trouble, Wrong};
use whimbrel_trace::{Event, Kind, NO_TASK, Recorded};

use crate::failing::Raise;

/// Each a column of little-endian numbers.
#[derive(Default)]
struct Columns {
    time_ns: Vec<u8>,
    kind: Vec<u8>,
    core: Vec<u8>,
    task: Vec<u8>,
    object: Vec<u8>,
    value: Vec<u8>,
}

impl Columns {
    fn add(&mut self, event: &Event, start_ns: u64) {
        let about = |number: u32, there: bool| if there { i64::from(number) } else { -1 };
        let value = match event.kind {
            Kind::Temperature => i64::from(event.signed()),
            _ => i64::from(event.value),
        };
        let (task, object) = (about(event.task, event.task != NO_TASK), i64::from(event.object));
        self.time_ns.extend(event.time_ns.saturating_sub(start_ns).to_le_bytes());
        self.kind.extend((event.kind as u8 - 1).to_le_bytes());
        self.core.extend(event.core.to_le_bytes());
        self.task.extend(task.to_le_bytes());
        self.object.extend(object.to_le_bytes());
        self.value.extend(value.to_le_bytes());
    }
}

fn read(folder: PathBuf) -> Result<(Columns, u64), whimbrel_trace::Error> {
    let recorded = Recorded::open(folder)?;
    let start_ns = recorded.start_ns();
    let (mut columns, mut merged, mut count) = (Columns::default(), recorded.merged(), 0);
    for event in &mut merged {
        columns.add(&event?, start_ns);
        count += 1;
    }
    Ok((columns, count))
}

/// The columns of a run's events in the order of time, by name, and how many events there are.
#[pyfunction]
pub fn events(py: Python<'_>, folder: PathBuf) -> PyResult<(Bound<'_, PyDict>, u64)> {
    let told = |error: whimbrel_trace::Error| {
        let cure = "name a folder that --record or record= wrote (docs/recorded-run.md)";
        let (message, cure) = (error.to_string(), Some(cure.into()));
        Wrong::Input(vec![Trouble { message, cure, ..Trouble::default() }])
    };
    let (columns, count) = py.detach(|| read(folder)).map_err(told).raise(py)?;
    let Columns { time_ns, kind, core, task, object, value } = columns;
    let named = [
        ("time_ns", time_ns),
        ("kind", kind),
        ("core", core),
        ("task", task),
        ("object", object),
        ("value", value),
    ];
    let found = PyDict::new(py);
    for (name, bytes) in named {
        found.set_item(name, PyBytes::new(py, &bytes))?;
    }
    Ok((found, count))
}
