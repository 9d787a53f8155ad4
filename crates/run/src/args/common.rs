// SPDX-License-Identifier: Apache-2.0
//! The options that `run` and `sim` have in common, some of them with `plan`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use whimbrel_model::{Mapping, Problem, Setting};
use whimbrel_text::option;

use super::heading::MIGRATION;
use super::values::{Move, Shuttle, positive_duration, rate, setting};
use super::{MovingArgs, Parameters};

/// The application, and how it is laid out on its cores: what a plan is made of.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct LayoutArgs {
    /// The application's app.toml or its folder, or files that `import` takes
    ///
    /// Several files together are one application.
    #[arg(value_name = "APP.toml", required = true)]
    pub app: Vec<PathBuf>,

    /// Replace a parameter of the application; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,

    /// Frames per second [default: the application's]
    #[arg(long, value_name = "N", value_parser = rate)]
    pub frame_rate: Option<f64>,

    /// Ignore periods and run as fast as possible
    #[arg(long)]
    pub fast: bool,

    /// Where tasks start: TASK=CORE,.., round-robin, load, any
    ///
    /// It replaces the cores in app.toml. TASK[.INDEX]=CORE,... maps the named tasks; TASK alone is
    /// all tasks of that name. The words map all tasks that may move. round-robin deals them out.
    /// load puts the task with the highest load first, each on the core that has the least with it
    /// (longest processing time first). The load of a task is its cycles over the frequency of the
    /// core, times how often it fires by its period and the rates of its channels. any lets each
    /// task run on whichever core is free, where kernels share tasks
    #[arg(long, value_name = "MAPPING")]
    pub map: Option<Mapping>,

    /// How tasks move, and who decides.
    #[command(flatten)]
    pub moving: MovingArgs,
}

/// The application, what happens while it runs, and what is said of it.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct CommonArgs {
    /// Move a task at a time; repeatable
    ///
    /// The time counts from the start. For example demodulator=1@2s, or bpf.2=1@500ms
    #[arg(long = "move", value_name = "TASK=CORE@TIME", help_heading = MIGRATION)]
    pub moves: Vec<Move>,

    /// Move a task again and again; repeatable
    ///
    /// It goes through the list of cores, one per TIME. For example demodulator=1,0@500ms
    #[arg(long = "shuttle", value_name = "TASK=CORES@TIME", help_heading = MIGRATION)]
    pub shuttles: Vec<Shuttle>,

    /// What `plan` has as well.
    #[command(flatten)]
    pub layout: LayoutArgs,

    /// Ask sources to end after this time, for example 10s
    ///
    /// Tasks without code that no source feeds end then, too
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub duration: Option<Duration>,

    /// Record events and statistics into this new folder
    ///
    /// docs/recorded-run.md describes its files
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,

    /// Print the result as one JSON object
    ///
    /// It is the summary.json of a recorded run
    #[arg(long)]
    pub json: bool,

    /// Print only the headline of the result
    #[arg(long, conflicts_with = "json")]
    pub brief: bool,

    /// Show nothing while it runs
    #[arg(long, short)]
    pub quiet: bool,
}

impl CommonArgs {
    /// By the parameters of a function, which prints nothing.
    pub fn of(given: &mut Parameters) -> Result<Self, Problem> {
        let layout = LayoutArgs {
            app: given.app(),
            frame_rate: given.one(option::FRAME_RATE, rate)?,
            fast: given.flag(option::FAST),
            map: given.one(option::MAP, Mapping::from_str)?,
            set: given.each(option::SET, setting)?,
            moving: MovingArgs::of(given)?,
        };
        Ok(Self {
            layout,
            duration: given.one(option::DURATION, positive_duration)?,
            record: given.path(option::RECORD)?,
            moves: given.each(option::MOVE, Move::from_str)?,
            shuttles: given.each(option::SHUTTLE, Shuttle::from_str)?,
            json: false,
            brief: false,
            quiet: true,
        })
    }
}
