// SPDX-License-Identifier: Apache-2.0
//! The options of `rerun`.

use std::path::PathBuf;

use clap::Args;

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel rerun radio
  whimbrel rerun found --json";

/// Repeats a recorded simulation or an exploration, and compares the results to the byte.
///
/// The folder contains what it takes: the options, the seed, and copies of the application, its
/// module, its input files and the platform. The application runs on copies, so its output files
/// stay as they are. A module is a program: repeat only what you would run.
///
/// Exit status: 0 the results are the same, 1 they differ, 2 an error.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RerunArgs {
    /// The folder that `sim --record` or `explore --output` made
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
}
