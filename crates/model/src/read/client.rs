// SPDX-License-Identifier: Apache-2.0
//! What a `[[task]]` that stands for a process beside the run may say.

use super::keys::TaskTable;
use super::manifest::Manifest;
use crate::problem::Problem;
use crate::reader::given;

/// What has no meaning for such a task.
const OF_TASKS: [&str; 7] =
    ["entry", "mode", "cores", "checkpoint_every", "periodic", "period_us", "cycles"];

/// Notes what such a task says of work that it does not do, and one without a port.
pub(crate) fn check(table: &TaskTable, manifest: &Manifest, problems: &mut Vec<Problem>) {
    if !given(&table.client) {
        return;
    }
    let name = table.name.get_ref();
    for (key, span) in table.has(&OF_TASKS) {
        let message = format!("`{name}` is a client process, but has `{key}`");
        let problem = Problem::new(message).at(span, "this key");
        problems.push(problem.help("remove it: the run has only the ports of a client"));
    }
    let has_port = manifest.links.iter().any(|link| {
        let mut ends = link.from.iter().chain([&link.slots.to]);
        ends.any(|end| end.get_ref().split(['.', '[']).next() == Some(name))
    });
    if !has_port {
        let message = format!("`{name}` is a client process, but has no channel");
        let problem = Problem::new(message).at(table.name.span(), "this task");
        problems.push(problem.help("add a [[channel]] from it or to it, or remove the task"));
    }
}
