// SPDX-License-Identifier: Apache-2.0
//! What is wrong with a script by itself, and what nobody answers.

use std::collections::HashMap;

use toml::Spanned;

use crate::app::{ObjectKind, Verb};
use crate::problem::{Problem, Span};
use crate::read::keys::TaskTable;
use crate::read::manifest::Manifest;
use crate::read::steps::{ObjectTable, Step, What};

/// `WB_SCRIPT_DEPTH` of the middleware.
const DEPTH: u32 = 8;

/// Whether anything in the steps is so.
pub(super) fn any(steps: &[Step], is: &impl Fn(&What) -> bool) -> bool {
    steps.iter().any(|step| match &step.what {
        What::Loop { body, .. } => is(&step.what) || any(body, is),
        what => is(what),
    })
}

/// Whether a task waits for others to resume it.
pub(super) fn suspends(table: &TaskTable) -> bool {
    any(steps_of(table), &|what| matches!(what, What::Suspend))
}

pub(super) fn steps_of(table: &TaskTable) -> &[Step] {
    table.script.as_ref().map_or(&[], |steps| steps.get_ref())
}

/// Every step, those within loops too.
pub(super) fn every<'a>(steps: &'a [Step], found: &mut impl FnMut(&'a Step)) {
    for step in steps {
        found(step);
        if let What::Loop { body, .. } = &step.what {
            every(body, found);
        }
    }
}

/// What a script says by its events.
const OF_ACTORS: [&str; 8] = [
    "cycles",
    "distribution",
    "spread",
    "working_set",
    "traffic",
    "firings",
    "periodic",
    "period_us",
];

/// Notes what a scripted `[[task]]` says besides.
pub(super) fn keys(table: &TaskTable, manifest: &Manifest, problems: &mut Vec<Problem>) {
    let name = table.name.get_ref();
    for (key, span) in table.has(&OF_ACTORS) {
        let problem = Problem::new(format!("`{name}` has a script, and `{key}`"));
        problems.push(problem.at(span, "this key").help(
            "say in the script what it computes ({ run = 20000 }), when ({ timer = \"10ms\" }) and \
             how often (loop), and leave this out",
        ));
    }
    if let Some(module) = &manifest.app.module {
        let problem = Problem::new(format!("`{name}` has a script, and the application a module"));
        let problem = problem.at(table.name.span(), "this task").at(module.span(), "this module");
        problems.push(problem.help(
            "leave `module` out, or write the task in its code: scripts are for applications \
             that exist only as TOML",
        ));
    }
}

/// Notes what is wrong with the order of steps.
pub(super) fn steps(table: &TaskTable, steps: &[Step], problems: &mut Vec<Problem>) {
    if steps.is_empty() && problems.is_empty() {
        let problem = Problem::new(format!("the script of `{}` is empty", table.name.get_ref()));
        let problem = problem.at(table.name.span(), "this task");
        problems.push(problem.help("write what it does: script = [ { run = 20000 } ]"));
    }
    let mut walk = Walk { name: table.name.get_ref(), depth: 0, phase: None, problems };
    walk.steps(steps, true);
    if !table.migratable {
        every(steps, &mut |step| stays(table, step, problems));
    }
}

/// Notes a move of a task that may not.
fn stays(table: &TaskTable, step: &Step, problems: &mut Vec<Problem>) {
    if matches!(step.what, What::Migrate(_)) {
        let message = format!("`{}` moves, and has `migratable = false`", table.name.get_ref());
        let problem = Problem::new(message).at(step.span.clone(), "here");
        problems.push(problem.help("leave one of the two out"));
    }
}

struct Walk<'a> {
    name: &'a str,
    depth: u32,
    phase: Option<Span>,
    problems: &'a mut Vec<Problem>,
}

impl Walk<'_> {
    fn note(&mut self, message: String, at: &Span, words: &str, help: &str) {
        self.problems.push(Problem::new(message).at(at.clone(), words).help(help));
    }

    fn steps(&mut self, steps: &[Step], mut is_first: bool) {
        let mut last: Option<&Step> = None;
        for step in steps {
            if let Some(last) = last.replace(step).filter(|last| never_goes_on(last)) {
                let message = format!("`{}` never comes here", self.name);
                let problem = Problem::new(message).at(step.span.clone(), "what comes after");
                let problem = problem.at(last.span.clone(), "this has no end, or is the end");
                self.problems.push(problem.help("leave one of the two out"));
            }
            if matches!(step.what, What::Counted(Verb::Delay, _)) && !is_first {
                let message = format!("the delay of `{}` is not its first event", self.name);
                self.note(message, &step.span, "this delay", "write { sleep = … } here");
            }
            is_first = false;
            if let What::Loop { phase, times, body } = &step.what {
                self.a_loop(step, phase.as_ref(), *times, body);
            }
        }
    }

    fn a_loop(&mut self, step: &Step, phase: Option<&Spanned<String>>, times: u64, body: &[Step]) {
        if times == 0 && !any(body, &takes_time) {
            let message = format!("a loop of `{}` has no end and takes no time", self.name);
            let help = "let it compute, sleep or wait for something in each turn, or say how often";
            self.note(message, &step.span, "this loop", help);
        }
        let outside = self.phase.clone();
        if let Some(phase) = phase {
            if let Some(outer) = &outside {
                let message = format!("`{}` has a phase within a phase", self.name);
                let problem = Problem::new(message).at(phase.span(), "this one");
                let problem = problem.at(outer.clone(), "within this one");
                self.problems
                    .push(problem.help("leave one name out: a turn of a phase is a firing"));
            }
            self.phase = Some(phase.span());
        }
        self.depth += 1;
        if self.depth == DEPTH + 1 {
            let message = format!("`{}` has more than {DEPTH} loops within each other", self.name);
            self.note(message, &step.span, "this one", "write some of them out");
        }
        self.steps(body, false);
        self.depth -= 1;
        self.phase = outside;
    }
}

