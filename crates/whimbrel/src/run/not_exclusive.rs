// SPDX-License-Identifier: Apache-2.0
//! `--exclusive` in a command that was built without it: refused.

use std::convert::Infallible;

use whimbrel_model::Problem;

use crate::failure::built_without;
use crate::load::Loaded;
use crate::process::Process;

/// The processors of a run: there never are any.
#[derive(Debug)]
pub struct Exclusive(Infallible);

impl Exclusive {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn begin(_: &Loaded) -> Result<Self, Problem> {
        let Problem { message, help, .. } = built_without("occupy");
        Err(Problem::new(format!("--exclusive: {message}")).help(help.unwrap_or_default()))
    }

    /// Cannot be called.
    pub fn admit(&mut self, _: Option<Process>) -> Result<(), Problem> {
        match self.0 {}
    }
}

// The end of an occupation is where it is dropped.
impl Drop for Exclusive {
    fn drop(&mut self) {}
}
