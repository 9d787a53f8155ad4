// SPDX-License-Identifier: Apache-2.0
//! How the receiver of a channel learns that a message waits for it: `doorbell` and `batch`.

use std::fmt;

use serde::Deserialize;

use crate::in_c::members;
use crate::problem::Problem;
use crate::schema::words;

words! {
    /// Who looks after the receiver.
    #[derive(Default, Hash, PartialOrd, Ord)]
    pub enum Doorbell {
        /// The sender wakes it.
        #[default]
        Interrupt = "interrupt", "WB_NOTIFY_INTERRUPT";
        /// It looks by itself, each so often.
        Polling = "polling", "WB_NOTIFY_POLLING";
        /// It looks when the message should be there; the sender wakes it if that is too late.
        Adaptive = "adaptive", "WB_NOTIFY_ADAPTIVE";
    }
}

members! {
    /// What a channel has. What is not said is not there.
    #[derive(Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
    #[serde(default)]
    pub struct NotifyPolicy: "wb_channel_config" {
        /// Who looks after the receiver.
        maybe doorbell: Doorbell, "notify.doorbell";
        /// The number of messages for which the sender wakes it; 0: each.
        maybe batch: u32, "notify.batch";
        /// The time between two looks, the bound, or the deadline of a batch.
        maybe within_us: u32, "notify.within_us", most "WB_WITHIN_MAX_US";
    }
}

/// The longest time.
const WITHIN_MAX_US: u32 = 1_000_000_000;

const DOORBELL: &str = "write \"interrupt\", \"polling:20ms\" or \"adaptive:1ms\"";
const BATCH: &str = "write MESSAGES:DEADLINE, for example \"8:5ms\", or \"none\"";

impl NotifyPolicy {
    /// The same with another `doorbell`.
    ///
    /// # Errors
    /// What is wrong with the text, and what to write instead.
    pub fn with_doorbell(self, text: &str) -> Result<Self, Problem> {
        let (word, time) =
            text.split_once(':').map_or((text, None), |(word, time)| (word, Some(time)));
        let (doorbell, within_us) = match (word, time) {
            ("interrupt", None) => {
                (Doorbell::Interrupt, if self.batch > 0 { self.within_us } else { 0 })
            }
            ("interrupt", Some(_)) => {
                return wrong("the doorbell \"interrupt\" takes no time", "write \"interrupt\"");
            }
            ("polling", Some(time)) => (Doorbell::Polling, microseconds(time)?),
            ("polling", None) => {
                return wrong(
                    "polling needs the time between two looks",
                    "write that time, for example \"polling:20ms\"",
                );
            }
            ("adaptive", Some(time)) => (Doorbell::Adaptive, microseconds(time)?),
            ("adaptive", None) => {
                let help = "write the longest delay of a message, for example \"adaptive:1ms\"";
                return wrong("adaptive needs the longest delay of a message", help);
            }
            _ => return wrong(format!("invalid doorbell `{text}`"), DOORBELL),
        };
        Ok(Self { doorbell, within_us, ..self })
    }

    /// The same with another `batch`.
    ///
    /// # Errors
    /// What is wrong with the text, and what to write instead.
    pub fn with_batch(self, text: &str) -> Result<Self, Problem> {
        let kept = if self.doorbell == Doorbell::Interrupt { 0 } else { self.within_us };
        if text == "none" {
            return Ok(Self { batch: 0, within_us: kept, ..self });
        }
        let parts = text
            .split_once(':')
            .and_then(|(messages, deadline)| Some((messages.parse::<u32>().ok()?, deadline)));
        let Some((batch, deadline)) = parts else {
            return wrong(format!("invalid batch `{text}`"), BATCH);
        };
        if batch < 2 {
            return wrong("a batch must have at least 2 messages", "write 2 or more, or \"none\"");
        }
        let within_us = microseconds(deadline)?;
        if self.doorbell != Doorbell::Interrupt {
            let message = format!("a batch requires an interrupt, but the doorbell is {self}");
            return wrong(message, "leave `batch` out, or the doorbell");
        }
        Ok(Self { batch, within_us, ..self })
    }

    /// Whether it fits a channel.
    ///
    /// # Errors
    /// Why not, and what to write instead.
    pub fn check(&self, slots: u32) -> Result<(), Problem> {
        if self.batch > slots {
            let message = format!("a batch of {} does not fit {slots} slots", self.batch);
            return wrong(message, "raise `slots`, or lower it");
        }
        if self.batch > 0 && self.doorbell != Doorbell::Interrupt {
            return wrong("a batch requires an interrupt", "leave `batch` out, or the doorbell");
        }
        Ok(())
    }

