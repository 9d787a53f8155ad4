// SPDX-License-Identifier: Apache-2.0
//! What a task does, one event after another, on its way to the text of an `app.toml`.

use std::fmt::{self, Display, Formatter};

use whimbrel_model::Cycles;

/// One event of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Run(Cycles),
    Runtime {
        ns: u64,
    },
    Memory {
        bytes: u64,
    },
    /// The first event of all.
    Delay {
        ns: u64,
    },
    Sleep {
        ns: u64,
    },
    Timer {
        ns: u64,
        name: Option<String>,
        absolute: bool,
    },
    Lock(String),
    Unlock(String),
    Wait {
        condition: String,
        mutex: String,
    },
    Signal(String),
    Broadcast(String),
    Barrier(String),
    Take(String),
    Give(String),
    Send {
        port: String,
        count: u32,
    },
    Receive {
        port: String,
        count: u32,
    },
    Yield,
    Migrate(Vec<u32>),
    Priority(u32),
    Loop {
        phase: Option<String>,
        times: Option<u64>,
        body: Vec<Event>,
    },
}

/// The events that follow each other, each on a line of its own.
pub(super) fn lines(events: &[Event], indent: usize) -> String {
    let margin = " ".repeat(indent);
    events.iter().map(|event| format!("{margin}{},\n", event.text(indent))).collect()
}

impl Event {
    /// A loop for ever.
    pub fn forever(body: Vec<Self>) -> Self {
        Self::Loop { phase: None, times: None, body }
    }

    fn text(&self, indent: usize) -> String {
        let Self::Loop { phase, times, body } = self else { return self.to_string() };
        let phase = phase.as_ref().map(|name| format!("phase = \"{name}\", ")).unwrap_or_default();
        let times = times.map_or_else(|| "\"forever\"".to_owned(), |times| times.to_string());
        let (body, margin) = (lines(body, indent + 2), " ".repeat(indent));
        format!("{{ {phase}loop = {times}, do = [\n{body}{margin}] }}")
    }
}

/// An inline table; of loops see [`Event::text`].
impl Display for Event {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(cycles) => write!(to, "{{ run = {cycles} }}"),
            Self::Runtime { ns } => write!(to, "{{ runtime = \"{}\" }}", Time(*ns)),
            Self::Memory { bytes } => write!(to, "{{ memory = {bytes} }}"),
            Self::Delay { ns } => write!(to, "{{ delay = \"{}\" }}", Time(*ns)),
            Self::Sleep { ns } => write!(to, "{{ sleep = \"{}\" }}", Time(*ns)),
            Self::Timer { ns, name, absolute } => timer(to, *ns, name.as_deref(), *absolute),
            Self::Lock(mutex) => write!(to, "{{ lock = \"{mutex}\" }}"),
            Self::Unlock(mutex) => write!(to, "{{ unlock = \"{mutex}\" }}"),
            Self::Wait { condition, mutex } => {
                write!(to, "{{ wait = \"{condition}\", mutex = \"{mutex}\" }}")
            }
            Self::Signal(condition) => write!(to, "{{ signal = \"{condition}\" }}"),
            Self::Broadcast(condition) => write!(to, "{{ broadcast = \"{condition}\" }}"),
            Self::Barrier(barrier) => write!(to, "{{ barrier = \"{barrier}\" }}"),
            Self::Take(semaphore) => write!(to, "{{ take = \"{semaphore}\" }}"),
            Self::Give(semaphore) => write!(to, "{{ give = \"{semaphore}\" }}"),
            Self::Send { port, count } => messages(to, "send", port, *count),
            Self::Receive { port, count } => messages(to, "receive", port, *count),
            Self::Yield => write!(to, "{{ yield = true }}"),
            Self::Migrate(cores) => write!(to, "{{ migrate = {cores:?} }}"),
            Self::Priority(priority) => write!(to, "{{ priority = {priority} }}"),
            Self::Loop { .. } => write!(to, "{}", self.text(0)),
        }
    }
}

/// Nanoseconds in the largest unit of which they are a whole number.
struct Time(u64);

impl Display for Time {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns % 1_000_000 == 0 => write!(to, "{}ms", ns / 1_000_000),
            ns if ns % 1000 == 0 => write!(to, "{}us", ns / 1000),
            ns => write!(to, "{ns}ns"),
        }
    }
}

fn timer(to: &mut Formatter<'_>, ns: u64, name: Option<&str>, absolute: bool) -> fmt::Result {
    write!(to, "{{ timer = \"{}\"", Time(ns))?;
    if let Some(name) = name {
        write!(to, ", name = \"{name}\"")?;
    }
    write!(to, "{} }}", if absolute { ", mode = \"absolute\"" } else { "" })
}

fn messages(to: &mut Formatter<'_>, verb: &str, port: &str, count: u32) -> fmt::Result {
    match count {
        1 => write!(to, "{{ {verb} = \"{port}\" }}"),
        _ => write!(to, "{{ {verb} = \"{port}\", count = {count} }}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_show_what_they_hold_on_lines_of_their_own() {
        let inner =
            Event::Loop { phase: Some("p".into()), times: Some(3), body: vec![Event::Yield] };
        let script = [Event::forever(vec![Event::Receive { port: "in".into(), count: 2 }, inner])];
        assert_eq!(
            lines(&script, 2),
            "  { loop = \"forever\", do = [\n    { receive = \"in\", count = 2 },\n    \
             { phase = \"p\", loop = 3, do = [\n      { yield = true },\n    ] },\n  ] },\n"
        );
    }

    #[test]
    fn a_timer_says_only_what_is_not_the_default() {
        let timer = |name: Option<&str>, absolute| {
            Event::Timer { ns: 10, name: name.map(Into::into), absolute }.to_string()
        };
        assert_eq!(timer(None, false), "{ timer = \"10ns\" }");
        assert_eq!(
            timer(Some("t"), true),
            "{ timer = \"10ns\", name = \"t\", mode = \"absolute\" }"
        );
    }
}
