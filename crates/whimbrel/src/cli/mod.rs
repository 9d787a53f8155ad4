// SPDX-License-Identifier: Apache-2.0
//! The command line: what may be written, and the text of `--help`, which is the manual.

#[cfg(not(feature = "analysis"))]
mod absent;
#[cfg(feature = "analysis")]
mod explore;
mod export;
mod files;
#[cfg(feature = "analysis")]
mod report;
#[cfg(feature = "analysis")]
mod top;
#[cfg(feature = "analysis")]
mod trace;

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use whimbrel_model::PolicyName;

#[cfg(not(feature = "analysis"))]
pub use absent::{
    AbsentArgs as CalibrateArgs, AbsentArgs as ExploreArgs, AbsentArgs as ReportArgs,
    AbsentArgs as TopArgs, AbsentArgs as TraceArgs,
};
pub use export::ExportArgs;
pub use files::{GraphArgs, ImportArgs, SchemaArgs, SchemaOf};
use whimbrel_occupy::cli::OccupyArgs;
use whimbrel_run::args::values::{TaskName, positive_duration, rate};
use whimbrel_run::args::{RunArgs, SimArgs};
#[cfg(feature = "analysis")]
pub use {
    explore::ExploreArgs, report::ReportArgs, top::TopArgs, trace::TraceArgs,
    whimbrel_calibrate::CalibrateArgs,
};

/// What can be measured.
const BENCH_GROUPS: [&str; 11] = [
    "migration",
    "channel",
    "call",
    "wake",
    "switch",
    "checkpoint",
    "alloc",
    "agent",
    "fm_radio",
    "sim",
    "mixed",
];

/// Runs streaming applications on the cores of this machine and moves their tasks while they run.
///
/// An application is an app.toml, which names tasks and the channels between them, and a module
/// with one function per task. Each core is owned by a kernel; `run` starts the kernels, `migrate`
/// moves a task to another core from any terminal without stopping the stream.
///
/// Exit status: 0 yes, 1 the answer is no, 2 an error (described on standard error); of `occupy`,
/// that of the program that it runs.
#[derive(Debug, Parser)]
#[command(name = "whimbrel", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands; what each does is said by its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<RunArgs>),
    Sim(Box<SimArgs>),
    Migrate(MigrateArgs),
    Policy(PolicyArgs),
    Rate(RateArgs),
    Channel(ChannelArgs),
    Restart(RestartArgs),
    Top(TopArgs),
    /// Lists the runs of this user: their cores, load, and where their tasks are.
    Ps(TableArgs),
    /// Reclaims what killed runs left behind: directories, and helpers that still live.
    Clean(TableArgs),
    /// Says what this machine lacks, and what to do about it.
    ///
    /// The exit status is 1 when `whimbrel run` cannot work here.
    Doctor(TableArgs),
    Bench(BenchArgs),
    Calibrate(Box<CalibrateArgs>),
    Export(Box<ExportArgs>),
    Import(ImportArgs),
    Graph(GraphArgs),
    Schema(SchemaArgs),
    Trace(TraceArgs),
    Explore(Box<ExploreArgs>),
    Report(ReportArgs),
    Occupy(Box<OccupyArgs>),
}

/// Moves a task of a run to another core.
///
/// Waits until the task runs on its new core. When it cannot be moved it stays where it is, the
/// reason is given, and the exit status is 2.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The run, as `whimbrel ps` lists it
    pub run: String,

    /// The task; INDEX counts those that `count` made, from 0
    #[arg(value_name = "TASK[.INDEX]")]
    pub task: TaskName,

    /// The core to move to
    pub core: u32,

    /// How long the task may take to reach a checkpoint and arrive
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub timeout: Duration,

    /// Print the outcome as JSON
    #[arg(long)]
    pub json: bool,
}

/// Lets another policy decide on the moves of a run.
///
/// `whimbrel run --help` says what each policy of Whimbrel does; an application may bring others,
/// and `none` ends the work of policies. One that is refused leaves the present one in force, and
/// the exit status is 2.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// The run, as `whimbrel ps` lists it
    pub run: String,

    /// The policy and its parameters
    #[arg(value_name = "NAME[:KEY=VALUE,...]")]
    pub policy: PolicyName,
}

/// Changes the frame rate of a run; tasks whose period follows it follow it.
#[derive(Debug, Args)]
pub struct RateArgs {
    /// The run, as `whimbrel ps` lists it
    pub run: String,

    /// Frames per second
    #[arg(value_name = "FPS", value_parser = rate)]
    pub rate: f64,
}

/// Changes how the receiver of a channel is told of messages, while a run goes on.
///
/// What is not named stays as it is. See `doorbell` and `batch` in docs/app-toml.md.
#[derive(Debug, Args)]
pub struct ChannelArgs {
    /// The run, as `whimbrel ps` lists it
    pub run: String,

    /// The channel, as the summary and `whimbrel top` call it
    pub channel: String,

    /// doorbell=interrupt, doorbell=polling:20ms, doorbell=adaptive:1ms, batch=8:5ms, batch=none
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub settings: Vec<String>,
}

/// Restarts the kernel of a core, whether it was killed or runs, while the run continues.
///
/// One that runs is killed first: other cores take over its tasks as when a kernel dies, and what
/// no other core can take waits. All cores of a board in an emulator restart together. The command
/// waits until the kernel runs; if it does not, the command prints the reason, and the exit status
/// is 2.
#[derive(Debug, Args)]
pub struct RestartArgs {
    /// The name of the run: see `whimbrel ps`
    pub run: String,

    /// The core
    pub core: u32,
}

#[derive(Debug, Args)]
pub struct TableArgs {
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measures migrations, messages, calls, checkpoints, the FM radio and the simulator.
///
/// Every row is measured beside what it is compared with, interleaved in the same run; `ratio` is
/// how many times better than that we are.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What to measure [default: everything]
    #[arg(value_name = "GROUP", value_parser = BENCH_GROUPS)]
    pub groups: Vec<String>,

    /// Measure other systems side by side, where they are installed
    #[arg(long)]
    pub peers: bool,

    /// A short look: fewer repetitions, wider spread
    #[arg(long)]
    pub quick: bool,

    /// Print the rows as a JSON array
    #[arg(long)]
    pub json: bool,
}
