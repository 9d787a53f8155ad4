// SPDX-License-Identifier: Apache-2.0
//! Which task each core ran when, for a view from an hour to a microsecond.
//!
//! [`Bins`] sums up the whole run: of each core and bin of time, how long each task ran, and how
//! many deadlines were missed and tasks moved. [`Exact`] keeps events as they were, in chunks that
//! the page unpacks when it shows them. A page has room for some; of more, the chunks with misses
//! and moves are kept first, and of the others every second, fourth, and so on.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use whimbrel_trace::{Awaited, Event, Kind};

use crate::columns::{encode, pack, signed};

/// How many bins a run has at most, and the coarsest level.
const BINS: (u64, u64) = (1 << 14, 1 << 10);

/// How many entries the bins have at most.
const ENTRIES: usize = 1 << 17;

/// How much wider the bins of the next level are.
const COARSER: u64 = 4;

/// How many events a chunk has, unless what runs and waits when it begins is a quarter of that.
const CHUNK: usize = 4096;

/// How much text chunks are in all, besides those that were asked for.
const EXACT_BYTES: usize = 5 << 19;

/// What bins count that is not the time of a task.
const MISSES: i64 = -1;
const MOVES: i64 = -2;

/// What is kept of an event: time, kind, row, task, object and value.
type Record = [i64; 6];

/// What was gathered so far.
#[derive(Debug)]
pub struct Timeline {
    /// The numbers of cores, ascending; a row is a position in it.
    cores: Vec<u32>,
    /// When kernels died, and the core, ascending; and how many of them are past.
    deaths: Vec<(u64, u32)>,
    died: usize,
    /// What each row runs, and since when.
    running: Vec<Option<(u32, u64)>>,
    /// The row that each task runs on.
    on: BTreeMap<u32, usize>,
    /// The block of each task that waits.
    waiting: BTreeMap<u32, Record>,
    bins: Bins,
    exact: Exact,
}

/// As the page takes it.
#[derive(Debug, Serialize)]
pub struct TimelineData {
    cores: Vec<u32>,
    /// From the finest to the coarsest.
    levels: Vec<Level>,
    /// When chunks begin and end.
    from: String,
    to: String,
    /// Whether some were left out.
    sampled: bool,
    #[serde(skip)]
    pub chunks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Level {
    width_ns: u64,
    /// Columns: bin, row, task or what is counted, nanoseconds or how many.
    packed: String,
}

impl Timeline {
    /// Nothing yet, of a run with these cores, ascending. Chunks that overlap what was `asked` for
    /// are kept, however many these are.
    pub fn new(cores: Vec<u32>, mut deaths: Vec<(u64, u32)>, asked: Vec<Range<u64>>) -> Self {
        deaths.sort_unstable();
        Self {
            deaths,
            died: 0,
            running: vec![None; cores.len()],
            cores,
            on: BTreeMap::new(),
            waiting: BTreeMap::new(),
            bins: Bins { width_ns: 1024, entries: BTreeMap::new() },
            exact: Exact { asked, strides: [1; 2], ..Exact::default() },
        }
    }

    /// Takes the next event, at a time since the start of the run.
    pub fn take(&mut self, event: &Event, at: u64) {
        while let Some(&(dead, core)) = self.deaths.get(self.died).filter(|(dead, _)| *dead <= at) {
            self.died += 1;
            self.step(&Event { kind: Kind::Sleep, core, ..*event }, dead);
        }
        self.step(event, at);
    }

    fn step(&mut self, event: &Event, at: u64) {
        use Kind::{Attach, Block, Doorbell, End, Miss, Output, Park, Ready, Receive, Return, Run};
        let Ok(row) = self.cores.binary_search(&event.core) else { return };
        let task = event.task;
        match event.kind {
            Run => {
                // A kernel that was killed has not recorded that the task stopped.
                if let Some(other) = self.on.get(&task).copied().filter(|other| *other != row) {
                    self.stop(other, at);
                }
                self.stop(row, at);
                self.running[row] = Some((task, at));
                self.on.insert(task, row);
                self.waiting.remove(&task);
            }
            Kind::Sleep if self.running[row].is_some() => self.stop(row, at),
            Ready | Block | End | Park => {
                if self.on.get(&task) == Some(&row) {
                    self.stop(row, at);
                }
            }
            Miss => self.bins.count(at, row, MISSES),
            Attach => self.bins.count(at, row, MOVES),
            Kind::Send | Receive | Return | Output | Doorbell => {}
            _ => return,
        }
        let value = match event.kind {
            Kind::Send | Receive | Miss => event.value,
            _ => 0,
        };
        let task = if event.kind == Doorbell { -1 } else { task.into() };
        let (kind, object) = (event.kind as i64, event.object.into());
        let record = [signed(at), kind, signed(row as u64), task, object, value.into()];
        let state = self.on.len() + self.waiting.len();
        if self.exact.is_full(at, state) {
            self.exact.close(at);
            let running = self.on.iter().filter_map(|(task, row)| {
                let (_, since) = self.running[*row].filter(|_| *row != record[2] as usize)?;
                let row = signed(*row as u64);
                Some([signed(since), Kind::Run as i64, row, i64::from(*task), 0, 0])
            });
            self.exact.begin(at, running.chain(self.waiting.values().copied()));
        }
        self.exact.push(at, record, matches!(event.kind, Miss | Attach | Park | Return | Output));
        if Awaited::of(event).is_some() {
            self.waiting.insert(event.task, record);
        }
    }

