// SPDX-License-Identifier: Apache-2.0
//! The options of `plan`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_run::args::LayoutArgs;

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel plan apps/hello/app.toml --board vexpress_a9 -o plan.c
  whimbrel plan apps/hello/app.toml --board desk/board.toml --map bird=1 -o plan.c";

/// Writes an application's plan as C, for an image of a board that has it linked in.
///
/// One file with constant tables: `wb_board_plan` of launcher/plan/plan.h, and all that it points
/// to. Your project builds an image with it, where `run --board` builds one automatically (see
/// docs/run-on-a-board.md). What does not fit the board is an error at the line of app.toml.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PlanArgs {
    /// The board: a folder in `boards`, or the path of a board.toml
    #[arg(long, value_name = "BOARD")]
    pub board: String,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// What `run` has as well.
    #[command(flatten)]
    pub layout: LayoutArgs,
}
