// SPDX-License-Identifier: Apache-2.0
//! `whimbrel sim`: an application in virtual time.
//!
//! A simulation is a run by another helper: it is loaded, watched and summed up in the same way.
//! What differs is what its cores are, and that what is to happen at a time is in its plan.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FileType;
use whimbrel_model::{App, At, Command, Limit, Plan, Problem, SavedFile};
use whimbrel_occupy::place::Place;
use whimbrel_text::cure;
use whimbrel_text::option::{FRAME_RATE_CHANGE, SAVE};

use crate::args::SimArgs;
use crate::failure::{Failure, Outcome};
use crate::fingerprint::fingerprint;
use crate::load::experiment::Experiment;
use crate::load::sim::{Simulated, check_times, load};
use crate::load::{Loaded, both, nanoseconds, utf8};
use crate::run::execute;

/// When a run without --max-time is taken for endless.
const LIMIT: Duration = Duration::from_secs(3600);

/// How long channels may take to drain after the duration.
const DRAIN: Duration = Duration::from_secs(2);

/// Simulates an application.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn sim(args: &SimArgs) -> Outcome {
    let (run, complete) = prepared(args)?;
    execute(&args.common, run, complete)
}

/// A simulation that makes sense, and what its plan has besides that of a run.
///
/// # Errors
/// Bad input.
pub fn prepared(args: &SimArgs) -> Result<(Loaded, impl FnOnce(Plan) -> Plan), Failure> {
    check_times(&args.times())?;
    if args.common.layout.fast && !args.frame_rate_changes.is_empty() {
        return Err(both(FRAME_RATE_CHANGE).into());
    }
    let Simulated { mut run, platform, commands } = load(args)?;
    let is_recorded = args.common.record.is_some();
    run.experiment =
        is_recorded.then(|| Experiment::of_sim(args, &run.app, Path::new(&run.module)));
    let islands = run.options.simulation.as_ref().map_or_else(Vec::new, |it| it.islands.clone());
    let save = args.save.as_ref().map(|save| followed(&save.file)).transpose()?;
    let (save, resume) = (absolute(save.as_deref())?, absolute(args.resume.as_deref())?);
    let ending = ending(args, &run.app);
    let complete = move |plan: Plan| {
        let commands = commands.into_iter().chain(ending).collect();
        let mut plan = simulated(args, platform, commands, plan);
        for (core, island) in plan.cores.iter_mut().zip(islands) {
            core.island = island;
        }
        if save.is_none() && resume.is_none() {
            return plan;
        }
        // A run that goes on from another may be recorded elsewhere, or saved again.
        let id = fingerprint(&Plan { record: None, ..plan.clone() }.line());
        let at = args.save.as_ref().map_or(0, |save| nanoseconds(save.at));
        let save = save.map(|path| Command::Save(SavedFile { path, id: id.clone() }));
        plan.commands.extend(save.map(|save| At::once(at, save)));
        plan.restore = resume.map(|path| SavedFile { path, id });
        plan
    };
    Ok((run, complete))
}

/// The whole path of a file: the helper works in the folder of the application.
fn absolute(file: Option<&Path>) -> Result<Option<String>, Problem> {
    let text = |file: &Path| {
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        utf8(&path)
    };
    file.map(text).transpose()
}

/// Where a simulation is saved: the helper follows no link.
fn followed(file: &Path) -> Result<PathBuf, Problem> {
    let place = Place::find(file).and_then(|place| {
        if place.look()? == Some(FileType::Directory) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        place.whole()
    });
    place.map_err(|error| {
        Problem::new(format!("{SAVE} {} cannot be written: {error}", file.display()))
            .help(cure(&error))
    })
}

/// What `--duration` does at its time.
fn ending(args: &SimArgs, app: &App) -> Vec<At> {
    let end = args.common.duration.map(nanoseconds);
    end.map_or_else(Vec::new, |end| At::ending(app, end, nanoseconds(DRAIN)))
}

/// A plan with what only a simulation has.
fn simulated(args: &SimArgs, platform: String, commands: Vec<At>, plan: Plan) -> Plan {
    let mut plan = Plan { platform: Some(platform), commands, ..plan };
    for change in &args.frame_rate_changes {
        let rate = Command::Rate { id: "planned".into(), millihz: u64::from(change.millihz) };
        plan.commands.push(At::once(nanoseconds(change.at), rate));
    }
    let mut limit = nanoseconds(LIMIT);
    if let Some(end) = args.common.duration.map(nanoseconds) {
        limit = limit.max(end.saturating_add(nanoseconds(DRAIN)));
    }
    let until_ns = args.max_time.map_or(limit, nanoseconds);
    plan.limit = Some(Limit { until_ns, events: args.max_events.unwrap_or(0) });
    plan
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: SimArgs,
    }

    fn args(options: &str) -> SimArgs {
        Line::parse_from(["sim", "app.toml"].into_iter().chain(options.split_whitespace())).args
    }

    #[test]
    fn a_limit_that_is_given_holds_however_long_the_run_is_to_be() {
        let limit = |options: &str| {
            let plan = simulated(&args(options), String::new(), Vec::new(), Plan::default());
            plan.limit.unwrap().until_ns / 1_000_000_000
        };
        assert_eq!(limit(""), 3600);
        assert_eq!(limit("--duration 10s"), 3600);
        assert_eq!(limit("--duration 2h"), 7202);
        assert_eq!(limit("--duration 10s --max-time 5s"), 5);
    }

    #[test]
    fn a_time_beyond_virtual_time_is_refused_whichever_option_has_it() {
        let refused = |options: &str| check_times(&args(options).times()).err();
        assert_eq!(refused("--duration 200days --move a=1@199days"), None);
        for (option, value) in [
            ("--duration", "600years"),
            ("--max-time", "50years"),
            ("--save", "F@600years"),
            ("--move", "a=1@600years"),
            ("--shuttle", "a=1,0@600years"),
            ("--frame-rate-change", "900@201days"),
            ("--agent-period", "600years"),
        ] {
            let problem = refused(&format!("{option} {value}")).expect(option);
            assert!(problem.message.starts_with(option), "{}", problem.message);
            assert_eq!(problem.help.as_deref(), Some("write at most 200days"));
        }
    }
}
