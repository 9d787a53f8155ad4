// SPDX-License-Identifier: Apache-2.0
//! What may be written, and the text of `--help`, which is the manual.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::{CpuSet, Policy, ShieldKind};

/// The headings of options.
const SCHEDULING: &str = "Scheduling";

const EXAMPLES: &str = "\
Examples:
  whimbrel occupy -- ./mixer --rate 48000
  whimbrel occupy --cpu 1 --soft --report=quiet.json -- ./mixer
  whimbrel occupy --cpu 2-3 --pid 4301

Environment:
  WHIMBREL_OCCUPY_STATE  Folder of the journal [default: /run/whimbrel-occupy]";
const STATUS_EXAMPLES: &str = "\
Examples:
  whimbrel occupy status --json";
const ADJUST_EXAMPLES: &str = "\
Examples:
  whimbrel occupy adjust 1 --soft --fifo 10
  whimbrel occupy adjust 1 --hard";
const RELEASE_EXAMPLES: &str = "\
Examples:
  whimbrel occupy release 1
  whimbrel occupy release --all";
const NOISE_EXAMPLES: &str = "\
Examples:
  whimbrel occupy noise --cpu 1 --duration 10s
  whimbrel occupy noise --occupied --report noise.json";

/// Gives a program a processor for itself, and takes it back when the program ends.
///
/// Every other task leaves the processor, interrupts and kernel workers that can be moved are
/// moved, and nothing new is scheduled there. The program is not changed; its threads and children
/// have the processor with it. At the end, however it comes, everything is as it was. A guardian
/// process sees to it. If that is killed as well, the next `occupy`, `status` or `release` does.
///
/// The exit status is the program's, or 128 and the number of the signal that ended it. It is 127
/// if the program does not exist, 126 if it cannot be executed, and 2 if the occupation was
/// refused. Then the program has not run and nothing is changed. docs/occupy.md says what each way
/// costs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_long_help = EXAMPLES)]
#[command(override_usage = "whimbrel occupy [OPTIONS] -- COMMAND...\n       \
                            whimbrel occupy [OPTIONS] --pid PID\n       \
                            whimbrel occupy <status|adjust|release|noise>")]
pub struct OccupyArgs {
    /// Look, change, or end.
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// The processors, for example 1 or 2-3,5 [default: the quietest one]
    ///
    /// The quietest one has the fewest interrupts that cannot be moved
    #[arg(long, visible_alias = "cpus", value_name = "LIST", value_parser = cpus)]
    pub cpu: Option<CpuSet>,

    /// Let others use the processor while the program sleeps
    ///
    /// The program preempts them when it wakes, by SCHED_FIFO (priority 1 unless --fifo says
    /// another)
    #[arg(long, help_heading = SCHEDULING)]
    pub soft: bool,

    /// How the program is scheduled.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// How others are kept away [default: the best of this machine]
    ///
    /// v2 and v1 are the versions of cgroups
    #[arg(long, value_name = "WAY")]
    pub shield: Option<ShieldKind>,

    /// Occupy for a running process with all its threads, and return
    #[arg(long, value_name = "PID", value_parser = pid(), conflicts_with = "command")]
    pub pid: Option<i32>,

    /// Report at the end what disturbed the program, before and during
    ///
    /// It is a table on standard error, or in FILE. A FILE.json contains JSON instead, which
    /// tools/plot_quiet.py plots
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-", conflicts_with = "pid", value_parser = report)]
    pub report: Option<PathBuf>,

    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid")]
    pub command: Vec<OsString>,
}

/// What can be done with occupations; what each does is said by its arguments.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "what a verb does is said by its arguments, also in the help")]
pub enum Verb {
    Status(StatusArgs),
    Adjust(AdjustArgs),
    Release(ReleaseArgs),
    Noise(NoiseArgs),
}

/// Shows who occupies what, since when, what could not be moved away and why, and how quiet it is.
///
/// At its end it says which ways of keeping others away this machine has.
#[derive(Debug, Args)]
#[command(after_long_help = STATUS_EXAMPLES)]
pub struct StatusArgs {
    /// Print it as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Changes how an occupation's program is scheduled, while it runs.
///
/// What is not named stays as it is; --soft without a priority means --fifo 1, and --hard without
/// one means --fair.
#[derive(Debug, Args)]
#[command(after_long_help = ADJUST_EXAMPLES)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
pub struct AdjustArgs {
    /// The occupation by its name in `status`
    pub id: u32,

