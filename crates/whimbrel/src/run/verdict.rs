// SPDX-License-Identifier: Apache-2.0
//! Whether a run went well, and if not, everything that has to be said about it.

use miette::Report;
use whimbrel_model::{App, Problem, Source};

use super::blame;
use super::gathered::{Gathered, Stop};
use super::helper::describe_end;

/// The reports of what went wrong; none when nothing did.
pub fn reports(app: &App, source: &Source, gathered: &Gathered) -> Vec<Report> {
    let mut reports: Vec<Report> =
        gathered.errors.iter().map(|error| blame::report(app, source, error)).collect();
    reports.extend(gathered.deaths.iter().map(|death| Report::new(blame::death(death))));
    if let Some(line) = &gathered.garbled {
        let problem = Problem::new(format!("the helper said what makes no sense: {line}"));
        let help = "its version differs from this command's: build both with `make build`";
        reports.push(Report::new(problem.help(help)));
    }
    if reports.is_empty() {
        reports.extend(silent_end(gathered).map(Report::new));
    }
    reports
}

/// What went wrong when the helper has not said it.
fn silent_end(gathered: &Gathered) -> Option<Problem> {
    let before_start = gathered.started.is_none() && gathered.stop == Some(Stop::User);
    match &gathered.end {
        None if before_start || (gathered.forced && gathered.stop == Some(Stop::User)) => None,
        None if gathered.forced => Some(undrained()),
        None => {
            let how = gathered.exit.map_or_else(|| "ended".into(), describe_end);
            let problem = Problem::new(format!("the helper whimbrel-linux {how} during the run"));
            Some(problem.help("its kernels have been ended; nothing is left behind: run it again"))
        }
        Some(_) if gathered.forced && gathered.stop == Some(Stop::Duration) => Some(undrained()),
        Some(end) if !end.ok && !gathered.forced => {
            Some(Problem::new("the run failed and the helper does not say why"))
        }
        Some(_) => None,
    }
}

fn undrained() -> Problem {
    Problem::new("the channels did not drain within 2 s of the end, and the run was ended by force")
        .help("a source must return once wb_stopping() is true, and every task once its inputs are")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;
    use crate::protocol::{End, Status};

    fn end(ok: bool) -> Option<End> {
        let status = Status::default();
        Some(End { status, dropped_events: 0, dropped_migrations: 0, ok, latency_ns: None })
    }

    fn message(gathered: &Gathered) -> Option<String> {
        silent_end(gathered).map(|problem| problem.message)
    }

    #[test]
    fn a_run_that_its_user_ends_is_no_failure_however_it_ends() {
        let stop = Some(Stop::User);
        for forced in [false, true] {
            let ended = Gathered { stop, forced, end: end(!forced), ..Gathered::default() };
            assert_eq!(message(&ended), None);
        }
        assert_eq!(message(&Gathered { stop, ..Gathered::default() }), None);
    }

    #[test]
    fn a_run_that_does_not_drain_after_its_time_is_a_failure() {
        let stop = Some(Stop::Duration);
        let ended = Gathered { stop, forced: true, end: end(false), ..Gathered::default() };
        assert!(message(&ended).unwrap().contains("did not drain"));
    }

    #[test]
    fn a_helper_that_dies_is_named_with_its_signal() {
        let exit = Some(ExitStatus::from_raw(9));
        let message = message(&Gathered { exit, ..Gathered::default() }).unwrap();
        assert_eq!(message, "the helper whimbrel-linux was killed by signal 9 during the run");
    }
}
