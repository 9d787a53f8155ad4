// SPDX-License-Identifier: Apache-2.0
//! What events mean together: which task each core runs, and which journeys tasks are on.

use super::names::Names;
use crate::{Event, Kind};

/// What one event means.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The task that ran on the event's core until now, if it stops.
    pub stopped: Option<u32>,
    /// The task that runs there from now on, if it starts.
    pub started: Option<u32>,
    /// The number of the migration that the task of the event sets out on.
    pub departs: Option<u64>,
    /// The number of the migration after which the task of the event runs again.
    pub arrives: Option<u64>,
}

/// A migration under way.
#[derive(Debug, Clone, Copy)]
struct Journey {
    number: u64,
    attached: bool,
}

/// The state after the events so far.
#[derive(Debug)]
pub struct ReplayState {
    /// The task that each core runs, by the number of the core.
    running: Vec<Option<u32>>,
    /// The core that each task last ran on, by the number of the task.
    last: Vec<u32>,
    /// By the number of the task.
    journeys: Vec<Option<Journey>>,
    departures: u64,
}

impl ReplayState {
    pub fn new(names: &Names) -> Self {
        Self {
            running: vec![None; names.positions().len()],
            last: vec![0; names.tasks.len()],
            journeys: vec![None; names.tasks.len()],
            departures: 0,
        }
    }

    /// The pause of a task that is about to run on another core than it does: its kernel was killed
    /// before it could record one, or the record was dropped.
    pub fn unrecorded(&self, event: &Event) -> Option<Event> {
        if event.kind != Kind::Run {
            return None;
        }
        let core = self.last[event.task as usize];
        let runs = core != event.core && self.running.get(core as usize) == Some(&Some(event.task));
        runs.then_some(Event { kind: Kind::Ready, core, ..*event })
    }

    /// Goes on by an event of a core and a task that have names.
    pub fn step(&mut self, event: &Event) -> Transition {
        let mut step = Transition::default();
        let running = &mut self.running[event.core as usize];
        match event.kind {
            Kind::Run => {
                step.stopped = running.replace(event.task);
                self.last[event.task as usize] = event.core;
                step.started = Some(event.task);
            }
            // Nothing runs on a core that sleeps, also when the pause was not recorded.
            Kind::Sleep => step.stopped = running.take(),
            kind if kind.is_a_pause() => {
                step.stopped = running.take_if(|task| *task == event.task);
            }
            _ => {}
        }
        match event.kind {
            Kind::Park => {
                self.departures += 1;
                let journey = Journey { number: self.departures, attached: false };
                self.journeys[event.task as usize] = Some(journey);
                step.departs = Some(journey.number);
            }
            Kind::Attach => {
                if let Some(journey) = &mut self.journeys[event.task as usize] {
                    journey.attached = true;
                }
            }
            Kind::Return => self.journeys[event.task as usize] = None,
            Kind::Run => {
                let arrived = self.journeys[event.task as usize].take_if(|j| j.attached);
                step.arrives = arrived.map(|journey| journey.number);
            }
            _ => {}
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story() -> ReplayState {
        let tasks = vec!["a".into(), "b".into()];
        let (channels, objects) = (Vec::new(), Vec::new());
        ReplayState::new(&Names {
            app: "test".into(),
            cores: vec![0, 1],
            tasks,
            channels,
            objects,
            numbers: None,
        })
    }

    fn event(core: u32, kind: Kind, task: u32) -> Event {
        Event { time_ns: 0, kind, core, task, object: 0, value: 0 }
    }

    #[test]
    fn a_task_that_came_back_has_not_arrived_when_it_is_attached_later() {
        let mut story = story();
        story.step(&event(0, Kind::Run, 0));
        assert_eq!(story.step(&event(0, Kind::Park, 0)).departs, Some(1));
        story.step(&event(0, Kind::Return, 0));
        // Its kernel was killed, and another one has taken it up.
        story.step(&event(1, Kind::Attach, 0));
        assert_eq!(story.step(&event(1, Kind::Run, 0)).arrives, None);
    }

    #[test]
    fn a_pause_is_made_up_only_for_a_task_that_runs_on_another_core() {
        let mut story = story();
        let run = event(0, Kind::Run, 0);
        assert_eq!(story.unrecorded(&run), None);
        story.step(&run);
        assert_eq!(story.unrecorded(&run), None, "it runs on this core");
        let elsewhere = event(1, Kind::Run, 0);
        assert_eq!(story.unrecorded(&elsewhere), Some(event(0, Kind::Ready, 0)));
        assert_eq!(story.unrecorded(&event(1, Kind::Run, 1)), None, "it never ran");
        story.step(&event(0, Kind::Run, 1));
        assert_eq!(story.unrecorded(&elsewhere), None, "another one runs there by now");
    }

    #[test]
    fn a_core_that_sleeps_runs_nothing() {
        let mut story = story();
        story.step(&event(0, Kind::Run, 1));
        let step = story.step(&event(0, Kind::Sleep, crate::NO_TASK));
        assert_eq!(step, Transition { stopped: Some(1), ..Transition::default() });
        assert_eq!(story.step(&event(0, Kind::Block, 1)), Transition::default());
    }
}
