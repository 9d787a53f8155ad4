// SPDX-License-Identifier: Apache-2.0
//! What is said of a file while it is read.

use crate::problem::{Problem, Warning};

/// What is said of a file while it is read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
}

impl Notes {
    pub fn refuse(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub fn warn(&mut self, problem: Problem) {
        self.warnings.push(problem.into());
    }
}
