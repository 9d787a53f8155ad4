// SPDX-License-Identifier: Apache-2.0
//! Tables as the page takes them: the names of columns once, then rows.

use serde::Serialize;
use serde_json::Value;

/// A table of values.
#[derive(Debug, Default, Serialize)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// One value for each column.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// These members of objects; `null` where an object lacks one.
    pub fn of(objects: &[Value], columns: &[&str]) -> Self {
        let row = |object: &Value| columns.iter().map(|key| object[key].clone()).collect();
        Self {
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: objects.iter().map(row).collect(),
        }
    }
}
