// SPDX-License-Identifier: Apache-2.0
//! Scripts as a helper takes them.

use crate::app::{Cycles, Event, NOTHING, Numbers, Script, Verb};
use crate::in_c::members;

members! {
    /// A script of a plan.
    pub struct PlanScript: "wb_script_config" {
        /// Its events, the last one `exit`.
        needed events: Vec<PlanEvent>;
        /// The ports that it sends and receives through.
        maybe ports: Vec<String>;
        /// The number of its timers.
        maybe timers: u32, "n_timers";
    }
}

members! {
    /// An event of a script; launcher.h says of each verb what the rest means.
    pub struct PlanEvent: "wb_script_event" {
        /// What happens.
        needed verb: Verb;
        /// A place: in `objects`, in the script's `ports`, of a timer, of a loop's counter.
        maybe object: u32;
        /// Another place; 2^32 - 1: none.
        maybe other: u32;
        /// Of a loop: each turn is a firing.
        maybe is_firing: bool;
        /// Of a timer: one that is late keeps its times.
        maybe is_absolute: bool;
        /// Whether a checkpoint follows.
        maybe is_checkpoint: bool;
        /// Nanoseconds, bytes, messages, turns or a priority.
        maybe amount: u64;
        /// Cycles by kind of core, or cores.
        maybe numbers: Vec<u64>;
        /// Where it stands, for messages.
        maybe place: String;
    }
}

pub(super) fn planned(script: &Script, kinds: &[&str]) -> PlanScript {
    PlanScript {
        events: script.events.iter().map(|event| planned_event(event, kinds)).collect(),
        ports: script.ports.clone(),
        timers: script.timers,
    }
}

fn planned_event(event: &Event, kinds: &[&str]) -> PlanEvent {
    let has_other = matches!(event.verb, Verb::Timer | Verb::Wait);
    PlanEvent {
        verb: event.verb,
        object: event.object,
        other: event.other.unwrap_or(if has_other { NOTHING } else { 0 }),
        is_firing: event.is_firing,
        is_absolute: event.is_absolute,
        is_checkpoint: event.is_checkpoint,
        amount: event.amount,
        numbers: numbers(&event.numbers, kinds),
        place: event.place.clone(),
    }
}

/// Cycles for each kind, or one for all; a kind that it does not run on has 0.
fn numbers(numbers: &Numbers, kinds: &[&str]) -> Vec<u64> {
    match numbers {
        Numbers::None => Vec::new(),
        Numbers::Cores(cores) => cores.iter().map(|core| u64::from(*core)).collect(),
        Numbers::Cycles(Cycles::Every(cycles)) => vec![*cycles],
        Numbers::Cycles(by_kind) => kinds.iter().map(|k| by_kind.on(k).unwrap_or(0)).collect(),
    }
}
