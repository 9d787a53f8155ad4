// SPDX-License-Identifier: Apache-2.0
//! What an exploration was told, besides what there is to choose from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use whimbrel_model::{Pin, Setting};

/// What outcomes depend on besides candidates, in the words of the options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the application.
    pub app: String,
    /// The files of the application, as they were named.
    pub files: Vec<PathBuf>,
    /// The platform, as it was named.
    pub platform: String,
    /// Parameters of the application with their new values.
    pub set: Vec<Setting>,
    /// Tasks that stay on a core, also under policies that move tasks.
    pub pins: Vec<Pin>,
    /// Virtual time of each candidate.
    pub duration_ns: u64,
    /// The seed of the draws.
    pub seed: u64,
    /// Of all of these with what the files said.
    pub identity: String,
}
