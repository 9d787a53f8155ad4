// SPDX-License-Identifier: Apache-2.0
//! A simulated run that is made up: a pipeline of tasks that goes round over the cores, with
//! frequencies, power, temperatures, missed deadlines, and tasks that move.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use whimbrel_trace::{Event, Kind, NO_TASK};

/// The clock does not begin at 0.
const START: u64 = 5_000_000;

/// What the run is like.
#[derive(Debug, Clone)]
pub struct MadeUp {
    pub cores: u32,
    /// The names of tasks; task N begins on core N modulo their number.
    pub tasks: Vec<String>,
    /// How often each task runs.
    pub rounds: u64,
    pub period_ns: u64,
    /// A task moves to the next core after so many rounds.
    pub moves_after: u64,
    /// Whether there is a floorplan.
    pub floorplan: bool,
    /// Whether frequencies, power and temperatures were recorded.
    pub hardware: bool,
}

impl MadeUp {
    pub fn new(cores: u32, tasks: &[&str], rounds: u64) -> Self {
        let tasks = tasks.iter().map(ToString::to_string).collect();
        Self {
            cores,
            tasks,
            rounds,
            period_ns: 2_000_000,
            moves_after: 150,
            floorplan: true,
            hardware: true,
        }
    }

    /// Writes the folder of the run; gives how many events there are.
    pub fn write(&self, folder: &Path) -> usize {
        fs::create_dir_all(folder).unwrap();
        let mut streams = vec![Vec::new(); self.cores as usize];
        let migrations = self.run(&mut streams);
        for (core, events) in (0..).zip(&mut streams) {
            if self.hardware {
                self.hardware(core, events);
            }
            events.sort_by_key(|event| event.time_ns);
            let words = [1_u32, 24, core, 0].into_iter().flat_map(u32::to_le_bytes);
            let header = b"WBEVENTS".iter().copied().chain(words).chain(START.to_le_bytes());
            let records = events.iter().flat_map(Event::to_record);
            let path = folder.join(format!("core-{core}.events"));
            fs::write(path, header.chain(records).collect::<Vec<u8>>()).unwrap();
        }
        let summary = serde_json::to_vec_pretty(&self.summary(&migrations)).unwrap();
        fs::write(folder.join("summary.json"), summary).unwrap();
        streams.iter().map(Vec::len).sum()
    }

    /// The core of a task in a round.
    fn core(&self, task: usize, round: u64) -> u32 {
        let moved = (round + 17 * task as u64) / self.moves_after;
        let moves = if task % 3 == 1 { moved } else { 0 };
        ((task as u64 + moves) % u64::from(self.cores)) as u32
    }

    fn run(&self, streams: &mut [Vec<Event>]) -> Vec<Value> {
        let mut migrations = Vec::new();
        let mut free = vec![0_u64; self.cores as usize];
        for round in 0..self.rounds {
            for task in 0..self.tasks.len() {
                let core = self.core(task, round);
                let before = self.core(task, round.saturating_sub(1));
                let begins = START + round * self.period_ns + task as u64 * 40_000;
                if before != core {
                    migrations.push(self.migration(task, before, core, begins));
                }
                let lane = &mut streams[core as usize];
                let begin = begins.max(free[core as usize] + 1000);
                let span = 120_000 + (round * 7919 + task as u64 * 104_729) % 180_000;
                free[core as usize] = begin + span;
                let mut push = |time_ns, kind, object, value| {
                    let task = task as u32;
                    lane.push(Event { time_ns, kind, core, task, object, value });
                };
                push(begin, Kind::Run, 0, 0);
                let depth = |task: usize| ((round / 40 + task as u64) % 9) as u32;
                if task > 0 {
                    push(begin + span / 8, Kind::Receive, task as u32 - 1, depth(task));
                }
                if task + 1 < self.tasks.len() {
                    push(begin + span / 2, Kind::Send, task as u32, depth(task + 1) + 1);
                }
                if (round * 31 + task as u64) % 997 == 0 {
                    push(begin + span, Kind::Miss, 0, span as u32);
                }
                push(begin + span, Kind::Block, 0, 0);
            }
        }
        migrations
    }

    fn migration(&self, task: usize, source: u32, target: u32, at: u64) -> Value {
        let took = 20_000 + at % 90_000;
        json!({
            "task": self.tasks[task], "index": 0, "source": source, "target": target,
            "status": if at % 13 == 0 { "timeout" } else { "ok" }, "mode": "replicate",
            "by": "balance", "bytes": 65536, "request_ns": at - 900_000,
            "parked_ns": at - took, "copied_ns": at - took / 2, "attached_ns": at - took / 4,
            "running_ns": at, "output_ns": at + 300_000,
        })
    }

