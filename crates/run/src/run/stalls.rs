// SPDX-License-Identifier: Apache-2.0
//! Tasks that keep their core to themselves: by an endless loop, or in a system call.

use std::time::Duration;

use whimbrel_model::{App, Problem};

use crate::output::time;
use crate::protocol::{Stalled, Status};

/// What is said once of such a task while the run goes on.
pub fn notice(app: &App, stalled: &Stalled) -> String {
    let task = app.label(&stalled.task, stalled.index);
    let (core, since) = (stalled.core, since(stalled.for_ms));
    let cure = cure(&stalled.call);
    if stalled.call.is_empty() {
        format!("`{task}` is busy: it has reached no checkpoint on core {core} for {since}; {cure}")
    } else {
        let call = &stalled.call;
        format!(
            "`{task}` blocks core {core}: it waits in `{call}`, and no other task of the core \
             runs; {cure}"
        )
    }
}

/// The report of one that had to be ended by force.
pub fn problem(app: &App, stalled: &Stalled) -> Problem {
    let task = app.label(&stalled.task, stalled.index);
    let (core, since, call) = (stalled.core, since(stalled.for_ms), &stalled.call);
    let message = if call.is_empty() {
        format!(
            "`{task}` had reached no checkpoint on core {core} for {since}, and was ended by force"
        )
    } else {
        format!(
            "`{task}` had waited in `{call}` on core {core} for {since}, and was ended by force"
        )
    };
    let problem = Problem::new(message).help(cure(call));
    match app.find_task(&stalled.task, stalled.index) {
        Some(position) => problem.at(app.tasks[position].span.clone(), "this task"),
        None => problem,
    }
}

/// Of the tasks that do so now: `spin busy for 3.0 s without a checkpoint`.
pub fn now(app: &App, status: &Status) -> Vec<String> {
    let stalled = status.tasks.iter().filter(|task| task.stalled_ms > 0);
    let said = stalled.map(|task| {
        let label = app.label(&task.task, task.index);
        format!("{label} busy for {} without a checkpoint", since(task.stalled_ms))
    });
    said.collect()
}

fn since(ms: u64) -> String {
    time(Duration::from_millis(ms).as_nanos().try_into().unwrap_or(u64::MAX))
}

/// What to do in the place of a loop without checkpoints, or of a system call.
fn cure(call: &str) -> &'static str {
    match call {
        "" => "call wb_checkpoint() in its loops, and end them once wb_stopping() is true",
        "clock_nanosleep" | "nanosleep" => {
            "use wb_sleep_until() or wb_period_wait() to wait for a time"
        }
        "futex" => "use the semaphores and mutexes of wb/wb.h instead of those of the C library",
        _ => {
            "let wb_wait() wait for the file before it is used: see docs/your-first-application.md"
        }
    }
}