    /// What runs in this row stops.
    fn stop(&mut self, row: usize, at: u64) {
        if let Some((task, since)) = self.running[row].take() {
            self.bins.add(since..at, row, task);
            self.on.remove(&task);
        }
    }

    /// The end of the run.
    pub fn finish(mut self, end: u64) -> TimelineData {
        for row in 0..self.cores.len() {
            self.stop(row, end);
        }
        self.exact.close(end.saturating_add(1));
        let chunks = self.exact.chunks;
        TimelineData {
            cores: self.cores,
            levels: self.bins.levels(),
            from: encode(chunks.iter().map(|chunk| signed(chunk.time.start))),
            to: encode(chunks.iter().map(|chunk| signed(chunk.time.end))),
            sampled: chunks.len() < self.exact.count,
            chunks: chunks.into_iter().map(|chunk| chunk.packed).collect(),
        }
    }
}

/// Bin, row, and a task or what is counted.
type Place = (u64, i64, i64);

/// Sums over bins of time, which become wider as the run goes on.
#[derive(Debug)]
struct Bins {
    width_ns: u64,
    entries: BTreeMap<Place, i64>,
}

impl Bins {
    fn add(&mut self, time: Range<u64>, row: usize, task: u32) {
        self.widen(time.end);
        let mut from = time.start;
        while from < time.end {
            let bin = from / self.width_ns;
            let to = ((bin + 1) * self.width_ns).min(time.end);
            let place = (bin, signed(row as u64), task.into());
            *self.entries.entry(place).or_default() += signed(to - from);
            from = to;
        }
    }

    fn count(&mut self, at: u64, row: usize, what: i64) {
        self.widen(at);
        *self.entries.entry((at / self.width_ns, signed(row as u64), what)).or_default() += 1;
    }

    /// Makes room for a time.
    fn widen(&mut self, at: u64) {
        let full = |bins: &Self| at / bins.width_ns >= BINS.0 || bins.entries.len() > ENTRIES;
        // One bin of all tasks and cores may be more: that is as few as there can be.
        while full(self) && self.width_ns < crate::LATEST_NS {
            self.entries = self.merged(2);
            self.width_ns *= 2;
        }
    }

    fn merged(&self, bins: u64) -> BTreeMap<Place, i64> {
        let mut merged = BTreeMap::new();
        for ((bin, row, what), value) in &self.entries {
            *merged.entry((bin / bins, *row, *what)).or_default() += value;
        }
        merged
    }

    fn levels(mut self) -> Vec<Level> {
        let mut levels = Vec::new();
        loop {
            let column = |of: fn((&Place, &i64)) -> i64| self.entries.iter().map(of).collect();
            let columns: [Vec<i64>; 4] = [
                column(|(place, _)| signed(place.0)),
                column(|(place, _)| place.1),
                column(|(place, _)| place.2),
                column(|(_, value)| *value),
            ];
            levels.push(Level { width_ns: self.width_ns, packed: pack(&columns) });
            if self.entries.keys().next_back().is_none_or(|(bin, ..)| *bin < BINS.1) {
                return levels;
            }
            self.entries = self.merged(COARSER);
            self.width_ns *= COARSER;
        }
    }
}

#[derive(Debug)]
struct Chunk {
    time: Range<u64>,
    number: usize,
    keep: Keep,
    packed: String,
}

/// Why a chunk is kept, in the order in which they are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Sample,
    Notable,
    Asked,
}

/// Events as they were.
#[derive(Debug, Default)]
struct Exact {
    asked: Vec<Range<u64>>,
    chunks: Vec<Chunk>,
    /// How many chunks there were.
    count: usize,
    /// Of samples and of notable chunks, one of so many is kept.
    strides: [usize; 2],
    /// Of the chunk that is open: when it began, the time of its last event, whether it is notable.
    from: u64,
    last: u64,
    notable: bool,
    open: Vec<Record>,
}

impl Exact {
    /// Whether an event at this time is the first of another chunk; `state` is how much that has to
    /// repeat. Events of one time stay together, unless they are too many.
    fn is_full(&self, at: u64, state: usize) -> bool {
        let most = CHUNK.max(state * 4);
        self.open.len() >= most && (at > self.last || self.open.len() >= most * 4)
    }

