// SPDX-License-Identifier: Apache-2.0
//! The options of `export`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_run::args::LayoutArgs;

/// Writes an application's plan as C, for an image of a board that has it linked in.
///
/// One file with constant tables: `wb_board_plan` of launcher/plan/plan.h, and all that it points
/// to. What `run --board` builds by itself is so built by a project of your own (see
/// docs/boards.md). What does not fit the board is an error at the line of app.toml.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The board: the name of a folder in `boards`, or the path of a board.toml
    #[arg(long, value_name = "BOARD")]
    pub board: String,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// What `run` has as well.
    #[command(flatten)]
    pub layout: LayoutArgs,
}
