// SPDX-License-Identifier: Apache-2.0
//! Where this machine's state is read and changed.

use std::path::PathBuf;

/// The roots of all that is read and written; tests give folders of their own.
#[derive(Clone, Debug)]
pub struct Machine {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// Where the journal is: `/run/whimbrel-occupy`, or what `WHIMBREL_OCCUPY_STATE` names.
    pub state: PathBuf,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let state = std::env::var_os("WHIMBREL_OCCUPY_STATE");
        Self {
            proc: "/proc".into(),
            sys: "/sys".into(),
            state: state.map_or_else(|| "/run/whimbrel-occupy".into(), PathBuf::from),
        }
    }
}
