// SPDX-License-Identifier: Apache-2.0
//! How messages go through a channel: how its receiver is told, where its slots lie, and how many
//! there are.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use whimbrel_text::option::{CHANNELS, Opt, SLOTS};

use crate::app::{App, Direction, NotifyPolicy};
use crate::problem::{Problem, suggestion};

/// Written as `interrupt`, `polling:20ms`, `adaptive:1ms` or `batch:8:5ms`, with `/internal` behind
/// it for slots in internal memory.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Transport {
    /// How the receiver is told.
    pub notify: NotifyPolicy,
    /// Whether the slots lie in internal memory.
    pub internal: bool,
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (notify, memory) = text.trim().split_once('/').unwrap_or((text.trim(), "external"));
        let internal = match memory {
            "internal" => true,
            "external" => false,
            _ => return Err(format!("invalid memory `{memory}`: write /internal or nothing")),
        };
        let notify = match notify.strip_prefix("batch:") {
            Some(batch) => NotifyPolicy::default().with_batch(batch),
            None => NotifyPolicy::default().with_doorbell(notify),
        };
        Ok(Self { notify: notify.map_err(|problem| problem.line())?, internal })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notify = self.notify.to_string();
        f.write_str(&notify.replace("interrupt, batch ", "batch:"))?;
        f.write_str(if self.internal { "/internal" } else { "" })
    }
}

/// What channels are given: `8` for all, `a_b=4 b_c=8` for some, as an exploration writes it; a
/// comma may stand for the space. Later ones go before earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerChannel<T>(pub Vec<(Option<String>, T)>);

impl<T: FromStr<Err: Display>> FromStr for PerChannel<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |word: &str| {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (Some(name.to_owned()), value),
                None => (None, word),
            };
            let value = value.parse().map_err(|why| format!("`{word}`: {why}"))?;
            Ok((name, value))
        };
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        words.map(one).collect::<Result<_, _>>().map(Self)
    }
}

/// The channels of a name, or of a stem: `a_b` is all of `a_b_0`, `a_b_1`, … as well.
///
/// # Errors
/// There is none.
pub fn channels_of(known: &[&str], name: &str, option: Opt) -> Result<Vec<usize>, Problem> {
    let number =
        |rest: &str| rest.strip_prefix('_').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let fits = |known: &str| known == name || known.strip_prefix(name).is_some_and(number);
    let found: Vec<usize> = (0..known.len()).filter(|channel| fits(known[*channel])).collect();
    if found.is_empty() {
        let problem = Problem::new(format!("{option}: there is no channel `{name}`"));
        return Err(problem.help(suggestion(name, known.iter().copied(), || {
            format!("name one of its channels: {}", known.join(", "))
        })));
    }
    Ok(found)
}

impl App {
    /// With fewer slots a channel would be refused: it keeps messages for images of its receiver
    /// (docs/app-toml.md), or has some at the start.
    pub fn least_slots(&self, channel: usize) -> u32 {
        let into = self.ports.iter().filter(|port| port.channel == channel);
        let into = into.filter(|port| port.direction == Direction::In);
        let kept = into.map(|port| self.kept_messages(port)).max();
        let kept = kept.filter(|kept| *kept > 0).map_or(1, |kept| kept.saturating_add(1));
        u32::try_from(kept).unwrap_or(u32::MAX).max(self.channels[channel].initial)
    }

    /// Has channels other numbers of slots, and messages go through them in other ways.
    ///
    /// # Errors
    /// A channel that does not exist, or what does not fit it.
    pub fn set_channels(
        &mut self,
        slots: Option<&PerChannel<u32>>,
        ways: Option<&PerChannel<Transport>>,
    ) -> Result<(), Problem> {
        for (channel, number) in self.each_channel(slots, SLOTS)? {
            let (name, least) = (&self.channels[channel].name, self.least_slots(channel));
            if number < least {
                let message = format!("{SLOTS}: {number} slots are too few for `{name}`");
                return Err(Problem::new(message).help(format!("write at least {least}")));
            }
            self.channels[channel].slots = number;
        }
        for (channel, way) in self.each_channel(ways, CHANNELS)? {
            (self.channels[channel].notify, self.channels[channel].internal) =
                (way.notify, way.internal);
        }
        let given = slots.is_some() || ways.is_some();
        self.channels.iter().filter(|_| given).try_for_each(|channel| {
            channel.notify.check(channel.slots).map_err(|problem| {
                let message = format!("the channel `{}`: {}", channel.name, problem.message);
                Problem { message, ..problem }
            })
        })
    }

    /// Every channel that is given something. Without a name it is for all channels that tasks
    /// receive from: a mailbox is given something by its name only.
    fn each_channel<T: Copy>(
        &self,
        given: Option<&PerChannel<T>>,
        option: Opt,
    ) -> Result<Vec<(usize, T)>, Problem> {
        let names: Vec<&str> = self.channels.iter().map(|channel| channel.name.as_str()).collect();
        let mut all = Vec::new();
        for (name, value) in given.iter().flat_map(|given| &given.0) {
            let channels = match name {
                Some(name) => channels_of(&names, name, option)?,
                None => (0..names.len()).filter(|it| self.channels[*it].flows()).collect(),
            };
            all.extend(channels.into_iter().map(|channel| (channel, *value)));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_channels_are_given_is_read_as_it_is_written() {
        let some: PerChannel<u32> = "8 a_b=4,b_c=16".parse().unwrap();
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(some.0, [(None, 8), (name("a_b"), 4), (name("b_c"), 16)]);
        let ways: PerChannel<Transport> = "a_b=batch:8:5ms/internal".parse().unwrap();
        assert_eq!(ways.0[0].1.to_string(), "batch:8:5ms/internal");
        assert!("a_b=".parse::<PerChannel<u32>>().is_err());
    }

    #[test]
    fn a_way_is_read_as_it_is_written() {
        for text in ["interrupt", "polling:20ms", "adaptive:1ms/internal", "batch:8:5ms"] {
            assert_eq!(text.parse::<Transport>().unwrap().to_string(), text);
        }
        for bad in ["", "batch", "batch:8", "polling", "interrupt/fast", "ring"] {
            assert!(bad.parse::<Transport>().is_err(), "{bad}");
        }
    }
}
