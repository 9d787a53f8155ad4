// SPDX-License-Identifier: Apache-2.0
//! What an `explore.parquet` knows: every candidate that ran, with all that came of it.

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde::de::DeserializeOwned;

use crate::candidate::{Candidate, Outcome};
use crate::export::{CANDIDATE, IDENTITY, OUTCOME};
use crate::store::StoreError;

/// Reads the candidates of a file and what came of them.
///
/// # Errors
/// It cannot be read, is of something else, or has not what is needed.
pub fn restore(path: &Path, identity: &str) -> Result<Vec<(Candidate, Outcome)>, StoreError> {
    quietly(|| read(path, identity)).unwrap_or_else(|why| Err(StoreError::Line(0, why)))
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls what may panic, for the library does on some damaged files, and gives its words instead;
/// nothing is printed.
fn quietly<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                before(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let called = panic::catch_unwind(AssertUnwindSafe(call));
    IS_QUIET.set(false);
    called.map_err(|panicked| {
        let words = panicked.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panicked.downcast_ref::<&str>().copied());
        format!("it is damaged: {}", words.unwrap_or("the library failed"))
    })
}

fn read(path: &Path, identity: &str) -> Result<Vec<(Candidate, Outcome)>, StoreError> {
    let wrong = |why: String| StoreError::Line(0, why);
    let reader = SerializedFileReader::new(File::open(path)?).map_err(|e| wrong(e.to_string()))?;
    let facts = reader.metadata().file_metadata().key_value_metadata();
    let of = facts.and_then(|facts| facts.iter().find(|fact| fact.key == IDENTITY));
    if of.and_then(|fact| fact.value.as_deref()) != Some(identity) {
        return Err(StoreError::Other);
    }
    let rows = reader.get_row_iter(None).map_err(|e| wrong(e.to_string()))?;
    let pair = |(number, row): (usize, parquet::errors::Result<Row>)| {
        let wrong = |why: String| StoreError::Line(number + 1, why);
        let row = row.map_err(|error| wrong(error.to_string()))?;
        Ok((value(&row, CANDIDATE).map_err(wrong)?, value(&row, OUTCOME).map_err(wrong)?))
    };
    rows.enumerate().map(pair).collect()
}

/// What a column of JSON has in a row.
fn value<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, String> {
    let found = row.get_column_iter().find(|(name, _)| *name == column);
    match found {
        Some((_, Field::Str(text))) => serde_json::from_str(text).map_err(|e| e.to_string()),
        _ => Err(format!("it has no text in the column {column}")),
    }
}
