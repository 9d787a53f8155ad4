// SPDX-License-Identifier: Apache-2.0
//! `whimbrel-occupy`: `whimbrel occupy` alone, small enough for an embedded Linux.

use std::process::ExitCode;

use clap::Parser;
use whimbrel_occupy::cli::{OccupyArgs, occupy};
use whimbrel_occupy::guardian;

#[derive(Debug, Parser)]
#[command(name = "whimbrel-occupy", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    args: OccupyArgs,
}

fn main() -> ExitCode {
    guardian::called().unwrap_or_else(|| occupy(&Cli::parse().args))
}
