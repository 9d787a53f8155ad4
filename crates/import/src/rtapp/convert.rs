// SPDX-License-Identifier: Apache-2.0
//! Threads as tasks with scripts: each event of a thread in its place.

mod common;
mod events;

use std::collections::BTreeSet;

use super::Global;
use super::places::Policy;
use super::thread::{Phase, Thread};
use crate::draft::{Draft, Event, Task};
use crate::names::Names;
use crate::notes::Notes;
use common::{Common, forked};
use whimbrel_model::{Problem, suggestion};

/// The application of these threads, in their order.
pub(super) fn draft(threads: &[Thread], global: &Global, notes: &mut Notes) -> Draft {
    check_forks(threads, notes);
    let living = living(threads, notes);
    let mut common = Common::of(&living);
    let mut names = Names::default();
    let mut tasks = Vec::new();

    for thread in living.iter().copied() {
        let forked = common.forks(&thread.name);
        say_places(thread, notes);
        let script = script(thread, global, &mut common, notes);
        if thread.count > 0 {
            let name = names.unique(&thread.name);
            say_name(thread, &name, notes);
            tasks.push(Task { count: thread.count, ..task(thread, name, script.clone(), global) });
        }
        if let Some(semaphore) = forked {
            say_fork(thread, notes);
            let name = names.unique_with(&thread.name, "_forked");
            tasks.push(task(thread, name, vec![whenever_forked(semaphore, script)], global));
        }
    }
    common.check(&living, notes);
    common.into_draft(tasks)
}

/// Threads with an instance, and those that one of these forks. Others are as if they were none.
fn living<'a>(threads: &'a [Thread], notes: &mut Notes) -> Vec<&'a Thread> {
    let mut names = BTreeSet::new();
    let mut next: BTreeSet<&str> = threads.iter().filter(|t| t.count > 0).map(name_of).collect();
    while !next.is_empty() {
        names.append(&mut next);
        let forked = forked(threads.iter().filter(|thread| names.contains(name_of(thread))));
        next = forked.into_keys().filter(|name| !names.contains(name)).collect();
    }
    let (living, others): (Vec<_>, Vec<_>) =
        threads.iter().partition(|thread| names.contains(name_of(thread)));
    for thread in others {
        let message = format!("`{}` has no instance and is left out", thread.name);
        notes.warn(Problem::new(message).at(thread.at.clone(), "this task"));
    }
    living
}

fn name_of(thread: &Thread) -> &str {
    &thread.name
}

fn task(thread: &Thread, name: String, script: Vec<Event>, global: &Global) -> Task {
    let policy = thread.place.policy.unwrap_or(global.policy);
    let moves = thread.phases.iter().any(|phase| !phase.place.cpus.is_empty());
    let first = thread.phases.first().map_or(&[][..], |phase| cpus_of(phase, thread));
    Task {
        name,
        count: 1,
        core: first.first().copied(),
        priority: Some(policy.priority(thread.place.priority)),
        nice: policy.nice(thread.place.priority),
        pinned: !moves && thread.place.cpus.len() == 1,
        script,
        ..Task::default()
    }
}

fn cpus_of<'a>(phase: &'a Phase, thread: &'a Thread) -> &'a [u32] {
    if phase.place.cpus.is_empty() { &thread.place.cpus } else { &phase.place.cpus }
}

/// What a thread does from its start to its end.
fn script(thread: &Thread, global: &Global, common: &mut Common, notes: &mut Notes) -> Vec<Event> {
    let policy = thread.place.policy.unwrap_or(global.policy);
    thread.place.check(policy, notes);
    let mut writer = events::Writer::of(thread, policy, global.hz, common);
    let mut names = Names::default();
    let mut body = Vec::new();

    for phase in &thread.phases {
        body.extend(changes(phase, thread, policy, notes));
        let name = phase.name.as_ref().map(|name| names.unique(name));
        let events = writer.phase(phase, notes);
        match name {
            Some(_) => body.push(Event::Loop { phase: name, times: phase.loops, body: events }),
            None => body.extend(events),
        }
    }
    writer.finish(notes);
    let delay = Some(Event::Delay { ns: thread.delay_ns }).filter(|_| thread.delay_ns > 0);
    let whole = match thread.loops {
        Some(1) if thread.phases.iter().all(|phase| phase.name.is_some()) => body,
        times => vec![Event::Loop { phase: None, times, body }],
    };
    delay.into_iter().chain(whole).collect()
}

/// What a thread does each time that it is forked; its delay is none from the start of all.
fn whenever_forked(semaphore: String, script: Vec<Event>) -> Event {
    let done = script.into_iter().map(|event| match event {
        Event::Delay { ns } => Event::Sleep { ns },
        event => event,
    });
    Event::forever([Event::Take(semaphore)].into_iter().chain(done).collect())
}

/// What changes at the begin of a phase: where and how urgently its thread runs.
fn changes(phase: &Phase, thread: &Thread, policy: Policy, notes: &mut Notes) -> Vec<Event> {
    let mut events = Vec::new();
    let cpus = cpus_of(phase, thread);
    if !cpus.is_empty() && thread.phases.iter().any(|phase| !phase.place.cpus.is_empty()) {
        events.push(Event::Migrate(cpus.to_vec()));
    }
    if phase.name.is_some() && (phase.place.policy.is_some() || phase.place.priority.is_some()) {
        let policy = phase.place.policy.unwrap_or(policy);
        phase.place.check(policy, notes);
        if policy.nice(phase.place.priority).is_some() {
            phase.place.say_nice(notes);
        }
        events.push(Event::Priority(policy.priority(phase.place.priority)));
    }
    events
}

fn say_name(thread: &Thread, name: &str, notes: &mut Notes) {
    if name != thread.name {
        let warning = Problem::new(format!("`{}` is called `{name}` here", thread.name));
        notes.warn(warning.at(thread.at.clone(), "this name"));
    }
}

fn say_places(thread: &Thread, notes: &mut Notes) {
    if thread.place.cpus.len() > 1 {
        let warning = format!("`{}` starts on the first of its processors", thread.name);
        let help =
            "name the cores that it may go to in a table, or keep it by `migratable = false`";
        notes.warn(Problem::new(warning).at(thread.at.clone(), "this task").help(help));
    }
}

fn say_fork(thread: &Thread, notes: &mut Notes) {
    let warning = format!("the forks of `{}` run one after the other", thread.name);
    let help = "in rt-app each fork is a separate thread";
    notes.warn(Problem::new(warning).at(thread.at.clone(), "this task").help(help));
}

/// Notes forks of tasks that do not exist.
fn check_forks(threads: &[Thread], notes: &mut Notes) {
    for (name, at) in forked(threads) {
        if !threads.iter().any(|thread| thread.name == name) {
            let names = threads.iter().map(|thread| thread.name.as_str());
            let problem = Problem::new(format!("no task is called `{name}`"));
            let help = suggestion(name, names, || "fork one of `tasks`".into());
            notes.refuse(problem.at(at.clone(), "forked here").help(help));
        }
    }
}
