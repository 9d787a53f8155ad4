// SPDX-License-Identifier: Apache-2.0
//! Recorded runs that are made up.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;
use whimbrel_trace::{Event, Exported, Format, Kind, NO_TASK, Recorded, export};

/// A folder for the files of a run.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn stream(&self, core: u32) -> PathBuf {
        self.path().join(format!("core-{core}.events"))
    }

    /// Writes the stream of a core.
    pub fn record(&self, core: u32, events: &[Event]) -> &Self {
        let records = events.iter().flat_map(|event| event.to_record());
        let bytes: Vec<u8> = header(core).into_iter().chain(records).collect();
        fs::write(self.stream(core), bytes).unwrap();
        self
    }

    /// Writes a summary of these tasks and channels.
    pub fn sum_up(&self, tasks: &[(&str, u32)], channels: &[(&str, u32)]) -> &Self {
        let task = |(name, index): &(&str, u32)| json!({ "task": name, "index": index });
        let channel = |(name, slots): &(&str, u32)| json!({ "channel": name, "slots": slots });
        let summary = json!({
            "version": 1,
            "app": { "name": "made up" },
            "start_ns": 1000,
            "time_ns": 5000,
            "tasks": tasks.iter().map(task).collect::<Vec<_>>(),
            "channels": channels.iter().map(channel).collect::<Vec<_>>(),
            "objects": [{ "name": "m", "kind": "mutex" }],
        });
        fs::write(self.path().join("summary.json"), summary.to_string()).unwrap();
        self
    }
}

pub fn header(core: u32) -> Vec<u8> {
    let words = [1_u32, 24, core, 0];
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    b"WBEVENTS".iter().copied().chain(words).chain(1000_u64.to_le_bytes()).collect()
}

/// An event of a task.
pub fn of(time_ns: u64, core: u32, kind: Kind, task: u32) -> Event {
    Event { time_ns, kind, core, task, object: 0, value: 0 }
}

/// An event of a task and a channel or another core.
pub fn about(time_ns: u64, core: u32, kind: Kind, task: u32, object: u32, value: u32) -> Event {
    Event { time_ns, kind, core, task, object, value }
}

/// An event of a core.
pub fn on(time_ns: u64, core: u32, kind: Kind, value: u32) -> Event {
    Event { time_ns, kind, core, task: NO_TASK, object: 0, value }
}

/// A run with all that traces show. Its cores are 0 and 1; its tasks `src`, `dsp.0` and `dsp.1`.
///
/// `dsp.0` moves to core 1; `dsp.1` cannot, and comes back; `src` runs on core 0 until its kernel
/// is killed, and is started again on core 1.
pub fn made_up() -> Folder {
    use Kind::{
        Attach, Awake, Block, Call, Doorbell, End, Frequency, Miss, Output, Park, Power, Ready,
        Receive, Return, Run, Send, Sleep, Temperature,
    };
    let folder = Folder::new();
    folder.record(
        0,
        &[
            on(1000, 0, Frequency, 200_000),
            on(1000, 0, Power, 500_000),
            of(1100, 0, Run, 0),
            about(1140, 0, Call, 0, 0, 7 << 4 | 3),
            about(1150, 0, Send, 0, 0, 1),
            of(1200, 0, Run, 1),
            of(1200, 0, Block, 0),
            about(1250, 0, Receive, 1, 0, 0),
            about(1300, 0, Park, 1, 1, 0),
            on(1310, 0, Sleep, 0),
            on(1500, 0, Awake, 0),
            of(1500, 0, Run, 0),
            about(1550, 0, Miss, 0, 0, 40),
            of(1600, 0, Run, 2),
            of(1600, 0, Ready, 0),
            about(1700, 0, Park, 2, 1, 0),
            about(1800, 0, Return, 2, 1, 0),
            of(1850, 0, Run, 2),
            of(1900, 0, End, 2),
            of(1910, 0, Run, 0),
        ],
    );
    folder.record(
        1,
        &[
            on(1000, 1, Sleep, 0),
            on(1320, 1, Awake, 0),
            about(1320, 1, Doorbell, NO_TASK, 0, 0),
            about(1330, 1, Attach, 1, 0, 0),
            of(1350, 1, Run, 1),
            of(1400, 1, Output, 1),
            of(1400, 1, Block, 1),
            on(1420, 1, Temperature, u32::from_le_bytes((-5000_i32).to_le_bytes())),
            of(2500, 1, Run, 0),
            of(2600, 1, End, 0),
        ],
    );
    folder.sum_up(&[("src", 0), ("dsp", 0), ("dsp", 1)], &[("link", 14)]);
    folder
}

/// The slices of that run: core, task, from and to.
pub const SLICES: [(u32, &str, u64, u64); 8] = [
    (0, "src", 100, 200),
    (0, "dsp.0", 200, 300),
    (1, "dsp.0", 350, 400),
    (0, "src", 500, 600),
    (0, "dsp.1", 600, 700),
    (0, "dsp.1", 850, 900),
    (0, "src", 910, 1500),
    (1, "src", 1500, 1600),
];

/// The trace of a run.
pub fn trace(folder: &Folder, format: Format) -> (Vec<u8>, Exported) {
    let run = Recorded::open(folder.path()).unwrap();
    let mut bytes = Vec::new();
    let exported = export(&run, format, &mut bytes, &mut |_| {}).unwrap();
    (bytes, exported)
}

/// Two streams of anything that can be recorded of four tasks and two channels, with a summary or
/// without.
#[derive(Debug)]
pub struct Anything {
    streams: [Vec<Event>; 2],
    summary: bool,
}

impl Anything {
    pub fn folder(&self) -> Folder {
        let folder = Folder::new();
        for (core, events) in (0..).zip(&self.streams) {
            folder.record(core, events);
        }
        if self.summary {
            folder.sum_up(&[("a", 0), ("b", 0), ("b", 1), ("a b,#", 0)], &[("x", 1), ("y z", 2)]);
        }
        folder
    }
}

pub fn anything() -> impl Strategy<Value = Anything> {
    let stream = |core| {
        let one = (0_u64..3, 0..Kind::ALL.len(), 0_u32..4, 0_u32..2, any::<u32>());
        prop::collection::vec(one, 0..60).prop_map(move |steps| {
            let mut time_ns = 1000;
            let event = |(step, kind, task, object, value): (u64, usize, u32, u32, u32)| {
                time_ns += step;
                Event { time_ns, kind: Kind::ALL[kind], core, task, object, value }
            };
            steps.into_iter().map(event).collect()
        })
    };
    (stream(0), stream(1), any::<bool>())
        .prop_map(|(first, second, summary)| Anything { streams: [first, second], summary })
}
