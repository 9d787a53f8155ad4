// SPDX-License-Identifier: Apache-2.0
//! `whimbrel report`: recorded runs and explorations as a page.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use whimbrel_model::Problem;
use whimbrel_report::{Error, page};

use crate::cli::ReportArgs;
use crate::failure::{Answer, Outcome, say};
use crate::output::{kib, print};

/// Writes the page.
///
/// # Errors
/// A folder is neither that of a recorded run nor of an exploration, or the page cannot be written.
pub fn report(args: &ReportArgs) -> Outcome {
    let page = page(&args.folders).map_err(|error| unreadable(&error))?;
    if args.output.as_os_str() == "-" {
        print(&page)?;
        return Ok(Answer::Yes);
    }
    write(&args.output, &page).map_err(|error| {
        Problem::new(format!("{} cannot be written: {error}", args.output.display()))
    })?;
    if !args.quiet {
        say(&format!("{}: {}", args.output.display(), kib(page.len() as u64)));
    }
    Ok(Answer::Yes)
}

/// Writes a file beside the one it is to be, and then renames it: a page is whole, or not there.
fn write(path: &Path, page: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let written = fs::write(&new, page).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // What is left of it is of no use; that it was never there is no further error.
        let _ = fs::remove_file(&new);
    }
    written
}

fn unreadable(error: &Error) -> Problem {
    let help = match error {
        Error::Recorded(_) => "name folders that `whimbrel run --record` made",
        Error::Table { .. } | Error::NoFront { .. } => "name folders that `whimbrel explore` made",
    };
    Problem::new(error.to_string()).help(help)
}
