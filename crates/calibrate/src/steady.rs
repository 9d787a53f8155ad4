// SPDX-License-Identifier: Apache-2.0
//! What a usual firing of each task takes, from the events of a run.
//!
//! The busy time of a summary is a sum: one firing in which a hypervisor took the processor away
//! for a millisecond, or the first one, which loads code and touches memory for the first time, is
//! as much of it as dozens of others. Medians over firings know nothing of these.

use std::collections::BTreeMap;

use serde::Serialize;
use whimbrel_model::{App, Direction};
use whimbrel_run::benchmark::median;
use whimbrel_trace::{Event, Kind};

/// A firing that takes so many times the median was disturbed.
const LONGER: f64 = 1.5;

/// Firings of tasks on cores, by the numbers of both: the busy time of each, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Firings(BTreeMap<(usize, usize), Vec<f64>>);

/// What of a task has been seen so far.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// Since when it runs, or since its last firing ended in this run.
    since_ns: Option<u64>,
    /// Busy time of the firing so far.
    busy_ns: f64,
    /// Messages at the port that is counted.
    messages: u32,
}

/// A port whose messages tell how often its task fires: kind of event, channel, and messages for
/// each firing.
type Beat = (Kind, usize, u32);

/// Whether a message was sent or taken.
pub fn is_message(kind: Kind) -> bool {
    matches!(kind, Kind::Send | Kind::Receive)
}

/// Of each task that has ports the one with the most firings. A firing is over with its last
/// message there; what comes after it is of the next one.
fn beats(app: &App, events: &[Event]) -> Vec<Option<Beat>> {
    let mut counts: BTreeMap<(usize, Kind, usize), u32> = BTreeMap::new();
    for event in events.iter().filter(|event| is_message(event.kind)) {
        *counts.entry((event.task as usize, event.kind, event.object as usize)).or_default() += 1;
    }
    let kind = |direction| match direction {
        Direction::In => Kind::Receive,
        Direction::Out => Kind::Send,
    };
    let mut best: Vec<Option<(u32, Beat)>> = vec![None; app.tasks.len()];
    for port in &app.ports {
        let (kind, rate) = (kind(port.direction), port.rate.max(1));
        let count = counts.get(&(port.task, kind, port.channel)).unwrap_or(&0) / rate;
        let one = best.get_mut(port.task);
        if let Some(one) = one.filter(|one| one.is_none_or(|(most, _)| count > most)) {
            *one = Some((count, (kind, port.channel, rate)));
        }
    }
    best.into_iter().map(|one| one.map(|(_, beat)| beat)).collect()
}

/// Reads them off all events of a run, in the order of time.
#[expect(clippy::cast_precision_loss, reason = "times of a run are far below 2^53")]
pub fn firings(app: &App, events: &[Event]) -> Firings {
    let beats = beats(app, events);
    let mut tasks = vec![Seen::default(); app.tasks.len()];
    let mut all = Firings::default();
    for event in events {
        let number = event.task as usize;
        let Some(seen) = tasks.get_mut(number) else { continue };
        let leaves = event.kind.is_a_pause();
        let beat = beats[number];
        let counts = beat.is_some_and(|(kind, channel, _)| {
            (kind, channel) == (event.kind, event.object as usize)
        });
        seen.messages += u32::from(counts);
        let over = beat.map_or(leaves, |(_, _, rate)| counts && seen.messages >= rate);
        if leaves || over {
            if let Some(since_ns) = seen.since_ns {
                seen.busy_ns += event.time_ns.saturating_sub(since_ns) as f64;
            }
            seen.since_ns = (!leaves).then_some(event.time_ns);
        }
        if leaves {
            seen.busy_ns -= f64::from(event.value);
        }
        if event.kind == Kind::Run {
            seen.since_ns = Some(event.time_ns);
        }
        if over {
            let firing = all.0.entry((number, event.core as usize)).or_default();
            firing.push(seen.busy_ns.max(0.0));
            (seen.busy_ns, seen.messages) = (0.0, 0);
        }
    }
    all
}

/// Firings that took longer than usual: how large a part of all, and by how much in the mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Disturbed {
    /// Of all firings.
    pub part: f64,
    /// What all firings took beyond the usual one, for each of these.
    pub mean_ns: f64,
}

/// Of all firings of some runs, each against the median of its task on its core in its run. Their
/// sum is what firings took beyond those medians, so medians and these together are the busy time.
#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
pub fn disturbed<'a>(runs: impl Iterator<Item = &'a Firings>) -> Disturbed {
    let (mut all, mut longer, mut beyond_ns) = (0, 0, 0.0);
    for firings in runs.flat_map(|run| run.0.values()) {
        let Some(usual_ns) = median(firings.clone()) else { continue };
        all += firings.len();
        longer += firings.iter().filter(|ns| **ns > LONGER * usual_ns).count();
        beyond_ns += firings.iter().map(|ns| ns - usual_ns).sum::<f64>();
    }
    if longer == 0 || beyond_ns <= 0.0 {
        return Disturbed::default();
    }
    Disturbed { part: longer as f64 / all as f64, mean_ns: beyond_ns / longer as f64 }
}

