// SPDX-License-Identifier: Apache-2.0
//! An application of synthetic tasks on its way to the text of an `app.toml`.

mod join;
mod script;

use std::fmt::Write;

pub(super) use script::Event;

use whimbrel_model::Cycles;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub name: String,
    /// Where it comes from, one line.
    pub source: String,
    pub tasks: Vec<Task>,
    pub channels: Vec<Channel>,
    pub mutexes: Vec<String>,
    pub conditions: Vec<String>,
    /// Those that tasks have in common.
    pub timers: Vec<String>,
    /// With how many tasks meet at it.
    pub barriers: Vec<(String, u32)>,
    /// With how often it can be taken at the start.
    pub semaphores: Vec<(String, u32)>,
}

/// A task; what is `None` is not written.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub name: String,
    pub count: u32,
    pub core: Option<u32>,
    pub priority: Option<u32>,
    pub nice: Option<i32>,
    pub pinned: bool,
    pub period_ns: Option<u64>,
    /// The first of its periods, in periods.
    pub offset_frames: Option<f64>,
    pub cycles: Cycles,
    /// What it does instead of firing; none: it is an actor.
    pub script: Vec<Event>,
    pub working_set: Option<u64>,
    pub firings: Option<u64>,
}

/// A channel.
#[derive(Debug, Clone, Default)]
pub(super) struct Channel {
    /// Task and port.
    pub from: (String, String),
    pub to: (String, String),
    pub produce: u32,
    pub consume: u32,
    pub initial: u32,
    pub slots: u32,
    pub slot_bytes: u32,
    /// Room is claimed when a firing begins, and free when one ends.
    pub claims_at_start: bool,
}

impl Draft {
    /// The text.
    pub fn write(&self) -> String {
        let mut text = Text(format!("# {}\n\n", self.source));
        text.add(format_args!("[app]"));
        text.add(format_args!("name = \"{}\"", self.name));
        text.add(format_args!("compute = \"model\""));
        self.objects(&mut text);
        for task in &self.tasks {
            task.write(&mut text);
        }
        for channel in &self.channels {
            channel.write(&mut text);
        }
        text.0
    }

    /// What scripts have in common.
    fn objects(&self, text: &mut Text) {
        let plain = [("mutex", &self.mutexes), ("condition", &self.conditions)];
        for (kind, names) in plain.into_iter().chain([("timer", &self.timers)]) {
            for name in names {
                text.add(format_args!("\n[[{kind}]]\nname = \"{name}\""));
            }
        }
        for (name, tasks) in &self.barriers {
            text.add(format_args!("\n[[barrier]]\nname = \"{name}\"\ntasks = {tasks}"));
        }
        for (name, initial) in &self.semaphores {
            text.add(format_args!("\n[[semaphore]]\nname = \"{name}\"\ninitial = {initial}"));
        }
    }
}

impl Task {
    fn write(&self, text: &mut Text) {
        text.add(format_args!("\n[[task]]\nname = \"{}\"", self.name));
        if self.count != 1 {
            text.add(format_args!("count = {}", self.count));
        }
        text.optional("core", self.core);
        text.optional("priority", self.priority);
        text.optional("nice", self.nice);
        if self.pinned {
            text.add(format_args!("migratable = false"));
        }
        if let Some(period) = self.period_ns {
            text.add(format_args!("period_us = {}", ratio(period, 1000)));
        }
        text.optional("offset_frames", self.offset_frames);
        if self.script.is_empty() {
            text.add(format_args!("cycles = {}", self.cycles));
        } else {
            text.add(format_args!("script = [\n{}]", script::lines(&self.script, 2)));
        }
        text.optional("working_set", self.working_set);
        text.optional("firings", self.firings);
    }
}

impl Channel {
    fn write(&self, text: &mut Text) {
        let ((from, out), (to, into)) = (&self.from, &self.to);
        text.add(format_args!("\n[[channel]]\nfrom = \"{from}.{out}\"\nto = \"{to}.{into}\""));
        text.add(format_args!("slots = {}\nslot_bytes = {}", self.slots, self.slot_bytes));
        for (key, value, default) in [
            ("initial", self.initial, 0),
            ("produce", self.produce, 1),
            ("consume", self.consume, 1),
        ] {
            text.optional(key, Some(value).filter(|value| *value != default));
        }
        if self.claims_at_start {
            text.add(format_args!("claim = \"start\""));
        }
    }
}

struct Text(String);

impl Text {
    fn add(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{line}");
    }

    fn optional(&mut self, key: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.add(format_args!("{key} = {value}"));
        }
    }
}

/// A quotient as the shortest decimal number that reads back as the nearest `f64`.
#[expect(clippy::cast_precision_loss, reason = "a thousandth of a period is far above it")]
fn ratio(ns: u64, unit: u64) -> f64 {
    ns as f64 / unit as f64
}
