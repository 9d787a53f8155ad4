// SPDX-License-Identifier: Apache-2.0
//! Scripts: what a task does, one event after the other.

use super::Cycles;
use crate::in_c::members;
use crate::schema::words;

words! {
    /// What happens in an event; see `wb/launcher.h`.
    #[expect(missing_docs, reason = "the words of the file")]
    pub enum Verb {
        Run = "run", "WB_SCRIPT_RUN";
        Runtime = "runtime", "WB_SCRIPT_RUNTIME";
        Memory = "memory", "WB_SCRIPT_MEMORY";
        Sleep = "sleep", "WB_SCRIPT_SLEEP";
        Delay = "delay", "WB_SCRIPT_DELAY";
        Timer = "timer", "WB_SCRIPT_TIMER";
        Lock = "lock", "WB_SCRIPT_LOCK";
        Unlock = "unlock", "WB_SCRIPT_UNLOCK";
        Wait = "wait", "WB_SCRIPT_WAIT";
        Signal = "signal", "WB_SCRIPT_SIGNAL";
        Broadcast = "broadcast", "WB_SCRIPT_BROADCAST";
        Barrier = "barrier", "WB_SCRIPT_BARRIER";
        Take = "take", "WB_SCRIPT_TAKE";
        Give = "give", "WB_SCRIPT_GIVE";
        Send = "send", "WB_SCRIPT_SEND";
        Receive = "receive", "WB_SCRIPT_RECEIVE";
        Yield = "yield", "WB_SCRIPT_YIELD";
        Checkpoint = "checkpoint", "WB_SCRIPT_CHECKPOINT";
        Migrate = "migrate", "WB_SCRIPT_MIGRATE";
        Priority = "priority", "WB_SCRIPT_PRIORITY";
        Exit = "exit", "WB_SCRIPT_EXIT";
        Loop = "loop", "WB_SCRIPT_LOOP";
        End = "end", "WB_SCRIPT_END";
    }
}

/// No object: the rest is what it is without one.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What an event counts by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbers {
    /// Nothing.
    None,
    /// What it computes.
    Cycles(Cycles),
    /// The cores that it is for.
    Cores(Vec<u32>),
}

/// One event. Loops are two: their begin and their end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happens.
    pub verb: Verb,
    /// A position: in [`super::App::objects`], in [`Script::ports`], of a timer, of a loop's
    /// counter.
    pub object: u32,
    /// Another: the mutex of a wait, a shared timer, the other end of a loop; or none.
    pub other: Option<u32>,
    /// Of a loop: each turn is a firing.
    pub is_firing: bool,
    /// Of a timer: one that is late does not begin anew.
    pub is_absolute: bool,
    /// The task passes a checkpoint after it.
    pub is_checkpoint: bool,
    /// Nanoseconds, bytes, messages, turns or a priority.
    pub amount: u64,
    /// What else it counts by.
    pub numbers: Numbers,
    /// Where it stands, for messages.
    pub place: String,
}

/// The script of a `[[task]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The last one is [`Verb::Exit`].
    pub events: Vec<Event>,
    /// The ports that it names.
    pub ports: Vec<String>,
    /// How many timers it has of its own.
    pub timers: u32,
}

impl Script {
    /// No fewer messages than it receives through a port between two checkpoints: those of its
    /// largest event, or, where only some events are checkpoints, of one go through all of it, with
    /// every turn of the loops that have none. `u64::MAX`: there is no end of them.
    pub fn messages_per_checkpoint(&self, port: &str) -> u64 {
        let is_it = |event: &Event| {
            event.verb == Verb::Receive && self.ports[event.object as usize] == port
        };
        if !has_checkpoint(&self.events) {
            let counts = self.events.iter().filter(|event| is_it(event)).map(|event| event.amount);
            return counts.max().unwrap_or(0);
        }
        let mut turns = vec![1_u64];
        let mut sum = 0_u64;
        for (at, event) in self.events.iter().enumerate() {
            let here = turns.last().copied().unwrap_or(1);
            match event.verb {
                Verb::Loop => turns.push(here.saturating_mul(self.turns_unmarked(at, event))),
                Verb::End => {
                    turns.pop();
                }
                _ if is_it(event) => sum = sum.saturating_add(here.saturating_mul(event.amount)),
                _ => {}
            }
        }
        sum
    }

