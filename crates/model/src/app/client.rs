// SPDX-License-Identifier: Apache-2.0
//! Tasks that stand for processes beside a run: see `docs/clients.md`.

use super::App;
use crate::problem::{Problem, Problems, none_or};

/// The function of such a task, which the Linux kernels have.
pub(crate) const CLIENT_ENTRY: &str = "wb_client";

impl App {
    /// Whether processes beside the run may attach to it.
    pub fn has_clients(&self) -> bool {
        self.tasks.iter().any(|task| task.client)
    }

    /// Refuses clients where there are no processes of Linux; `place` is what there is, as "a
    /// simulation".
    ///
    /// # Errors
    /// One problem for each `[[task]]` of them.
    pub fn check_no_clients(&self, place: &str) -> Result<(), Problems> {
        let clients = self.tasks.iter().filter(|task| task.client && task.index == 0);
        let refused = clients.map(|task| {
            let message =
                format!("`{}` is a process beside the run, and {place} has none", task.name);
            Problem::new(message)
                .at(task.span.clone(), "this task")
                .help("run the application on Linux, or write a task in its place")
        });
        none_or(refused.collect(), || ())
    }
}
