// SPDX-License-Identifier: Apache-2.0
//! Whether a run went well, and if not, everything that has to be said about it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use miette::Report;
use signal_hook::consts::SIGXFSZ;
use whimbrel_model::{App, Compute, Problem, Source};
use whimbrel_text::option::{COMPUTE, RECORD};

use super::helper::describe_end;
use super::results::{Results, Stop};
use super::{board, diagnose, stalls};
use crate::helpers::SIMULATOR;
use crate::load::Runner;

/// The reports of what went wrong in a run by this runner; none when nothing did.
pub fn reports(app: &App, source: &Source, results: &Results, runner: Runner<'_>) -> Vec<Report> {
    let blamed = |error| match runner {
        Runner::Helper(_) => diagnose::report(app, source, error),
        Runner::Board(name) => source
            .report(board::failed(name, error).unwrap_or_else(|| diagnose::problem(app, error))),
    };
    let mut reports: Vec<Report> = results.errors.iter().map(blamed).collect();
    let harm = results.deaths.iter().filter(|death| death.is_harm());
    reports.extend(harm.map(|death| Report::new(diagnose::death(death))));
    if let Some(line) = &results.garbled {
        reports.push(Report::new(match runner {
            Runner::Helper(_) => garbled(line),
            Runner::Board(name) => board::garbled(name, line),
        }));
    }
    let stalled = results.stalled.iter().map(|stalled| stalls::problem(app, stalled));
    reports.extend(stalled.map(|problem| source.report(problem)));
    if reports.is_empty() {
        reports.extend(silent_end(results, runner, app.compute).map(Report::new));
    }
    reports
}

fn garbled(line: &str) -> Problem {
    Problem::new(format!("the helper sent an invalid line: {line}"))
        .help("build both with `make build`: its version differs from this command's")
}

/// What went wrong when the helper has not said it.
fn silent_end(results: &Results, runner: Runner<'_>, compute: Compute) -> Option<Problem> {
    // The user ended it before it began, or did not want to wait.
    let unwanted = results.started.is_none() || results.forced || results.stayed;
    match &results.end {
        None if results.stop == Some(Stop::User) && unwanted => None,
        None if results.forced => Some(undrained()),
        None if results.stayed => Some(stayed(match runner {
            Runner::Helper(name) | Runner::Board(name) => name,
        })),
        None => Some(match runner {
            Runner::Helper(helper) => gone(results.exit, helper, compute),
            Runner::Board(name) => board::gone(name, results),
        }),
        Some(_) if results.forced && results.stop == Some(Stop::Duration) => Some(undrained()),
        Some(end) if !end.ok && !results.forced => Some(
            Problem::new("the run failed and the helper does not say why")
                .help("see what it wrote to standard error before, and `whimbrel doctor`"),
        ),
        Some(_) => None,
    }
}

/// The helper ended without a final message.
fn gone(exit: Option<ExitStatus>, helper: &str, compute: Compute) -> Problem {
    if exit.and_then(|exit| exit.signal()) == Some(SIGXFSZ) {
        let message = format!("a file of {helper} would have become larger than it may");
        return Problem::new(message).help(format!(
            "raise the maximum size of files (`ulimit -f`); {RECORD} writes the most"
        ));
    }
    let how = exit.map_or_else(|| "ended".into(), describe_end);
    let problem = Problem::new(format!("the helper {helper} {how} during the run"));
    problem.help(match helper {
        SIMULATOR if compute == Compute::Model => {
            "run it again; check whether it was killed or memory ran out".into()
        }
        SIMULATOR => {
            format!("use `{COMPUTE} model`, which does not run the code of the application")
        }
        _ => "run it again: its kernels have ended, and nothing is left behind".to_owned(),
    })
}

fn stayed(name: &str) -> Problem {
    Problem::new(format!("{name} did not end the run in time, and was killed"))
        .help("call wb_checkpoint() in every loop of a task, and run it again")
}

