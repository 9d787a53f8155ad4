// SPDX-License-Identifier: Apache-2.0
//! The events of a script as they are written: each a table of one line.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::DeTable;

use super::time::{TIME, time_ns};
use crate::app::Verb;
use crate::problem::{Problem, Span, suggestion};
use crate::read::cycles::{CYCLES, CyclesTable, cycles};
use crate::reader::{Node, Reader, boolean, bytes, core_list, name, text, unsigned, within};

/// An event, or a loop of such.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub what: What,
    /// Its table.
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Run(Spanned<CyclesTable>),
    /// Those that are a number: of nanoseconds, of bytes, a priority.
    Counted(Verb, u64),
    Timer {
        period_ns: u64,
        name: Option<Spanned<String>>,
        absolute: bool,
    },
    /// Those of a mutex, a condition, a barrier or a semaphore.
    On(Verb, Spanned<String>),
    Wait {
        condition: Spanned<String>,
        mutex: Spanned<String>,
    },
    Suspend,
    Resume(Spanned<String>),
    /// Messages through a port.
    Pass(Verb, Spanned<String>, u32),
    Plain(Verb),
    Migrate(Vec<Spanned<u32>>),
    /// `times`: 0 for ever.
    Loop {
        phase: Option<Spanned<String>>,
        times: u64,
        body: Vec<Step>,
    },
}

/// The key that says what an event is.
const VERBS: [&str; 23] = [
    "run",
    "runtime",
    "memory",
    "sleep",
    "delay",
    "timer",
    "lock",
    "unlock",
    "wait",
    "signal",
    "broadcast",
    "barrier",
    "take",
    "give",
    "suspend",
    "resume",
    "send",
    "receive",
    "yield",
    "checkpoint",
    "migrate",
    "priority",
    "exit",
];

/// Where the lines of a text end.
#[derive(Debug, Clone)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a place, from 1.
    pub fn at(&self, place: usize) -> usize {
        self.0.partition_point(|end| *end < place) + 1
    }
}

/// The steps of an array; what is no event is noted. `None`: it is no array.
pub(crate) fn steps(node: &Node<'_>, problems: &mut Vec<Problem>) -> Option<Vec<Step>> {
    let events = node.get_ref().as_array()?.iter();
    Some(events.filter_map(|event| step(event, problems)).collect())
}

fn step(node: &Node<'_>, problems: &mut Vec<Problem>) -> Option<Step> {
    let span = node.span();
    let Some(table) = node.get_ref().as_table() else {
        let problem = Problem::new("a script consists of events, each in braces");
        problems.push(problem.at(span, "no event").help("write it as { run = 20000 }"));
        return None;
    };
    let what = if table.contains_key("do") || table.contains_key("loop") {
        a_loop(table, span.clone(), problems)?
    } else {
        event(table, span.clone(), problems)?
    };
    Some(Step { what, span })
}

fn a_loop(table: &DeTable<'_>, span: Span, problems: &mut Vec<Problem>) -> Option<What> {
    const TIMES: &str = "how often, a whole number from 1, or \"forever\"";
    let times = |node: &Node<'_>| match node.get_ref().as_str() {
        Some("forever") => Some(0),
        Some(_) => None,
        None => unsigned(node).filter(|n| *n > 0),
    };
    let mut inside = Vec::new();
    let mut reader = Reader::new("a loop", table, span, problems);
    let phase = reader.optional("phase", "1 to 31 letters, digits and _", name);
    let times = reader.required("loop", TIMES, times);
    let body = reader.required("do", "an array of events", |node| {
        steps(node, &mut inside)
            .filter(|_| node.get_ref().as_array().is_some_and(|it| !it.is_empty()))
    });
    reader.finish();
    problems.extend(inside);
    Some(What::Loop { phase, times: times?.into_inner(), body: body?.into_inner() })
}

fn event(table: &DeTable<'_>, span: Span, problems: &mut Vec<Problem>) -> Option<What> {
    let is_verb = |key: &&str| table.contains_key(*key);
    let Some(verb) = VERBS.into_iter().find(is_verb) else {
        problems.push(no_event(table, span));
        return None;
    };
    let title = format!("the event `{verb}`");
    let mut reader = Reader::new(&title, table, span, problems);
    let what = of_verb(verb, &mut reader);
    reader.finish();
    what
}

fn no_event(table: &DeTable<'_>, span: Span) -> Problem {
    let Some((key, _)) = table.iter().next() else {
        let problem = Problem::new("an event of a script is empty").at(span, "this one");
        return problem.help("write what happens, as { run = 20000 }");
    };
    let word: &Cow<'_, str> = key.get_ref();
    let known = VERBS.into_iter().chain(["loop"]);
    let help = suggestion(word, known, || format!("events are {}, loop", VERBS.join(", ")));
    Problem::new(format!("`{word}` is no event of a script")).at(key.span(), "this word").help(help)
}

