// SPDX-License-Identifier: Apache-2.0
//! What is known of a run at one moment: the last two totals, and the log.

use std::collections::VecDeque;

use serde::Serialize;
use whimbrel_run::control::RunDescription;
use whimbrel_run::done;
use whimbrel_run::protocol::{Advice, CoreDied, CoreRestarted, CoreStatus, Migration, Status};

/// The log keeps this many entries.
const LOG: usize = 1000;

/// One entry of the log; as JSON what the run says of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A migration has ended.
    Migration(Migration),
    /// A kernel was killed.
    #[serde(rename = "core_died")]
    Death(CoreDied),
    /// One that was killed is there again.
    #[serde(rename = "core_restarted")]
    Restart(CoreRestarted),
    /// A decision was ignored.
    Advice(Advice),
}

impl Entry {
    /// When it happened, on the run's clock.
    pub fn time_ns(&self) -> u64 {
        match self {
            Self::Migration(m) => m.request_ns.max(m.parked_ns).max(m.running_ns),
            Self::Death(death) => death.detected_ns,
            Self::Restart(restart) => restart.time_ns,
            Self::Advice(advice) => advice.time_ns,
        }
    }
}

/// What is known at one moment.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// The totals before the last ones.
    before: Status,
    /// The last totals.
    pub now: Status,
    /// What has happened, the latest last.
    pub log: VecDeque<Entry>,
}

impl Picture {
    /// New totals.
    pub fn totals(&mut self, status: Status) {
        if status.time_ns > self.now.time_ns {
            self.before = std::mem::replace(&mut self.now, status);
        }
    }

    /// Something has happened. What comes late is put where it belongs.
    pub fn happened(&mut self, entry: Entry) {
        let time_ns = entry.time_ns();
        let place = self.log.iter().rposition(|other| other.time_ns() <= time_ns);
        self.log.insert(place.map_or(0, |place| place + 1), entry);
        if self.log.len() > LOG {
            self.log.pop_front();
        }
    }

    /// The parts of the last interval in which a core was busy and polled.
    pub fn core_load(&self, core: usize) -> (f64, f64) {
        let part = |of: fn(&CoreStatus) -> u64| {
            let total = |status: &Status| status.cores.get(core).map_or(0, of);
            self.part(total(&self.before), total(&self.now))
        };
        let busy = part(|core| core.busy_ns);
        (busy, part(CoreStatus::all_polling_ns).min(1.0 - busy))
    }

    /// The part of the last interval in which a task computed.
    pub fn task_load(&self, task: usize) -> f64 {
        let total = |status: &Status| status.tasks.get(task).map_or(0, |task| task.busy_ns);
        self.part(total(&self.before), total(&self.now))
    }

    /// Frames per second in the last interval, or firings, and which of them it is.
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    pub fn done_per_s(&self, portrait: &RunDescription) -> (f64, &'static str) {
        let done = |status| done(&portrait.sinks, status);
        let ((before, _), (now, unit)) = (done(&self.before), done(&self.now));
        (now.saturating_sub(before) as f64 * 1e9 / self.interval_ns(), unit)
    }

    /// Deadlines missed by all tasks, since the start and in the last interval.
    pub fn misses(&self) -> (u64, u64) {
        let misses = |status: &Status| status.tasks.iter().map(|task| task.misses).sum::<u64>();
        (misses(&self.now), misses(&self.now).saturating_sub(misses(&self.before)))
    }

    /// The tasks by core, those that are over last; positions in the totals.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.now.tasks.len()).collect();
        order.sort_by_key(|position| {
            let task = &self.now.tasks[*position];
            (task.is_over(), task.core, *position)
        });
        order
    }

    #[expect(clippy::cast_precision_loss, reason = "an interval of seconds")]
    fn interval_ns(&self) -> f64 {
        self.now.time_ns.saturating_sub(self.before.time_ns).max(1) as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "shown as a whole per cent")]
    fn part(&self, before: u64, now: u64) -> f64 {
        (now.saturating_sub(before) as f64 / self.interval_ns()).clamp(0.0, 1.0)
    }
}
