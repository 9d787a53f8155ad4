// SPDX-License-Identifier: Apache-2.0
//! The events of a script as they are written: each a table of one line.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::DeTable;

use super::time::{TIME, time_ns};
use crate::app::Verb;
use crate::problem::{Problem, Span, suggestion};
use crate::read::cycles::{CYCLES, CyclesTable, cycles};
use crate::reader::{
    Node, Reader, boolean, bytes, core_list, from_word, name, text, unsigned, within,
};

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
    let times = reader.must("loop", TIMES, times).into_inner();
    let body = reader.must("do", "an array of events", |node| {
        steps(node, &mut inside)
            .filter(|_| node.get_ref().as_array().is_some_and(|it| !it.is_empty()))
    });
    let what = reader.finish(What::Loop { phase, times, body: body.into_inner() });
    problems.extend(inside);
    what
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
    reader.finish(what)
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

fn of_verb(verb: &'static str, reader: &mut Reader<'_, '_>) -> What {
    let of = from_word(verb).unwrap_or(Verb::Migrate);
    let on = |what: &str, reader: &mut Reader<'_, '_>| {
        What::On(of, reader.must(verb, &format!("the name of a {what}"), name))
    };
    match verb {
        "run" => What::Run(reader.must(verb, CYCLES, cycles)),
        "runtime" | "sleep" | "delay" => {
            What::Counted(of, reader.must(verb, TIME, time_ns).into_inner())
        }
        "memory" => {
            let size = |node: &Node<'_>| bytes(node).filter(|size| (1..=1 << 40).contains(size));
            What::Counted(of, reader.must(verb, BYTES, size).into_inner())
        }
        "priority" => {
            let urgency = reader.must(verb, "a whole number from 0 to 31", |n| within(n, 0, 31));
            What::Counted(of, urgency.into_inner().into())
        }
        "timer" => timer(reader),
        "lock" | "unlock" => on("mutex", reader),
        "signal" | "broadcast" => on("condition", reader),
        "barrier" => on("barrier", reader),
        "take" | "give" => on("semaphore", reader),
        "wait" => What::Wait {
            condition: reader.must(verb, "the name of a condition", name),
            mutex: reader.must("mutex", "the name of a mutex that it holds", name),
        },
        "send" | "receive" => {
            let port = reader.must(verb, "the name of a port of this task", name);
            What::Pass(of, port, reader.or("count", COUNT, |n| within(n, 1, u32::MAX), 1))
        }
        "resume" => What::Resume(reader.must(verb, "the name of a task", text)),
        "suspend" | "yield" | "checkpoint" | "exit" => {
            reader.must(verb, WORD, |node| boolean(node).filter(|it| *it));
            if verb == "suspend" { What::Suspend } else { What::Plain(of) }
        }
        _ => What::Migrate(reader.must(verb, CORES, core_list).into_inner()),
    }
}

fn timer(reader: &mut Reader<'_, '_>) -> What {
    let absolute = |node: &Node<'_>| match node.get_ref().as_str()? {
        "relative" => Some(false),
        "absolute" => Some(true),
        _ => None,
    };
    What::Timer {
        period_ns: reader.must("timer", TIME, time_ns).into_inner(),
        name: reader.optional("name", "1 to 31 letters, digits and _", name),
        absolute: reader.or("mode", "\"relative\" or \"absolute\"", absolute, false),
    }
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
