// SPDX-License-Identifier: Apache-2.0
//! Scripts as they are written, and what they have in common: `[[mutex]]` and its like.

mod step;
mod time;

pub(crate) use step::{Lines, SCRIPT, Step, What};

use toml::Spanned;

use crate::app::ObjectKind;
use crate::problem::Span;

/// A `[[mutex]]`, `[[condition]]`, `[[barrier]]`, `[[semaphore]]` or `[[timer]]`.
#[derive(Debug, Clone)]
pub(crate) struct ObjectTable {
    pub kind: ObjectKind,
    pub name: Spanned<String>,
    pub value: u32,
    pub most: u32,
    pub span: Span,
}
