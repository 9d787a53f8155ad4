// SPDX-License-Identifier: Apache-2.0
//! Candidates in words, as they stand in files and on screens.

use whimbrel_model::Transport;
use whimbrel_text::thousandths;

use crate::candidate::Candidate;
use crate::system::{Channel, System};

/// Writes candidates of a system.
#[derive(Debug, Clone, Copy)]
pub struct Words<'s>(pub &'s System);

impl Words<'_> {
    /// The core of each task: `lpf=0 bpf=0/0/1`.
    pub fn mapping(self, candidate: &Candidate) -> String {
        let mut text = String::new();
        for (task, core) in self.0.tasks.iter().zip(&candidate.mapping) {
            let start = if task.index > 0 {
                "/".to_owned()
            } else {
                let space = if text.is_empty() { "" } else { " " };
                format!("{space}{}=", task.name)
            };
            text.push_str(&start);
            text.push_str(&core.to_string());
        }
        text
    }

    /// The megahertz of each core, `-` for one that is off: `266/133/-`.
    pub fn points(self, candidate: &Candidate) -> String {
        let one = |core: usize| match candidate.available[core] {
            true => megahertz(self.hz(candidate, core)),
            false => "-".into(),
        };
        (0..self.0.cores.len()).map(one).collect::<Vec<_>>().join("/")
    }

    /// One number if all channels have it, or that of each channel: `a_b=4 b_c=8`. Mailboxes only
    /// where the application says otherwise.
    pub fn slots(self, candidate: &Candidate) -> String {
        let all = self.0.channels.iter().zip(&candidate.slots);
        let (mailboxes, channels): (Vec<_>, Vec<_>) = all.partition(|(channel, _)| channel.mailbox);
        let each = |(channel, n): &(&Channel, &u32)| format!("{}={n}", channel.name);
        let mut words: Vec<String> = match channels.split_first() {
            Some(((_, first), rest)) if rest.iter().all(|(_, slots)| slots == first) => {
                vec![first.to_string()]
            }
            _ => channels.iter().map(each).collect(),
        };
        let chosen = mailboxes.iter().filter(|(mailbox, slots)| mailbox.slots != **slots);
        words.extend(chosen.map(each));
        words.join(" ")
    }

    /// How messages go through channels, of those where that was chosen: `a_b=adaptive:1ms`.
    pub fn ways(self, candidate: &Candidate) -> String {
        let all = self.0.channels.iter().zip(&candidate.ways);
        let chosen =
            all.filter(|(channel, way)| channel.way != **way || **way != Transport::default());
        let each = chosen.map(|(channel, way)| format!("{}={way}", channel.name));
        each.collect::<Vec<_>>().join(" ")
    }

    /// Frames per second; empty if there is no rate.
    pub fn rate(self, candidate: &Candidate) -> String {
        match candidate.rate_millihz {
            0 => String::new(),
            millihz => thousandths(millihz),
        }
    }

    /// The frequency at which a core begins.
    pub(crate) fn hz(self, candidate: &Candidate, core: usize) -> u64 {
        self.0.cores[core].points[candidate.points[core] as usize].hz
    }
}

/// A frequency in megahertz, with as many digits as it needs.
#[expect(clippy::cast_precision_loss, reason = "frequencies have less than 53 bits")]
pub(crate) fn megahertz(hz: u64) -> String {
    format!("{}", hz as f64 / 1e6)
}
