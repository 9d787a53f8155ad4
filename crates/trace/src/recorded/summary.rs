// SPDX-License-Identifier: Apache-2.0
//! What readers of events need of `summary.json`; the rest is in [`Summary::raw`].

use serde::Deserialize;
use serde_json::Value;

/// The summary of a run, as `docs/recorded-run.md` describes it. What another version left out is
/// empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The application.
    pub app: App,
    /// From the start to the end, in nanoseconds.
    pub time_ns: u64,
    /// One per core.
    pub cores: Vec<Core>,
    /// One per task; positions are the numbers in events.
    pub tasks: Vec<Task>,
    /// One per channel; positions are the numbers in events.
    pub channels: Vec<Channel>,
    /// What scripts have in common; positions are the numbers in events.
    pub objects: Vec<Object>,
    /// Events that could not be written fast enough.
    pub dropped_events: u64,
    /// Everything that the file says.
    #[serde(skip)]
    pub raw: Value,
}

/// The application of a run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct App {
    /// Its name.
    pub name: String,
}

/// A core.
#[derive(Debug, Clone, Deserialize)]
pub struct Core {
    /// Its number.
    pub core: u32,
}

/// A task.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    /// Its name.
    pub task: String,
    /// Which of that name.
    pub index: u32,
}

/// A channel.
#[derive(Debug, Clone, Deserialize)]
pub struct Channel {
    /// Its name.
    pub channel: String,
}

/// A mutex, a condition or the like.
#[derive(Debug, Clone, Deserialize)]
pub struct Object {
    /// Its name, among those of its kind.
    pub name: String,
    /// What it is.
    pub kind: String,
}

impl Summary {
    /// What each object is called, as "mutex m".
    #[must_use]
    pub fn names_of_objects(&self) -> Vec<String> {
        self.objects.iter().map(|object| format!("{} {}", object.kind, object.name)).collect()
    }

    /// What each channel is called.
    #[must_use]
    pub fn names_of_channels(&self) -> Vec<String> {
        self.channels.iter().map(|channel| channel.channel.clone()).collect()
    }
}
