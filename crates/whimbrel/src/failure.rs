// SPDX-License-Identifier: Apache-2.0
//! How a command ends: an answer, or reports of what went wrong.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use miette::{MietteHandlerOpts, Report};
use whimbrel_model::{Problem, Problems, Source};

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
    /// Problems of a file, each shown with its lines.
    pub fn in_file(source: &Source, problems: Problems) -> Self {
        Self::Reports(problems.into_iter().map(|problem| source.report(problem)).collect())
    }
}

/// Sets how reports look: wrapped on a terminal only, so that programs find whole lines.
pub fn install_style() {
    let wrap = io::stderr().is_terminal();
    let hook = miette::set_hook(Box::new(move |_| {
        let style = MietteHandlerOpts::new().context_lines(1).wrap_lines(wrap);
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
            say(&format!("the result could not be written: {error}"));
            ExitCode::from(2)
        }
        Err(Failure::Reports(reports)) => {
            for report in reports {
                say(format!("{report:?}").trim_end());
            }
            ExitCode::from(2)
        }
    }
}

/// Writes a line to standard error. One that nobody reads is no reason to fail.
pub fn say(line: &str) {
    use io::Write;
    let _ = writeln!(io::stderr(), "{line}");
}
