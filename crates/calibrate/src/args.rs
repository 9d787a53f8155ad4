// SPDX-License-Identifier: Apache-2.0
//! The options of `calibrate`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_model::{CpuList, Setting};
use whimbrel_run::args::values::{TaskName, hertz, setting};

/// Measures this machine and writes it as a platform that can be simulated.
///
/// What the middleware's actions cost comes from `whimbrel bench`, the cycles of an application's
/// tasks from runs of it. The file has the source of every number. Without --output it becomes the
/// platform `host` of `whimbrel sim`. With --check nothing is written: an application is run and
/// simulated in turns, and the errors of the simulation are shown; when others kept the machine
/// busy it says by how much instead, and the exit status is 1. See docs/calibration.md.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Write to this file [default: host.toml in whimbrel's folder of the user's configuration]
    #[arg(long, short, value_name = "FILE.toml", conflicts_with = "check")]
    pub output: Option<PathBuf>,

    /// The processors, as 0-1,4: the platform has a core for each of them; the first two are
    /// measured [default: all that this process may use]
    #[arg(long, value_name = "LIST")]
    pub cores: Option<CpuList>,

    /// Measure the cycles of this application's tasks as well; repeatable
    #[arg(long = "app", value_name = "APP.toml", conflicts_with = "check")]
    pub apps: Vec<PathBuf>,

    /// Replace a parameter of the application; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,

    /// The frequency of the processors in megahertz [default: the highest that Linux names]
    #[arg(long = "mhz", value_name = "N", value_parser = hertz, conflicts_with = "check")]
    pub hz: Option<u64>,

    /// Take rows that `whimbrel bench --json` wrote, instead of measuring
    #[arg(long, value_name = "ROWS.json", conflicts_with = "check")]
    pub rows: Option<PathBuf>,

    /// Run and simulate this application in turns, and show the errors
    #[arg(long, value_name = "APP.toml")]
    pub check: Option<PathBuf>,

    /// The platform to check
    #[arg(long, value_name = "PLATFORM", default_value = "host", requires = "check")]
    pub platform: String,

    /// The task that the check moves [default: the first that may move, receives and sends]
    #[arg(long, value_name = "TASK[.INDEX]", requires = "check")]
    pub task: Option<TaskName>,

    /// A short look: fewer repetitions, wider spread
    #[arg(long)]
    pub quick: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
