// SPDX-License-Identifier: Apache-2.0
//! Whether the cores of a run suit the tasks that start on them.

use super::{App, Cycles, HOST_KIND, Task};
use crate::problem::{Problem, Problems, nearest, none_or};
use whimbrel_text::option::CORES;

/// Refuses tasks that start on a core beyond the first `cores`.
///
/// # Errors
/// One problem for each place in the file that names such a core.
pub fn check_cores(app: &App, cores: usize) -> Result<(), Problems> {
    let mut problems: Vec<Problem> = Vec::new();
    for task in &app.tasks {
        let core = task.core.get_ref();
        if (*core as usize) < cores || is_told(task, &problems) {
            continue;
        }
        let message = format!("`{}` starts on core {core}, which does not exist", task.name);
        let have =
            if cores == 1 { "core 0".into() } else { format!("one of cores 0 to {}", cores - 1) };
        problems.push(Problem::new(message).at(task.core.span(), "this core").help(format!(
            "choose {have}, or list more processors with {CORES} (one listed twice is shared by \
             two kernels)"
        )));
    }
    problems.extend(check_shared(app, cores));
    none_or(problems, || ())
}

/// Whether the last problem is of the place that names the task's core.
fn is_told(task: &Task, problems: &[Problem]) -> bool {
    let last = problems.last().and_then(|problem| problem.labels.first());
    last.is_some_and(|label| label.offset() == task.core.span().start)
}

/// The problems of tasks that a core beyond the first `cores` shares: one for each name.
fn check_shared(app: &App, cores: usize) -> impl Iterator<Item = Problem> {
    let beyond = move |task: &&Task| {
        task.index == 0 && task.shared_by.iter().any(|core| *core as usize >= cores)
    };
    app.tasks.iter().filter(beyond).map(move |task| {
        let message = format!("`{}` has a core that does not exist", task.name);
        let have = if cores == 1 { "core 0".into() } else { format!("0 to {}", cores - 1) };
        Problem::new(message)
            .at(task.span.clone(), "its `cores`")
            .help(format!("name only {have} in `cores`: this run has no other"))
    })
}

/// Refuses tasks that start on a core of a kind that they do not run on; `kinds`: that of each
/// core, as [`crate::PlanOptions::kinds`].
///
/// # Errors
/// One problem for each place in the file that maps a task to such a core.
pub fn check_kinds(app: &App, kinds: &[String]) -> Result<(), Problems> {
    let mut problems: Vec<Problem> = Vec::new();
    for task in &app.tasks {
        let core = *task.core.get_ref();
        let kind = kinds.get(core as usize).map_or(HOST_KIND, String::as_str);
        if task.runs_on(kind) || is_told(task, &problems) {
            continue;
        }
        let message = format!(
            "`{}` starts on core {core}, which is of kind `{kind}`, and does not run there",
            task.name
        );
        let names = task.kinds_it_has();
        let help = match nearest(kind, names.iter().copied()) {
            Some(meant) => format!("write `{kind}` instead of `{meant}`, or move it"),
            None => format!("add `{kind}` to {}, or move it", names.join(", ")),
        };
        problems.push(Problem::new(message).at(task.core.span(), "this core").help(help));
    }
    none_or(problems, || ())
}

impl Task {
    /// Whether it runs on cores of a kind: one of its `kinds`, and one that it has cycles for.
    pub fn runs_on(&self, kind: &str) -> bool {
        (self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind))
            && self.work.as_ref().is_none_or(|work| work.cycles.on(kind).is_some())
    }

    /// The kinds that it names.
    fn kinds_it_has(&self) -> Vec<&str> {
        let by_kind = self.work.as_ref().and_then(|work| match &work.cycles {
            Cycles::ByKind(all) => Some(all),
            Cycles::Every(_) => None,
        });
        let named = by_kind.into_iter().flatten().map(|(name, _)| name.as_str());
        if self.kinds.is_empty() {
            named.collect()
        } else {
            self.kinds.iter().map(String::as_str).filter(|kind| self.runs_on(kind)).collect()
        }
    }
}
