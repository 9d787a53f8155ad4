// SPDX-License-Identifier: Apache-2.0
//! The `whimbrel` command.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bench;
mod cli;
mod control;
mod doctor;
mod failure;
mod helpers;
mod migrate;
mod output;
mod process;
mod protocol;
mod ps;
mod run;
mod rundir;
mod steer;
mod top;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    failure::install_style();
    failure::conclude(match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Migrate(args) => migrate::migrate(args),
        Command::Policy(args) => steer::policy(args),
        Command::Rate(args) => steer::rate(args),
        Command::Top(args) => top::top(args),
        Command::Ps(args) => ps::ps(args),
        Command::Clean(args) => ps::clean(args),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Bench(args) => bench::bench(args),
    })
}
