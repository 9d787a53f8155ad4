// SPDX-License-Identifier: Apache-2.0
//! From the steps of scripts to the events of an application: names become positions, loops two
//! events each.

use std::collections::HashMap;

use toml::Spanned;

use super::{check, held, order};
use crate::app::{
    Cycles, Event, Numbers, Object, ObjectKind, Param, Script, Verb, Work, cycles_of_firing,
};
use crate::problem::{Problem, suggestion};
use crate::read::cycles::CyclesTable;
use crate::read::keys::TaskTable;
use crate::read::manifest::Manifest;
use crate::read::steps::{Lines, ObjectTable, Step, What};
use crate::read::work::cycles_value;

/// The scripts of an application, and what they have in common.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    pub objects: Vec<Object>,
    pub all: Vec<Script>,
    /// Of each `[[task]]` of the file, in `all`.
    pub of_table: Vec<Option<usize>>,
}

/// What the scripts of a file come to, and everything that is wrong with them.
pub(crate) fn build(manifest: &Manifest, params: &[Param], problems: &mut Vec<Problem>) -> Scripts {
    let before = problems.len();
    let mut scripts = Scripts::default();
    let mut positions = Positions::of(&manifest.objects, &mut scripts.objects, problems);
    positions.add_suspensions(manifest, &mut scripts.objects);
    for table in &manifest.tasks {
        let script = table.script.as_ref().map(|steps| {
            check::keys(table, manifest, problems);
            check::steps(table, steps.get_ref(), problems);
            let flat = Flat::of(table, &positions, &manifest.lines, params, problems);
            scripts.all.push(flat.whole(steps.get_ref()));
            scripts.all.len() - 1
        });
        scripts.of_table.push(script);
    }
    if problems.len() == before {
        check::answers(manifest, problems);
        let edges = held::check(manifest, problems);
        order::check(&edges, problems);
    }
    scripts
}

impl Scripts {
    /// What a firing of a script computes on average, or next to nothing: by it tasks are placed
    /// and explored.
    pub fn work(&self, script: usize) -> Option<Work> {
        let cycles = cycles_of_firing(&self.all[script].events);
        Some(Work::constant(cycles.unwrap_or_default()))
    }
}

/// What is known by a name of its kind, and where tasks are suspended.
struct Positions<'m> {
    objects: HashMap<(ObjectKind, &'m str), u32>,
    suspended: HashMap<String, u32>,
}

impl<'m> Positions<'m> {
    fn of(tables: &'m [ObjectTable], all: &mut Vec<Object>, problems: &mut Vec<Problem>) -> Self {
        let mut objects: HashMap<(ObjectKind, &str), u32> = HashMap::new();
        for table in tables {
            let name = table.name.get_ref();
            if let Some(first) = objects.get(&(table.kind, name.as_str())) {
                let message = format!("two {} are called `{name}`", plural(table.kind));
                let first = tables[*first as usize].name.span();
                let problem = Problem::new(message).at(table.name.span(), "the second");
                problems.push(problem.at(first, "the first").help("give one another name"));
            }
            if table.kind == ObjectKind::Semaphore && table.value > table.most {
                let problem = Problem::new(format!("`{name}` begins with more than its most"));
                let problem = problem.at(table.span.clone(), "this semaphore");
                problems.push(problem.help("raise `most`, or lower `initial`"));
            }
            objects.insert((table.kind, name), position(all.len()));
            let ObjectTable { kind, value, most, .. } = *table;
            all.push(Object { name: name.clone(), kind, value, most });
        }
        Self { objects, suspended: HashMap::new() }
    }

    /// The tasks of a name are suspended at a condition that nobody else can name.
    fn add_suspensions(&mut self, manifest: &Manifest, all: &mut Vec<Object>) {
        for table in manifest.tasks.iter().filter(|table| check::suspends(table)) {
            let name = table.name.get_ref().clone();
            self.suspended.insert(name.clone(), position(all.len()));
            all.push(Object { name, kind: ObjectKind::Condition, value: 0, most: 0 });
        }
    }

    fn find(&self, kind: ObjectKind, name: &Spanned<String>) -> Result<u32, Problem> {
        let text = name.get_ref().as_str();
        self.objects.get(&(kind, text)).copied().ok_or_else(|| {
            let known = self.objects.keys().filter(|(of, _)| *of == kind);
            let help = suggestion(text, known.map(|(_, name)| *name), || {
                format!("add [[{kind}]] with name = \"{text}\"")
            });
            let problem = Problem::new(format!("no {kind} is called `{text}`"));
            problem.at(name.span(), "this name").help(help)
        })
    }
}

