// SPDX-License-Identifier: Apache-2.0
//! Runs of an application, real and simulated, as this command makes them itself.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use whimbrel_model::{App, Problem};
use whimbrel_trace::{Kind, Recorded};

use super::steady::{self, Firings, is_message};

/// What is needed of a run's summary.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Run {
    /// How long it took.
    pub time_ns: u64,
    /// Frames per second; 0: none leaves the application.
    #[serde(deserialize_with = "or_zero")]
    pub frames_per_s: f64,
    /// One per core.
    pub cores: Vec<Core>,
    /// One per task.
    pub tasks: Vec<Task>,
    /// One per channel.
    pub channels: Vec<Channel>,
    /// In the order in which they ended.
    pub migrations: Vec<Move>,
    /// What firings took; of recorded runs only.
    #[serde(skip)]
    pub firings: Firings,
}

/// `null` as 0.
fn or_zero<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// A core of a run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Core {
    /// Part of the time in tasks.
    pub load: f64,
}

/// A task of a run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Task {
    /// Its name.
    pub task: String,
    /// Time on a core, without polling.
    pub busy_ns: u64,
}

/// A channel of a run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Channel {
    /// Its name.
    pub channel: String,
    /// The most messages in it.
    pub high: f64,
    /// The fewest since it was first full.
    pub low: Option<f64>,
    /// Messages put in.
    pub sent: u64,
    /// Messages taken out.
    pub received: u64,
    /// Messages in it, the mean over time; of recorded runs only.
    #[serde(skip)]
    pub mean: Option<f64>,
}

/// A migration; a time of 0 was not reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Move {
    /// The core that it went to.
    pub target: u32,
    /// When it was asked for.
    pub request_ns: u64,
    /// When the task was parked.
    pub parked_ns: u64,
    /// When its new core had it.
    pub attached_ns: u64,
    /// When it ran there.
    pub running_ns: u64,
    /// When it had sent something there.
    pub output_ns: u64,
}

/// Runs this command with `--json` and reads the summary.
///
/// # Errors
/// The run fails, in words of its own.
pub fn run(options: &[OsString]) -> Result<Run, Problem> {
    let failed = |why: String| Problem::new(format!("a run to be measured {why}"));
    let ours = env::current_exe().map_err(|error| failed(format!("has no command: {error}")))?;
    let output = Command::new(ours)
        .args(options)
        .args(["--json", "--quiet"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    if !output.status.success() {
        let words: Vec<_> = options.iter().map(|word| word.to_string_lossy()).collect();
        let help = format!("run it alone to see why: whimbrel {}", words.join(" "));
        return Err(failed(format!("failed: {}", output.status)).help(help));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| failed(format!("printed invalid JSON: {error}")))
}

/// The same of a run of `app`, with the mean depths of channels and what firings took, from its
/// events; `folder` must not exist.
///
/// # Errors
/// The run fails, or what it recorded cannot be read.
pub fn recorded(app: &App, options: &[OsString], folder: &Path) -> Result<Run, Problem> {
    let record = [OsString::from("--record"), folder.into()];
    let mut measured = run(&[options, &record].concat())?;
    let unreadable =
        |error| Problem::new(format!("a run to be measured: {error}")).help("measure again");
    let recorded = Recorded::open(folder).map_err(unreadable)?;
    let merged = recorded.merged().filter(|event| {
        event.as_ref().map_or(true, |event| {
            event.kind == Kind::Run || event.kind.is_a_pause() || is_message(event.kind)
        })
    });
    let events = merged.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let messages = events.iter().filter(|event| is_message(event.kind));
    let means = mean_depths(
        messages.map(|event| (event.time_ns, event.object as usize, event.value)),
        recorded.start_ns(),
        measured.time_ns,
        measured.channels.len(),
    );
    for (channel, mean) in measured.channels.iter_mut().zip(means) {
        channel.mean = Some(mean);
    }
    measured.firings = steady::firings(app, &events);
    Ok(measured)
}

/// The mean of each channel's depth over the time of a run. An event is a time, a channel and the
/// messages in it from then on.
#[expect(clippy::cast_precision_loss, reason = "a mean of measurements")]
fn mean_depths(
    events: impl Iterator<Item = (u64, usize, u32)>,
    start_ns: u64,
    time_ns: u64,
    channels: usize,
) -> Vec<f64> {
    let mut all = vec![(start_ns, 0, 0.0); channels];
    let until = |state: &mut (u64, u32, f64), now_ns: u64| {
        state.2 += f64::from(state.1) * now_ns.saturating_sub(state.0) as f64;
        state.0 = state.0.max(now_ns);
    };
    for (now_ns, channel, depth) in events {
        if let Some(state) = all.get_mut(channel) {
            until(state, now_ns);
            state.1 = depth;
        }
    }
    all.into_iter()
        .map(|mut state| {
            until(&mut state, start_ns + time_ns);
            state.2 / time_ns.max(1) as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_depth_counts_each_depth_for_as_long_as_it_holds() {
        // Channel 0: 0 for 10, 1 for 20, 3 for 10, 0 for 60. Nothing passes channel 1.
        let events = [(110, 0, 1), (130, 0, 3), (140, 0, 0), (150, 7, 9)];
        let means = mean_depths(events.into_iter(), 100, 100, 2);
        assert_eq!(means, [0.5, 0.0]);
    }
}
