// SPDX-License-Identifier: Apache-2.0
//! Recorded runs and explorations as one page: HTML that needs nothing but itself, not even a
//! network.
//!
//! [`page`] reads folders and gives the page as text, and what is missing of the runs. The event
//! streams are summed up in one pass, in bounded memory, so that the page stays small however long
//! the run was; `docs/record-and-view.md` says what it shows. The same folders always give the same
//! bytes.

mod columns;
mod envelope;
mod explored;
mod gather;
mod html;
mod run;
mod table;
mod timeline;
mod waits;

use std::ops::Range;
use std::path::{Path, PathBuf};

use explored::Exploration;
pub use html::BASIS;
use run::Run;

/// The last time that a page can show, in nanoseconds since the start of a run: 52 days.
/// Differences of numbers are exact up to here in JavaScript.
const LATEST_NS: u64 = 1 << 52;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder is not that of a recorded run, or cannot be read.
    #[error(transparent)]
    Recorded(Box<whimbrel_trace::Error>),
    /// The table of an exploration is no CSV, or cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What is wrong with it.
        error: csv::Error,
    },
    /// The table of an exploration does not tell its front.
    #[error("{} has no column `pareto`", path.display())]
    NoFront {
        /// The table.
        path: PathBuf,
    },
}

/// A page.
#[derive(Debug)]
pub struct Page {
    /// Its text.
    pub html: String,
    /// What is missing of the runs, a line each; where there are several, with their names.
    pub damage: Vec<String>,
}

/// The page of these folders, each of a recorded run or of an exploration (which has an
/// `explore.csv`), in their order. The timeline has all events of the times in `exact`, in
/// nanoseconds since the start of a run, and others as far as there is room.
///
/// # Errors
/// A folder is neither, or cannot be read.
pub fn page(folders: &[impl AsRef<Path>], exact: &[Range<u64>]) -> Result<Page, Error> {
    let (mut runs, mut explorations) = (Vec::new(), Vec::new());
    for folder in folders.iter().map(AsRef::as_ref) {
        if folder.join(explored::FILE).is_file() {
            explorations.push(Exploration::read(folder)?);
        } else {
            runs.push(Run::read(folder, exact)?);
        }
    }
    let damage = runs.iter().flat_map(|run| {
        run.damage().iter().map(|line| match folders.len() {
            1 => line.clone(),
            _ => format!("{}: {line}", run.name()),
        })
    });
    Ok(Page { damage: damage.collect(), html: html::page(&runs, &explorations) })
}