impl Firings {
    /// One firing of each task, by its number and in nanoseconds, on core 0.
    #[cfg(test)]
    pub fn of(firings: &[(usize, f64)]) -> Self {
        Self(firings.iter().map(|(task, ns)| ((*task, 0), vec![*ns])).collect())
    }

    /// The median over firings of tasks of a name, wherever they were, in nanoseconds.
    pub fn usual_ns(&self, app: &App, name: &str) -> Option<f64> {
        let of = |task: usize| app.tasks.get(task).is_some_and(|task| task.name == name);
        let all = self.0.iter().filter(|((task, _), _)| of(*task));
        median(all.flat_map(|(_, firings)| firings.iter().copied()).collect())
    }

    /// What part of a time a core would have been busy if every firing of a task there had taken
    /// what most did.
    #[expect(clippy::cast_precision_loss, reason = "counts and times of a run")]
    pub fn usual_load(&self, core: usize, time_ns: u64) -> f64 {
        let here = self.0.iter().filter(|((_, at), _)| *at == core);
        let busy = here.filter_map(|(_, all)| Some(median(all.clone())? * all.len() as f64));
        busy.sum::<f64>() / time_ns.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use whimbrel_model::Manifest;

    use super::*;

    /// A source that sends two messages for each of a sink's firings, and one without channels.
    fn app() -> App {
        let text = "
            [app]\nname = \"test\"
            [[task]]\nname = \"source\"\ncycles = 1\nperiod_us = 1000
            [[task]]\nname = \"sink\"\ncycles = 1
            [[task]]\nname = \"alone\"\ncycles = 1\nperiod_us = 1000
            [[channel]]\nfrom = \"source.out\"\nto = \"sink.in\"\nslot_bytes = 8\nconsume = 2
        ";
        let here = Path::new("/");
        App::build(&Manifest::parse(text).unwrap(), &[], here, here).unwrap()
    }

    fn event(time_ns: u64, task: u32, kind: Kind, value: u32) -> Event {
        Event { time_ns, kind, core: 0, task, object: 0, value }
    }

    fn of(events: &[Event]) -> Vec<(usize, Vec<f64>)> {
        firings(&app(), events).0.into_iter().map(|((task, _), all)| (task, all)).collect()
    }

    #[test]
    fn a_firing_is_the_busy_time_between_its_last_messages_without_polling() {
        use Kind::{Block, Receive, Run, Send};
        let events = [
            event(0, 0, Run, 0),
            event(70, 0, Send, 1),
            event(100, 0, Block, 20),
            event(1000, 0, Run, 0),
            event(1050, 0, Send, 2),
            event(1060, 1, Run, 0),
            event(1070, 1, Receive, 1),
            event(1090, 1, Receive, 0),
            event(1095, 1, Block, 0),
        ];
        // 10 of the 30 after the first message were no polling: they are of the second firing.
        assert_eq!(of(&events), [(0, vec![70.0, 60.0]), (1, vec![30.0])]);
    }

    #[test]
    fn a_task_without_channels_fires_once_in_each_run() {
        let runs = [
            event(0, 2, Kind::Run, 0),
            event(30, 2, Kind::Block, 0),
            event(100, 2, Kind::Run, 0),
            event(150, 2, Kind::End, 0),
        ];
        assert_eq!(of(&runs), [(2, vec![30.0, 50.0])]);
    }

    #[test]
    fn medians_and_what_disturbs_together_are_the_busy_time() {
        let of = |task, ns: &[f64]| Firings([((task, 0), ns.to_vec())].into());
        let runs = [of(0, &[10.0, 10.0, 10.0, 40.0, 90.0]), of(1, &[100.0, 105.0, 100.0])];
        let Disturbed { part, mean_ns } = disturbed(runs.iter());
        assert_eq!((part, mean_ns), (2.0 / 8.0, 115.0 / 2.0));
        // 5 * 10 and 3 * 100 by the medians, and 160 + 305 in all.
        assert_eq!(350.0 + 8.0 * part * mean_ns, 465.0);
        assert_eq!(disturbed([of(0, &[10.0, 11.0, 9.0])].iter()), Disturbed::default());
        assert_eq!(disturbed([].iter()), Disturbed::default());
    }

    #[test]
    fn a_firing_that_was_interrupted_is_in_no_usual_load() {
        let mut events = Vec::new();
        for (turn, took_ns) in [(0, 100), (1, 5_000), (2, 110)] {
            events.push(event(turn * 10_000, 2, Kind::Run, 0));
            events.push(event(turn * 10_000 + took_ns, 2, Kind::Block, 0));
        }
        let firings = firings(&app(), &events);
        assert_eq!(firings.usual_ns(&app(), "alone"), Some(110.0));
        assert_eq!((firings.usual_load(0, 33_000), firings.usual_load(1, 33_000)), (0.01, 0.0));
        assert_eq!(firings.usual_ns(&app(), "sink"), None);
    }
}
