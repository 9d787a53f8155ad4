// SPDX-License-Identifier: Apache-2.0
//! Boards as guests of a run on this machine: which tasks may be where, and what their images have.

use super::Board;
use super::fit::small_stack;
use crate::app::{App, HOST_KIND, Mode, Numbers, Task, Verb};
use crate::plan::{InImage, Plan, PlanGuest, TableRow};
use crate::problem::{Problem, Problems, none_or};

/// How tasks move between the cores of a guest.
const MODES: [Mode; 2] = [Mode::Handoff, Mode::Reenter];

/// The guests of a run, and the cores that are theirs.
#[derive(Debug, Clone, Default)]
pub struct Guests {
    /// Each guest's board.
    pub boards: Vec<Board>,
    /// The guest of each core, from 1; 0: the core is this machine's.
    pub of_core: Vec<u32>,
}

impl Guests {
    /// The guest of a core; `None`: it is this machine's.
    pub fn at(&self, core: u32) -> Option<&Board> {
        let guest = self.of_core.get(core as usize)?.checked_sub(1)?;
        self.boards.get(guest as usize)
    }

    /// The guests as a plan has them, their commands still to come.
    pub fn planned(&self) -> Vec<PlanGuest> {
        let planned = |board: &Board| PlanGuest {
            name: board.name.clone(),
            command: Vec::new(),
            cores: board.cores,
        };
        self.boards.iter().map(planned).collect()
    }

    /// Refuses tasks that would move between kernels that are not alike, and what the boards of
    /// tasks that start there do not have. `rows`: those of the table policy; `kinds`: that of each
    /// core.
    ///
    /// # Errors
    /// Everything of it, at the lines of app.toml.
    pub fn check(&self, app: &App, rows: &[TableRow], kinds: &[String]) -> Result<(), Problems> {
        let mut problems: Vec<Problem> = Vec::new();
        for (place, task) in app.tasks.iter().enumerate() {
            let by_rows = rows.iter().filter_map(|row| row.cores.get(place));
            let cores = [&cores_of(app, task)[..], &by_rows.copied().collect::<Vec<_>>()].concat();
            let found = self.check_move(task, &cores).or_else(|| self.check_start(task));
            // Those of a `count` are one [[task]].
            problems.extend(found.filter(|it| problems.last().is_none_or(|last| last != it)));
        }
        for (number, board) in (1..).zip(&self.boards) {
            let here = |task: &Task| self.runs(number, task, kinds);
            problems.extend(small_stack(app, board.memory.stack_least, here));
            problems.extend(board.too_urgent(app, here));
            problems.extend(board.too_many(app));
        }
        none_or(problems, || ())
    }

    /// The problem of a task that these cores are to run besides the one where it starts; `None`:
    /// there is none.
    pub fn check_move(&self, task: &Task, cores: &[u32]) -> Option<Problem> {
        let from = self.name(*task.core.get_ref());
        let to = cores.iter().map(|core| self.name(*core)).find(|to| *to != from)?;
        if task.mode == Mode::Reenter {
            return None;
        }
        let (name, mode) = (&task.name, task.mode);
        let message =
            format!("`{name}` would move from {from} to {to}, and its mode is \"{mode}\"");
        let help = "between kernels that are not alike tasks are re-entered: give it mode = \
                    \"reenter\", or keep it on cores of one side";
        Some(Problem::new(message).at(task.span.clone(), "this task").help(help))
    }

    /// The problem of a task that cannot move in its mode where it starts.
    fn check_start(&self, task: &Task) -> Option<Problem> {
        let board = self.at(*task.core.get_ref())?;
        if MODES.contains(&task.mode) {
            return None;
        }
        let message = format!(
            "`{}` starts on the guest {}, which does not have its mode \"{}\"",
            task.name, board.name, task.mode
        );
        let known: Vec<String> = MODES.iter().map(|mode| format!("\"{mode}\"")).collect();
        Some(
            Problem::new(message)
                .at(task.span.clone(), "this task")
                .help(format!("leave it out: tasks move by {} there", known.join(" or "))),
        )
    }

    fn name(&self, core: u32) -> String {
        self.at(core).map_or("this machine".into(), |board| format!("the guest {}", board.name))
    }

    /// Whether the guest of a number, from 1, may ever run a task: it starts there, is re-entered
    /// there, or begins again there after the death of a kernel. `kinds`: that of each core.
    pub fn runs(&self, number: u32, task: &Task, kinds: &[String]) -> bool {
        if self.of_core.get(*task.core.get_ref() as usize) == Some(&number) {
            return true;
        }
        let kind = |core: usize| kinds.get(core).map_or(HOST_KIND, String::as_str);
        let mut cores = self.of_core.iter().enumerate().filter(|(_, of)| **of == number);
        let begins_again = task.restart && task.mode == Mode::Handoff;
        task.migratable
            && (task.mode == Mode::Reenter || begins_again)
            && cores.any(|(core, _)| task.runs_on(kind(core)))
    }

    /// The plan for the image of a guest: it does not have the functions of tasks that it never
    /// runs, and may lack those of tasks that nothing sends there. `moves`: the places of tasks
    /// that the command moves, with the cores; `kinds`: that of each core.
    pub fn plan_of(
        &self,
        number: u32,
        plan: &Plan,
        app: &App,
        kinds: &[String],
        moves: &[(usize, u32)],
    ) -> Plan {
        let mut of_guest = plan.clone();
        for (place, task) in app.tasks.iter().enumerate() {
            let by_rows = plan.rows.iter().filter_map(|row| row.cores.get(place));
            let moved = moves.iter().filter(|(of, _)| *of == place).map(|(_, core)| core);
            let mut cores = cores_of(app, task);
            cores.push(*task.core.get_ref());
            cores.extend(by_rows.chain(moved));
            let is_here = |core: &u32| self.of_core.get(*core as usize) == Some(&number);
            of_guest.tasks[place].entry.in_image = if cores.iter().any(is_here) {
                InImage::Always
            } else if self.runs(number, task, kinds) {
                InImage::IfDefined
            } else {
                InImage::Never
            };
        }
        of_guest
    }
}

/// The cores that the file says a task moves to.
fn cores_of(app: &App, task: &Task) -> Vec<u32> {
    let events = task.script.map_or(&[][..], |script| &app.scripts[script].events);
    let mut cores = task.shared_by.clone();
    for event in events.iter().filter(|event| event.verb == Verb::Migrate) {
        if let Numbers::Cores(to) = &event.numbers {
            // It stays on one of them, and moves to no other than the first.
            cores.extend(to.first());
        }
    }
    cores
}
