// SPDX-License-Identifier: Apache-2.0
//! The options of `check` and `list`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use whimbrel_model::CoreList;
use whimbrel_run::args::LayoutArgs;

const CHECK_EXAMPLES: &str = "\
Examples:
  whimbrel check apps/fm_radio/app.toml
  whimbrel check apps/fm_radio/app.toml --platform mpsoc3 --map load
  whimbrel check apps/hello/app.toml --board vexpress_a9 --json";
const LIST_EXAMPLES: &str = "\
Examples:
  whimbrel list platforms
  whimbrel list tasks apps/fm_radio/app.toml --json";

/// Checks an application, and says which of its tasks would run where.
///
/// It reads and plans as `run` does, and starts nothing. The tables show the core of each task, its
/// memory and its period; the loads where the `cycles` of all tasks are known. What is allowed and
/// rarely meant is a warning. The exit status is 2 if `run` or `sim` would refuse the application.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Processors, like `run --cores` [default: all]
    #[arg(long, value_name = "LIST", conflicts_with_all = ["platform", "board"])]
    pub cores: Option<CoreList>,

    /// Check what `sim` would do on this platform: its name or file
    #[arg(long, value_name = "PLATFORM", conflicts_with = "board")]
    pub platform: Option<String>,

    /// Check what `run` would do on this board: its folder in `boards` or file
    #[arg(long, value_name = "BOARD")]
    pub board: Option<String>,

    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,

    /// What `run` has as well.
    #[command(flatten)]
    pub layout: LayoutArgs,
}

/// Lists the names that options and arguments take.
#[derive(Debug, Args)]
#[command(after_long_help = LIST_EXAMPLES)]
pub struct ListArgs {
    /// What to list
    #[arg(value_name = "WHAT")]
    pub what: ListOf,

    /// With `tasks`: the application's app.toml or its folder, or files that `import` takes
    #[arg(value_name = "APP.toml", required_if_eq("what", "tasks"))]
    pub app: Vec<PathBuf>,

    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// A set of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListOf {
    /// Hardware for `sim`, `explore` and `run --platform`
    Platforms,
    /// What decides on moves, for `--policy`
    Policies,
    /// Boards for `run --board`, with their variants
    Boards,
    /// The runs of this user
    Runs,
    /// The tasks of an application
    Tasks,
}
