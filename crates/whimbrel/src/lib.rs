// SPDX-License-Identifier: Apache-2.0
//! The `whimbrel` command, and what other programs do with its parts ([`library`]).

#![cfg_attr(not(test), warn(clippy::unwrap_used))]
// What only these verbs use stays where it belongs; the whole build finds what nobody uses.
#![cfg_attr(not(feature = "analysis"), allow(dead_code, unused_imports))]

mod atomic_file;
mod bench;
mod board;
#[cfg(feature = "analysis")]
mod calibrate;
mod cli;
mod control;
mod doctor;
#[cfg(feature = "analysis")]
mod explore;
mod export;
mod failure;
mod files;
mod fingerprint;
mod helpers;
#[cfg(feature = "analysis")]
pub mod library;
mod load;
mod migrate;
mod output;
mod process;
mod protocol;
mod ps;
#[cfg(feature = "analysis")]
mod report;
mod run;
mod rundir;
mod signals;
mod sim;
mod steer;
#[cfg(feature = "analysis")]
mod top;
#[cfg(feature = "analysis")]
mod trace;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// The whole command, by the arguments of this process.
pub fn main() -> ExitCode {
    if let Some(status) = whimbrel_occupy::guardian::called() {
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
        Command::Channel(args) => steer::channel(args),
        Command::Ps(args) => ps::ps(args),
        Command::Clean(args) => ps::clean(args),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Bench(args) => bench::bench(args),
        Command::Export(args) => export::export(args),
        Command::Import(args) => files::import(args),
        Command::Graph(args) => files::graph(args),
        Command::Schema(args) => files::schema(args),
        Command::Occupy(args) => return whimbrel_occupy::cli::occupy(args),
        #[cfg(feature = "analysis")]
        Command::Calibrate(args) => calibrate::calibrate(args),
        #[cfg(feature = "analysis")]
        Command::Explore(args) => explore::explore(args),
        #[cfg(feature = "analysis")]
        Command::Report(args) => report::report(args),
        #[cfg(feature = "analysis")]
        Command::Top(args) => top::top(args),
        #[cfg(feature = "analysis")]
        Command::Trace(args) => trace::trace(args),
        #[cfg(not(feature = "analysis"))]
        Command::Calibrate(_)
        | Command::Explore(_)
        | Command::Report(_)
        | Command::Top(_)
        | Command::Trace(_) => Err(failure::built_without_analysis().into()),
    })
}