    /// How often the loop that begins here turns between two checkpoints.
    fn turns_unmarked(&self, at: usize, begin: &Event) -> u64 {
        let end = begin.other.map_or(at, |end| end as usize);
        match begin.amount {
            _ if has_checkpoint(&self.events[at..end]) => 1,
            0 => u64::MAX,
            times => times,
        }
    }

    /// How often it fires where a timer ends each turn of its only phase or outermost loop, in
    /// nanoseconds; `None`: that is not known.
    pub fn period_ns(&self) -> Option<u64> {
        let mut firing = self.events.iter().filter(|event| event.is_firing);
        let (begin, end, more) = (firing.next()?, firing.next()?, firing.next());
        let turn = self.events.get(end.other? as usize..begin.other? as usize)?;
        let of_loop = |event: &&Event| event.verb == Verb::Loop && !event.is_firing;
        let mut timers = turn.iter().filter(|event| event.verb == Verb::Timer);
        let timer = timers.next().filter(|timer| timer.amount > 0)?;
        let is_plain =
            more.is_none() && timers.next().is_none() && !turn.iter().any(|e| of_loop(&e));
        is_plain.then_some(timer.amount)
    }
}

fn has_checkpoint(events: &[Event]) -> bool {
    events.iter().any(|event| event.verb == Verb::Checkpoint)
}

words! {
    /// What is common to scripts.
    #[derive(Hash)]
    #[expect(missing_docs, reason = "the words of the file")]
    pub enum ObjectKind {
        Mutex = "mutex", "WB_OBJECT_MUTEX";
        Condition = "condition", "WB_OBJECT_CONDITION";
        Barrier = "barrier", "WB_OBJECT_BARRIER";
        Semaphore = "semaphore", "WB_OBJECT_SEMAPHORE";
        Timer = "timer", "WB_OBJECT_TIMER";
    }
}

members! {
    /// One such thing.
    #[derive(PartialEq, Eq)]
    pub struct Object: "wb_object_config" {
        /// Its name, among those of its kind.
        needed name: String;
        /// What it is.
        needed kind: ObjectKind;
        /// Of a semaphore, at the start; of a barrier: its tasks.
        maybe value: u32;
        /// Of a semaphore: it never has more.
        maybe most: u32;
    }
}

/// What a firing computes on average, where one turn of an endless loop stands for all of them;
/// `None`: nothing that could be told in cycles.
pub(crate) fn cycles_of_firing(events: &[Event]) -> Option<Cycles> {
    let mut turns = vec![1_u64];
    let mut firings = 0_u64;
    let mut sum: Option<Cycles> = None;

    for event in events {
        let here = turns.last().copied().unwrap_or(1);
        match (event.verb, &event.numbers) {
            (Verb::Loop, _) => {
                let inside = here.saturating_mul(event.amount.max(1));
                firings = firings.saturating_add(if event.is_firing { inside } else { 0 });
                turns.push(inside);
            }
            (Verb::End, _) => {
                turns.pop();
            }
            (Verb::Run, Numbers::Cycles(cycles)) => {
                let more = scaled(cycles, |n| n.saturating_mul(here));
                sum = Some(sum.map_or(more.clone(), |sum| added(&sum, &more)));
            }
            _ => {}
        }
    }
    sum.map(|sum| scaled(&sum, |n| (n / firings.max(1)).clamp(1, 1 << 48)))
}

fn scaled(cycles: &Cycles, scale: impl Fn(u64) -> u64) -> Cycles {
    match cycles {
        Cycles::Every(n) => Cycles::Every(scale(*n)),
        Cycles::ByKind(all) => {
            Cycles::ByKind(all.iter().map(|(kind, n)| (kind.clone(), scale(*n))).collect())
        }
    }
}

/// On the kinds that have both.
fn added(a: &Cycles, b: &Cycles) -> Cycles {
    match (a, b) {
        (Cycles::Every(a), Cycles::Every(b)) => Cycles::Every(a.saturating_add(*b)),
        (Cycles::ByKind(kinds), other) | (other, Cycles::ByKind(kinds)) => {
            let sum = |(kind, n): &(String, u64)| {
                other.on(kind).map(|more| (kind.clone(), n.saturating_add(more)))
            };
            Cycles::ByKind(kinds.iter().filter_map(sum).collect())
        }
    }
}
