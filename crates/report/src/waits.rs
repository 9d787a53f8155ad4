// SPDX-License-Identifier: Apache-2.0
//! What tasks waited for, how often and how long: from each block until the task ran again.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use whimbrel_trace::{Awaited, Event, Kind, Summary};

use crate::table::Table;

/// How many lines the page lists: those with the longest waits in all.
const LINES: usize = 4000;

/// What was gathered so far.
#[derive(Debug, Default)]
pub struct Waits {
    /// What each task waits for now, and since when.
    open: BTreeMap<u32, (Awaited, u64)>,
    /// By task.
    over: BTreeMap<(u32, Awaited), Sum>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    n: u64,
    total_ns: u64,
    longest_ns: u64,
}

impl Waits {
    /// Takes the next event, at a time since the start of the run.
    pub fn take(&mut self, event: &Event, at: u64) {
        if matches!(event.kind, Kind::Run | Kind::Block) {
            self.end(event.task, at);
        }
        if let Some(awaited) = Awaited::of(event) {
            self.open.insert(event.task, (awaited, at));
        }
    }

    fn end(&mut self, task: u32, at: u64) {
        let Some((awaited, since)) = self.open.remove(&task) else { return };
        let waited_ns = at.saturating_sub(since);
        let sum = self.over.entry((task, awaited)).or_default();
        sum.n += 1;
        sum.total_ns += waited_ns;
        sum.longest_ns = sum.longest_ns.max(waited_ns);
    }

    /// The table of the page, of a run that ended at `end`, and how many lines all would be.
    pub fn table(mut self, end: u64, summary: Option<&Summary>) -> (Table, usize) {
        for task in self.open.keys().copied().collect::<Vec<_>>() {
            self.end(task, end);
        }
        let objects = summary.map(Summary::names_of_objects).unwrap_or_default();
        let channels = summary.map(Summary::names_of_channels).unwrap_or_default();
        let mut all: Vec<_> = self.over.into_iter().collect();
        all.sort_by_key(|(of, sum)| (std::cmp::Reverse(sum.total_ns), *of));
        let line = |((task, awaited), sum): &((u32, Awaited), Sum)| {
            json!({
                "number": task,
                "awaited": awaited.name(&objects, &channels),
                "n": sum.n,
                "total_ns": sum.total_ns,
                "longest_ns": sum.longest_ns,
            })
        };
        let lines: Vec<Value> = all.iter().take(LINES).map(line).collect();
        let columns = ["number", "awaited", "n", "total_ns", "longest_ns"];
        (Table::of(&lines, &columns), all.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, task: u32, object: u32) -> Event {
        Event { time_ns: 0, kind, core: 0, task, object, value: 0 }
    }

    #[test]
    fn waits_are_summed_by_task_and_object_and_one_without_an_end_lasts_until_the_end() {
        const MUTEX: u32 = 3 << 28;
        let mut waits = Waits::default();
        for (at, kind, task, object) in [
            (10, Kind::Block, 0, MUTEX),
            (30, Kind::Run, 1, 0),
            (40, Kind::Run, 0, 0),
            (50, Kind::Block, 0, MUTEX),
            (55, Kind::Run, 0, 0),
            (60, Kind::Block, 0, 0),
            (70, Kind::Run, 0, 0),
            (80, Kind::Block, 1, 2 << 28 | 5),
        ] {
            waits.take(&event(kind, task, object), at);
        }
        let (Table { rows, .. }, all) = waits.table(100, None);
        assert_eq!(all, 2);
        assert_eq!(
            rows,
            [
                [json!(0), json!("a mutex"), json!(2), json!(35), json!(30)].to_vec(),
                [json!(1), json!("channel 5"), json!(1), json!(20), json!(20)].to_vec(),
            ]
        );
    }

    #[test]
    fn of_too_many_lines_those_with_the_longest_waits_are_listed_and_all_are_counted() {
        let mut waits = Waits::default();
        for task in 0..5000 {
            waits.take(&event(Kind::Block, task, 3 << 28), task.into());
        }
        let (Table { rows, .. }, all) = waits.table(5000, None);
        assert_eq!((rows.len(), all), (LINES, 5000));
        assert_eq!((&rows[0][3], &rows[LINES - 1][3]), (&json!(5000), &json!(1001)));
    }
}
