// SPDX-License-Identifier: Apache-2.0
//! Whether an application fits a board: its stacks, its modes, its memory.

use std::collections::HashMap;

use whimbrel_text::option::MODE;

use super::Board;
use crate::app::{App, Mode, Task, Verb};
use crate::plan::Plan;
use crate::problem::{Problem, Problems, Span, none_or};

/// What begins in private memory, and much of what all cores see, begins a line of the caches.
pub(super) const LINE: u64 = 64;

/// How many of the largest are named where memory does not suffice.
const NAMED: usize = 6;

/// Refuses stacks that are smaller than the kernels of a run take, in bytes.
///
/// # Errors
/// One problem for each `[[task]]` with such a stack.
pub fn check_stacks(app: &App, least: u64) -> Result<(), Problems> {
    none_or(small_stack(app, least, |_| true).collect(), || ())
}

/// The problems of these tasks whose stacks are smaller than that.
pub(super) fn small_stack(
    app: &App,
    least: u64,
    here: impl Fn(&Task) -> bool,
) -> impl Iterator<Item = Problem> {
    let small = move |task: &Task| *task.stack_bytes.get_ref() < least && here(task);
    first_of_each(app, small).map(move |task| {
        let message = format!("the stack of `{}` is too small for these kernels", task.name);
        let at = task.stack_bytes.span();
        Problem::new(message).at(at, "this size").help(format!("give at least {}", size(least)))
    })
}

/// The first of each `[[task]]` of which this holds.
fn first_of_each(app: &App, holds: impl Fn(&Task) -> bool) -> impl Iterator<Item = &Task> {
    let mut last = None;
    let is_new = move |task: &&Task| last.replace(task.span.start) != Some(task.span.start);
    app.tasks.iter().filter(move |task| holds(task)).filter(is_new)
}

impl Board {
    /// Refuses an application that cannot run on this board: tasks that move in a way that it does
    /// not know, priorities or stacks that it does not have, memory that does not suffice.
    ///
    /// # Errors
    /// Everything of it, at the lines of app.toml.
    pub fn check(&self, app: &App) -> Result<(), Problems> {
        let mut problems: Vec<Problem> = Vec::new();
        problems.extend(check_stacks(app, self.memory.stack_least).err().into_iter().flatten());
        problems.extend(self.strange_modes(app));
        problems.extend(self.too_urgent(app, |_| true));
        problems.extend(self.not_shared(app));
        problems.extend(self.too_many(app));
        problems.extend(self.stacks(app).exceeds("for stacks", app, self));
        problems.extend(self.private(app).exceeds("of private memory on each core", app, self));
        none_or(problems, || ())
    }

    /// Refuses an application whose plan takes more globally visible memory than there is.
    ///
    /// # Errors
    /// All of it by task and channel, at the line of the largest.
    pub fn check_memory(&self, app: &App, plan: &Plan) -> Result<(), Problems> {
        let problem = self.need(app, plan).exceeds("of globally visible memory", app, self);
        none_or(problem.into_iter().collect(), || ())
    }

    /// The problem if there are more tasks than it has room for, at the first that has none.
    pub(super) fn too_many(&self, app: &App) -> Option<Problem> {
        let most = self.tasks? as usize;
        let first = app.tasks.get(most)?;
        let (name, count) = (&app.name, app.tasks.len());
        let message =
            format!("`{name}` has {count} tasks, and the board {} has room for {most}", self.name);
        Some(
            Problem::new(message)
                .at(first.span.clone(), "no room for this one")
                .help("make fewer of them; a board without a variant may have room for any number"),
        )
    }

    /// Of these a task, or an event of its script, with a priority that its kernels do not have.
    pub(super) fn too_urgent(
        &self,
        app: &App,
        here: impl Fn(&Task) -> bool,
    ) -> impl Iterator<Item = Problem> {
        first_of_each(app, here).filter_map(|task| {
            let events = task.script.map_or(&[][..], |script| &app.scripts[script].events);
            let event = events.iter().find(|event| {
                event.verb == Verb::Priority && event.amount >= u64::from(self.priorities)
            });
            let whose = match event {
                _ if task.priority >= self.priorities => format!("`{}`", task.name),
                Some(event) => format!("`{}` ({})", task.name, event.place),
                None => return None,
            };
            let most = self.priorities - 1;
            let message = format!("{whose} is more urgent than the board {} knows", self.name);
            Some(
                Problem::new(message)
                    .at(task.span.clone(), "this task")
                    .help(format!("give it a priority from 0 to {most}")),
            )
        })
    }

