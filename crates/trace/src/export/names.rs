// SPDX-License-Identifier: Apache-2.0
//! What tasks, channels and cores are called in traces.

use std::collections::BTreeMap;

use crate::{Awaited, Error, Event, Kind, NO_TASK, Recorded, Summary};

/// How many objects and channels that tasks of a run without a summary wait for have a number for a
/// name.
const AWAITED: u32 = 1 << 16;

/// The names of a run; positions are the numbers in events.
#[derive(Debug)]
pub struct Names {
    pub app: String,
    /// The numbers of the cores, ascending.
    pub cores: Vec<u32>,
    pub tasks: Vec<String>,
    pub channels: Vec<String>,
    /// What scripts have in common.
    pub objects: Vec<String>,
    /// Whether these are their numbers: the run has no summary.
    pub are_numbers: bool,
}

impl Names {
    /// Those of the summary; for a run without one, numbers for all that its events mention.
    pub fn of(run: &Recorded) -> Result<Self, Error> {
        let cores = run.cores().collect();
        if let Some(summary) = &run.summary {
            return Ok(Self {
                app: summary.app.name.clone(),
                cores,
                tasks: tasks(summary),
                channels: summary.names_of_channels(),
                objects: summary.names_of_objects(),
                are_numbers: false,
            });
        }
        let (mut tasks, mut channels, mut objects) = (0, 0, 0);
        for event in run.merged() {
            let event = event?;
            if event.task != NO_TASK {
                tasks = tasks.max(event.task + 1);
            }
            if matches!(event.kind, Kind::Send | Kind::Receive) {
                channels = channels.max(event.object + 1);
            }
            match Awaited::of(&event) {
                Some(Awaited::Object(n @ ..AWAITED)) => objects = objects.max(n + 1),
                Some(Awaited::Channel(n @ ..AWAITED)) => channels = channels.max(n + 1),
                _ => {}
            }
        }
        let numbered = |what: &str, n: u32| (0..n).map(|i| format!("{what}_{i}")).collect();
        Ok(Self {
            app: "killed run".into(),
            cores,
            tasks: numbered("task", tasks),
            channels: numbered("channel", channels),
            objects: numbered("object", objects),
            are_numbers: true,
        })
    }

    /// Whether what the event is about has a name.
    pub fn know(&self, event: &Event) -> bool {
        let of_a_channel = matches!(event.kind, Kind::Send | Kind::Receive);
        (event.task == NO_TASK || (event.task as usize) < self.tasks.len())
            && (!of_a_channel || (event.object as usize) < self.channels.len())
    }

    /// Everything with a name that a task may wait for, in an order that is always the same.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited> {
        let objects = (0..).map(Awaited::Object).take(self.objects.len());
        let channels = (0..).map(Awaited::Channel).take(self.channels.len());
        objects.chain(channels).chain(Awaited::NAMELESS)
    }

    pub fn task(&self, task: u32) -> &str {
        &self.tasks[task as usize]
    }

    /// Where each core is in `cores`, by its number.
    pub fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.cores.last().map_or(0, |last| *last as usize + 1)];
        for (position, core) in self.cores.iter().enumerate() {
            positions[*core as usize] = position;
        }
        positions
    }
}

/// `lpf`, or `bpf.0` and `bpf.1` where there are several of a name.
fn tasks(summary: &Summary) -> Vec<String> {
    let mut count = BTreeMap::new();
    for task in &summary.tasks {
        *count.entry(task.task.as_str()).or_insert(0) += 1;
    }
    let name = |task: &crate::Task| match count[task.task.as_str()] {
        1 => task.task.clone(),
        _ => format!("{}.{}", task.task, task.index),
    };
    summary.tasks.iter().map(name).collect()
}
