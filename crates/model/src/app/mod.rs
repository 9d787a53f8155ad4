// SPDX-License-Identifier: Apache-2.0
//! An application that makes sense: every task, channel and port by itself, in the order of the
//! file. Positions in these lists are the numbers that statistics and recorded events use.

mod client;
mod ending;
mod modes;
mod names;
mod notify;
mod param;
mod placement;
mod script;
mod work;

use toml::Spanned;

use crate::cores::CoreName;
use crate::in_c::members;
use crate::problem::{Problem, Span};
use crate::schema::{Limited, words};
pub(crate) use client::CLIENT_ENTRY;
pub(crate) use modes::{ADD_RESTART, NO_IMAGES, NOT_AT_WAITS};
pub use modes::{Mode, Moves, OnCrash};
pub(crate) use names::Names;
pub use notify::{Doorbell, NotifyPolicy};
pub use param::{Param, ParamKind, Setting};
pub use placement::{check_cores, check_kinds};
pub use script::{Event, Numbers, Object, ObjectKind, Script, Verb};
pub(crate) use script::{NOTHING, cycles_of_firing};
pub use work::{Compute, Cycles, DSP_KIND, Distribution, HOST_KIND, Work};
pub(crate) use work::{check_modelled, nothing_real};

/// A checked application.
#[derive(Debug, Clone)]
pub struct App {
    /// Its name.
    pub name: String,
    /// One line about it; empty if there is none.
    pub description: String,
    /// The shared object, as the file names it; that of synthetic tasks if it names none.
    pub module: Spanned<String>,
    /// Whether its tasks exist only as TOML.
    pub synthetic: bool,
    /// Whether tasks compute, or only take the time of it.
    pub compute: Compute,
    /// Bytes for `wb_app_alloc`.
    pub memory_bytes: Spanned<u64>,
    /// Bytes for `wb_shared_malloc`.
    pub shared_bytes: Spanned<u64>,
    /// The cores of a run on this machine; empty: all processors that it may use.
    pub cores: Vec<Spanned<CoreName>>,
    /// The kinds of the cores of a run on this machine, the last for all that follow; empty: it
    /// is all of one kind.
    pub kinds: Vec<String>,
    /// Frames per second, if it has a rate.
    pub frame_rate: Option<f64>,
    /// Its parameters, with the settings in force.
    pub params: Vec<Param>,
    /// Those of them that are paths, by their names.
    pub paths: Vec<String>,
    /// Every task; those of one `count` follow each other.
    pub tasks: Vec<Task>,
    /// Every channel and mailbox.
    pub channels: Vec<Channel>,
    /// Every binding of a port, in order of its channel.
    pub ports: Vec<Port>,
    /// Every script of a `[[task]]`.
    pub scripts: Vec<Script>,
    /// What they have in common.
    pub objects: Vec<Object>,
    /// Keys of its file that some kernels refuse.
    pub(crate) limited: Vec<Limited>,
    /// Where the tasks of a name are.
    pub(crate) names: Names,
}

/// The path that is standard input.
pub(crate) const STDIN: &str = "-";

/// One task.
#[derive(Debug, Clone)]
pub struct Task {
    /// The name it shares with the others of its `count`.
    pub name: String,
    /// Which of them it is, from 0.
    pub index: u32,
    /// The function it runs.
    pub entry: Spanned<String>,
    /// Whether it stands for a process beside the run.
    pub client: bool,
    /// The kinds of cores that it runs on; empty: all.
    pub kinds: Vec<String>,
    /// Where it starts.
    pub core: Spanned<u32>,
    /// The cores that choose among themselves which of them runs it next; empty: it stays where it
    /// is until somebody moves it.
    pub shared_by: Vec<u32>,
    /// 0 to 31; larger is more urgent.
    pub priority: u32,
    /// -20 to 19; larger is a smaller share of a core that is fair.
    pub nice: i32,
    /// Size of its stack.
    pub stack_bytes: Spanned<u64>,
    /// Size of its heap.
    pub heap_bytes: u64,
    /// Whether it may move.
    pub migratable: bool,
    /// Whether it starts again after its kernel died.
    pub restart: bool,
    /// How it moves.
    pub mode: Mode,
    /// Where it moves.
    pub moves: Moves,
    /// A checkpoint image each so many checkpoints; 0: none.
    pub checkpoint_every: u32,
    /// What becomes of messages since the image when it starts again from it.
    pub on_crash: OnCrash,
    /// How often it is released.
    pub period: Period,
    /// When a job is late, in periods after its release.
    pub deadline_frames: f64,
    /// Its first release, in periods after the start.
    pub offset_frames: f64,
    /// Its jobs begin up to so many nanoseconds after their release, evenly drawn.
    pub jitter_ns: f64,
    /// Of a sporadic task: the mean of what passes between two releases beyond its period, in
    /// nanoseconds, exponentially drawn.
    pub gap_ns: Option<f64>,
    /// What it computes in each firing, if that is known.
    pub work: Option<Work>,
    /// What it does, in [`App::scripts`]; `None`: it is an actor, or has code.
    pub script: Option<usize>,
    /// Where its name stands in the file.
    pub span: Span,
}

words! {
    /// Whether a task is released once per period.
    #[derive(Default)]
    pub enum Arrival {
        /// It is.
        #[default]
        Periodic = "periodic";
        /// Its period is the least time between two releases.
        Sporadic = "sporadic";
    }
}

/// How often a task is released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Period {
    /// It has no period.
    None,
    /// Once per frame of the application.
    Frame,
    /// A period of its own, in nanoseconds.
    Own(f64),
}

