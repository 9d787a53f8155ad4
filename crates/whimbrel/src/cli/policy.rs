// SPDX-License-Identifier: Apache-2.0
//! A policy as people write it: `balance` or `balance:high=80,low=20`. Which there are, and which
//! parameters they have, the helper knows.

use std::fmt;
use std::str::FromStr;

/// The policies that come with Whimbrel.
pub const POLICIES: [&str; 8] =
    ["static", "table", "spread", "consolidate", "balance", "sticky", "gossip", "thermal"];
/// What to write for no policy at all.
const NO_POLICY: &str = "none";

/// A policy and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyName {
    /// Empty: none decides.
    pub name: String,
    /// Each KEY=VALUE.
    pub settings: Vec<String>,
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, settings) = match text.split_once(':') {
            Some((name, settings)) => (name, settings.split(',').map(str::to_owned).collect()),
            None => (text, Vec::new()),
        };
        let plain = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if !plain(name) {
            return Err(format!("`{name}` is no policy: write NAME or NAME:KEY=VALUE,KEY=VALUE"));
        }
        let whole = |setting: &&String| {
            setting.split_once('=').is_some_and(|(key, value)| plain(key) && !value.is_empty())
        };
        if let Some(bad) = settings.iter().find(|setting| !whole(setting)) {
            return Err(format!("`{bad}` is no parameter: write KEY=VALUE"));
        }
        let name = if name == NO_POLICY { String::new() } else { name.to_owned() };
        Ok(Self { name, settings })
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { NO_POLICY } else { &self.name };
        let separator = if self.settings.is_empty() { "" } else { ":" };
        write!(f, "{name}{separator}{}", self.settings.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_have_parameters_and_none_is_one_too() {
        let parsed: PolicyName = "balance:high=80,low=2".parse().unwrap();
        assert_eq!(parsed.name, "balance");
        assert_eq!(parsed.settings, ["high=80", "low=2"]);
        assert_eq!(parsed.to_string(), "balance:high=80,low=2");
        let none: PolicyName = "none".parse().unwrap();
        assert_eq!((none.name.as_str(), none.to_string().as_str()), ("", "none"));
        for bad in ["", ":a=1", "a b", "a:", "a:b", "a:b=", "a:=1", "a:b=1,,c=2"] {
            assert!(bad.parse::<PolicyName>().is_err(), "{bad}");
        }
    }
}
