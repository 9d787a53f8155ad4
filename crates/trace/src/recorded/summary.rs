// SPDX-License-Identifier: Apache-2.0
//! What of `summary.json` has a type here; the rest is in [`Summary::raw`].

use serde::Deserialize;
use serde_json::Value;

/// The summary of a run, as `docs/recorded-run.md` describes it.
///
/// Members that a later version may leave out are empty or 0 then.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Summary {
    /// Version of the format, 1.
    pub version: u32,
    /// The run's name.
    #[serde(default)]
    pub run: String,
    /// The application.
    #[serde(default)]
    pub app: App,
    /// The platform's name.
    #[serde(default)]
    pub platform: String,
    /// `finished`, `stopped`, `duration`, `forced` or `failed`.
    #[serde(default)]
    pub ended: String,
    /// Whether nothing went wrong.
    #[serde(default)]
    pub ok: bool,
    /// `counter`, `monotonic`, or `virtual` of a simulated run.
    #[serde(default)]
    pub clock: String,
    /// The start on that clock, in nanoseconds.
    #[serde(default)]
    pub start_ns: u64,
    /// From the start to the end, in nanoseconds.
    #[serde(default)]
    pub time_ns: u64,
    /// Messages received by the tasks that send to no channel.
    #[serde(default)]
    pub frames: u64,
    /// Of all tasks.
    #[serde(default)]
    pub deadline_misses: u64,
    /// One per core.
    #[serde(default)]
    pub cores: Vec<Core>,
    /// One per task; positions are the numbers in events.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// One per channel; positions are the numbers in events.
    #[serde(default)]
    pub channels: Vec<Channel>,
    /// In the order in which they ended.
    #[serde(default)]
    pub migrations: Vec<Migration>,
    /// Events that could not be written fast enough.
    #[serde(default)]
    pub dropped_events: u64,
    /// Everything that the file says.
    #[serde(skip)]
    pub raw: Value,
}

/// The application of a run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct App {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
}

/// A core's totals.
#[derive(Debug, Clone, Deserialize)]
pub struct Core {
    /// Its number.
    pub core: u32,
    /// Part of the time in tasks, from 0 to 1.
    #[serde(default)]
    pub load: f64,
    /// Its frequency in the mean over time, in hertz; `None`: not known.
    #[serde(default)]
    pub mean_hz: Option<f64>,
    /// Time in tasks without polling, in nanoseconds.
    #[serde(default)]
    pub busy_ns: u64,
    /// What it consumed, in microjoules.
    #[serde(default)]
    pub energy_uj: u64,
}

/// A task's totals.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    /// Its name.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// Where it was at the end.
    #[serde(default)]
    pub core: u32,
    /// Time it computed, in nanoseconds.
    #[serde(default)]
    pub busy_ns: u64,
    /// Times it was switched to.
    #[serde(default)]
    pub runs: u64,
    /// Deadlines missed.
    #[serde(default)]
    pub misses: u64,
    /// Times it moved.
    #[serde(default)]
    pub migrations: u64,
}

/// A channel's totals.
#[derive(Debug, Clone, Deserialize)]
pub struct Channel {
    /// Its name.
    pub channel: String,
    /// How many messages fit.
    #[serde(default)]
    pub slots: u32,
    /// Most messages that were ever in it.
    #[serde(default)]
    pub high: u32,
    /// Fewest since it was first full; `None`: it never was.
    #[serde(default)]
    pub low: Option<u32>,
    /// Messages sent.
    #[serde(default)]
    pub sent: u64,
}

/// A migration that has ended. Times are in nanoseconds on the run's clock, 0 where a phase was
/// not reached.
#[derive(Debug, Clone, Deserialize)]
pub struct Migration {
    /// What was to move.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// From this core.
    pub source: u32,
    /// To this one.
    pub target: u32,
    /// `ok`, or why not.
    pub status: String,
    /// It was asked for.
    #[serde(default)]
    pub request_ns: u64,
    /// The source has parked it.
    #[serde(default)]
    pub parked_ns: u64,
    /// The target has attached it.
    #[serde(default)]
    pub attached_ns: u64,
    /// It runs on the target.
    #[serde(default)]
    pub running_ns: u64,
    /// It has sent its first message from there.
    #[serde(default)]
    pub output_ns: u64,
    /// Its context is on the target.
    #[serde(default)]
    pub copied_ns: u64,
    /// Bytes of context that were copied.
    #[serde(default)]
    pub bytes: u64,
    /// `handoff`, `replicate` or `recreate`.
    #[serde(default)]
    pub mode: String,
    /// Who asked for it.
    #[serde(default)]
    pub by: String,
}
