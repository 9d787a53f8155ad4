// SPDX-License-Identifier: Apache-2.0
//! The moves that a run was told to make by itself: `--move` and `--shuttle`.

use std::time::Duration;

use whimbrel_model::{App, At, Command, Guests, HOST_KIND, Problem};
use whimbrel_text::option::{MOVE, Opt, SHUTTLE};
use whimbrel_text::suggestion;

use super::nanoseconds;
use crate::args::CommonArgs;
use crate::args::values::{Move, Shuttle, TaskName};

/// How long a move may take that was planned, or asked for by a key.
pub const MOVE_TIMEOUT_MS: u64 = 1000;
/// A board that has no memory for an answer, or for a request, says nothing of it.
const LOST_MS: u64 = 10 * MOVE_TIMEOUT_MS;

/// Moves to come, by the time since the start.
#[derive(Debug, Default)]
pub struct Schedule {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    task: TaskName,
    cores: Vec<u32>,
    next: usize,
    due: Duration,
    /// `None`: it moves once.
    period: Option<Duration>,
    /// Its last move is taken for lost then; zero: it has been answered.
    lost: Duration,
}

/// A move that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Which entry of the schedule it is of: a task may have several.
    pub entry: usize,
    /// What moves.
    pub task: TaskName,
    /// Where to.
    pub core: u32,
    /// Whether it was asked for by itself, so that the user is told when it does not happen.
    pub single: bool,
}

impl Schedule {
    /// Takes over the moves that were asked for.
    ///
    /// # Errors
    /// A task or a core that does not exist, or a task that may not move.
    pub fn new(args: &CommonArgs, app: &App, cores: usize) -> Result<Self, Problem> {
        let once = |Move { task, core, at }: Move| Entry {
            task,
            cores: vec![core],
            next: 0,
            due: at,
            period: None,
            lost: Duration::ZERO,
        };
        let again = |Shuttle { task, cores, period }: Shuttle| Entry {
            task,
            cores,
            next: 0,
            due: period,
            period: Some(period),
            lost: Duration::ZERO,
        };
        let mut entries: Vec<Entry> = args.moves.iter().cloned().map(once).collect();
        entries.extend(args.shuttles.iter().cloned().map(again));
        for entry in &entries {
            entry.check(app, cores)?;
        }
        Ok(Self { entries })
    }

    /// Refuses moves to a core of a kind that the task does not run on; `kinds`: that of each core.
    ///
    /// # Errors
    /// The first such move, shown at the task.
    pub fn check_kinds(&self, app: &App, kinds: &[String]) -> Result<(), Problem> {
        self.entries.iter().try_for_each(|entry| entry.check_kinds(app, kinds))
    }

    /// Refuses moves between kernels that are not alike of a task that cannot make them.
    ///
    /// # Errors
    /// The first such move, shown at the task.
    pub fn check_guests(&self, app: &App, guests: &Guests) -> Result<(), Problem> {
        self.entries.iter().try_for_each(|entry| entry.check_guests(app, guests))
    }

    /// The places of the tasks that it moves, with the cores.
    pub fn moves(&self, app: &App) -> Vec<(usize, u32)> {
        let place = |TaskName { name, index }: &TaskName| app.find_task(name, *index);
        let entries = self.entries.iter().filter_map(|it| Some((place(&it.task)?, &it.cores)));
        entries.flat_map(|(place, cores)| cores.iter().map(move |core| (place, *core))).collect()
    }

    /// When the next move is due.
    pub fn next(&self) -> Option<Duration> {
        self.entries.iter().filter_map(Entry::next_due).min()
    }

    /// The same as commands of a simulation's plan, which knows when they are due by itself.
    pub fn commands(&self) -> Vec<At> {
        let mut commands = Vec::new();
        for entry in &self.entries {
            let round = entry.period.unwrap_or_default().saturating_mul(entry.cores.len() as u32);
            for (turn, core) in (0..).zip(&entry.cores) {
                let at = entry.due + entry.period.unwrap_or_default().saturating_mul(turn);
                let TaskName { name, index } = &entry.task;
                commands.push(At {
                    at_ns: nanoseconds(at),
                    every_ns: nanoseconds(round),
                    command: Command::Migrate {
                        id: "planned".into(),
                        task: name.clone(),
                        index: *index,
                        core: *core,
                        timeout_ms: MOVE_TIMEOUT_MS,
                    },
                });
            }
        }
        commands
    }

    /// Takes the moves that are due by `now`. A shuttle leaves out those it is late for, and waits
    /// for the answer to each: requests would pile up on a board that answers more slowly.
    pub fn take(&mut self, now: Duration) -> Vec<Due> {
        let is_due = |entry: &Entry| entry.next_due().is_some_and(|due| due <= now);
        let due = self.entries.iter_mut().enumerate().filter(|(_, entry)| is_due(entry));
        due.map(|(place, entry)| entry.take(place, now)).collect()
    }

    /// The last move of an entry has been answered.
    pub fn answered(&mut self, entry: usize) {
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.lost = Duration::ZERO;
        }
    }
}

impl Entry {
    fn next_due(&self) -> Option<Duration> {
        let is_open = self.period.is_some() || self.next == 0;
        is_open.then_some(self.due.max(self.lost))
    }

    fn take(&mut self, place: usize, now: Duration) -> Due {
        let core = self.cores[self.next % self.cores.len()];
        self.next += 1;
        self.lost = now + Duration::from_millis(LOST_MS);
        if let Some(period) = self.period {
            while self.due <= now {
                self.due += period;
            }
        }
        Due { entry: place, task: self.task.clone(), core, single: self.period.is_none() }
    }

