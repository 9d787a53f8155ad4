// SPDX-License-Identifier: Apache-2.0
//! What may be written, and the text of `--help`, which is the manual.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::{CpuSet, Policy, ShieldKind};

/// Gives a program a processor for itself, and takes it back when the program ends.
///
/// Every other task leaves the processor, interrupts and kernel workers that can be moved are
/// moved, and nothing new is scheduled there. The program is not changed; its threads and children
/// have the processor with it. At the end, however it comes, everything is as it was: a guardian
/// process sees to it, and if that is killed as well, the next `occupy`, `status` or `release`
/// does.
///
/// The exit status is the program's, or 128 and the number of the signal that ended it; 127 if the
/// program does not exist, 126 if it cannot be executed, 2 if the occupation was refused: then the
/// program has not run and nothing is changed. docs/occupy.md says what each way costs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(override_usage = "whimbrel occupy [OPTIONS] -- COMMAND...\n       \
                            whimbrel occupy [OPTIONS] --pid PID\n       \
                            whimbrel occupy <status|adjust|release|noise>")]
pub struct OccupyArgs {
    /// Look, change, or end.
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// The processors, as 1 or 2-3,5 [default: the one with the fewest interrupts that cannot be
    /// moved]
    #[arg(long, visible_alias = "cpus", value_name = "LIST", value_parser = cpus)]
    pub cpu: Option<CpuSet>,

    /// Let others use the processor while the program sleeps; it takes it back at once when it
    /// wakes, by SCHED_FIFO (priority 1 unless --fifo says another)
    #[arg(long)]
    pub soft: bool,

    /// How the program is scheduled.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// How others are kept away: v2 and v1 are the versions of cgroups [default: the best that this
    /// machine has]
    #[arg(long, value_name = "WAY")]
    pub shield: Option<ShieldKind>,

    /// Occupy for a process that runs already, with all its threads; returns at once
    #[arg(long, value_name = "PID", value_parser = pid(), conflicts_with = "command")]
    pub pid: Option<i32>,

    /// Say at the end what disturbed the program, before and during: a table on standard error, or
    /// into a file: .json, which tools/plot_quiet.py plots, or the table for any other name
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-", conflicts_with = "pid", value_parser = report)]
    pub report: Option<PathBuf>,

    /// Say nothing but errors
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
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
pub struct AdjustArgs {
    /// The occupation, as `status` lists it
    pub id: u32,

    /// The new policy.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// Schedule it like any other program, without a priority
    #[arg(long, group = "change", conflicts_with_all = ["fifo", "nice", "soft"])]
    pub fair: bool,

    /// Let others use the processor while the program sleeps
    #[arg(long, group = "change")]
    pub soft: bool,

    /// Keep others away also while the program sleeps
    #[arg(long, group = "change", conflicts_with = "soft")]
    pub hard: bool,
}

/// Ends an occupation at once; its program goes on like any other.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which"))]
pub struct ReleaseArgs {
    /// The occupation, as `status` lists it [default: the only one]
    #[arg(group = "which")]
    pub id: Option<u32>,

    /// That of this program
    #[arg(long, value_name = "PID", value_parser = pid(), group = "which")]
    pub pid: Option<i32>,

    /// All of them
    #[arg(long, group = "which")]
    pub all: bool,
}

/// Measures how much of a processor is lost to others, by a thread that does nothing but look at
/// the clock.
///
/// Whenever the clock jumps by more than the threshold, something else has run. It keeps the
/// processor busy for all of its time.
#[derive(Debug, Args)]
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

    /// Measure it twice, first as the processor is and then occupied, with all that `--report`
    /// counts
    #[arg(long)]
    pub occupied: bool,

    /// With --occupied, also write both into a file: .json, which tools/plot_quiet.py plots, or
    /// text for any other name
    #[arg(long, value_name = "FILE", requires = "occupied", value_parser = report)]
    pub report: Option<PathBuf>,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// A priority, or none.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Schedule it by SCHED_FIFO with this priority, 1 to 99. The kernel takes 5 % of a processor
    /// from such programs, however idle it is: a shield without a priority is quieter
    #[arg(long, value_name = "PRIORITY", group = "change")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=99))]
    pub fifo: Option<u8>,

    /// Schedule it fairly, with this niceness, -20 to 19
    #[arg(long, value_name = "N", group = "change", allow_hyphen_values = true)]
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
