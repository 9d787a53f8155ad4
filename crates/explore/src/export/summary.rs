// SPDX-License-Identifier: Apache-2.0
//! `front.json`: what was explored, and the fronts with everything that is known of their members.

use serde_json::{Value, json};

use crate::result::{Entry, Exploration, RateResult};
use crate::system::System;
use crate::text::Words;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// The fronts of all frame rates.
pub fn json(system: &System, exploration: &Exploration) -> Value {
    json!({
        "version": VERSION,
        "app": system.app,
        "platform": system.platform,
        "settings": exploration.settings,
        "objectives": exploration.objectives,
        "tolerance": exploration.tolerance,
        "complete": exploration.complete(),
        "rates": exploration.rates.iter().map(|rate| of_rate(system, rate)).collect::<Vec<_>>(),
    })
}

fn of_rate(system: &System, rate: &RateResult) -> Value {
    json!({
        "rate": per_second(rate.rate_millihz),
        "method": rate.method,
        "complete": rate.complete,
        "ran": rate.ran,
        "bounded": rate.bounded,
        "failed": rate.failed,
        "first_failure": rate.first_failed.as_ref().map(|(candidate, why)| json!({
            "mapping": Words(system).mapping(candidate),
            "slots": Words(system).slots(candidate),
            "why": why,
        })),
        "front": rate.front.iter().map(|entry| member(system, entry)).collect::<Vec<_>>(),
    })
}

fn member(system: &System, entry: &Entry) -> Value {
    let Entry { id, candidate, outcome, .. } = entry;
    let hz = |core: usize| candidate.available[core].then(|| Words(system).hz(candidate, core));
    let tasks = system.tasks.iter().zip(&candidate.mapping);
    let channels = system.channels.iter().zip(candidate.slots.iter().zip(&candidate.ways));
    json!({
        "id": id,
        "policy": candidate.policy,
        "mapping": tasks.map(|(task, core)| json!({
            "task": task.name, "index": task.index, "core": core,
        })).collect::<Vec<_>>(),
        "hz": (0..system.cores.len()).map(hz).collect::<Vec<_>>(),
        "slots": channels.map(|(channel, (slots, way))| json!({
            "channel": channel.name, "slots": slots, "way": way.to_string(),
        })).collect::<Vec<_>>(),
        "outcome": outcome,
        "power_mw": outcome.power_mw(),
        "energy_per_frame_mj": outcome.energy_per_frame_mj(),
        "energy_per_task_mj": outcome.energy_per_task_mj(),
    })
}

/// Frames per second; `null`: there is no rate.
#[expect(clippy::cast_precision_loss, reason = "a rate is at most 1e12 thousandths")]
pub(crate) fn per_second(millihz: u64) -> Option<f64> {
    (millihz > 0).then(|| millihz as f64 / 1e3)
}