    /// The new policy.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// Schedule it like any other program, without a priority
    #[arg(long, group = "change", conflicts_with_all = ["fifo", "nice", "soft"])]
    #[arg(help_heading = SCHEDULING)]
    pub fair: bool,

    /// Let others use the processor while the program sleeps
    #[arg(long, group = "change", help_heading = SCHEDULING)]
    pub soft: bool,

    /// Keep others away also while the program sleeps
    #[arg(long, group = "change", conflicts_with = "soft", help_heading = SCHEDULING)]
    pub hard: bool,
}

/// Ends an occupation at once; its program continues like any other.
#[derive(Debug, Args)]
#[command(after_long_help = RELEASE_EXAMPLES)]
#[command(group = clap::ArgGroup::new("which"))]
pub struct ReleaseArgs {
    /// The occupation by its name in `status` [default: the only one]
    #[arg(group = "which")]
    pub id: Option<u32>,

    /// That of this program
    #[arg(long, value_name = "PID", value_parser = pid(), group = "which")]
    pub pid: Option<i32>,

    /// All of them
    #[arg(long, group = "which")]
    pub all: bool,
}

/// Measures how much of a processor is lost to others, by a thread that only looks at the
/// clock.
///
/// Whenever the clock jumps by more than the threshold, something else has run. It keeps the
/// processor busy for all of its time.
#[derive(Debug, Args)]
#[command(after_long_help = NOISE_EXAMPLES)]
pub struct NoiseArgs {
    /// The processor [default: the one that `occupy` would choose]
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,

    /// For how long, from 1ms to 1h
    #[arg(long, value_name = "TIME", default_value = "4s", value_parser = duration)]
    pub duration: Duration,

    /// The shortest gap that counts
    #[arg(long, value_name = "TIME", default_value = "5us", value_parser = threshold)]
    pub threshold: Duration,

    /// Measure twice, first as the processor is and then occupied
    ///
    /// It counts all that `--report` counts
    #[arg(long)]
    pub occupied: bool,

    /// With --occupied, also write both into a file
    ///
    /// A FILE.json contains JSON, which tools/plot_quiet.py plots; another contains text
    #[arg(long, value_name = "FILE", requires = "occupied", value_parser = report)]
    pub report: Option<PathBuf>,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// A priority, or none.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Schedule it by SCHED_FIFO with this priority, 1 to 99
    ///
    /// The kernel takes 5 % of a processor from such programs, however idle it is: a shield without
    /// a priority is quieter
    #[arg(long, value_name = "PRIORITY", group = "change", help_heading = SCHEDULING)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=99))]
    pub fifo: Option<u8>,

    /// Schedule it fairly, with this niceness, -20 to 19
    #[arg(long, value_name = "N", group = "change", allow_hyphen_values = true)]
    #[arg(help_heading = SCHEDULING)]
    #[arg(value_parser = clap::value_parser!(i8).range(-20..=19))]
    #[arg(conflicts_with_all = ["fifo", "soft"])]
    pub nice: Option<i8>,
}

impl PolicyArgs {
    /// The policy that is asked for, if one is.
    pub fn policy(&self) -> Option<Policy> {
        let fifo = self.fifo.map(|priority| Policy::Fifo { priority });
        fifo.or(self.nice.map(|nice| Policy::Fair { nice: Some(nice) }))
    }
}

/// The policy of whom nothing is asked for.
pub fn default_policy(soft: bool) -> Policy {
    if soft { Policy::Fifo { priority: 1 } } else { Policy::Fair { nice: None } }
}

fn cpus(text: &str) -> Result<CpuSet, String> {
    let cpus: CpuSet = text.parse().map_err(|error| format!("{error}"))?;
    if cpus.is_empty() { Err("name at least one processor".into()) } else { Ok(cpus) }
}

fn report(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    if file.extension().is_some_and(|extension| extension == "svg") {
        return Err("plots are made from JSON: write FILE.json, and then \
                    tools/plot_quiet.py FILE.json FILE.svg"
            .into());
    }
    Ok(file)
}

fn pid() -> clap::builder::RangedI64ValueParser<i32> {
    clap::value_parser!(i32).range(1..)
}

fn duration(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_millis(1), Duration::from_secs(3600))
}

fn threshold(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_micros(1), Duration::from_secs(1))
}

fn within(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("{error}: write 20us, 500ms or 10s"))?;
    if (least..=most).contains(&time) {
        return Ok(time);
    }
    let [least, most] = [least, most].map(humantime::format_duration);
    Err(format!("must be from {least} to {most}"))
}