    /// Frequencies now and then, power with what runs, temperatures ten times a second.
    fn hardware(&self, core: u32, events: &mut Vec<Event>) {
        let on =
            |time_ns, kind, value| Event { time_ns, kind, core, task: NO_TASK, object: 0, value };
        let power: Vec<Event> = events
            .iter()
            .filter_map(|event| match event.kind {
                Kind::Run => Some(on(event.time_ns, Kind::Power, 400_000 + core * 20_000)),
                Kind::Block => Some(on(event.time_ns, Kind::Power, 60_000)),
                _ => None,
            })
            .collect();
        events.extend(power);
        let end = self.rounds * self.period_ns;
        for n in 0..16 {
            let khz = [500_000, 350_000, 200_000, 400_000][(n + core as usize) % 4];
            events.push(on(START + n as u64 * end / 16, Kind::Frequency, khz));
        }
        for n in 0..200_u64 {
            let wave = (n * 7 + u64::from(core) * 31) % 97;
            let centre = u64::from(core % 5) * 1500;
            let mc = 38_000 + n * 120 + wave * 20 + centre;
            events.push(on(START + n * end / 200, Kind::Temperature, mc as u32));
        }
    }

    fn summary(&self, migrations: &[Value]) -> Value {
        let end = self.rounds * self.period_ns;
        let core = |core: u32| {
            json!({ "core": core, "cpu": core, "load": 0.3 + 0.01 * f64::from(core),
                "busy_ns": end / 3, "polling_ns": 0, "switches": self.rounds, "sleeps": 10,
                "mean_hz": 362_500_000.0, "energy_uj": end / 5_000, "temperature_mc": 62_000 })
        };
        let task = |(number, name): (usize, &String)| {
            json!({ "task": name, "index": 0, "core": self.core(number, self.rounds),
                "state": "ended", "mode": "replicate", "busy_ns": self.rounds * 200_000,
                "runs": self.rounds, "firings": self.rounds,
                "firings_per_s": 1e9 / self.period_ns as f64,
                "response": if number == 0 { Value::Null } else { json!({
                    "n": self.rounds, "min_ns": 120_000, "mean_ns": 210_000, "p50_ns": 210_500,
                    "p99_ns": 298_000, "max_ns": 299_999,
                    "histogram": [[114_688, 131_072, 3], [196_608, 212_992, self.rounds - 3]],
                }) },
                "jobs": self.rounds, "misses": self.rounds / 997, "worst_late_ns": 290_000,
                "migrations": 4, "refused": 0, "restarts": 0, "heap_peak_bytes": 65536 })
        };
        let channel = |number: usize| {
            json!({ "channel": format!("{}_{}", self.tasks[number - 1], self.tasks[number]),
                "slots": 10, "depth": 0, "high": 9, "low": 1, "sent": self.rounds,
                "received": self.rounds, "bytes": self.rounds * 512 })
        };
        let side = f64::from(self.cores).sqrt().ceil() as u32;
        let block = |core: u32| {
            json!({ "name": format!("core{core}"), "core": core, "x_mm": core % side,
                "y_mm": core / side, "width_mm": 1, "height_mm": 1 })
        };
        let blocks: Vec<Value> = (0..self.cores).map(block).collect();
        let phase = |phase: &str, p50: u64| {
            json!({ "mode": "replicate", "phase": phase, "p50_ns": p50, "p90_ns": p50 * 2,
                "max_ns": p50 * 3, "n": migrations.len() })
        };
        json!({
            "version": 1, "run": "made-up", "platform": "mesh64", "ended": "duration", "ok": true,
            "app": { "name": "made up", "description": "a pipeline that goes round",
                "path": "app.toml", "module": null, "params": { "frames": 3 } },
            "options": { "cpus": [], "frequency": "none", "policy": "balance", "seed": 7 },
            "clock": "virtual", "start_ns": START, "time_ns": end, "gvm_bytes": 1 << 26,
            "frames": self.rounds, "frames_per_s": 1e9 / self.period_ns as f64,
            "graphs": [{ "tasks": (0..self.tasks.len()).collect::<Vec<_>>(),
                "repetitions": vec![1; self.tasks.len()], "iterations": self.rounds,
                "iterations_per_s": 1e9 / self.period_ns as f64 }],
            "deadline_misses": self.rounds / 997,
            "energy": { "source": "platform", "cores_uj": end / 1000, "machine_uj": 0 },
            "cores": (0..self.cores).map(core).collect::<Vec<_>>(),
            "tasks": self.tasks.iter().enumerate().map(task).collect::<Vec<_>>(),
            "channels": (1..self.tasks.len()).map(channel).collect::<Vec<_>>(),
            "migrations": migrations,
            "migration_latency": [phase("request to parked", 790_000),
                phase("parked to copied", 40_000), phase("copied to attached", 15_000),
                phase("attached to running", 20_000), phase("parked to running", 75_000)],
            "floorplan": if self.floorplan { json!({ "blocks": blocks }) } else { Value::Null },
            "deaths": [], "advice": [], "errors": [], "rate_millihz": 500_000,
            "dropped_events": 0, "dropped_migrations": 0, "dropped_advice": 0,
        })
    }
}
