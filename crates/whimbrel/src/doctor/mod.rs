// SPDX-License-Identifier: Apache-2.0
//! `whimbrel doctor`: what this machine lacks, and what to do about it.

mod build;
mod machine;

pub use build::find_program;
use serde::Serialize;
use whimbrel_run::failure::{Answer, Outcome};
use whimbrel_run::output::{lines_of, print, print_json, table};

use crate::cli::TableArgs;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Something works less well, or a part of the project cannot be built or tested.
    Missing,
    /// `whimbrel run` cannot work.
    Fatal,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What.
    pub what: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What it is for, and what to do when it is missing; empty when it is there.
    pub advice: &'static str,
}

impl Finding {
    /// All is well.
    pub fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Ok, found: found.into(), advice: "" }
    }

    /// It would be better otherwise.
    pub fn missing(what: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { what, verdict: Verdict::Missing, found: found.into(), advice }
    }

    /// Nothing runs without it.
    pub fn fatal(what: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { what, verdict: Verdict::Fatal, found: found.into(), advice }
    }
}

/// Looks at everything.
///
/// The answer is no (exit status 1) when `whimbrel run` cannot work here.
pub fn doctor(args: &TableArgs) -> Outcome {
    let mut findings = machine::findings();
    findings.extend(build::findings());

    if args.json {
        print_json(&findings)?;
    } else {
        print(&listing(&findings))?;
    }
    let fatal = findings.iter().any(|finding| finding.verdict == Verdict::Fatal);
    Ok(if fatal { Answer::No } else { Answer::Yes })
}

fn listing(findings: &[Finding]) -> String {
    let mut table = table(&["", "what", "found", "what to do"]);
    for finding in findings {
        let mark = match finding.verdict {
            Verdict::Ok => "ok",
            Verdict::Missing => "--",
            Verdict::Fatal => "NO",
        };
        table.add_row([mark, finding.what, &finding.found, finding.advice]);
    }
    lines_of(&table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_comes_with_what_to_do() {
        let all = machine::findings().into_iter().chain(build::findings());
        for finding in all {
            let advised = !finding.advice.is_empty();
            assert_eq!(advised, finding.verdict != Verdict::Ok, "{finding:?}");
            assert!(!finding.found.is_empty(), "{finding:?}");
        }
    }
}