/// Whether what follows a step never comes: it is the end, or a loop without one, or has either.
pub(super) fn never_goes_on(step: &Step) -> bool {
    match &step.what {
        What::Plain(Verb::Exit) | What::Loop { times: 0, .. } => true,
        What::Loop { body, .. } => body.iter().any(never_goes_on),
        _ => false,
    }
}

/// Whether an event takes time by itself, or may wait for others.
fn takes_time(what: &What) -> bool {
    match what {
        What::Counted(verb, amount) => *amount > 0 && matches!(verb, Verb::Runtime | Verb::Sleep),
        What::Timer { period_ns, .. } => *period_ns > 0,
        What::On(verb, _) => matches!(verb, Verb::Barrier | Verb::Take),
        What::Run(_) | What::Wait { .. } | What::Suspend | What::Pass(..) => true,
        What::Plain(verb) => *verb == Verb::Exit,
        What::Resume(_) | What::Migrate(_) | What::Loop { .. } => false,
    }
}

// ---- What nobody answers ------------------------------------------------------------------------

/// Where something is said first, and how many tasks say it.
#[derive(Default)]
struct Said<'m> {
    at: HashMap<(Saying, &'m str), (Span, u32)>,
}

/// What is asked, and what is the answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Saying {
    Wait,
    Signal,
    Take,
    Give,
    Barrier,
    Suspend,
    Resume,
}

impl<'m> Said<'m> {
    fn of(manifest: &'m Manifest) -> Self {
        let mut said = Self::default();
        for table in &manifest.tasks {
            let mut of_task: HashMap<(Saying, &str), Span> = HashMap::new();
            every(steps_of(table), &mut |step| {
                if let Some(key) = key_of(step, table) {
                    of_task.entry(key).or_insert_with(|| step.span.clone());
                }
            });
            for (key, span) in of_task {
                let (_, tasks) = said.at.entry(key).or_insert((span, 0));
                *tasks += *table.count.get_ref();
            }
        }
        said
    }

    fn is_said(&self, verb: Saying, name: &str) -> bool {
        self.at.contains_key(&(verb, name))
    }
}

fn key_of<'m>(step: &'m Step, table: &'m TaskTable) -> Option<(Saying, &'m str)> {
    Some(match &step.what {
        What::Wait { condition, .. } => (Saying::Wait, condition.get_ref()),
        What::On(Verb::Signal | Verb::Broadcast, name) => (Saying::Signal, name.get_ref()),
        What::On(Verb::Take, name) => (Saying::Take, name.get_ref()),
        What::On(Verb::Give, name) => (Saying::Give, name.get_ref()),
        What::On(Verb::Barrier, name) => (Saying::Barrier, name.get_ref()),
        What::Suspend => (Saying::Suspend, table.name.get_ref()),
        What::Resume(task) => (Saying::Resume, task.get_ref()),
        _ => return None,
    })
}

/// Notes waits that no task ends: no task signals, gives or resumes, or a barrier is for more or
/// fewer tasks than name it.
pub(super) fn answers(manifest: &Manifest, problems: &mut Vec<Problem>) {
    let said = Said::of(manifest);
    let mut found = Vec::new();
    for ((verb, name), (span, tasks)) in &said.at {
        let problem = match verb {
            Saying::Wait if !said.is_said(Saying::Signal, name) => unanswered(
                format!("no task signals `{name}`, for which a task waits"),
                "add { signal = … } or { broadcast = … } to the script of another task",
            ),
            Saying::Suspend if !said.is_said(Saying::Resume, name) => unanswered(
                format!("no task resumes `{name}`, which suspends itself"),
                "add { resume = … } to the script of another task",
            ),
            Saying::Take if !said.is_said(Saying::Give, name) && permits(manifest, name) == 0 => {
                unanswered(
                    format!("no task gives `{name}`, which a task takes and which has no permits"),
                    "add { give = … } to the script of another task, or set `initial`",
                )
            }
            Saying::Barrier => wrong_barrier(manifest, name, *tasks),
            _ => None,
        };
        found.extend(problem.map(|problem| problem.at(span.clone(), "here")));
    }
    found.sort_by_key(|problem| problem.labels.last().map_or(0, |label| label.offset()));
    problems.extend(found);
}

fn unanswered(message: String, help: &str) -> Option<Problem> {
    Some(Problem::new(message).help(help))
}

fn permits(manifest: &Manifest, name: &str) -> u32 {
    let mut tables = manifest.objects.iter();
    let is_it =
        |table: &&ObjectTable| table.kind == ObjectKind::Semaphore && table.name.get_ref() == name;
    tables.find(is_it).map_or(0, |table| table.value)
}

fn wrong_barrier(manifest: &Manifest, name: &str, tasks: u32) -> Option<Problem> {
    let mut tables = manifest.objects.iter();
    let table =
        tables.find(|table| table.kind == ObjectKind::Barrier && table.name.get_ref() == name)?;
    if table.value == tasks {
        return None;
    }
    let message =
        format!("the barrier `{name}` is for {} tasks, and {tasks} wait at it", table.value);
    let problem = Problem::new(message).at(table.span.clone(), "this barrier");
    Some(problem.help(format!("write tasks = {tasks}, or let other tasks wait at it")))
}
