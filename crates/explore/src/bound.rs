// SPDX-License-Identifier: Apache-2.0
//! What is known of a candidate before it runs: no outcome is lower than this.
//!
//! * A core whose tasks need more than all of its time at its point cannot keep up:
//!   `Σ cycles · firings per second / f > 1`.
//! * `energy ≥ T · Σ P_floor`, over the cores that are available for the time T; `P_floor` is the
//!   least that a core can consume at its point. Tight where an idle core consumes as much as one
//!   at work, nothing where it is shut down, nor for an application that may end before T.
//! * `latency ≥ Σ cycles / f` along the shortest path of channels that are empty at the start,
//!   between a task that receives nothing and one that sends nothing: a frame may begin when the
//!   first has sent it, and has arrived when the last receives it.
//! * A candidate whose tasks stay uses every core that it has, any other at least one.
//!
//! Where a policy decides, points and places are not known, and the least of all are taken; of one
//! that has cores off, no power.

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use whimbrel_model::Decides;

use crate::candidate::{Candidate, Objective};
use crate::system::System;

/// Sums of loads that should be 1 may be this much more.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Bounds of candidates.
#[derive(Debug, Clone)]
pub struct Bound {
    /// So long it runs at least.
    duration_ns: u64,
    /// Tasks in an order in which messages pass them.
    order: Vec<usize>,
    /// Channels that are empty at the start and forward in that order, by their ends.
    edges: Vec<(usize, usize)>,
}

impl Bound {
    /// For runs that take so long.
    pub fn new(system: &System, duration_ns: u64) -> Self {
        let mut edges = Vec::new();
        for (task, known) in system.tasks.iter().enumerate() {
            for wire in known.wires.iter().filter(|wire| wire.sends) {
                let channel = &system.channels[wire.channel];
                if channel.initial == 0 && !channel.mailbox {
                    edges.extend(wire.peers.iter().map(|peer| (task, *peer)));
                }
            }
        }
        // Applications have no loop of channels that are empty at the start.
        let order = sorted(system.tasks.len(), &edges).unwrap_or_default();
        let duration_ns = if system.endless { duration_ns } else { 0 };
        Self { duration_ns, order, edges }
    }

    /// Whether the cores can keep up. With fixed tasks each at its point; else all of them together
    /// at their highest.
    pub fn keeps_up(&self, system: &System, candidate: &Candidate, fixed: bool) -> bool {
        if fixed {
            let load = |core| self.load(system, candidate, core);
            return (0..system.cores.len()).all(|core| load(core) <= 1.0 + ROUNDING);
        }
        let rate = candidate.rate_millihz;
        let cores = candidate.cores();
        let least = |task: usize| {
            let on = cores.iter().filter(|core| system.runs(task, **core));
            let load = |core: &usize| {
                let highest = system.cores[*core].points.last().map_or(1, |point| point.hz);
                system.load(task, *core, highest, rate)
            };
            on.map(load).fold(f64::INFINITY, f64::min)
        };
        let sum: f64 = (0..system.tasks.len()).map(least).sum();
        #[expect(clippy::cast_precision_loss, reason = "a number of cores")]
        let have = cores.len() as f64;
        sum <= have + ROUNDING
    }

    /// The load of a core at its point, if tasks stay where they begin.
    pub fn load(&self, system: &System, candidate: &Candidate, core: usize) -> f64 {
        let hz = system.cores[core].points[candidate.points[core] as usize].hz;
        let tasks = candidate.mapping.iter().enumerate().filter(|(_, on)| **on as usize == core);
        tasks.map(|(task, _)| system.load(task, core, hz, candidate.rate_millihz)).sum()
    }

    /// A value for each objective that no outcome of the candidate is below.
    #[expect(clippy::cast_precision_loss, reason = "a number of cores, and of nanoseconds")]
    pub fn floor(
        &self,
        system: &System,
        candidate: &Candidate,
        decides: Decides,
        objectives: &[Objective],
    ) -> Vec<f64> {
        let fixed = decides == Decides::Nothing;
        let value = |objective: &Objective| match objective {
            // A core that is off takes nothing.
            Objective::Energy if decides == Decides::MovesPointsAndOff => 0.0,
            Objective::Energy => self.energy_mj(system, candidate, fixed),
            Objective::Misses => 0.0,
            Objective::Latency => self.latency_ms(system, candidate, fixed),
            Objective::Cores if fixed => candidate.cores().len() as f64,
            Objective::Cores => 1.0,
            // It runs at least so long, and consumes at least that all the time.
            Objective::Power if self.duration_ns > 0 => {
                self.energy_mj(system, candidate, fixed) / self.duration_ns as f64 * 1e9
            }
            Objective::Time => self.duration_ns as f64 * 1e-6 * (1.0 - ROUNDING),
            Objective::Power | Objective::EnergyPerFrame | Objective::EnergyPerTask => 0.0,
            Objective::Frames => f64::NEG_INFINITY,
        };
        objectives.iter().map(value).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^53 ns")]
    fn energy_mj(&self, system: &System, candidate: &Candidate, fixed: bool) -> f64 {
        let floor = |core: &usize| {
            let points = &system.cores[*core].points;
            let least = points.iter().map(|point| point.floor_uw).min().unwrap_or(0);
            let at = points[candidate.points[*core] as usize].floor_uw;
            f64::from(if fixed { at } else { least })
        };
        // Microwatts times nanoseconds are 1e-15 J; the last digits are given away to rounding.
        let sum: f64 = candidate.cores().iter().map(floor).sum();
        sum * self.duration_ns as f64 * 1e-12 * (1.0 - ROUNDING)
    }

    /// Tasks whose cycles vary count with none, for a single run may take less than the mean.
    #[expect(clippy::cast_precision_loss, reason = "a bound needs no more digits")]
    fn latency_ms(&self, system: &System, candidate: &Candidate, fixed: bool) -> f64 {
        let time = |task: usize| {
            let known = &system.tasks[task];
            let Some(cycles) = known.cycles.as_ref().filter(|_| known.steady) else { return 0.0 };
            let on = |core: usize, hz: u64| cycles[core] as f64 / hz as f64;
            if fixed {
                let core = candidate.mapping[task] as usize;
                return on(core, system.cores[core].points[candidate.points[core] as usize].hz);
            }
            let cores = (0..cycles.len()).filter(|core| cycles[*core] > 0);
            let highest = |core: usize| system.cores[core].points.last().map_or(1, |p| p.hz);
            cores.map(|core| on(core, highest(core))).fold(f64::INFINITY, f64::min)
        };
        let mut until = vec![0.0; system.tasks.len()];
        let ends = |task: &usize| self.edges.iter().all(|(from, _)| from != task);
        for task in &self.order {
            let before = self.edges.iter().filter(|(_, to)| to == task);
            if let Some(earliest) = before.map(|(from, _)| until[*from]).reduce(f64::min) {
                until[*task] = earliest + if ends(task) { 0.0 } else { time(*task) };
            }
        }
        let least = self.order.iter().filter(|task| ends(task)).map(|task| until[*task]);
        least.reduce(f64::min).unwrap_or(0.0) * 1e3 * (1.0 - ROUNDING)
    }
}

/// Tasks in topological order; `None` if there is none.
fn sorted(tasks: usize, edges: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut graph = DiGraph::<(), (), usize>::default();
    for _ in 0..tasks {
        graph.add_node(());
    }
    graph.extend_with_edges(edges);
    let order = toposort(&graph, None).ok()?;
    Some(order.into_iter().map(NodeIndex::index).collect())
}