/// Which frame rate a run has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pacing {
    /// The application's own.
    Application,
    /// Frames per second.
    Rate(f64),
    /// As fast as it goes: no task has a period.
    Fast,
}

members! {
    /// One channel or mailbox.
    #[derive(Default, PartialEq, Eq)]
    pub struct Channel: "wb_channel_config" {
        /// Made from the names of its tasks, unique.
        needed name: String;
        /// The messages that fit.
        needed slots: u32;
        /// Bytes of one message.
        needed slot_bytes: u32;
        /// Zeroed messages present at the start.
        maybe initial: u32;
        /// Whether it has many senders.
        maybe mailbox: bool;
        /// Whether it has the answers of a service to one caller.
        maybe answers: bool;
        /// Whether room is claimed when the sender's firing begins, and free when the receiver's
        /// ends.
        maybe claims_at_start: bool;
        /// Whether its slots lie in internal memory.
        maybe internal: bool;
        /// How its receiver is told of messages.
        flat notify: NotifyPolicy;
        /// Where its receiver stands in the file.
        aside span: Span;
    }
}

words! {
    /// Which way messages pass a port, seen from its task.
    pub enum Direction {
        /// The task receives.
        In = "in", "WB_IN";
        /// The task sends.
        Out = "out", "WB_OUT";
    }
}

members! {
    /// Binds a port of a task to a channel.
    #[derive(PartialEq, Eq)]
    pub struct Port: "plan_port" {
        /// The position of its task.
        needed task: usize;
        /// Which way messages pass it.
        needed direction: Direction;
        /// The port's name.
        needed name: String;
        /// Which element of it, from 0.
        maybe index: u32;
        /// The position of its channel.
        needed channel: usize;
        /// Messages per firing of its task.
        needed rate: u32;
    }
}

impl Channel {
    /// Whether what passes it is part of what flows through the tasks: a task looks into a mailbox
    /// when it likes, and answers come when it has called.
    pub fn flows(&self) -> bool {
        !self.mailbox && !self.answers
    }

    /// How much memory its slots take: each begins a line, and has room for two marks.
    pub fn bytes(&self) -> u64 {
        const LINE: u64 = 64;
        const MARKS: u64 = 16;
        (u64::from(self.slot_bytes) + MARKS).div_ceil(LINE) * LINE * u64::from(self.slots)
    }
}

impl Pacing {
    /// The frame rate that it gives an application.
    pub fn frame_rate(self, app: &App) -> Option<f64> {
        match self {
            Self::Application => app.frame_rate,
            Self::Rate(rate) => Some(rate),
            Self::Fast => None,
        }
    }
}

impl App {
    /// Whether tasks only take the time of what they would compute.
    pub fn models_compute(&self) -> bool {
        self.compute == Compute::Model
    }

    /// Whether one of its paths is standard input.
    pub fn reads_stdin(&self) -> bool {
        self.params.iter().any(|param| param.text == STDIN && self.paths.contains(&param.key))
    }

    /// For each task that sends to no channel, the channels into it (mailboxes and answers are left
    /// out): what arrives there has left the application.
    pub fn sinks(&self) -> Vec<Vec<usize>> {
        let mut sends = vec![false; self.tasks.len()];
        let mut into = vec![Vec::new(); self.tasks.len()];
        for port in self.ports.iter().filter(|port| self.channels[port.channel].flows()) {
            match port.direction {
                Direction::In => into[port.task].push(port.channel),
                Direction::Out => sends[port.task] = true,
            }
        }
        let ends = into.into_iter().zip(sends).filter(|(channels, sends)| {
            let receives = !channels.is_empty();
            receives && !sends
        });
        ends.map(|(channels, _)| channels).collect()
    }

    /// Whether the channels in internal memory fit into `bytes` of it; `None`: `what` has none.
    ///
    /// # Errors
    /// At the first channel that does not.
    pub fn check_internal(&self, what: &str, bytes: Option<u64>) -> Result<(), Problem> {
        let mut used = 0;
        for channel in self.channels.iter().filter(|channel| channel.internal) {
            let here = |problem: Problem| problem.at(channel.span.clone(), "this channel");
            let Some(bytes) = bytes else {
                let problem = Problem::new(format!("{what} has no internal memory"));
                return Err(here(problem).help("leave out `memory`, or add a scratchpad"));
            };
            used += channel.bytes();
            if used > bytes {
                let message =
                    format!("{used} bytes do not fit {bytes} of {what}'s internal memory");
                let problem = here(Problem::new(message));
                return Err(problem.help("give it fewer or smaller slots, or leave out `memory`"));
            }
        }
        Ok(())
    }

    /// How many messages the channel of a receiving port keeps for images of its task, to come
    /// again after a death; 0: none.
    pub fn kept_messages(&self, port: &Port) -> u64 {
        let task = &self.tasks[port.task];
        if task.on_crash != OnCrash::Replay || !self.channels[port.channel].flows() {
            return 0;
        }
        let script = task.script.map(|script| &self.scripts[script]);
        let each = script.map_or(1, |script| script.messages_per_checkpoint(&port.name));
        each.saturating_mul(task.checkpoint_every.into())
    }

    /// The position of a task, if there is one of that name and index.
    pub fn find_task(&self, name: &str, index: u32) -> Option<usize> {
        self.names.of(name).nth(index as usize)
    }

    /// How many tasks share a name.
    pub fn count(&self, name: &str) -> usize {
        self.names.of(name).len()
    }

    /// What people call a task: its name, with the index when there are several.
    pub fn label(&self, name: &str, index: u32) -> String {
        if self.count(name) > 1 { format!("{name}.{index}") } else { name.to_owned() }
    }
}
