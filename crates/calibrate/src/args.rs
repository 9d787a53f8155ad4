// SPDX-License-Identifier: Apache-2.0
//! The options of `calibrate`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_model::{CpuList, Setting};
use whimbrel_run::args::values::{TaskName, hertz, setting};

/// The headings of options.
const MEASURE: &str = "Measure";
const CHECK: &str = "Check";

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel calibrate --app apps/fm_radio/app.toml
  whimbrel calibrate --cores 0-1 --quick -o desk.toml
  whimbrel calibrate --check apps/fm_radio/app.toml --platform desk.toml

Environment:
  XDG_CONFIG_HOME  Folder of the platform `host` [default: ~/.config]";

/// Measures this machine and writes it as a platform that can be simulated.
///
/// What the middleware's actions cost comes from `whimbrel bench`, the cycles of an application's
/// tasks from runs of it. The file has the source of every number. Without --output it becomes the
/// platform `host` of `whimbrel sim`. With --check nothing is written. An application is run and
/// simulated in turns, and the errors of the simulation are shown. When others kept the machine
/// busy it says by how much instead, and the exit status is 1. See docs/calibration.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CalibrateArgs {
    /// The file to write [default: that of the platform `host`]
    ///
    /// It is whimbrel/host.toml in the user's folder of configuration
    #[arg(long, short, value_name = "FILE", conflicts_with = "check", help_heading = MEASURE)]
    pub output: Option<PathBuf>,

    /// The processors, for example 0-1,4 [default: all]
    ///
    /// The platform has a core for each of them; the first two are measured. The default is all
    /// processors that this process may use
    #[arg(long, value_name = "LIST")]
    pub cores: Option<CpuList>,

    /// Measure the cycles of this application's tasks as well; repeatable
    #[arg(long = "app", value_name = "APP.toml", conflicts_with = "check", help_heading = MEASURE)]
    pub apps: Vec<PathBuf>,

    /// Replace a parameter of the application; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,

    /// The processors' frequency in megahertz [default: their highest]
    #[arg(long = "mhz", value_name = "MHZ", value_parser = hertz, conflicts_with = "check")]
    #[arg(help_heading = MEASURE)]
    pub hz: Option<u64>,

    /// Take rows that `whimbrel bench --json` wrote, instead of measuring
    #[arg(long, value_name = "ROWS.json", conflicts_with = "check", help_heading = MEASURE)]
    pub rows: Option<PathBuf>,

    /// Run and simulate this application in turns, and show the errors
    #[arg(long, value_name = "APP.toml", help_heading = CHECK)]
    pub check: Option<PathBuf>,

    /// The platform to check
    #[arg(long, value_name = "PLATFORM", default_value = "host", requires = "check")]
    #[arg(help_heading = CHECK)]
    pub platform: String,

    /// The task that the check moves
    ///
    /// The default is the first that may move, receives and sends
    #[arg(long, value_name = "TASK[.INDEX]", requires = "check", help_heading = CHECK)]
    pub task: Option<TaskName>,

    /// A short look: fewer repetitions, wider spread
    #[arg(long)]
    pub quick: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