fn plural(kind: ObjectKind) -> String {
    if kind == ObjectKind::Mutex { "mutexes".into() } else { format!("{kind}s") }
}

fn position(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A script that grows.
struct Flat<'a, 'p> {
    table: &'a TaskTable,
    positions: &'a Positions<'a>,
    lines: &'a Lines,
    params: &'a [Param],
    problems: &'p mut Vec<Problem>,
    script: Script,
    timers: HashMap<&'a str, u32>,
    /// The phase that steps are in.
    phase: Option<&'a str>,
    depth: u32,
    /// It has phases; it says where its checkpoints are.
    has_phases: bool,
    says_checkpoints: bool,
}

impl<'a, 'p> Flat<'a, 'p> {
    fn of(
        table: &'a TaskTable,
        positions: &'a Positions<'a>,
        lines: &'a Lines,
        params: &'a [Param],
        problems: &'p mut Vec<Problem>,
    ) -> Self {
        let steps = table.script.as_ref().map(|steps| steps.get_ref().as_slice());
        let any = |is: fn(&What) -> bool| check::any(steps.unwrap_or_default(), &is);
        Self {
            table,
            positions,
            lines,
            params,
            problems,
            script: Script { events: Vec::new(), ports: Vec::new(), timers: 0 },
            timers: HashMap::new(),
            phase: None,
            depth: 0,
            has_phases: any(|what| matches!(what, What::Loop { phase: Some(_), .. })),
            says_checkpoints: any(|what| matches!(what, What::Plain(Verb::Checkpoint))),
        }
    }

    /// The whole: what has no loop is a firing itself.
    fn whole(mut self, steps: &'a [Step]) -> Script {
        let is_loop = |step: &Step| matches!(step.what, What::Loop { .. });
        if self.has_phases || steps.iter().any(is_loop) {
            self.steps(steps);
        } else {
            let once = Event { amount: 1, ..self.plain(Verb::Loop, String::new()) };
            self.bracketed(once, true, steps);
        }
        let exit = self.plain(Verb::Exit, "its end".into());
        self.script.events.push(exit);
        self.script
    }

    fn plain(&self, verb: Verb, place: String) -> Event {
        Event {
            verb,
            object: 0,
            other: None,
            is_firing: false,
            is_absolute: false,
            is_checkpoint: if self.says_checkpoints {
                verb == Verb::Checkpoint
            } else {
                !matches!(verb, Verb::Loop | Verb::Exit)
            },
            amount: 0,
            numbers: Numbers::None,
            place,
        }
    }

    fn steps(&mut self, steps: &'a [Step]) {
        for step in steps {
            if let What::Loop { phase, times, body } = &step.what {
                self.a_loop(step, phase.as_ref(), *times, body);
                continue;
            }
            let event = self.plain(verb_of(&step.what), self.place(step));
            match self.filled(event, step) {
                Ok(event) => self.script.events.push(event),
                Err(problem) => self.problems.push(*problem),
            }
        }
    }

    fn place(&self, step: &Step) -> String {
        let (said, line) = (step.what.said(), self.lines.at(step.span.start));
        match self.phase {
            Some(phase) => format!("phase {phase}, line {line}, {said}"),
            None => format!("line {line}, {said}"),
        }
    }

    fn a_loop(
        &mut self,
        step: &'a Step,
        phase: Option<&'a Spanned<String>>,
        times: u64,
        body: &'a [Step],
    ) {
        let outside = self.phase;
        let is_firing = if self.has_phases { phase.is_some() } else { self.depth == 0 };
        let event = Event { amount: times, ..self.plain(Verb::Loop, self.place(step)) };
        self.phase = phase.map(|name| name.get_ref().as_str()).or(outside);
        self.bracketed(event, is_firing, body);
        self.phase = outside;
    }

    /// The body of a loop between its begin and its end.
    fn bracketed(&mut self, begin: Event, is_firing: bool, body: &'a [Step]) {
        let at = self.script.events.len();
        let begin = Event { object: self.depth, is_firing, ..begin };
        let is_checkpoint = !self.says_checkpoints;
        let other = Some(position(at));
        let end = Event { verb: Verb::End, other, is_checkpoint, ..begin.clone() };
        self.script.events.push(begin);
        self.depth += 1;
        self.steps(body);
        self.depth -= 1;
        self.script.events[at].other = Some(position(self.script.events.len()));
        self.script.events.push(end);
    }

    /// An event with what its step says.
    fn filled(&mut self, mut event: Event, step: &'a Step) -> Result<Event, Box<Problem>> {
        let find = |kind, name| self.positions.find(kind, name).map_err(Box::new);
        match &step.what {
            What::Run(cycles) => event.numbers = Numbers::Cycles(self.cycles(cycles)?),
            What::Counted(_, amount) => event.amount = *amount,
            What::Timer { period_ns, name, absolute } => {
                (event.amount, event.is_absolute) = (*period_ns, *absolute);
                (event.object, event.other) = self.timer(name.as_ref());
            }
            What::On(verb, name) => event.object = find(kind_of(*verb), name)?,
            What::Wait { condition, mutex } => {
                event.object = find(ObjectKind::Condition, condition)?;
                event.other = Some(find(ObjectKind::Mutex, mutex)?);
            }
            What::Suspend => event.object = self.suspended(&self.table.name)?,
            What::Resume(task) => event.object = self.suspended(task)?,
            What::Pass(_, port, count) => {
                (event.object, event.amount) = (self.port(port.get_ref()), u64::from(*count));
            }
            What::Migrate(cores) => {
                let cores = cores.iter().map(|core| *core.get_ref()).collect();
                event.numbers = Numbers::Cores(cores);
            }
            What::Plain(_) | What::Loop { .. } => {}
        }
        Ok(event)
    }

    fn cycles(&self, table: &Spanned<CyclesTable>) -> Result<Cycles, Box<Problem>> {
        let name = self.table.name.get_ref();
        let value = |amount| cycles_value(amount, self.params, name).map_err(Box::new);
        Ok(match table.get_ref() {
            CyclesTable::Every(amount) => Cycles::Every(value(amount)?),
            CyclesTable::ByKind(kinds) => {
                let of_kind = |(kind, amount)| Ok((String::clone(kind), value(amount)?));
                let kinds = kinds.iter().map(|(kind, amount)| of_kind((kind, amount)));
                Cycles::ByKind(kinds.collect::<Result<_, Box<Problem>>>()?)
            }
        })
    }

    /// One of its own by its number, or one that is declared.
    fn timer(&mut self, name: Option<&'a Spanned<String>>) -> (u32, Option<u32>) {
        let name = name.map_or("", |name| name.get_ref().as_str());
        if let Some(shared) = self.positions.objects.get(&(ObjectKind::Timer, name)) {
            return (0, Some(*shared));
        }
        let next = position(self.timers.len());
        let number = *self.timers.entry(name).or_insert(next);
        self.script.timers = position(self.timers.len());
        (number, None)
    }

    fn suspended(&self, task: &Spanned<String>) -> Result<u32, Box<Problem>> {
        let name = task.get_ref();
        self.positions.suspended.get(name).copied().ok_or_else(|| {
            let known = self.positions.suspended.keys().map(String::as_str);
            let help = suggestion(name, known, || "add { suspend = true } to its script".into());
            let problem = Problem::new(format!("`{name}` never suspends itself"));
            Box::new(problem.at(task.span(), "this task").help(help))
        })
    }

    fn port(&mut self, name: &str) -> u32 {
        let ports = &mut self.script.ports;
        position(ports.iter().position(|known| known == name).unwrap_or_else(|| {
            ports.push(name.to_owned());
            ports.len() - 1
        }))
    }
}

fn verb_of(what: &What) -> Verb {
    match what {
        What::Run(_) => Verb::Run,
        What::Timer { .. } => Verb::Timer,
        What::Counted(verb, _) | What::On(verb, _) | What::Pass(verb, ..) | What::Plain(verb) => {
            *verb
        }
        What::Wait { .. } | What::Suspend => Verb::Wait,
        What::Resume(_) => Verb::Broadcast,
        What::Migrate(_) => Verb::Migrate,
        What::Loop { .. } => Verb::Loop,
    }
}

/// What an event is of.
pub(super) fn kind_of(verb: Verb) -> ObjectKind {
    match verb {
        Verb::Signal | Verb::Broadcast | Verb::Wait => ObjectKind::Condition,
        Verb::Barrier => ObjectKind::Barrier,
        Verb::Take | Verb::Give => ObjectKind::Semaphore,
        _ => ObjectKind::Mutex,
    }
}
