// SPDX-License-Identifier: Apache-2.0
//! What of a recorded run is not there.

use super::{Oddities, Recorded};

/// How many files a line names.
const NAMED: usize = 8;

impl Recorded {
    /// The cores of the run that have no event stream. Without a summary nobody knows of those
    /// beyond the last one that has.
    #[must_use]
    pub fn missing(&self) -> Vec<u32> {
        let all: Vec<u32> = match &self.summary {
            Some(summary) => summary.cores.iter().map(|core| core.core).collect(),
            None => (0..self.cores().max().unwrap_or(0)).collect(),
        };
        let there = |core: &u32| self.streams.binary_search_by_key(core, |s| s.core).is_ok();
        all.into_iter().filter(|core| !there(core)).collect()
    }

    /// The cores whose event streams have nothing in them, not even the beginning of a header.
    #[must_use]
    pub fn empty(&self) -> Vec<u32> {
        let empty = self.streams.iter().filter(|stream| stream.bytes == 0);
        empty.map(|stream| stream.core).collect()
    }

    /// What is missing of the run, and what was left out or put right when it was read: a line for
    /// each; none when nothing was.
    #[must_use]
    pub fn damage(&self, odd: &Oddities) -> Vec<String> {
        let killed = "the run was killed: it has no summary, so tasks and channels have no names";
        let mut lines = Vec::new();
        if self.summary.is_none() {
            lines.push(killed.to_owned());
        }
        lines.extend(files("event streams that are missing", &self.missing()));
        lines.extend(files("event streams that are empty", &self.empty()));
        let dropped = self.summary.as_ref().map_or(0, |summary| summary.dropped_events);
        let counts = [
            (dropped, "events that were not recorded, for lack of time"),
            (odd.cut, "event streams that end within a record"),
            (odd.unknown, "events of unknown kinds, left out"),
            (odd.damaged, "damaged events, left out"),
            (odd.late, "events out of order, put after the previous one"),
        ];
        let counted = counts.iter().filter(|(count, _)| *count > 0);
        lines.extend(counted.map(|(count, what)| format!("{what}: {count}")));
        lines
    }
}

/// How many files there are, and which; `None`: none.
fn files(what: &str, cores: &[u32]) -> Option<String> {
    let mut names: Vec<String> =
        cores.iter().take(NAMED).map(|core| format!("core-{core}.events")).collect();
    if cores.len() > NAMED {
        names.push("…".into());
    }
    (!cores.is_empty()).then(|| format!("{what}: {} ({})", cores.len(), names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_the_first_of_them_named() {
        assert_eq!(files("gone", &[]), None);
        assert_eq!(files("gone", &[3, 5]).unwrap(), "gone: 2 (core-3.events, core-5.events)");
        let many = files("gone", &(0..900).collect::<Vec<_>>()).unwrap();
        assert!(many.starts_with("gone: 900 (core-0.events, "), "{many}");
        assert!(many.ends_with(", core-7.events, …)"), "{many}");
    }
}
