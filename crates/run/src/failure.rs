// SPDX-License-Identifier: Apache-2.0
//! How a command ends: an answer, or reports of what went wrong.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use miette::{MietteHandlerOpts, Report};
use whimbrel_model::{Problem, Problems, Source, Span};
use whimbrel_text::{cure, has_colours, plain};

/// How many problems of one file are shown.
const SHOWN_MOST: usize = 5;

/// What a command that did not fail says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Exit status 0.
    Yes,
    /// Exit status 1.
    No,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Each is shown to the user; exit status 2.
    Reports(Vec<Report>),
    /// The result could not be written. A reader that has gone is no error: exit status 0.
    Output(io::Error),
}

/// What every command returns.
pub type Outcome = Result<Answer, Failure>;

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Reports(vec![Report::new(problem)])
    }
}

impl Failure {
    /// Problems of a file, each shown with its lines: the first of them, and how many more.
    pub fn in_file(source: &Source, problems: Problems) -> Self {
        let (first, more) = first_of(problems);
        let mut reports: Vec<Report> =
            first.into_iter().map(|problem| source.report(problem)).collect();
        reports.extend(more.map(|n| Report::new(and_more(n, source.name()))));
        Self::Reports(reports)
    }

    /// The same, but what has no place in a file is shown at this one.
    #[must_use]
    pub fn at(self, source: &Source, place: &Span, words: &str) -> Self {
        let Self::Reports(reports) = self else { return self };
        let at = |report: Report| match report.downcast::<Problem>() {
            Ok(problem) => source.report(problem.at(place.clone(), words)),
            Err(report) => report,
        };
        Self::Reports(reports.into_iter().map(at).collect())
    }
}

/// The first of many things to be told of one file, and how many more there are, if any: what is
/// wrong with a whole file, as when it is another one, is told by a few lines of it.
pub fn first_of<T>(mut all: Vec<T>) -> (Vec<T>, Option<usize>) {
    let more = all.len().saturating_sub(SHOWN_MOST);
    all.truncate(SHOWN_MOST);
    (all, Some(more).filter(|more| *more > 0))
}

fn and_more(n: usize, file: &str) -> Problem {
    Problem::new(format!("… and {n} more in {file}")).help("mend these first")
}

/// Sets how reports look: wrapped on a terminal only, so that programs find whole lines.
pub fn install_style() {
    let (wrap, colours) = (io::stderr().is_terminal(), has_colours(&io::stderr()));
    let hook = miette::set_hook(Box::new(move |_| {
        let style = MietteHandlerOpts::new().context_lines(1).wrap_lines(wrap).color(colours);
        Box::new(style.build())
    }));
    // It fails only when it is called twice, and then the style is set.
    let _ = hook;
}

/// Shows what went wrong, if anything did, and gives the exit status.
pub fn conclude(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Output(error)) => {
            let problem = Problem::new(format!("the result could not be written: {error}"));
            show(&Report::new(problem.help(cure(&error))));
            ExitCode::from(2)
        }
        Err(Failure::Reports(reports)) => {
            for report in reports {
                show(&report);
            }
            ExitCode::from(2)
        }
    }
}

/// Writes a line to standard error. One that nobody reads is no reason to fail.
pub fn say(line: &str) {
    whimbrel_text::say(&plain(line));
}

/// Writes a report to standard error, with the colours that it has on a terminal: what it quotes
/// was made plain where the problem was.
pub fn show(report: &Report) {
    whimbrel_text::say(format!("{report:?}").trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(n: usize) -> Vec<String> {
        let problems: Vec<Problem> = (0..n).map(|i| Problem::new(i.to_string())).collect();
        match Failure::in_file(&Source::new("app.toml", ""), problems) {
            Failure::Reports(reports) => reports.iter().map(Report::to_string).collect(),
            Failure::Output(_) => Vec::new(),
        }
    }

    #[test]
    fn of_many_problems_of_a_file_the_first_are_told_and_the_others_counted() {
        assert_eq!(shown(SHOWN_MOST), ["0", "1", "2", "3", "4"]);
        assert_eq!(shown(8000)[5..], ["… and 7995 more in app.toml"]);
    }
}
