// SPDX-License-Identifier: Apache-2.0
//! The options that `run` and `sim` have in common, some of them with `export`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use whimbrel_model::{Mapping, Problem, Setting};
use whimbrel_text::option;

use super::values::{Move, Shuttle, positive_duration, rate, setting};
use super::{MovingArgs, Parameters};

/// The application, and how it is laid out on its cores: what a plan is made of.
#[derive(Debug, Args)]
pub struct LayoutArgs {
    /// The application's app.toml, or files that `import` takes, which together are one
    #[arg(value_name = "APP.toml", required = true)]
    pub app: Vec<PathBuf>,

    /// Frames per second, instead of the application's own rate
    #[arg(long, value_name = "N", value_parser = rate)]
    pub frame_rate: Option<f64>,

    /// Run as fast as it goes: no task has a period
    #[arg(long)]
    pub fast: bool,

    /// Where tasks start, instead of where the app.toml says: TASK[.INDEX]=CORE,... for those that
    /// are named; or for all that may move round-robin, or load, which evens out what cores have to
    /// compute, or any: each time whichever core is free, where kernels share tasks
    ///
    /// TASK alone is all tasks of that name. load puts the task with the highest load first, each
    /// on the core that has the least with it (longest processing time first); the load of a task
    /// is its cycles over the frequency of the core, times how often it fires by its period and
    /// the rates of its channels
    #[arg(long, value_name = "MAPPING")]
    pub map: Option<Mapping>,

    /// Replace a parameter of the application; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,

    /// How tasks move, and who decides.
    #[command(flatten)]
    pub moving: MovingArgs,
}

/// The application, what happens while it runs, and what is said of it.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// What `export` has as well.
    #[command(flatten)]
    pub layout: LayoutArgs,

    /// Ask sources to end after this time of the run, as 10s or 500ms; tasks without code that no
    /// source feeds are over then
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub duration: Option<Duration>,

    /// Record events, statistics and migrations into this new folder (see docs/recorded-run.md)
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,

    /// Move a task once, at a time after the start, as demodulator=1@2s; repeatable
    #[arg(long = "move", value_name = "TASK[.INDEX]=CORE@TIME")]
    pub moves: Vec<Move>,

    /// Move a task again and again through a list of cores, as demodulator=1,0@500ms; repeatable
    #[arg(long = "shuttle", value_name = "TASK[.INDEX]=CORE,...@PERIOD")]
    pub shuttles: Vec<Shuttle>,

    /// Print the result as one JSON object (the summary.json of a recorded run)
    #[arg(long)]
    pub json: bool,

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
            quiet: true,
        })
    }
}
