// SPDX-License-Identifier: Apache-2.0
//! `whimbrel report`: recorded runs and explorations as a page.

use std::io::Write;

use whimbrel_model::Problem;
use whimbrel_report::{Error, Page, page};
use whimbrel_run::atomic_file;
use whimbrel_run::failure::{Answer, Outcome, say};
use whimbrel_run::output::{kib, print_data};

use crate::cli::ReportArgs;

/// Writes the page.
///
/// # Errors
/// A folder is neither that of a recorded run nor of an exploration, or the page cannot be written.
pub fn report(args: &ReportArgs) -> Outcome {
    let exact: Vec<_> = args.exact.iter().map(|(from, to)| *from..*to).collect();
    let page = page(&args.folders, &exact).map_err(|error| unreadable(&error))?;
    if args.output.as_os_str() == "-" {
        print_data(&page.html)?;
        warn(args, &page);
        return Ok(Answer::Yes);
    }
    atomic_file::clean_up_after_signals();
    atomic_file::save(&args.output, |file| file.write_all(page.html.as_bytes()))?;
    if !args.quiet {
        say(&format!("{}: {}", args.output.display(), kib(page.html.len() as u64)));
    }
    warn(args, &page);
    Ok(Answer::Yes)
}

/// Says what of the runs is not on the page.
fn warn(args: &ReportArgs, page: &Page) {
    if !args.quiet {
        page.damage.iter().for_each(|line| say(line));
    }
}

/// What is wrong with a folder that cannot be shown.
pub fn unreadable(error: &Error) -> Problem {
    let help = match error {
        Error::Recorded(_) => "name folders that `whimbrel run --record` made",
        Error::Table { .. } | Error::NoFront { .. } => "name folders that `whimbrel explore` made",
    };
    Problem::new(error.to_string()).help(help)
}