    fn not_shared<'a>(&'a self, app: &'a App) -> impl Iterator<Item = Problem> + 'a {
        let shared = |task: &&Task| task.index == 0 && !task.shared_by.is_empty() && !self.shares;
        app.tasks.iter().filter(shared).map(|task| {
            let message = format!(
                "`{}` has several cores, and those of the board {} share no tasks",
                task.name, self.name
            );
            Problem::new(message)
                .at(task.span.clone(), "this task")
                .help("give it one by `core` in the place of `cores`, or take a board that does")
        })
    }

    fn strange_modes<'a>(&'a self, app: &'a App) -> impl Iterator<Item = Problem> + 'a {
        let strange = |task: &&Task| task.index == 0 && !self.modes.contains(&task.mode);
        app.tasks.iter().filter(strange).map(|task| {
            let known: Vec<String> = self.modes.iter().map(ToString::to_string).collect();
            let message = format!(
                "`{}` moves by {}, which the board {} does not have",
                task.name, task.mode, self.name
            );
            Problem::new(message)
                .at(task.span.clone(), "this task")
                .help(format!("choose {} by `mode`, or with {MODE}", known.join(" or ")))
        })
    }

    fn stacks(&self, app: &App) -> Sum {
        let room = self.memory.stacks.unwrap_or(u64::MAX);
        Sum::of(app, room, |task| match task.mode {
            Mode::Replicate => (0, task.stack_bytes.span()),
            _ => (self.stack_bytes(task), task.stack_bytes.span()),
        })
    }

    /// What a stack takes with its guard: whole guards, as it ends where the next one begins.
    pub(super) fn stack_bytes(&self, task: &Task) -> u64 {
        let guard = self.memory.guard;
        task.stack_bytes.get_ref().next_multiple_of(guard.max(1)) + guard
    }

    fn private(&self, app: &App) -> Sum {
        Sum::of(app, self.memory.private, |task| match task.mode {
            Mode::Replicate => {
                let parts = [*task.stack_bytes.get_ref(), task.heap_bytes];
                let bytes = parts.iter().map(|bytes| bytes.next_multiple_of(LINE)).sum();
                (bytes, task.span.clone())
            }
            _ => (0, task.span.clone()),
        })
    }
}

/// What all need of one kind of memory.
pub(super) struct Sum {
    room: u64,
    total: u64,
    parts: Vec<Part>,
}

struct Part {
    name: String,
    count: usize,
    bytes: u64,
    at: Span,
}

impl Sum {
    pub(super) fn of(app: &App, room: u64, bytes: impl Fn(&Task) -> (u64, Span)) -> Self {
        let mut sum = Self { room, total: 0, parts: Vec::new() };
        let mut places: HashMap<&str, usize> = HashMap::new();
        for task in &app.tasks {
            let (bytes, at) = bytes(task);
            let place = *places.entry(&task.name).or_insert(sum.parts.len());
            match sum.parts.get_mut(place) {
                Some(part) => (part.count, part.bytes) = (part.count + 1, part.bytes + bytes),
                None => sum.parts.push(Part { name: task.name.clone(), count: 1, bytes, at }),
            }
            sum.total = sum.total.saturating_add(bytes);
        }
        sum
    }

    pub(super) fn add(&mut self, name: &str, bytes: u64, at: &Span) {
        self.total = self.total.saturating_add(bytes);
        self.parts.push(Part { name: name.into(), count: 1, bytes, at: at.clone() });
    }

    /// The problem if all of it is more than there is, at the line of the largest.
    fn exceeds(mut self, what: &str, app: &App, board: &Board) -> Option<Problem> {
        if self.total <= self.room {
            return None;
        }
        self.parts.retain(|part| part.bytes > 0);
        self.parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        let named = self.parts.iter().take(NAMED).map(|part| match part.count {
            1 => format!("{} {}", part.name, size(part.bytes)),
            n => format!("{n} {} {}", part.name, size(part.bytes)),
        });
        let mut list = named.collect::<Vec<_>>().join(", ");
        if self.parts.len() > NAMED {
            let rest: u64 = self.parts[NAMED..].iter().map(|part| part.bytes).sum();
            list.push_str(&format!(", the rest {}", size(rest)));
        }
        let (need, have) = (size(self.total), size(self.room));
        let message =
            format!("`{}` needs {need} {what}, and the board {} has {have}", app.name, board.name);
        let problem = Problem::new(message)
            .at(self.parts.first()?.at.clone(), self.parts.first()?.name.clone());
        Some(problem.help(format!("make some of it smaller: {list}")))
    }
}

/// A size in the unit that shows it whole, or with one digit.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes} bytes"),
        Some((unit, name)) if bytes % unit == 0 => format!("{} {name}", bytes / unit),
        #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
    }
}
