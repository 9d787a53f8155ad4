// SPDX-License-Identifier: Apache-2.0
//! `whimbrel-occupy`: `whimbrel occupy` alone, small enough for an embedded Linux.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use whimbrel_occupy::cli::{OccupyArgs, occupy, show};
use whimbrel_occupy::guardian;
use whimbrel_text::usage;

#[derive(Debug, Parser)]
#[command(name = "whimbrel-occupy", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    args: OccupyArgs,
}

fn main() -> ExitCode {
    guardian::called().unwrap_or_else(|| {
        let words: Vec<OsString> = env::args_os().collect();
        match Cli::try_parse_from(&words) {
            Ok(cli) => occupy(&cli.args),
            Err(error) => {
                let failed = usage::wrong(&error, &Cli::command(), &words);
                show(&failed.unwrap_or_else(|| error.exit()));
                ExitCode::from(2)
            }
        }
    })
}
