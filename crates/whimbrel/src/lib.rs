// SPDX-License-Identifier: Apache-2.0
//! The `whimbrel` command, and what other programs do with its parts ([`library`]).

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bench;
#[cfg(feature = "analysis")]
mod candidates;
mod check;
mod cli;
#[cfg(feature = "analysis")]
mod complete;
mod doctor;
#[cfg(feature = "analysis")]
mod explore;
mod files;
#[cfg(feature = "analysis")]
pub mod library;
mod list;
mod migrate;
mod new;
#[cfg(feature = "analysis")]
mod pages;
mod plan;
mod ps;
#[cfg(feature = "analysis")]
mod report;
#[cfg(feature = "analysis")]
mod rerun;
mod steer;
#[cfg(feature = "analysis")]
mod steps;
#[cfg(feature = "analysis")]
mod top;
#[cfg(feature = "analysis")]
mod trace;
#[cfg(feature = "analysis")]
mod wrong;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use whimbrel_model::Problem;
use whimbrel_run::{failure, run, sim};
use whimbrel_text::usage;

use cli::{Cli, Command};

/// The whole command, by the arguments of this process.
pub fn main() -> ExitCode {
    if let Some(status) = whimbrel_occupy::guardian::called() {
        return status;
    }
    #[cfg(feature = "analysis")]
    if let Some(status) = complete::called().or_else(pages::called) {
        return status;
    }
    failure::install_style();
    match parsed(env::args_os().collect()) {
        Ok(cli) => perform(&cli.command),
        Err(problem) => failure::conclude(Err(problem.into())),
    }
}

/// The command line; the help and the version are shown by clap, which ends the process then.
fn parsed(words: Vec<OsString>) -> Result<Cli, Problem> {
    let mut command = Cli::command();
    if env::var_os("COLUMNS").is_some_and(|columns| columns == "0") {
        // As a terminal says that does not know: it would be one word on a line.
        command = command.term_width(100);
    }
    let matches = command.try_get_matches_from_mut(&words);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        let failed = usage::wrong(&error, &Cli::command(), &words);
        Problem::from(failed.unwrap_or_else(|| error.exit()))
    })
}

fn perform(command: &Command) -> ExitCode {
    failure::conclude(match command {
        Command::New(args) => new::new(args),
        Command::Run(args) => run(args),
        #[cfg(feature = "analysis")]
        Command::Sim(args) => explore::replayed(args).and_then(|args| sim(&args)),
        #[cfg(not(feature = "analysis"))]
        Command::Sim(args) if args.candidate.is_some() => Err(built_without_analysis().into()),
        #[cfg(not(feature = "analysis"))]
        Command::Sim(args) => sim(args),
        Command::Migrate(args) => migrate::migrate(args),
        Command::Policy(args) => steer::policy(args),
        Command::FrameRate(args) => steer::frame_rate(args),
        Command::Channel(args) => steer::channel(args),
        Command::Restart(args) => steer::restart(args),
        Command::Ps(args) => ps::ps(args),
        Command::Clean(args) => ps::clean(args),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Bench(args) => bench::bench(args),
        Command::Check(args) => check::check(args),
        Command::List(args) => list::list(args),
        Command::Plan(args) => plan::plan(args),
        Command::Import(args) => files::import(args),
        Command::Graph(args) => files::graph(args),
        Command::Schema(args) => files::schema(args),
        Command::Occupy(args) => return whimbrel_occupy::cli::occupy(args),
        #[cfg(feature = "analysis")]
        Command::Calibrate(args) => whimbrel_calibrate::calibrate(args),
        #[cfg(feature = "analysis")]
        Command::Explore(args) => explore::explore(args),
        #[cfg(feature = "analysis")]
        Command::Report(args) => report::report(args),
        #[cfg(feature = "analysis")]
        Command::Rerun(args) => rerun::rerun(args),
        #[cfg(feature = "analysis")]
        Command::Top(args) => top::top(args),
        #[cfg(feature = "analysis")]
        Command::Trace(args) => trace::trace(args),
        #[cfg(not(feature = "analysis"))]
        Command::Calibrate(_)
        | Command::Explore(_)
        | Command::Report(_)
        | Command::Rerun(_)
        | Command::Top(_)
        | Command::Trace(_) => Err(built_without_analysis().into()),
    })
}

/// The answer of a verb that the command was built without.
#[cfg(not(feature = "analysis"))]
fn built_without_analysis() -> Problem {
    Problem::new("this whimbrel was built without its feature `analysis`")
        .help("build all of it with `make build`")
}
