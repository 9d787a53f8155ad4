// SPDX-License-Identifier: Apache-2.0
//! How tasks move and what becomes of them after a death: migration modes and checkpoint images,
//! and which combinations of them make sense.

use std::fmt;
use std::str::FromStr;

use crate::app::{App, Channel, Direction, Port, Task};
use crate::manifest::TaskTable;
use crate::problem::{Problem, Problems};

/// How a task moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Its memory is globally visible: only the owner of its descriptor changes.
    #[default]
    Handoff,
    /// Every kernel has private memory for it; what is in use is copied.
    Replicate,
    /// It ends on the source, is loaded again on the target, and its state is copied.
    Recreate,
}

impl Mode {
    /// Every mode, by the words for it.
    pub const WORDS: [&str; 3] = ["handoff", "replicate", "recreate"];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS[*self as usize])
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "handoff" => Ok(Self::Handoff),
            "replicate" => Ok(Self::Replicate),
            "recreate" => Ok(Self::Recreate),
            _ => Err(format!("`{word}` is no mode: {}", Self::WORDS.join(", "))),
        }
    }
}

/// What happens to the messages since the last image when a task starts again from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnCrash {
    /// They are processed again.
    #[default]
    Replay,
    /// They are left out, and reported.
    Skip,
}

impl FromStr for OnCrash {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "replay" => Ok(Self::Replay),
            "skip" => Ok(Self::Skip),
            _ => Err(format!("`{word}` is neither replay nor skip")),
        }
    }
}

const ADD_RESTART: &str = "it starts again from its entry with its state: add `restart = true`";

impl App {
    /// Gives every migratable task a mode, whatever the file says.
    ///
    /// # Errors
    /// One problem for each `[[task]]` that cannot move in this mode.
    pub fn set_mode(&mut self, mode: Mode) -> Result<(), Problems> {
        let mut problems: Vec<Problem> = Vec::new();
        for task in self.tasks.iter_mut().filter(|task| task.migratable) {
            if mode == Mode::Recreate && !task.restart && task.index == 0 {
                let message = format!("`{}` cannot be recreated", task.name);
                let problem = Problem::new(message).at(task.span.clone(), "this task");
                problems.push(problem.help(ADD_RESTART));
            }
            task.mode = mode;
        }
        Problems::none_or(problems, || ())
    }
}

/// Notes what is wrong with one `[[task]]` by itself.
pub(crate) fn check_task(table: &TaskTable, problems: &mut Vec<Problem>) {
    let name = table.name.get_ref();
    let mode = table.mode.as_ref().filter(|mode| *mode.get_ref() != Mode::Handoff);

    if let Some(mode) = mode.filter(|_| !table.migratable) {
        let message = format!("`{name}` has a mode to move in, but may not move");
        let problem = Problem::new(message).at(mode.span(), "this mode");
        problems.push(problem.help("leave it out, or take `migratable = false` away"));
    } else if let Some(mode) = mode.filter(|m| *m.get_ref() == Mode::Recreate && !table.restart) {
        let problem = Problem::new(format!("`{name}` cannot be recreated"));
        problems.push(problem.at(mode.span(), "this mode").help(ADD_RESTART));
    }
    if let Some(at) = table.on_crash.as_ref().filter(|_| every(table) == 0) {
        let problem = Problem::new(format!("`{name}` keeps no image to start again from"));
        let help = "add `checkpoint_every`: an image each so many checkpoints";
        problems.push(problem.at(at.span(), "this key").help(help));
    }
}

/// Notes each channel that cannot hold what has come since the image of its receiver. Mailboxes
/// keep nothing: what came from one is left out, whatever the task says.
pub(crate) fn check_images(
    (tables, tasks): (&[TaskTable], &[Task]),
    (channels, ports): (&[Channel], &[Port]),
    problems: &mut Vec<Problem>,
) {
    for table in tables {
        let Some(at) = table.checkpoint_every.as_ref() else { continue };
        let name = table.name.get_ref();
        let short = |port: &&Port| {
            let task = &tasks[port.task];
            port.direction == Direction::In
                && task.name == *name
                && task.on_crash == OnCrash::Replay
                && !channels[port.channel].mailbox
                && channels[port.channel].slots <= task.checkpoint_every
        };
        let Some(port) = ports.iter().find(short) else { continue };
        let Channel { name: channel, slots, .. } = &channels[port.channel];
        let every = at.get_ref();
        let message = format!("`{channel}` cannot keep the messages of {every} checkpoints");
        problems.push(Problem::new(message).at(at.span(), "this many").help(format!(
            "they are kept until the next image, to be processed again after a death: give the \
             channel more than {every} slots (it has {slots}), take images more often, or write \
             on_crash = \"skip\""
        )));
    }
}

/// How many checkpoints lie between two images; 0: there are none.
pub(crate) fn every(table: &TaskTable) -> u32 {
    table.checkpoint_every.as_ref().map_or(0, |every| *every.get_ref())
}
