// SPDX-License-Identifier: Apache-2.0
//! What goes wrong, as plain data for other programs.

use miette::Report;
use whimbrel_run::failure::Failure;

/// Something that went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trouble {
    /// What, in one sentence without a full stop.
    pub message: String,
    /// The file that it is in; `None`: it is in none.
    pub file: Option<String>,
    /// The line and the column, from 1, of the place to change.
    pub place: Option<(usize, usize)>,
    /// That line's text.
    pub line: Option<String>,
    /// What to do about it.
    pub cure: Option<String>,
}

/// Why something was not done; no list is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// What was given makes no sense.
    Input(Vec<Trouble>),
    /// It could not be done, or failed.
    Run(Vec<Trouble>),
}

/// What was given makes no sense.
pub fn input(failure: Failure) -> Wrong {
    Wrong::Input(troubles(failure))
}

/// It could not be done.
pub fn failed(failure: Failure) -> Wrong {
    Wrong::Run(troubles(failure))
}

fn troubles(failure: Failure) -> Vec<Trouble> {
    match failure {
        Failure::Reports(reports) => reports.iter().map(trouble).collect(),
        Failure::Output(error) => {
            vec![Trouble { message: error.to_string(), ..Trouble::default() }]
        }
    }
}

/// A report as plain data, with the place of its first label.
fn trouble(report: &Report) -> Trouble {
    let label = report.labels().and_then(|mut labels| labels.next());
    let read = label
        .as_ref()
        .zip(report.source_code())
        .and_then(|(label, source)| source.read_span(label.inner(), 0, 0).ok());
    let text = |data: &[u8]| String::from_utf8_lossy(data).trim_end().to_owned();
    Trouble {
        message: report.to_string(),
        file: read.as_ref().and_then(|read| read.name()).map(str::to_owned),
        place: read.as_ref().map(|read| (read.line() + 1, read.column() + 1)),
        line: read.as_ref().map(|read| text(read.data())),
        cure: report.help().map(|help| help.to_string()),
    }
}
