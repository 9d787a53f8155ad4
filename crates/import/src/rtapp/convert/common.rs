// SPDX-License-Identifier: Apache-2.0
//! What threads have in common: mutexes, conditions, barriers, timers, and who forks whom.

use std::collections::{BTreeMap, BTreeSet};

use super::super::events::Event;
use super::super::objects::Objects;
use super::super::thread::Thread;
use crate::draft::{Draft, Task};
use crate::notes::Notes;
use whimbrel_model::{Problem, Span};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub mutexes: Objects,
    pub conditions: Objects,
    pub barriers: Objects,
    /// Timers that several tasks share.
    pub timers: Objects,
    /// Those of the file, and those by which tasks are forked.
    pub semaphores: Objects,
    /// How many tasks meet at each barrier.
    meeting: BTreeMap<String, u32>,
    forked: BTreeSet<String>,
    shared: BTreeSet<String>,
    /// Timers without regard to when they went off late.
    absolute: BTreeSet<String>,
}

/// All events of a thread.
fn events(thread: &Thread) -> impl Iterator<Item = (&Event, &Span)> {
    let placed = thread.phases.iter().flat_map(|phase| &phase.events);
    placed.map(|placed| (&placed.event, &placed.at))
}

/// Whom these fork, and where first.
pub(super) fn forked<'a>(
    threads: impl IntoIterator<Item = &'a Thread>,
) -> BTreeMap<&'a str, &'a Span> {
    let mut forked = BTreeMap::new();
    for (event, at) in threads.into_iter().flat_map(events) {
        if let Event::Fork(name) = event {
            forked.entry(name.as_str()).or_insert(at);
        }
    }
    forked
}

impl Common {
    /// What can be known before any event is converted.
    pub fn of(threads: &[&Thread]) -> Self {
        let forked = forked(threads.iter().copied()).into_keys().map(str::to_owned).collect();
        let mut common = Self { forked, ..Self::default() };
        let mut users: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (number, thread) in threads.iter().enumerate() {
            for (event, _) in events(thread) {
                match event {
                    Event::Barrier(name) => {
                        let tasks = common.tasks_of(thread);
                        *common.meeting.entry(name.clone()).or_default() += tasks;
                    }
                    Event::Timer { name, absolute, .. } => {
                        users.entry(name).or_default().insert(number);
                        if *absolute {
                            common.absolute.insert(name.clone());
                        }
                    }
                    _ => {}
                }
            }
        }
        let many = |users: &BTreeSet<usize>| {
            users.iter().map(|number| common.tasks_of(threads[*number])).sum::<u32>() > 1
        };
        let shared = users.into_iter().filter(|(name, users)| !is_own(name) && many(users));
        common.shared = shared.map(|(name, _)| name.to_owned()).collect();
        common
    }

    /// How many tasks a thread becomes: its instances, and one that is forked.
    fn tasks_of(&self, thread: &Thread) -> u32 {
        thread.count + u32::from(self.forked.contains(&thread.name))
    }

    /// The semaphore by which a thread is forked, if it is.
    pub fn forks(&mut self, thread: &str) -> Option<String> {
        self.forked.contains(thread).then(|| self.semaphores.name_of("fork", thread))
    }

    /// Whether several tasks share a timer.
    pub fn is_shared(&self, timer: &str) -> bool {
        self.shared.contains(timer)
    }

    pub fn is_absolute(&self, timer: &str) -> bool {
        self.absolute.contains(timer)
    }

    /// Notes what can never come about.
    pub fn check(&self, threads: &[&Thread], notes: &mut Notes) {
        check_signals(threads, notes);
        for thread in threads {
            check_barriers(thread, notes);
        }
    }

    /// The application of these tasks.
    pub fn into_draft(self, tasks: Vec<Task>) -> Draft {
        let Self { mutexes, conditions, mut barriers, timers, semaphores, meeting, .. } = self;
        let meeting = meeting.into_iter().filter(|(_, tasks)| *tasks > 0);
        let meeting = meeting.map(|(name, tasks)| (barriers.name(&name), tasks));
        Draft {
            tasks,
            mutexes: mutexes.into_names(),
            conditions: conditions.into_names(),
            barriers: meeting.collect(),
            semaphores: semaphores.into_names().into_iter().map(|name| (name, 0)).collect(),
            timers: timers.into_names(),
            ..Draft::default()
        }
    }
}

/// Whether each thread has its own timer of this name.
fn is_own(timer: &str) -> bool {
    timer.starts_with("unique")
}

/// What waits, and what ends it: an event for each, by the names of its kind and of the thing.
type Awaited<'a> = BTreeMap<([&'static str; 2], &'a str), Vec<&'a Span>>;

const SIGNALS: [&str; 2] = ["signals", "`signal`, `broad` or `resume`"];
const POSTS: [&str; 2] = ["posts", "`sem_post`"];

fn check_signals(threads: &[&Thread], notes: &mut Notes) {
    let (mut signalled, mut waited): (Awaited<'_>, Awaited<'_>) = Default::default();
    for (event, at) in threads.iter().copied().flat_map(events) {
        let (kind, name, [signals, waits]) = match event {
            Event::Signal(name) | Event::Broadcast(name) | Event::Resume(name) => {
                (SIGNALS, name, [true, false])
            }
            Event::Wait { condition: name, .. } | Event::Suspend(name) => {
                (SIGNALS, name, [false, true])
            }
            Event::Sync { condition: name, .. } => (SIGNALS, name, [true, true]),
            Event::Give(name) => (POSTS, name, [true, false]),
            Event::Take(name) => (POSTS, name, [false, true]),
            _ => continue,
        };
        for (all, does) in [(&mut signalled, signals), (&mut waited, waits)] {
            if does {
                all.entry((kind, name)).or_default().push(at);
            }
        }
    }
    for (([verb, events], name), places) in &waited {
        if !signalled.contains_key(&([verb, events], name)) {
            let problem = Problem::new(format!("nothing ever {verb} `{name}`"));
            let problem = at_some(problem, places, "waits for it");
            notes.refuse(problem.help(format!("give a task {events} of it")));
        }
    }
    for ((kind, name), places) in &signalled {
        if !waited.contains_key(&(*kind, *name)) {
            let warning = Problem::new(format!("nothing waits for `{name}`"));
            notes.warn(at_some(warning, places, "signalled"));
        }
    }
}

fn at_some(problem: Problem, places: &[&Span], words: &str) -> Problem {
    places.iter().take(3).fold(problem, |problem, at| problem.at((*at).clone(), words))
}

/// A task that comes twice to a barrier counts twice in rt-app, which then waits for ever.
fn check_barriers(thread: &Thread, notes: &mut Notes) {
    let mut met: BTreeMap<&str, &Span> = BTreeMap::new();
    for (event, at) in events(thread) {
        let Event::Barrier(name) = event else { continue };
        if let Some(first) = met.insert(name, at) {
            let problem =
                Problem::new(format!("`{}` waits at `{name}` in two places", thread.name));
            let problem = problem.at(at.clone(), "the second").at(first.clone(), "the first");
            notes.refuse(problem.help("give each its own name: rt-app counts them separately"));
        }
    }
}