    /// The same with one of its keys set anew, as `doorbell=polling:20ms`.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn with(self, setting: &str) -> Result<Self, Problem> {
        match setting.split_once('=') {
            Some(("doorbell", value)) => self.with_doorbell(value),
            Some(("batch", value)) => self.with_batch(value),
            Some(("memory", _)) => {
                wrong("`memory` cannot change during a run", "set it in app.toml")
            }
            _ => wrong(
                format!("unknown property `{setting}`"),
                "write doorbell=interrupt, doorbell=polling:20ms, doorbell=adaptive:1ms, \
                 batch=8:5ms or batch=none",
            ),
        }
    }
}

fn wrong<T>(message: impl Into<String>, help: &str) -> Result<T, Problem> {
    Err(Problem::new(message).help(help))
}

fn microseconds(text: &str) -> Result<u32, Problem> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let scale = match unit {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        _ => return wrong(format!("invalid time `{text}`"), "write 500us, 20ms or 1s"),
    };
    let time = count.parse().ok().and_then(|count: u32| count.checked_mul(scale));
    match time.filter(|us| *us <= WITHIN_MAX_US) {
        Some(0) => wrong("the time must not be zero", "write 1us or more"),
        Some(us) => Ok(us),
        None => wrong(format!("invalid time `{text}`"), "write 500us, 20ms or 1s, at most 1000s"),
    }
}

/// A time in the largest unit that it is a whole number of.
fn time(us: u32) -> String {
    match us {
        us if us % 1_000_000 == 0 => format!("{}s", us / 1_000_000),
        us if us % 1_000 == 0 => format!("{}ms", us / 1_000),
        us => format!("{us}us"),
    }
}

impl fmt::Display for NotifyPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = time(self.within_us);
        match (self.doorbell, self.batch) {
            (Doorbell::Interrupt, 0) => f.write_str("interrupt"),
            (Doorbell::Interrupt, batch) => write!(f, "interrupt, batch {batch}:{within}"),
            (Doorbell::Polling, _) => write!(f, "polling:{within}"),
            (Doorbell::Adaptive, _) => write!(f, "adaptive:{within}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &[&str]) -> Result<NotifyPolicy, Problem> {
        settings.iter().try_fold(NotifyPolicy::default(), |notify, setting| notify.with(setting))
    }

    fn refused<T: fmt::Debug>(set: Result<T, Problem>) -> String {
        set.unwrap_err().line()
    }

    #[test]
    fn what_is_written_is_what_is_shown() {
        let shown = |settings: &[&str]| set(settings).unwrap().to_string();
        assert_eq!(shown(&[]), "interrupt");
        for doorbell in ["polling:20ms", "adaptive:1s", "adaptive:1500us", "interrupt"] {
            assert_eq!(shown(&[&format!("doorbell={doorbell}")]), doorbell);
        }
        assert_eq!(shown(&["batch=8:5ms"]), "interrupt, batch 8:5ms");
        assert_eq!(shown(&["batch=8:5ms", "doorbell=interrupt"]), "interrupt, batch 8:5ms");
        assert_eq!(shown(&["batch=8:5ms", "batch=none"]), "interrupt");
        assert_eq!(shown(&["doorbell=polling:2ms", "batch=none"]), "polling:2ms");
    }

    #[test]
    fn an_invalid_setting_is_refused_with_what_to_write() {
        for (settings, words) in [
            (&["doorbell=polling:0ms"][..], "zero"),
            (&["doorbell=polling"], "for example \"polling:20ms\""),
            (&["doorbell=adaptive"], "needs the longest delay"),
            (&["doorbell=interrupt:1ms"], "takes no time"),
            (&["doorbell=notify"], "invalid doorbell `notify`"),
            (&["doorbell=adaptive:1001s"], "at most 1000s"),
            (&["doorbell=adaptive:99999999999999999999s"], "invalid time"),
            (&["doorbell=adaptive:1"], "write 500us"),
            (&["batch=8"], "MESSAGES:DEADLINE"),
            (&["batch=x:5ms"], "MESSAGES:DEADLINE"),
            (&["batch=1:5ms"], "at least 2"),
            (&["batch=8:0us"], "zero"),
            (&["doorbell=polling:1ms", "batch=8:5ms"], "requires an interrupt"),
            (&["memory=internal"], "cannot change"),
            (&["slots=3"], "unknown property"),
        ] {
            let why = refused(set(settings));
            assert!(why.contains(words), "{settings:?}: {why}");
        }
        assert!(set(&["batch=8:5ms"]).unwrap().check(8).is_ok());
        assert!(refused(set(&["batch=9:5ms"]).unwrap().check(8)).contains("raise `slots`"));
        let both = set(&["batch=8:5ms", "doorbell=polling:1ms"]).unwrap();
        assert!(refused(both.check(8)).contains("requires an interrupt"));
    }
}
