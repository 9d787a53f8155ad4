// SPDX-License-Identifier: Apache-2.0
//! Who decides on moves, and how what moves travels.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::ContextTransport;
use crate::in_c::members;
use crate::reader::is_name;

/// The helper keeps a rate in 32 bits; all above it are one to a table.
pub(super) const RATE_MAX: u64 = u32::MAX as u64;

/// What a run was told about its moves.
#[derive(Debug, Clone, Default)]
pub struct Moving {
    /// The application's static program, if tasks are recreated.
    pub program: Option<String>,
    /// How replicated contexts travel, unless the helper is to choose.
    pub transport: Option<ContextTransport>,
    /// The period of the agents; 0: they do not report.
    pub agents_ns: u64,
    /// Where the coordinator runs.
    pub coordinator: u32,
    /// The policy; without one nobody decides.
    pub policy: Option<PolicyName>,
    /// The rows of the table policy.
    pub rows: Vec<TableRow>,
}

members! {
    /// One row for an application on a set of cores.
    #[derive(PartialEq, Eq)]
    pub struct TableRow: "wb_table_row" as "counted_row" at "row." {
        /// It holds up to this frame rate, in thousandths per second.
        needed rate_millihz: u64;
        /// An operating point for each core, from the lowest frequency; 2^32 - 2: the core is off.
        needed points: Vec<u32>;
        /// A core for each task.
        needed cores: Vec<u32>;
    }
}

/// In the place of an operating point of a row: the core is off (`WB_POINT_OFF` in C).
pub const POINT_OFF: u32 = u32::MAX - 1;

impl TableRow {
    /// The row that holds at a frame rate, in thousandths per second: the first that is not below
    /// it, or the last.
    pub fn at(rows: &[Self], rate_millihz: u64) -> Option<&Self> {
        rows.iter().find(|row| row.rate_millihz >= rate_millihz).or(rows.last())
    }
}

/// What to write for no policy at all.
pub const NO_POLICY: &str = "none";

members! {
    /// A policy with its parameters, as `balance:margin=10,horizon=5`. Which there are, and what
    /// they take, is known to the middleware only.
    #[derive(PartialEq, Eq, Deserialize)]
    pub struct PolicyName: "plan_policy" {
        /// One of the middleware's, or the module's `wb_policy_NAME`.
        needed name: String;
        /// Each `KEY=VALUE`.
        always settings: Vec<String>, "params", json "params";
    }
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, rest)| (n, Some(rest)));
        if !is_name(name) {
            return Err(format!("invalid policy `{name}`: write NAME or NAME:KEY=VALUE,KEY=VALUE"));
        }
        let settings: Vec<&str> = rest.map_or_else(Vec::new, |rest| rest.split(',').collect());
        let valid = |setting: &&&str| {
            setting.split_once('=').is_some_and(|(key, value)| is_name(key) && !value.is_empty())
        };
        if let Some(bad) = settings.iter().find(|setting| !valid(setting)) {
            return Err(format!("invalid parameter `{bad}`: write KEY=VALUE"));
        }
        let name = if name == NO_POLICY { "" } else { name };
        let settings = settings.into_iter().map(str::to_owned).collect();
        Ok(Self { name: name.to_owned(), settings })
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { NO_POLICY } else { &self.name };
        let separator = if self.settings.is_empty() { "" } else { ":" };
        write!(f, "{name}{separator}{}", self.settings.join(","))
    }
}

/// A rate per second in thousandths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive, and a cast saturates"
)]
pub fn millihz(rate: f64) -> u64 {
    (rate * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_have_parameters_and_none_is_one_too() {
        let policy: PolicyName = "balance:margin=10,text=a b".parse().unwrap();
        assert_eq!((policy.name.as_str(), policy.settings.len()), ("balance", 2));
        assert_eq!(policy.to_string(), "balance:margin=10,text=a b");
        assert_eq!("static".parse::<PolicyName>().unwrap().settings.len(), 0);
        let none: PolicyName = "none".parse().unwrap();
        assert_eq!((none.name.as_str(), none.to_string().as_str()), ("", "none"));
        for bad in ["", ":a=1", "a b", "a:", "a:b", "a:b=", "a:=1", "a:b=1,", "a\nkill"] {
            assert!(bad.parse::<PolicyName>().is_err(), "{bad}");
        }
    }
}
