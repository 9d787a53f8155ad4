// SPDX-License-Identifier: Apache-2.0
//! Who decides on moves, and how what moves travels: the lines of a plan that say so.
//!
//! A line is written only where it says something else than the helper takes without it.

use std::fmt::Write;
use std::str::FromStr;

use crate::plan::escape;
use crate::reader::is_name;
use crate::table::Row;

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
    pub policy: Option<PolicyChoice>,
    /// The rows of the table policy.
    pub rows: Vec<Row>,
}

/// A policy with its parameters, as `balance:margin=10,horizon=5`. Which there are, and what they
/// take, is known to the middleware only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyChoice {
    /// Its name.
    pub name: String,
    /// Keys and values.
    pub params: Vec<(String, String)>,
}

impl FromStr for PolicyChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, rest)| (n, Some(rest)));
        if !is_name(name) {
            return Err(format!("`{name}` is no name of a policy: write NAME or NAME:key=value,…"));
        }
        let param = |part: &str| {
            let (key, value) = part.split_once('=').filter(|(key, value)| {
                is_name(key) && !value.is_empty() && !value.contains(char::is_whitespace)
            })?;
            Some((key.to_owned(), value.to_owned()))
        };
        let one = |part| param(part).ok_or_else(|| format!("`{part}` is not key=value"));
        let params = rest.map_or(Ok(Vec::new()), |rest| rest.split(',').map(one).collect())?;
        Ok(Self { name: name.to_owned(), params })
    }
}

impl PolicyChoice {
    /// The words that name it to the helper: `balance margin=10 horizon=5`.
    pub fn words(&self) -> String {
        let mut words = escape(&self.name);
        for (key, value) in &self.params {
            // Writing to a String cannot fail.
            let _ = write!(words, " {}={}", escape(key), escape(value));
        }
        words
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
        if let Some(policy) = &self.policy {
            lines.push(format!("policy {}", policy.words()));
        }
        lines.extend(self.rows.iter().map(Row::line));
        if self.agents_ns != 0 {
            lines.push(format!("agents {}", self.agents_ns));
            // Without agents nobody decides, and the periods say the rate already.
            lines.extend(frame_rate.map(|rate| format!("rate {}", millihz(rate))));
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
    fn a_policy_may_have_parameters() {
        let policy: PolicyChoice = "balance:margin=10,horizon=5".parse().unwrap();
        assert_eq!(policy.words(), "balance margin=10 horizon=5");
        assert_eq!("static".parse::<PolicyChoice>().unwrap().words(), "static");
        for bad in ["", ":", "a b", "a:", "a:b", "a:b=", "a:=1", "a:b=1,", "a:b=1 2", "a\nkill"] {
            assert!(bad.parse::<PolicyChoice>().is_err(), "{bad}");
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
        assert!(!moving.lines(None).iter().any(|line| line.starts_with("rate")));
    }
}
