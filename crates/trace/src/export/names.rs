// SPDX-License-Identifier: Apache-2.0
//! What tasks, channels and cores are called in traces.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Awaited, Error, Event, Kind, NO_TASK, Recorded, Summary};

/// Numbers of objects and channels that tasks of a run without a summary wait for are below this;
/// others are of damaged records, and of waits that are not told.
const AWAITED: u32 = 1 << 16;

/// The names of a run.
#[derive(Debug)]
pub struct Names {
    pub app: String,
    /// The numbers of the cores, ascending.
    pub cores: Vec<u32>,
    pub tasks: Vec<String>,
    pub channels: Vec<String>,
    /// What scripts have in common.
    pub objects: Vec<String>,
    /// Of a run without a summary: the numbers that these names stand for. Otherwise the numbers in
    /// events are positions.
    pub numbers: Option<Numbers>,
}

/// What the events of a run mention, ascending: however large a number is that a damaged record
/// has, it is one.
#[derive(Debug)]
pub struct Numbers {
    tasks: Vec<u32>,
    channels: Vec<u32>,
    objects: Vec<u32>,
}

impl Numbers {
    fn of(run: &Recorded) -> Result<Self, Error> {
        let (mut tasks, mut channels, mut objects) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for event in run.merged() {
            let event = event?;
            if event.task != NO_TASK {
                tasks.insert(event.task);
            }
            match Awaited::of(&event) {
                Some(Awaited::Object(n @ ..AWAITED)) => _ = objects.insert(n),
                Some(Awaited::Channel(n @ ..AWAITED)) => _ = channels.insert(n),
                _ if is_of_a_channel(&event) => _ = channels.insert(event.object),
                _ => {}
            }
        }
        let ascending = |numbers: BTreeSet<u32>| numbers.into_iter().collect();
        Ok(Self {
            tasks: ascending(tasks),
            channels: ascending(channels),
            objects: ascending(objects),
        })
    }
}

fn is_of_a_channel(event: &Event) -> bool {
    matches!(event.kind, Kind::Send | Kind::Receive)
}

fn position(numbers: &[u32], number: u32) -> Option<u32> {
    numbers.binary_search(&number).ok()?.try_into().ok()
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
                numbers: None,
            });
        }
        let numbers = Numbers::of(run)?;
        let numbered = |what: &str, numbers: &[u32]| {
            numbers.iter().map(|number| format!("{what}_{number}")).collect()
        };
        Ok(Self {
            app: "killed run".into(),
            cores,
            tasks: numbered("task", &numbers.tasks),
            channels: numbered("channel", &numbers.channels),
            objects: numbered("object", &numbers.objects),
            numbers: Some(numbers),
        })
    }

    /// The event with positions of names in the place of numbers; `None`: what it is about has no
    /// name.
    pub fn locate(&self, event: &Event) -> Option<Event> {
        let Some(numbers) = &self.numbers else { return self.know(event).then_some(*event) };
        let task = match event.task {
            NO_TASK => NO_TASK,
            task => position(&numbers.tasks, task)?,
        };
        let located = Event { task, ..*event };
        match Awaited::of(event) {
            Some(Awaited::Object(n @ ..AWAITED)) => {
                Some(Awaited::at(&located, position(&numbers.objects, n)?))
            }
            Some(Awaited::Channel(n @ ..AWAITED)) => {
                Some(Awaited::at(&located, position(&numbers.channels, n)?))
            }
            _ if is_of_a_channel(event) => {
                Some(Event { object: position(&numbers.channels, event.object)?, ..located })
            }
            _ => Some(located),
        }
    }

    /// Whether what the event is about has a name, in a run with a summary.
    fn know(&self, event: &Event) -> bool {
        (event.task == NO_TASK || (event.task as usize) < self.tasks.len())
            && (!is_of_a_channel(event) || (event.object as usize) < self.channels.len())
    }

    /// What is awaited at a position is called so.
    pub fn of_awaited(&self, what: Awaited) -> String {
        match (&self.numbers, what) {
            (None, _) => what.name(&self.objects, &self.channels),
            (Some(numbers), Awaited::Object(at)) => {
                Awaited::Object(numbers.objects[at as usize]).name(&[], &[])
            }
            (Some(numbers), Awaited::Channel(at)) => {
                Awaited::Channel(numbers.channels[at as usize]).name(&[], &[])
            }
            (Some(_), _) => what.name(&[], &[]),
        }
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
