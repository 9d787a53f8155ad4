// SPDX-License-Identifier: Apache-2.0
//! Tasks that stand for processes beside a run: see `docs/clients.md`.

use super::App;

/// The function of such a task, which the Linux kernels have.
pub(crate) const CLIENT_ENTRY: &str = "wb_client";

impl App {
    /// Whether processes beside the run may attach to it.
    pub fn has_clients(&self) -> bool {
        self.tasks.iter().any(|task| task.client)
    }
}
