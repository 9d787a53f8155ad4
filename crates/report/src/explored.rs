// SPDX-License-Identifier: Apache-2.0
//! The results of an exploration as the page takes them.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::run::name;
use crate::table::Table;

/// The file that makes a folder one of an exploration.
pub const FILE: &str = "explore.csv";

/// The column that tells which candidates no other one beats.
const FRONT: &str = "pareto";

/// How many candidates that are not on the front the page shows.
const OTHERS: usize = 8000;

/// An exploration: its front, and some of the other candidates.
#[derive(Debug, Serialize)]
pub struct Exploration {
    folder: String,
    candidates: Table,
    /// For each candidate, whether it is on the front.
    front: Vec<bool>,
    /// How many candidates there were.
    all: usize,
}

impl Exploration {
    /// Reads the folder of an exploration.
    ///
    /// # Errors
    /// Its table cannot be read, or has no column that tells the front.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let refuse = |error| Error::Table { path: path.clone(), error };
        let mut reader = csv::Reader::from_path(&path).map_err(refuse)?;
        let columns: Vec<String> =
            reader.headers().map_err(refuse)?.iter().map(str::to_owned).collect();
        let Some(mark) = columns.iter().position(|column| column == FRONT) else {
            return Err(Error::NoFront { path });
        };
        let (mut rows, mut front) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = record.map_err(refuse)?;
            front.push(is_yes(&record[mark]));
            rows.push(record.iter().map(value).collect());
        }
        Ok(Self::new(name(folder), Table { columns, rows }, front))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.folder
    }

    /// Keeps the front, and others evenly from the whole of the table.
    fn new(folder: String, table: Table, front: Vec<bool>) -> Self {
        let all = table.rows.len();
        let others = front.iter().filter(|front| !**front).count();
        let mut seen = 0;
        let mut keep = |front: bool| {
            if !front {
                seen += 1;
            }
            front || seen * OTHERS / others.max(1) > (seen - 1) * OTHERS / others.max(1)
        };
        let everything = others <= OTHERS;
        let kept =
            table.rows.into_iter().zip(front).filter(|(_, front)| everything || keep(*front));
        let (rows, front) = kept.unzip();
        Self { folder, candidates: Table { columns: table.columns, rows }, front, all }
    }
}

fn is_yes(text: &str) -> bool {
    matches!(text.trim(), "1" | "true" | "yes")
}

/// A number where the text is one.
fn value(text: &str) -> Value {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => number.into(),
        _ => text.into(),
    }
}
