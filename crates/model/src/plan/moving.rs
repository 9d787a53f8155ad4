// SPDX-License-Identifier: Apache-2.0
//! Who decides on moves, and how what moves travels: the lines of a plan that say so.
//!
//! A line is written only where it says something else than the helper takes without it.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::escape;
use crate::reader::is_name;

/// The helper keeps a rate in 32 bits; all above it are one to a table.
const RATE_MAX: u64 = u32::MAX as u64;

/// What a run was told about its moves.
#[derive(Debug, Clone, Default)]
pub struct Moving {
    /// The application's static program, if tasks are recreated.
    pub program: Option<String>,
    /// How replicated contexts travel, unless the helper is to choose.
    pub transport: Option<String>,
    /// The period of the agents; 0: they do not report.
    pub agents_ns: u64,
    /// Where the coordinator runs.
    pub coordinator: u32,
    /// The policy; without one nobody decides.
    pub policy: Option<PolicyName>,
    /// The rows of the table policy.
    pub rows: Vec<Row>,
}

/// One row for an application on a set of cores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// It holds up to this frame rate, in thousandths per second.
    pub rate_millihz: u64,
    /// An operating point for each core, from the lowest frequency.
    pub points: Vec<u32>,
    /// A core for each task.
    pub cores: Vec<u32>,
}

impl Row {
    /// The line of a plan.
    pub(crate) fn line(&self) -> String {
        let mut line = format!("row {}", self.rate_millihz);
        for number in self.points.iter().chain(&self.cores) {
            // Writing to a String cannot fail.
            let _ = write!(line, " {number}");
        }
        line
    }
}

/// What to write for no policy at all.
pub const NO_POLICY: &str = "none";

/// A policy with its parameters, as `balance:margin=10,horizon=5`. Which there are, and what they
/// take, is known to the middleware only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyName {
    /// Empty: nobody decides.
    pub name: String,
    /// Each `KEY=VALUE`.
    pub settings: Vec<String>,
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, rest)| (n, Some(rest)));
        if !is_name(name) {
            return Err(format!("`{name}` is no policy: write NAME or NAME:KEY=VALUE,KEY=VALUE"));
        }
        let settings: Vec<&str> = rest.map_or_else(Vec::new, |rest| rest.split(',').collect());
        let valid = |setting: &&&str| {
            setting.split_once('=').is_some_and(|(key, value)| is_name(key) && !value.is_empty())
        };
        if let Some(bad) = settings.iter().find(|setting| !valid(setting)) {
            return Err(format!("`{bad}` is no parameter: write KEY=VALUE"));
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

impl PolicyName {
    /// The line of a plan.
    fn line(&self) -> String {
        let settings = self.settings.iter().map(|setting| format!(" {}", escape(setting)));
        format!("policy {}{}", self.name, settings.collect::<String>())
    }
}

impl Moving {
    /// The lines of a plan, for a run with this many frames per second.
    pub(crate) fn lines(&self, frame_rate: Option<f64>) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(program) = &self.program {
            lines.push(format!("program {}", escape(program)));
        }
        if let Some(transport) = &self.transport {
            lines.push(format!("transport {transport}"));
        }
        if self.coordinator != 0 {
            lines.push(format!("coordinator {}", self.coordinator));
        }
        lines.extend(self.policy.as_ref().map(PolicyName::line));
        lines.extend(self.rows.iter().map(Row::line));
        if self.agents_ns != 0 {
            lines.push(format!("agents {}", self.agents_ns));
            // Without agents nobody decides, and the periods say the rate already.
            let rate = frame_rate.map(|rate| millihz(rate).min(RATE_MAX));
            lines.extend(rate.map(|millihz| format!("rate {millihz}")));
        }
        lines
    }
}

/// A rate per second in thousandths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive, and a cast saturates"
)]
pub(crate) fn millihz(rate: f64) -> u64 {
    (rate * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_have_parameters_and_none_is_one_too() {
        let policy: PolicyName = "balance:margin=10,text=a b".parse().unwrap();
        assert_eq!(policy.line(), "policy balance margin=10 text=a%20b");
        assert_eq!(policy.to_string(), "balance:margin=10,text=a b");
        assert_eq!("static".parse::<PolicyName>().unwrap().line(), "policy static");
        let none: PolicyName = "none".parse().unwrap();
        assert_eq!((none.name.as_str(), none.to_string().as_str()), ("", "none"));
        for bad in ["", ":a=1", "a b", "a:", "a:b", "a:b=", "a:=1", "a:b=1,", "a\nkill"] {
            assert!(bad.parse::<PolicyName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_the_helper_takes_without_being_told_is_not_said() {
        assert!(Moving::default().lines(Some(50.0)).is_empty());
    }

    #[test]
    fn everything_that_was_told_is_a_line() {
        let moving = Moving {
            program: Some("/my apps/radio.task".into()),
            transport: Some("buffer".into()),
            agents_ns: 100_000_000,
            coordinator: 1,
            policy: Some("table".parse().unwrap()),
            rows: vec![Row { rate_millihz: 450_000, points: vec![0, 2], cores: vec![0, 1, 1] }],
        };
        let expected = [
            "program /my%20apps/radio.task",
            "transport buffer",
            "coordinator 1",
            "policy table",
            "row 450000 0 2 0 1 1",
            "agents 100000000",
            "rate 33333",
        ];
        assert_eq!(moving.lines(Some(33.333_3)), expected);
        assert!(moving.lines(Some(1e9)).contains(&"rate 4294967295".to_owned()));
        assert!(!moving.lines(None).iter().any(|line| line.starts_with("rate")));
    }
}
