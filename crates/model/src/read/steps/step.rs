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
use crate::schema::{Noted, Read, Shape};

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

impl Read for Step {
    fn read(_: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        step(node, &mut noted.problems)
    }
}

/// The steps of an array; what is no event is noted. `None`: it is no array.
fn steps(node: &Node<'_>, problems: &mut Vec<Problem>) -> Option<Vec<Step>> {
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
    let Some((key, read)) = EVENTS.into_iter().find(|(key, _)| table.contains_key(*key)) else {
        problems.push(no_event(table, span));
        return None;
    };
    let title = format!("the event `{key}`");
    let mut reader = Reader::new(&title, table, span, problems);
    let what = read(key, &mut reader);
    reader.finish(what)
}

fn no_event(table: &DeTable<'_>, span: Span) -> Problem {
    let Some((key, _)) = table.iter().next() else {
        let problem = Problem::new("an event of a script is empty").at(span, "this one");
        return problem.help("write what happens, as { run = 20000 }");
    };
    let word: &Cow<'_, str> = key.get_ref();
    let keys = EVENTS.map(|(key, _)| key);
    let known = keys.into_iter().chain(["loop"]);
    let help = suggestion(word, known, || format!("events are {}, loop", keys.join(", ")));
    Problem::new(format!("`{word}` is no event of a script")).at(key.span(), "this word").help(help)
}

/// Reads the value of a key, and what else the event has.
type Reading = fn(&'static str, &mut Reader<'_, '_>) -> What;

/// The key that says what an event is, and how it is read.
const EVENTS: [(&str, Reading); 23] = [
    ("run", |key, reader| What::Run(reader.must(key, CYCLES, cycles))),
    ("runtime", |key, reader| a_time(Verb::Runtime, key, reader)),
    ("memory", memory),
    ("sleep", |key, reader| a_time(Verb::Sleep, key, reader)),
    ("delay", |key, reader| a_time(Verb::Delay, key, reader)),
    ("timer", timer),
    ("lock", |key, reader| on(Verb::Lock, "mutex", key, reader)),
    ("unlock", |key, reader| on(Verb::Unlock, "mutex", key, reader)),
    ("wait", wait),
    ("signal", |key, reader| on(Verb::Signal, "condition", key, reader)),
    ("broadcast", |key, reader| on(Verb::Broadcast, "condition", key, reader)),
    ("barrier", |key, reader| on(Verb::Barrier, "barrier", key, reader)),
    ("take", |key, reader| on(Verb::Take, "semaphore", key, reader)),
    ("give", |key, reader| on(Verb::Give, "semaphore", key, reader)),
    ("suspend", |key, reader| plain(What::Suspend, key, reader)),
    ("resume", |key, reader| What::Resume(reader.must(key, "the name of a task", text))),
    ("send", |key, reader| pass(Verb::Send, key, reader)),
    ("receive", |key, reader| pass(Verb::Receive, key, reader)),
    ("yield", |key, reader| plain(What::Plain(Verb::Yield), key, reader)),
    ("checkpoint", |key, reader| plain(What::Plain(Verb::Checkpoint), key, reader)),
    ("migrate", |key, reader| What::Migrate(reader.must(key, CORES, core_list).into_inner())),
    ("priority", priority),
    ("exit", |key, reader| plain(What::Plain(Verb::Exit), key, reader)),
];

const BYTES: &str = "a size as \"64KiB\" or a number of bytes, from 1 to \"1024GiB\"";
const COUNT: &str = "a whole number of messages, from 1 to 4294967295";
const CORES: &str = "a whole number from 0 to 4094, or an array of such";

fn a_time(verb: Verb, key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    What::Counted(verb, reader.must(key, TIME, time_ns).into_inner())
}

fn memory(key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    let size = |node: &Node<'_>| bytes(node).filter(|size| (1..=1 << 40).contains(size));
    What::Counted(Verb::Memory, reader.must(key, BYTES, size).into_inner())
}

fn priority(key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    let urgency = reader.must(key, "a whole number from 0 to 31", |n| within(n, 0, 31));
    What::Counted(Verb::Priority, urgency.into_inner().into())
}

fn on(verb: Verb, what: &str, key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    What::On(verb, reader.must(key, &format!("the name of a {what}"), name))
}

fn wait(key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    What::Wait {
        condition: reader.must(key, "the name of a condition", name),
        mutex: reader.must("mutex", "the name of a mutex that it holds", name),
    }
}

fn pass(verb: Verb, key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    let port = reader.must(key, "the name of a port of this task", name);
    What::Pass(verb, port, reader.or("count", COUNT, |n| within(n, 1, u32::MAX), 1))
}

fn plain(what: What, key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    reader.must(key, "true", |node| boolean(node).filter(|it| *it));
    what
}

fn timer(key: &'static str, reader: &mut Reader<'_, '_>) -> What {
    let absolute = |node: &Node<'_>| match node.get_ref().as_str()? {
        "relative" => Some(false),
        "absolute" => Some(true),
        _ => None,
    };
    What::Timer {
        period_ns: reader.must(key, TIME, time_ns).into_inner(),
        name: reader.optional("name", "1 to 31 letters, digits and _", name),
        absolute: reader.or("mode", "\"relative\" or \"absolute\"", absolute, false),
    }
}

impl What {
    /// What a person calls it, as `lock m`.
    pub fn said(&self) -> String {
        match self {
            Self::Run(_) => "run".into(),
            Self::Counted(of, _) | Self::Plain(of) => of.word().into(),
            Self::Timer { .. } => "timer".into(),
            Self::On(of, name) | Self::Pass(of, name, _) => {
                format!("{of} {}", name.get_ref())
            }
            Self::Wait { condition, .. } => format!("wait {}", condition.get_ref()),
            Self::Suspend => "suspend".into(),
            Self::Resume(task) => format!("resume {}", task.get_ref()),
            Self::Migrate(_) => "migrate".into(),
            Self::Loop { .. } => "loop".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::document;

    #[test]
    fn every_event_is_what_its_key_says() {
        for (key, read) in EVENTS {
            let text = format!("{key} = 1");
            let (table, mut problems) = (document(&text).unwrap(), Vec::new());
            let mut reader = Reader::new("an event", &table, 0..0, &mut problems);
            assert_eq!(read(key, &mut reader).said().split(' ').next(), Some(key));
        }
    }
}
