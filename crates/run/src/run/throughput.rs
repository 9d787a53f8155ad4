// SPDX-License-Identifier: Apache-2.0
//! How often tasks fired, and how often the graphs that they make went round.

use serde::Serialize;
use whimbrel_model::App;
use whimbrel_model::sdf::{Graph, Task};

use crate::protocol::{Response, TaskStatus};

/// One task at the end of a run.
#[derive(Debug, Serialize)]
pub struct TaskSummary {
    /// The totals.
    #[serde(flatten)]
    pub totals: TaskStatus,
    /// Firings per second.
    pub firings_per_s: f64,
    /// Its response times; `null`: none was measured.
    pub response: Option<Response>,
}

/// Tasks that channels connect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphSummary {
    /// Their positions in `tasks`.
    pub tasks: Vec<usize>,
    /// How often each of them fires in one iteration: after it every channel holds as many messages
    /// as before.
    pub repetitions: Vec<u64>,
    /// Iterations that were complete.
    pub iterations: u64,
    /// The same per second.
    pub iterations_per_s: f64,
}

/// The tasks with what they did in `time_ns`, and how long they took.
pub fn tasks(
    all: Vec<TaskStatus>,
    responses: Vec<Option<Response>>,
    time_ns: u64,
) -> Vec<TaskSummary> {
    let responses = responses.into_iter().chain(std::iter::repeat(None));
    let summary = |(totals, response): (TaskStatus, _)| {
        let firings_per_s = ratio(totals.firings, time_ns) * 1e9;
        TaskSummary { totals, firings_per_s, response }
    };
    all.into_iter().zip(responses).map(summary).collect()
}

/// One for each part of the application that channels connect; none of one whose rates do not fit
/// each other, for that has no iterations.
pub fn graphs(app: &App, tasks: &[TaskStatus], time_ns: u64) -> Vec<GraphSummary> {
    let (graph, _) = Graph::of(app, |_| Task::default());
    let Ok(repetitions) = graph.repetitions() else { return Vec::new() };
    let parts = graph.parts();
    let mut all: Vec<Vec<usize>> = Vec::new();
    for (task, part) in parts.iter().enumerate() {
        all.resize(all.len().max(part + 1), Vec::new());
        all[*part].push(task);
    }
    let mut connected = vec![false; all.len()];
    graph.channels.iter().for_each(|channel| connected[parts[channel.from]] = true);
    let firings = |task: usize| tasks.get(task).map_or(0, |status| status.firings);
    let summary = |(part, _): (Vec<usize>, bool)| {
        let complete = part.iter().map(|task| firings(*task) / repetitions[*task]);
        let iterations = complete.min().unwrap_or(0);
        GraphSummary {
            repetitions: part.iter().map(|task| repetitions[*task]).collect(),
            tasks: part,
            iterations,
            iterations_per_s: ratio(iterations, time_ns) * 1e9,
        }
    };
    all.into_iter().zip(connected).filter(|(_, connected)| *connected).map(summary).collect()
}

/// A part of a whole; 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "a ratio of measurements")]
pub fn ratio(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}
