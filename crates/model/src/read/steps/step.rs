// SPDX-License-Identifier: Apache-2.0
//! The events of a script as they are written: each a table of one line.

use std::borrow::Cow;

use serde_json::json;
use toml::Spanned;
use toml::de::DeTable;

use super::time::time_ns;
use crate::app::Verb;
use crate::problem::{Problem, Span, suggestion};
use crate::read::cycles::CyclesTable;
use crate::reader::{Node, given, is_name, unsigned};
use crate::schema::Shape::{OneOrMore, Size, Text, Whole, Words};
use crate::schema::{Key, NAME, Noted, Read, Shape, Table, TableReader, words};

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
        let span = node.span();
        let Some(table) = node.get_ref().as_table() else {
            let problem = Problem::new("a script consists of events, each in braces");
            let problem = problem.at(span, "no event").help("write it as { run = 20000 }");
            noted.problems.push(problem);
            return None;
        };
        let is_loop = table.contains_key("do") || table.contains_key("loop");
        let known = EVENTS.iter().find(|event| table.contains_key(event.name()));
        let Some(event) = known.filter(|_| !is_loop).or(is_loop.then_some(&LOOP)) else {
            noted.problems.push(no_event(table, span));
            return None;
        };
        noted.in_event(event.name(), |noted| {
            let mut reader = TableReader::new(&event.keys, table, span.clone(), noted);
            let what = (event.read)(&mut reader);
            let is_right = reader.finish();
            what.filter(|_| is_right).map(|what| Self { what, span })
        })
    }
}

fn no_event(table: &DeTable<'_>, span: Span) -> Problem {
    let Some((key, _)) = table.iter().next() else {
        let problem = Problem::new("an event of a script is empty").at(span, "this one");
        return problem.help("write an event, for example { run = 20000 }");
    };
    let word: &Cow<'_, str> = key.get_ref();
    let keys = EVENTS.iter().map(Event::name);
    let help = suggestion(word, keys.clone().chain(["loop"]), || {
        format!("events are {}, loop", keys.collect::<Vec<_>>().join(", "))
    });
    Problem::new(format!("unknown event `{word}` of a script"))
        .at(key.span(), "this word")
        .help(help)
}

/// An event: its keys, of which the first one names it, and what it is.
struct Event {
    keys: Table,
    read: fn(&mut TableReader<'_, '_, '_>) -> Option<What>,
}

impl Event {
    fn name(&self) -> &'static str {
        // `phase` of a loop stands before it.
        self.keys.keys.iter().find(|key| key.needed).map_or("", |key| key.name)
    }
}

/// An event by its keys, each with an example: those with a default may be left out.
macro_rules! event {
    ($($says:literal: $key:ident = $example:tt, $shape:expr $(, default $default:tt)?);+
        => $read:expr) => {
        Event {
            keys: Table {
                keys: &[$(Key {
                    name: stringify!($key),
                    says: $says,
                    shape: $shape,
                    needed: event!(@needed $($default)?),
                    default: event!(@default $($default)?),
                    otherwise: None,
                    only: None,
                    example: stringify!($example),
                }),+],
                parts: &[],
            },
            read: $read,
        }
    };
    (@needed) => { true };
    (@needed $default:tt) => { false };
    (@default) => { None };
    (@default none) => { None };
    (@default $default:tt) => { Some(stringify!($default)) };
}

static EVENTS: [Event; 23] = [
    event!("Computes cycles": run = 20000, Shape::Cycles => |r| Some(What::Run(r.must()?))),
    event!("Computes until this time has passed, even if preempted": runtime = "5ms", TIME
        => |r| a_time(Verb::Runtime, r)),
    event!("Copies bytes within its heap": memory = "64KiB", Size(1, 1 << 40)
        => |r| Some(What::Counted(Verb::Memory, r.must()?.into_inner()))),
    event!("Sleeps": sleep = "5ms", TIME => |r| a_time(Verb::Sleep, r)),
    event!("Sleeps, and its timers count from the end": delay = "5ms", TIME
        => |r| a_time(Verb::Delay, r)),
    event!("Sleeps until this time after the timer's last time": timer = "10ms", TIME;
        "The timer": name = "t", NAME, default none;
        "Whether a late timer continues from now": mode = "relative",
            Words(TimerMode::WORDS), default "relative"
        => timer),
    event!("Locks a [[mutex]]": lock = "m", MUTEX => |r| on(Verb::Lock, r)),
    event!("Unlocks a [[mutex]]": unlock = "m", MUTEX => |r| on(Verb::Unlock, r)),
    event!("Waits for a [[condition]]": wait = "c", CONDITION;
        "The mutex that it holds": mutex = "m", HELD
        => wait),
    event!("Wakes the most urgent task that waits": signal = "c", CONDITION
        => |r| on(Verb::Signal, r)),
    event!("Wakes all tasks that wait": broadcast = "c", CONDITION => |r| on(Verb::Broadcast, r)),
    event!("Waits for all tasks of a [[barrier]]": barrier = "b", BARRIER
        => |r| on(Verb::Barrier, r)),
    event!("Takes a permit of a [[semaphore]]": take = "s", SEMAPHORE => |r| on(Verb::Take, r)),
    event!("Gives a permit of a [[semaphore]]": give = "s", SEMAPHORE => |r| on(Verb::Give, r)),
    event!("Waits until another task resumes it": suspend = true, YES
        => |r| r.must::<Yes>().map(|_| What::Suspend)),
    event!("Wakes all suspended tasks of a name": resume = "decoder", TASK
        => |r| Some(What::Resume(r.must()?))),
    event!("Sends messages through a port": send = "out", PORT;
        "The number of messages": count = 2, COUNT, default 1
        => |r| pass(Verb::Send, r)),
    event!("Receives messages through a port": receive = "in", PORT;
        "The number of messages": count = 2, COUNT, default 1
        => |r| pass(Verb::Receive, r)),
    event!("Lets tasks of its priority or a higher one run": yield = true, YES
        => |r| plain(Verb::Yield, r)),
    event!("Passes a checkpoint": checkpoint = true, YES => |r| plain(Verb::Checkpoint, r)),
    event!("Moves to a core; of several cores, stays if on one of them": migrate = 1,
        OneOrMore("a whole number from 0 to 4094, or an array of them", &Whole("", 0, 4094))
        => |r| Some(What::Migrate(r.must()?.into_inner()))),
    event!("Changes its priority": priority = 5, Whole("", 0, 31)
        => |r| Some(What::Counted(Verb::Priority, r.must::<u32>()?.into_inner().into()))),
    event!("Ends": exit = true, YES => |r| plain(Verb::Exit, r)),
];

