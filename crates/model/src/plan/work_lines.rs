// SPDX-License-Identifier: Apache-2.0
//! The lines of a plan that say of what kind cores are, and what tasks compute there.

use super::{Lines, PlanOptions};
use crate::app::{App, Compute, Cycles, HOST_KIND, Task, Work};

/// A line for each core. Returns the kinds, in the order of their numbers.
pub(crate) fn cores<'o>(options: &'o PlanOptions, lines: &mut Lines) -> Vec<&'o str> {
    let mut kinds: Vec<&str> = Vec::new();
    for (core, cpu) in options.cpus.iter().enumerate() {
        let kind = options.kinds.get(core).map_or(HOST_KIND, String::as_str);
        let number = kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len());
        if number == kinds.len() {
            kinds.push(kind);
        }
        match number {
            0 => lines.add(format_args!("core {cpu}")),
            _ => lines.add(format_args!("core {cpu} {number}")),
        }
    }
    kinds
}

/// How tasks compute, and the work of each that has some.
pub(crate) fn works(app: &App, options: &PlanOptions, kinds: &[&str], lines: &mut Lines) {
    if app.compute == Compute::Model {
        lines.add(format_args!("compute {}", app.compute));
    }
    if options.seed != 0 {
        lines.add(format_args!("seed {}", options.seed));
    }
    for task in &app.tasks {
        if let Some(work) = &task.work {
            lines.add(format_args!("{}", work_line(task, work, kinds)));
        }
    }
}

fn work_line(task: &Task, work: &Work, kinds: &[&str]) -> String {
    let cycles = match &work.cycles {
        Cycles::Every(cycles) => format!(" {cycles}"),
        by_kind @ Cycles::ByKind(_) => {
            kinds.iter().map(|kind| format!(" {}", by_kind.on(kind).unwrap_or(0))).collect()
        }
    };
    format!(
        "work {} {} distribution {} spread {} working {} traffic {} firings {} cycles{cycles}",
        task.name,
        task.index,
        work.distribution,
        work.spread_ppm,
        work.working_bytes,
        work.traffic_bytes,
        work.firings,
    )
}
