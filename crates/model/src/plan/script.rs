// SPDX-License-Identifier: Apache-2.0
//! Scripts as a helper takes them.

use serde::Serialize;

use super::is_default;
use crate::app::{Cycles, Event, NOTHING, Numbers, Script, Verb};

/// A script of a plan.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct PlanScript {
    pub events: Vec<PlanEvent>,
    #[serde(skip_serializing_if = "is_default")]
    pub ports: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub timers: u32,
}

/// An event of it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct PlanEvent {
    pub verb: Verb,
    #[serde(skip_serializing_if = "is_default")]
    pub object: u32,
    /// 2^32 - 1: none.
    #[serde(skip_serializing_if = "is_default")]
    pub other: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub is_firing: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub is_absolute: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub is_checkpoint: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub amount: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub numbers: Vec<u64>,
    #[serde(skip_serializing_if = "is_default")]
    pub place: String,
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