static LOOP: Event = event!(
    "The loop's name": phase = "light", NAME, default none;
    "How often": loop = 10, Shape::Other(
        "how often, a whole number from 1, or \"forever\"",
        "int | str",
        || json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "forever" }] }),
    );
    "The events": do = [], Shape::List("an array of events", &NESTED, 1)
    => |r| {
        let (phase, times, body) = (r.optional(), r.must::<Times>(), r.must()?.into_inner());
        Some(What::Loop { phase, times: times?.into_inner().0, body })
    }
);

/// A script, for editors: the events of loops are those of the script.
pub(crate) const SCRIPT: Shape = Shape::Other(
    "an array of events, for example [{ run = 20000 }]",
    "tuple[dict[str, Any], ...]",
    || {
        let events: Vec<_> = EVENTS.iter().chain([&LOOP]).map(|it| it.keys.json()).collect();
        json!({ "type": "array", "items": { "anyOf": events } })
    },
);
const NESTED: Shape = Shape::Other(
    "an event",
    "dict[str, Any]",
    || json!({ "$ref": "#/properties/task/items/properties/script/items" }),
);

const ANY_NAME: &str = "^[A-Za-z0-9_]{1,31}$";
const TIME: Shape = Text(super::time::TIME, |text| text.is_ascii(), "^[0-9.]+ *(ns|us|ms|s)$");
const MUTEX: Shape = Text("the name of a mutex", is_name, ANY_NAME);
const HELD: Shape = Text("the name of a mutex that it holds", is_name, ANY_NAME);
const CONDITION: Shape = Text("the name of a condition", is_name, ANY_NAME);
const BARRIER: Shape = Text("the name of a barrier", is_name, ANY_NAME);
const SEMAPHORE: Shape = Text("the name of a semaphore", is_name, ANY_NAME);
const TASK: Shape = Text("the name of a task", |_| true, "");
const PORT: Shape = Text("the name of a port of this task", is_name, ANY_NAME);
const COUNT: Shape = Whole("messages", 1, u32::MAX as u64);
const YES: Shape = Shape::Other("true", "bool", || json!({ "const": true }));

words! {
    /// What becomes of a timer that is late.
    #[derive(Default)]
    enum TimerMode {
        #[default]
        Relative = "relative";
        Absolute = "absolute";
    }
}

/// How often; 0: for ever.
struct Times(u64);

impl Read for Times {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        match node.get_ref().as_str() {
            Some("forever") => Some(Self(0)),
            Some(_) => None,
            None => unsigned(node).filter(|n| *n > 0).map(Self),
        }
    }
}

struct Time(u64);

impl Read for Time {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        time_ns(node).map(Self)
    }
}

/// `true`: the event has nothing more to say.
struct Yes;

impl Read for Yes {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        node.get_ref().as_bool().filter(|it| *it).map(|_| Self)
    }
}

fn a_time(verb: Verb, reader: &mut TableReader<'_, '_, '_>) -> Option<What> {
    Some(What::Counted(verb, reader.must::<Time>()?.into_inner().0))
}

fn on(verb: Verb, reader: &mut TableReader<'_, '_, '_>) -> Option<What> {
    Some(What::On(verb, reader.must()?))
}

fn wait(reader: &mut TableReader<'_, '_, '_>) -> Option<What> {
    let (condition, mutex) = (reader.must(), reader.must());
    Some(What::Wait { condition: condition?, mutex: mutex? })
}

fn pass(verb: Verb, reader: &mut TableReader<'_, '_, '_>) -> Option<What> {
    let (port, count) = (reader.must(), reader.optional::<u32>());
    Some(What::Pass(verb, port?, count.map_or(1, Spanned::into_inner)))
}

fn plain(verb: Verb, reader: &mut TableReader<'_, '_, '_>) -> Option<What> {
    reader.must::<Yes>().map(|_| What::Plain(verb))
}

fn timer(reader: &mut TableReader<'_, '_, '_>) -> Option<What> {
    let (period, name) = (reader.must::<Time>(), reader.optional());
    let mode = reader.optional::<TimerMode>();
    Some(What::Timer {
        period_ns: period?.into_inner().0,
        name,
        absolute: given(&mode) == TimerMode::Absolute,
    })
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
    use toml::de::DeValue;

    #[test]
    fn every_event_is_what_its_key_says() {
        for event in &EVENTS {
            let keys: Vec<_> = event.keys.keys.iter().collect();
            let keys = keys.iter().map(|key| format!("{} = {}", key.name, key.example));
            let text = format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "));
            let mut noted = Noted::of(&text);
            let node = DeValue::parse(&text).unwrap();
            let step = Step::read(&SCRIPT, &node, &mut noted);
            assert_eq!(noted.problems, [], "{text}");
            assert_eq!(step.unwrap().what.said().split(' ').next(), Some(event.name()));
        }
    }
}
