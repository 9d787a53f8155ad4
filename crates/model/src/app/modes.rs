// SPDX-License-Identifier: Apache-2.0
//! How tasks move and what becomes of them after a death: migration modes and checkpoint images.

use super::App;
use crate::problem::{Problem, Problems, none_or};
use crate::schema::words;

words! {
    /// How a task moves.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Mode {
        /// Its memory is globally visible: only the owner of its descriptor changes.
        #[default]
        Handoff = "handoff", "WB_HANDOFF";
        /// Every kernel has private memory for it; what is in use is copied.
        Replicate = "replicate", "WB_REPLICATE";
        /// It ends on the source, is loaded again on the target, and its state is copied.
        Recreate = "recreate", "WB_RECREATE";
        /// Its heap and its state are globally visible and stay; its function begins anew.
        Reenter = "reenter", "WB_REENTER";
    }
}

words! {
    /// Where a task moves that is asked to.
    #[derive(Default)]
    pub enum Moves {
        /// At its checkpoints.
        #[default]
        Checkpoints = "checkpoints";
        /// Also where it waits.
        Waits = "waits";
    }
}

words! {
    /// What happens to the messages since the last image when a task starts again from it.
    #[derive(Default)]
    pub enum OnCrash {
        /// They are processed again.
        #[default]
        Replay = "replay";
        /// They are left out, and reported.
        Skip = "skip";
    }
}

pub(crate) const NOT_AT_WAITS: &str = "it starts its function again wherever it moves: take \
     `move = \"waits\"` away, or let it move by another mode";

pub(crate) const NO_IMAGES: &str =
    "its state stays in memory that every kernel sees: leave `checkpoint_every` out";

pub(crate) const ADD_RESTART: &str =
    "it starts again from its entry with its state: add `restart = true`";

impl Mode {
    /// Whether its function begins anew on the target.
    pub(crate) fn begins_anew(self) -> bool {
        matches!(self, Self::Recreate | Self::Reenter)
    }

    /// Why a task without `restart` cannot move so; `None`: it can.
    pub(crate) fn needs_restart(self, task: &str) -> Option<String> {
        match self {
            Self::Handoff | Self::Replicate => None,
            Self::Recreate => Some(format!("`{task}` cannot be recreated")),
            Self::Reenter => Some(format!("`{task}` cannot be re-entered")),
        }
    }
}

impl App {
    /// Gives every migratable task a mode, whatever the file says. One that is recreated or
    /// re-entered moves at its checkpoints.
    ///
    /// # Errors
    /// One problem for each `[[task]]` that cannot move in this mode.
    pub fn set_mode(&mut self, mode: Mode) -> Result<(), Problems> {
        let mut problems: Vec<Problem> = Vec::new();
        for task in self.tasks.iter_mut().filter(|task| task.migratable) {
            let mut refuse = |message: String, help: &str| {
                let problem = Problem::new(message).at(task.span.clone(), "this task");
                problems.push(problem.help(help));
            };
            let impossible = mode.needs_restart(&task.name).filter(|_| task.index == 0);
            if let Some(message) = impossible.filter(|_| !task.restart) {
                refuse(message, ADD_RESTART);
            }
            if mode == Mode::Reenter && task.checkpoint_every != 0 && task.index == 0 {
                refuse(format!("`{}` is re-entered, and keeps images", task.name), NO_IMAGES);
            }
            if mode.begins_anew() {
                task.moves = Moves::Checkpoints; // it starts its function again wherever it moves
            }
            task.mode = mode;
        }
        none_or(problems, || ())
    }

    /// Says where every migratable task moves, whatever the file says, but those that are
    /// recreated or re-entered.
    pub fn set_moves(&mut self, moves: Moves) {
        let moving = |task: &&mut super::Task| task.migratable && !task.mode.begins_anew();
        for task in self.tasks.iter_mut().filter(moving) {
            task.moves = moves;
        }
    }
}