fn undrained() -> Problem {
    Problem::new("the channels did not drain within 5 s of the end, and the run was ended by force")
        .help(
            "return from a source once wb_stopping() is true, and from a task once its inputs end",
        )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use whimbrel_model::Manifest;

    use super::*;
    use crate::helpers::LAUNCHER;
    use crate::protocol::{End, Status};

    fn end(ok: bool) -> Option<End> {
        let status = Status::default();
        let (dropped_events, dropped_migrations, latency_ns) = (0, 0, None);
        let responses = Vec::new();
        Some(End { status, dropped_events, dropped_migrations, ok, latency_ns, responses })
    }

    fn message(results: &Results) -> Option<String> {
        silent_end(results, Runner::Helper(LAUNCHER), Compute::Real).map(|problem| problem.message)
    }

    #[test]
    fn a_run_that_its_user_ends_is_no_failure_however_it_ends() {
        let stop = Some(Stop::User);
        for forced in [false, true] {
            let ended = Results { stop, forced, end: end(!forced), ..Results::default() };
            assert_eq!(message(&ended), None);
        }
        assert_eq!(message(&Results { stop, ..Results::default() }), None);
    }

    #[test]
    fn a_run_that_does_not_drain_after_its_time_is_a_failure() {
        let stop = Some(Stop::Duration);
        let ended = Results { stop, forced: true, end: end(false), ..Results::default() };
        assert!(message(&ended).unwrap().contains("did not drain"));
    }

    #[test]
    fn a_helper_that_had_to_be_killed_is_not_told_as_one_that_others_killed() {
        let exit = Some(ExitStatus::from_raw(9));
        let killed = Results { exit, stayed: true, ..Results::default() };
        let told = message(&killed).unwrap();
        assert_eq!(told, "whimbrel-linux did not end the run in time, and was killed");
        let stop = Some(Stop::User);
        assert_eq!(message(&Results { stop, ..killed }), None);
    }

    #[test]
    fn a_helper_that_dies_is_named_with_its_signal() {
        let exit = Some(ExitStatus::from_raw(9));
        let told = message(&Results { exit, ..Results::default() }).unwrap();
        assert_eq!(told, "the helper whimbrel-linux was killed by signal 9 during the run");
        let simulated = gone(Some(ExitStatus::from_raw(11)), SIMULATOR, Compute::Real);
        let Problem { message, help, .. } = simulated;
        assert_eq!(message, "the helper whimbrel-sim was killed by signal 11 during the run");
        assert!(help.unwrap().contains("--compute model"));
    }

    /// What is said of a simulation of this application that was killed.
    fn killed(text: &str, compute: Option<Compute>) -> String {
        let here = Path::new("/");
        let mut app = App::build(&Manifest::parse(text).unwrap(), &[], here, here).unwrap();
        app.set_compute(compute.unwrap_or(app.compute)).unwrap();
        let results = Results { exit: Some(ExitStatus::from_raw(9)), ..Results::default() };
        let source = Source::new("app.toml", text);
        let reports = reports(&app, &source, &results, Runner::Helper(SIMULATOR));
        let [report] = &reports[..] else { panic!("{reports:?}") };
        format!("{report:?}")
    }

    #[test]
    fn a_simulation_that_only_takes_time_is_not_told_to_do_without_code() {
        let task = "[[task]]\nname = \"bpf\"\ncycles = 1\n";
        let synthetic = format!("[app]\nname = \"a\"\n{task}");
        let real = format!("[app]\nname = \"a\"\nmodule = \"a.so\"\n{task}");
        assert!(killed(&real, None).contains("--compute model"));
        assert!(!killed(&real, Some(Compute::Model)).contains("--compute model"));
        assert!(!killed(&synthetic, None).contains("--compute model"));
    }

    #[test]
    fn a_file_that_may_not_grow_is_told_as_such() {
        let told = gone(Some(ExitStatus::from_raw(SIGXFSZ)), SIMULATOR, Compute::Real);
        assert_eq!(told.message, "a file of whimbrel-sim would have become larger than it may");
        assert!(told.help.unwrap().contains("ulimit -f"));
    }
}
