// SPDX-License-Identifier: Apache-2.0
//! The `whimbrel` command.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod atomic_file;
mod bench;
mod calibrate;
mod cli;
mod control;
mod doctor;
mod explore;
mod failure;
mod files;
mod fingerprint;
mod helpers;
mod load;
mod migrate;
mod output;
mod process;
mod protocol;
mod ps;
mod report;
mod run;
mod rundir;
mod sim;
mod steer;
mod top;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use whimbrel_occupy::cli::occupy;
use whimbrel_occupy::guardian;

use cli::{Cli, Command};

fn main() -> ExitCode {
    if let Some(status) = guardian::called() {
        return status;
    }
    let cli = Cli::parse();
    failure::install_style();
    failure::conclude(match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Sim(args) => sim::sim(args),
        Command::Migrate(args) => migrate::migrate(args),
        Command::Policy(args) => steer::policy(args),
        Command::Rate(args) => steer::rate(args),
        Command::Top(args) => top::top(args),
        Command::Ps(args) => ps::ps(args),
        Command::Clean(args) => ps::clean(args),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Bench(args) => bench::bench(args),
        Command::Calibrate(args) => calibrate::calibrate(args),
        Command::Import(args) => files::import(args),
        Command::Graph(args) => files::graph(args),
        Command::Report(args) => report::report(args),
        Command::Occupy(args) => return occupy(args),
        Command::Trace(args) => trace::trace(args),
        Command::Explore(args) => explore::explore(args),
    })
}
