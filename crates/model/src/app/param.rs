// SPDX-License-Identifier: Apache-2.0
//! The application's own parameters.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::in_c::members;
use crate::problem::Span;

/// What kind of value a parameter has; a replacement must be of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// Any text without control characters.
    Text,
    /// One finite number.
    Number,
    /// `true` or `false`; as a number 1 or 0.
    Boolean,
    /// An array of finite numbers.
    Numbers,
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Numbers => "an array of numbers as [1, 0.5]",
        })
    }
}

members! {
    /// One parameter.
    #[derive(PartialEq)]
    pub struct Param: "plan_param" {
        /// Its name.
        needed key: String;
        /// What it may be replaced by.
        aside kind: ParamKind;
        /// The value as it is written, without quotes.
        needed text: String;
        /// The numbers it stands for; none for a text.
        always numbers: Vec<f64>;
        /// Where its value stands in the file.
        aside span: Span;
    }
}

/// `--set KEY=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The parameter to replace.
    pub key: String,
    /// Its new value.
    pub value: String,
}