const BYTES: &str = "a size as \"64KiB\" or a number of bytes, from 1 to \"1024GiB\"";
const COUNT: &str = "a whole number of messages, from 1 to 4294967295";
const CORES: &str = "a whole number from 0 to 4094, or an array of such";
const WORD: &str = "true";

fn of_verb(verb: &'static str, reader: &mut Reader<'_, '_>) -> Option<What> {
    let on = |of: Verb, what: &str, reader: &mut Reader<'_, '_>| {
        Some(What::On(of, reader.required(verb, &format!("the name of a {what}"), name)?))
    };
    let time = |of: Verb, reader: &mut Reader<'_, '_>| {
        Some(What::Counted(of, reader.required(verb, TIME, time_ns)?.into_inner()))
    };
    let plain = |what: What, reader: &mut Reader<'_, '_>| {
        reader.required(verb, WORD, |node| boolean(node).filter(|it| *it)).map(|_| what)
    };
    match verb {
        "run" => Some(What::Run(reader.required(verb, CYCLES, cycles)?)),
        "runtime" => time(Verb::Runtime, reader),
        "sleep" => time(Verb::Sleep, reader),
        "delay" => time(Verb::Delay, reader),
        "memory" => {
            let size = |node: &Node<'_>| bytes(node).filter(|size| (1..=1 << 40).contains(size));
            Some(What::Counted(Verb::Memory, reader.required(verb, BYTES, size)?.into_inner()))
        }
        "priority" => {
            let urgency =
                reader.required(verb, "a whole number from 0 to 31", |n| within(n, 0, 31));
            Some(What::Counted(Verb::Priority, urgency?.into_inner().into()))
        }
        "timer" => timer(reader),
        "lock" => on(Verb::Lock, "mutex", reader),
        "unlock" => on(Verb::Unlock, "mutex", reader),
        "signal" => on(Verb::Signal, "condition", reader),
        "broadcast" => on(Verb::Broadcast, "condition", reader),
        "barrier" => on(Verb::Barrier, "barrier", reader),
        "take" => on(Verb::Take, "semaphore", reader),
        "give" => on(Verb::Give, "semaphore", reader),
        "wait" => {
            let condition = reader.required(verb, "the name of a condition", name);
            let mutex = reader.required("mutex", "the name of a mutex that it holds", name);
            Some(What::Wait { condition: condition?, mutex: mutex? })
        }
        "send" => pass(verb, Verb::Send, reader),
        "receive" => pass(verb, Verb::Receive, reader),
        "resume" => Some(What::Resume(reader.required(verb, "the name of a task", text)?)),
        "suspend" => plain(What::Suspend, reader),
        "yield" => plain(What::Plain(Verb::Yield), reader),
        "checkpoint" => plain(What::Plain(Verb::Checkpoint), reader),
        "exit" => plain(What::Plain(Verb::Exit), reader),
        _ => Some(What::Migrate(reader.required(verb, CORES, core_list)?.into_inner())),
    }
}

fn timer(reader: &mut Reader<'_, '_>) -> Option<What> {
    let absolute = |node: &Node<'_>| match node.get_ref().as_str()? {
        "relative" => Some(false),
        "absolute" => Some(true),
        _ => None,
    };
    let period_ns = reader.required("timer", TIME, time_ns);
    let name = reader.optional("name", "1 to 31 letters, digits and _", name);
    let mode = reader.optional("mode", "\"relative\" or \"absolute\"", absolute);
    let absolute = mode.is_some_and(Spanned::into_inner);
    Some(What::Timer { period_ns: period_ns?.into_inner(), name, absolute })
}

fn pass(key: &'static str, verb: Verb, reader: &mut Reader<'_, '_>) -> Option<What> {
    let port = reader.required(key, "the name of a port of this task", name);
    let count = reader.optional("count", COUNT, |n| within(n, 1, u32::MAX));
    Some(What::Pass(verb, port?, count.map_or(1, Spanned::into_inner)))
}

impl What {
    /// What a person calls it, as `lock m`.
    pub fn said(&self) -> String {
        let verb = |verb: &Verb| format!("{verb:?}").to_lowercase();
        match self {
            Self::Run(_) => "run".into(),
            Self::Counted(of, _) | Self::Plain(of) => verb(of),
            Self::Timer { .. } => "timer".into(),
            Self::On(of, name) | Self::Pass(of, name, _) => {
                format!("{} {}", verb(of), name.get_ref())
            }
            Self::Wait { condition, .. } => format!("wait {}", condition.get_ref()),
            Self::Suspend => "suspend".into(),
            Self::Resume(task) => format!("resume {}", task.get_ref()),
            Self::Migrate(_) => "migrate".into(),
            Self::Loop { .. } => "loop".into(),
        }
    }
}
