// SPDX-License-Identifier: Apache-2.0
//! What the tests share: small systems, and an evaluator that computes what a simulator would
//! measure.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use whimbrel_explore::{
    Budget, Candidate, Channel, Choices, Core, Evaluate, Exploration, Failure, Firing, Objective,
    Options, Outcome, Point, Space, Store, Surroundings, System, Task, Wire, csv, explore, json,
    parquet,
};

pub const SECOND_NS: u64 = 1_000_000_000;

/// A core of this class with points at these megahertz; power is a milliwatt per megahertz, and an
/// idle core takes half of that.
pub fn core(alike: usize, mhz: &[u64]) -> Core {
    let point =
        |mhz: &u64| Point { hz: mhz * 1_000_000, floor_uw: u32::try_from(mhz * 500).unwrap() };
    Core { points: mhz.iter().map(point).collect(), alike }
}

/// Tasks by name, number of them, and megacycles per frame; at 1 frame per second, a load of 1 is
/// 1 MHz. Each group is connected to the next: alone to many, many to alone.
pub fn system(groups: &[(&str, u32, u64)], cores: Vec<Core>) -> System {
    let mut tasks: Vec<Task> = Vec::new();
    let mut channels = Vec::new();
    let mut before: Vec<usize> = Vec::new();
    for (name, count, megacycles) in groups {
        let here: Vec<usize> = (0..*count).map(|index| tasks.len() + index as usize).collect();
        for index in 0..*count {
            tasks.push(Task {
                name: (*name).into(),
                index,
                label: if *count > 1 { format!("{name}.{index}") } else { (*name).into() },
                start: 0,
                migratable: true,
                cycles: Some(vec![megacycles * 1_000_000; cores.len()]),
                steady: true,
                firing: Firing::PerFrame(1.0),
                wires: Vec::new(),
            });
        }
        for (from, to) in before.iter().flat_map(|from| here.iter().map(move |to| (*from, *to))) {
            let channel = channels.len();
            channels.push(Channel {
                name: format!("{}_{}_{channel}", tasks[from].name, tasks[to].name),
                slots: 14,
                least: 1,
                initial: 0,
                slot_bytes: 64,
                mailbox: false,
                claims_at_start: false,
                way: whimbrel_model::Transport::default(),
                bytes_each: 128,
            });
            let wire = |sends, port: &str, peer| Wire {
                sends,
                port: port.into(),
                peers: vec![peer],
                channel,
            };
            tasks[from].wires.push(wire(true, "out", to));
            tasks[to].wires.push(wire(false, "in", from));
        }
        before = here;
    }
    let (app, platform) = ("app".into(), "platform".into());
    let (internal_bytes, internal_core) = (4096, None);
    let (rate_millihz, endless) = (1000, true);
    System {
        app,
        platform,
        rate_millihz,
        endless,
        tasks,
        cores,
        channels,
        internal_bytes,
        internal_core,
        has_floorplan: false,
    }
}

/// Energy and load by hand; latency is the time of every task once; a frame is late if that takes
/// more than the slots can hide, and every frame is on a core that is overloaded.
pub struct Analytic {
    pub system: System,
    pub runs: AtomicU64,
    /// Ends the exploration after so many runs.
    pub stop_after: Option<u64>,
    pub stop: AtomicBool,
}

impl Analytic {
    pub fn new(system: &System) -> Self {
        let (runs, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { system: system.clone(), runs, stop_after: None, stop }
    }

    pub fn outcome(&self, c: &Candidate) -> Outcome {
        let system = &self.system;
        let hz = |core: usize| system.cores[core].points[c.points[core] as usize].hz;
        let mut load = vec![0.0; system.cores.len()];
        let (mut latency, mut energy) = (0.0, 0.0);
        for (task, core) in c.mapping.iter().enumerate() {
            let core = *core as usize;
            load[core] += system.load(task, core, hz(core), c.rate_millihz);
            latency += system.load(task, core, hz(core), 1000) * 1e3;
        }
        for core in c.cores() {
            let busy: f64 = f64::min(load[core], 1.0);
            energy += hz(core) as f64 * 1e-6 * (0.5 + 0.5 * busy);
        }
        let slots = f64::from(c.slots.iter().copied().min().unwrap_or(1));
        let late = latency > slots * 1e6 / c.rate_millihz as f64;
        let jobs = c.rate_millihz / 1000;
        let misses = if late || load.iter().any(|load| *load > 1.0) { jobs } else { 0 };
        let used = load.iter().filter(|load| **load > 0.0).count();
        Outcome {
            energy_mj: energy,
            misses,
            jobs,
            latency_ms: Some(latency),
            cores: u32::try_from(used).unwrap(),
            time_ms: 1e3,
            load,
            frames: jobs,
            firings: jobs * c.mapping.len() as u64,
        }
    }
}

impl Evaluate for Analytic {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        if self.stop_after.is_some_and(|most| runs >= most) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(self.outcome(candidate))
    }
}

/// Has what comes of candidates differ by their tasks' cores and these cores' points, so that a
/// search does not soon end.
pub struct Weighed(pub Analytic);

impl Evaluate for Weighed {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        let sum = |factor: u32| -> f64 {
            let places = candidate.mapping.iter().zip(1..);
            let weigh = |(core, task): (&u32, u32)| {
                let point = candidate.points[*core as usize];
                (task * 31 + core * 17 + point * 13) * factor % 1009
            };
            f64::from(places.map(weigh).sum::<u32>())
        };
        let outcome = self.0.outcome(candidate);
        Ok(Outcome { energy_mj: sum(7919), latency_ms: Some(sum(6101)), ..outcome })
    }
}

pub fn space(system: &System, choices: &Choices) -> Space {
    Space::new(system.clone(), choices, SECOND_NS).unwrap()
}

pub fn options() -> Options {
    Options {
        tolerance: Vec::new(),
        objectives: vec![
            Objective::Energy,
            Objective::Misses,
            Objective::Latency,
            Objective::Cores,
        ],
        seed: 1,
        limit: 20_000,
        budget: Budget::None,
    }
}

pub fn run(
    space: &Space,
    evaluate: &dyn Evaluate,
    options: &Options,
) -> Result<Exploration, String> {
    run_with(space, evaluate, options, &mut Store::default(), &AtomicBool::new(false))
}

pub fn run_with(
    space: &Space,
    evaluate: &dyn Evaluate,
    options: &Options,
    store: &mut Store,
    stop: &AtomicBool,
) -> Result<Exploration, String> {
    explore(space, evaluate, store, options, Surroundings { stop, watch: &|_| {} })
}

/// Everything that is written of a result.
pub fn files(system: &System, found: &Exploration) -> (Vec<u8>, Vec<u8>, String) {
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    csv(system, found, &mut rows).unwrap();
    parquet(system, found, "it", &mut columns).unwrap();
    (rows, columns, json(system, found).to_string())
}