    fn option(&self) -> Opt {
        if self.period.is_some() { SHUTTLE } else { MOVE }
    }

    fn check_kinds(&self, app: &App, kinds: &[String]) -> Result<(), Problem> {
        let TaskName { name, index } = &self.task;
        let task = app.find_task(name, *index).map(|position| &app.tasks[position]);
        let Some(task) = task else { return Ok(()) };
        let kind = |core: u32| kinds.get(core as usize).map_or(HOST_KIND, String::as_str);
        let strange = self.cores.iter().find(|core| !task.runs_on(kind(**core)));
        let Some(core) = strange else { return Ok(()) };
        let (option, kind) = (self.option(), kind(*core));
        let message = format!("{option}: `{}` does not run on core {core}", self.task);
        Err(Problem::new(message)
            .at(task.span.clone(), format!("it is not for the kind `{kind}`"))
            .help("move it to a core of a kind in its `kinds` or `cycles`, or add that"))
    }

    fn check_guests(&self, app: &App, guests: &Guests) -> Result<(), Problem> {
        let TaskName { name, index } = &self.task;
        let task = app.find_task(name, *index).map(|position| &app.tasks[position]);
        let problem = task.and_then(|task| guests.check_move(task, &self.cores));
        problem.map_or(Ok(()), |problem| {
            let message = format!("{}: {}", self.option(), problem.message);
            Err(Problem { message, ..problem })
        })
    }

    fn check(&self, app: &App, cores: usize) -> Result<(), Problem> {
        let TaskName { name, index } = &self.task;
        let option = self.option();
        let Some(task) = app.find_task(name, *index) else {
            let message = format!("{option}: the application has no task `{}`", self.task);
            return Err(Problem::new(message).help(no_task(app, &self.task)));
        };
        if !app.tasks[task].migratable {
            let problem = Problem::new(format!("{option}: `{}` may not move", self.task));
            return Err(
                problem.help("remove `migratable = false` from its [[task]], or move another")
            );
        }
        match self.cores.iter().find(|core| **core as usize >= cores) {
            Some(core) => Err(Problem::new(format!("{option}: core {core} does not exist"))
                .help(format!("name one of cores 0 to {}", cores - 1))),
            None => Ok(()),
        }
    }
}

/// How many tasks a message names.
const TASKS_SHOWN: usize = 20;

/// What to write instead of a task that the application does not have.
pub fn no_task(app: &App, wrong: &TaskName) -> String {
    let all: Vec<String> = app.tasks.iter().map(|task| app.label(&task.name, task.index)).collect();
    suggestion(&wrong.to_string(), all.iter().map(String::as_str), || {
        let first: Vec<&str> = all.iter().take(TASKS_SHOWN).map(String::as_str).collect();
        let more = if first.len() < all.len() { ", … (see `whimbrel list tasks`)" } else { "" };
        format!("name one of its tasks: {}{more}", first.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(cores: &[u32], period: Option<Duration>) -> Entry {
        let task = TaskName { name: "bpf".into(), index: 0 };
        Entry { task, cores: cores.to_vec(), next: 0, due: ms(10), period, lost: Duration::ZERO }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn cores(due: Vec<Due>) -> Vec<u32> {
        due.into_iter().map(|due| due.core).collect()
    }

    #[test]
    fn a_move_is_made_once() {
        let mut schedule = Schedule { entries: vec![entry(&[3], None)] };
        assert_eq!(schedule.next(), Some(ms(10)));
        assert!(schedule.take(ms(9)).is_empty());
        assert_eq!(cores(schedule.take(ms(10))), [3]);
        assert_eq!(schedule.next(), None);
        assert!(schedule.take(ms(1000)).is_empty());
    }

    #[test]
    fn a_shuttle_takes_its_cores_in_turn_and_leaves_out_what_it_is_late_for() {
        let mut schedule = Schedule { entries: vec![entry(&[1, 0], Some(ms(10)))] };
        assert_eq!(cores(schedule.take(ms(10))), [1]);
        schedule.answered(0);
        assert_eq!(schedule.next(), Some(ms(20)));
        assert_eq!(cores(schedule.take(ms(55))), [0]);
        schedule.answered(0);
        assert_eq!(schedule.next(), Some(ms(60)));
        assert_eq!(cores(schedule.take(ms(60))), [1]);
    }

    /// A board got requests faster than it could answer, until its line broke down.
    #[test]
    fn a_shuttle_waits_for_the_answer_to_its_last_move() {
        let mut schedule = Schedule { entries: vec![entry(&[1, 0], Some(ms(10)))] };
        assert_eq!(cores(schedule.take(ms(10))), [1]);
        assert_eq!(schedule.next(), Some(ms(10 + LOST_MS)));
        assert!(schedule.take(ms(1000)).is_empty());
        schedule.answered(0);
        assert_eq!(cores(schedule.take(ms(1001))), [0]);
        // No answer comes.
        assert!(schedule.take(ms(1000 + LOST_MS)).is_empty());
        assert_eq!(cores(schedule.take(ms(1001 + LOST_MS))), [1]);
    }

    #[test]
    fn of_two_shuttles_of_a_task_each_waits_for_its_own_answer() {
        let entries = vec![entry(&[1, 0], Some(ms(10))), entry(&[3, 2], Some(ms(10)))];
        let mut schedule = Schedule { entries };
        let due = schedule.take(ms(10));
        assert_eq!(
            due.iter().map(|due| (due.entry, due.core)).collect::<Vec<_>>(),
            [(0, 1), (1, 3)]
        );
        schedule.answered(1);
        assert_eq!(cores(schedule.take(ms(20))), [2]);
        schedule.answered(0);
        assert_eq!(cores(schedule.take(ms(30))), [0]);
    }
}