    fn begin(&mut self, at: u64, state: impl Iterator<Item = Record>) {
        self.open.extend(state);
        self.from = at;
    }

    fn push(&mut self, at: u64, record: Record, notable: bool) {
        self.open.push(record);
        self.last = at;
        self.notable |= notable;
    }

    /// Ends the chunk that is open before this time.
    fn close(&mut self, to: u64) {
        if self.open.is_empty() {
            return;
        }
        let time = self.from..to;
        let asked = self.asked.iter().any(|asked| asked.start < to && self.from < asked.end);
        let keep = match (asked, self.notable) {
            (true, _) => Keep::Asked,
            (_, true) => Keep::Notable,
            _ => Keep::Sample,
        };
        let number = self.count;
        self.count += 1;
        self.notable = false;
        let records = std::mem::take(&mut self.open);
        if self.has_room(keep, number) {
            let column = |n: usize| records.iter().map(|record| record[n]).collect();
            let packed = pack(&std::array::from_fn::<Vec<i64>, 6, _>(column));
            self.chunks.push(Chunk { time, number, keep, packed });
            self.thin();
        }
    }

    fn has_room(&self, keep: Keep, number: usize) -> bool {
        keep == Keep::Asked || number % self.strides[keep as usize] == 0
    }

    fn thin(&mut self) {
        let size = |chunks: &[Chunk]| -> usize {
            let counted = chunks.iter().filter(|chunk| chunk.keep != Keep::Asked);
            counted.map(|chunk| chunk.packed.len()).sum()
        };
        for keep in [Keep::Sample, Keep::Notable] {
            while size(&self.chunks) > EXACT_BYTES && self.strides[keep as usize] <= self.count {
                self.strides[keep as usize] *= 2;
                let mut chunks = std::mem::take(&mut self.chunks);
                chunks.retain(|chunk| self.has_room(chunk.keep, chunk.number));
                self.chunks = chunks;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, core: u32, task: u32) -> Event {
        Event { time_ns: 0, kind, core, task, object: 0, value: 0 }
    }

    /// The sums of a row over all bins: of a task, or of what is counted.
    fn sum(timeline: &Timeline, row: i64, what: i64) -> i64 {
        let entries = timeline.bins.entries.iter();
        entries.filter(|((_, r, w), _)| (*r, *w) == (row, what)).map(|(_, value)| value).sum()
    }

    #[test]
    fn however_long_a_run_is_its_bins_are_few_and_lose_nothing() {
        let mut timeline = Timeline::new(vec![0, 4], Vec::new(), Vec::new());
        for round in 0..200_000 {
            let at = round * 18_000_000;
            timeline.take(&event(Kind::Run, 4, 7), at);
            timeline.take(&event(Kind::Block, 4, 7), at + 5_000_001);
            if round % 1000 == 0 {
                timeline.take(&event(Kind::Miss, 4, 7), at + 5_000_001);
            }
        }
        assert_eq!((sum(&timeline, 1, 7), sum(&timeline, 1, MISSES)), (200_000 * 5_000_001, 200));
        assert!(timeline.bins.entries.len() <= ENTRIES);
        let levels = timeline.finish(3_600_000_000_000).levels;
        assert!(levels.len() >= 2, "{}", levels.len());
    }

    #[test]
    fn a_task_runs_until_its_kernel_dies_or_it_runs_elsewhere() {
        let mut timeline = Timeline::new(vec![0, 1, 2], vec![(50, 0)], Vec::new());
        timeline.take(&event(Kind::Run, 0, 3), 10);
        timeline.take(&event(Kind::Run, 1, 4), 20);
        timeline.take(&event(Kind::Run, 2, 3), 60);
        timeline.take(&event(Kind::Run, 2, 4), 100);
        let sums = [(0, 3), (1, 4), (2, 3)].map(|(row, task)| sum(&timeline, row, task));
        assert_eq!(sums, [40, 80, 40]);
    }

    #[test]
    fn a_chunk_begins_with_what_runs_and_waits() {
        let mut timeline = Timeline::new(vec![0, 1], Vec::new(), Vec::new());
        timeline.take(&event(Kind::Run, 1, 9), 5);
        timeline.take(&Event { object: 3 << 28, ..event(Kind::Block, 0, 8) }, 6);
        for at in 0..5000 {
            timeline.take(&event(Kind::Send, 0, 1), 10 + at);
        }
        assert_eq!((timeline.exact.count, timeline.exact.from), (1, 10 + 4094));
        assert_eq!(timeline.exact.open[0], [5, Kind::Run as i64, 1, 9, 0, 0]);
        assert_eq!(timeline.exact.open[1][..4], [6, Kind::Block as i64, 0, 8]);
        assert_eq!(timeline.exact.open.len(), 2 + 5000 - 4094);
    }
}
