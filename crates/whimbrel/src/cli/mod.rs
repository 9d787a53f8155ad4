// SPDX-License-Identifier: Apache-2.0
//! The command line: what may be written, and the text of `--help`, which is the manual.

#[cfg(not(feature = "analysis"))]
mod absent;
mod check;
#[cfg(feature = "analysis")]
mod explore;
mod files;
mod new;
mod plan;
#[cfg(feature = "analysis")]
mod report;
#[cfg(feature = "analysis")]
mod rerun;
#[cfg(all(test, feature = "analysis"))]
mod tests;
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
    AbsentArgs as RerunArgs, AbsentArgs as TopArgs, AbsentArgs as TraceArgs,
};
pub use check::{CheckArgs, ListArgs, ListOf};
pub use files::{GraphArgs, ImportArgs, SchemaArgs, SchemaOf};
pub use new::{Language, NewArgs};
pub use plan::PlanArgs;
use whimbrel_occupy::cli::OccupyArgs;
use whimbrel_run::args::values::{TaskName, positive_duration, rate};
use whimbrel_run::args::{RunArgs, SimArgs};
#[cfg(feature = "analysis")]
pub use {
    explore::ExploreArgs, report::ReportArgs, rerun::RerunArgs, top::TopArgs, trace::TraceArgs,
    whimbrel_calibrate::CalibrateArgs,
};

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel run apps/hello/app.toml
  whimbrel migrate hello-1 bird 1
  whimbrel sim apps/fm_radio/app.toml --platform ca9x4

Environment:
  NO_COLOR               Not empty: show no colours, in any verb
  CLICOLOR_FORCE         Not empty: show colours also where there is no terminal
  XDG_RUNTIME_DIR        Folder of the sockets of runs [default: /tmp/whimbrel-UID]
  XDG_CONFIG_HOME        Folder of the platform `host` [default: ~/.config]
  WHIMBREL_LIBEXEC       Folder of the helpers [default: that of this command]
  WHIMBREL_CHECK_STATE   Set: `run` checks the state of re-entered tasks for addresses
  WHIMBREL_PROCESSORS    Processes for the islands of `sim` [default: one for each processor]
  WHIMBREL_PYTHON        The Python of `explore --scheduler` [default: python3]
  WHIMBREL_OCCUPY_STATE  Folder of the journal of `occupy` [default: /run/whimbrel-occupy]
  COLUMNS, LINES         The size of the view of `top --once` [default: 80 and 24]";
const MIGRATE_EXAMPLES: &str = "\
Examples:
  whimbrel migrate hello-1 bird 1
  whimbrel migrate fm_radio-1 bpf.2 0 --timeout 5s";
const POLICY_EXAMPLES: &str = "\
Examples:
  whimbrel policy fm_radio-1 balance:settle_ms=500
  whimbrel policy fm_radio-1 none";
const FRAME_RATE_EXAMPLES: &str = "\
Examples:
  whimbrel frame-rate fm_radio-1 40";
const CHANNEL_EXAMPLES: &str = "\
Examples:
  whimbrel channel fm_radio-1 demodulator_bpf doorbell=polling:20ms
  whimbrel channel fm_radio-1 demodulator_bpf doorbell=interrupt batch=none";
const RESTART_EXAMPLES: &str = "\
Examples:
  whimbrel restart hello-1 1";
const PS_EXAMPLES: &str = "\
Examples:
  whimbrel ps --json";
const CLEAN_EXAMPLES: &str = "\
Examples:
  whimbrel clean";
const DOCTOR_EXAMPLES: &str = "\
Examples:
  whimbrel doctor --json";
const BENCH_EXAMPLES: &str = "\
Examples:
  whimbrel bench migration channel --quick
  whimbrel bench fm_radio --peers";

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
#[command(name = "whimbrel", version, max_term_width = 100, after_long_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands; what each does is said by its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    New(NewArgs),
    Run(Box<RunArgs>),
    Sim(Box<SimArgs>),
    Check(Box<CheckArgs>),
    List(ListArgs),
    Migrate(MigrateArgs),
    Policy(PolicyArgs),
    #[command(alias = "rate")]
    FrameRate(FrameRateArgs),
    Channel(ChannelArgs),
    Restart(RestartArgs),
    Top(TopArgs),
    /// Lists the runs of this user: their cores, load, and where their tasks are.
    #[command(after_long_help = PS_EXAMPLES)]
    Ps(TableArgs),
    /// Reclaims what killed runs left behind: directories, and helpers that still live.
    #[command(after_long_help = CLEAN_EXAMPLES)]
    Clean(TableArgs),
    /// Says what this machine lacks, and what to do about it.
    ///
    /// The exit status is 1 when `whimbrel run` cannot work here.
    #[command(after_long_help = DOCTOR_EXAMPLES)]
    Doctor(TableArgs),
    Bench(BenchArgs),
    Calibrate(Box<CalibrateArgs>),
    #[command(alias = "export")]
    Plan(Box<PlanArgs>),
    Import(ImportArgs),
    Graph(GraphArgs),
    Schema(SchemaArgs),
    Trace(TraceArgs),
    Explore(Box<ExploreArgs>),
    Report(ReportArgs),
    Rerun(RerunArgs),
    Occupy(Box<OccupyArgs>),
}

/// Moves a task of a run to another core.
///
/// Waits until the task runs on its new core. When it cannot be moved it stays where it is, the
/// reason is given, and the exit status is 2.
#[derive(Debug, Args)]
#[command(after_long_help = MIGRATE_EXAMPLES)]
pub struct MigrateArgs {
    /// The name of the run: see `whimbrel ps`
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
/// `whimbrel list policies` says what each policy does; an application may bring others,
/// and `none` ends the work of policies. One that is refused leaves the present one in force, and
/// the exit status is 2.
#[derive(Debug, Args)]
#[command(after_long_help = POLICY_EXAMPLES)]
pub struct PolicyArgs {
    /// The name of the run: see `whimbrel ps`
    pub run: String,

    /// The policy and its parameters
    #[arg(value_name = "NAME[:KEY=VALUE,...]")]
    pub policy: PolicyName,
}

/// Changes the frame rate of a run; tasks whose period follows it follow it.
#[derive(Debug, Args)]
#[command(after_long_help = FRAME_RATE_EXAMPLES)]
pub struct FrameRateArgs {
    /// The name of the run: see `whimbrel ps`
    pub run: String,

    /// Frames per second
    #[arg(value_name = "N", value_parser = rate)]
    pub rate: f64,
}

/// Changes how a channel notifies its receiver, while the run continues.
///
/// Settings that you omit keep their values. See `doorbell` and `batch` in docs/app-toml.md.
#[derive(Debug, Args)]
#[command(after_long_help = CHANNEL_EXAMPLES)]
pub struct ChannelArgs {
    /// The name of the run: see `whimbrel ps`
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
#[command(after_long_help = RESTART_EXAMPLES)]
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
/// Every row is measured together with its baseline, interleaved in the same run; `ratio` is
/// how many times better than that we are.
#[derive(Debug, Args)]
#[command(after_long_help = BENCH_EXAMPLES)]
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
