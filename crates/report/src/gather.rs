// SPDX-License-Identifier: Apache-2.0
//! What a page shows of event streams, in one pass over them.

use serde::Serialize;
use whimbrel_trace::{Event, Kind};

use crate::envelope::{Envelope, EnvelopeData};
use crate::timeline::{Timeline, TimelineData};
use crate::waits::Waits;

/// How many points of all curves of one sort a page has room for.
const POINTS: usize = 120_000;

/// How many points a curve has at most, and at least where there are many.
const POINTS_OF_ONE: (usize, usize) = (4096, 64);

/// What was gathered so far.
#[derive(Debug)]
pub struct Gather {
    start_ns: u64,
    /// The time of the last event, since the start.
    end: u64,
    events: u64,
    /// Of each channel; `None`: of one that is not shown.
    depth: Vec<Option<Envelope>>,
    frequency: Vec<Envelope>,
    power: Vec<Envelope>,
    temperature: Vec<Envelope>,
    waits: Waits,
    timeline: Timeline,
}

/// As the page takes it. Curves are by channel or by core; `null`: nothing is known.
#[derive(Debug, Serialize)]
pub struct Gathered {
    events: u64,
    pub end_ns: u64,
    depth: Vec<Option<EnvelopeData>>,
    frequency: Vec<Option<EnvelopeData>>,
    power: Vec<Option<EnvelopeData>>,
    temperature: Vec<Option<EnvelopeData>>,
    pub timeline: TimelineData,
    #[serde(skip)]
    pub waits: Waits,
}

impl Gather {
    /// Nothing yet, of a run that started at `start_ns` on its clock, with so many cores, and the
    /// channels of which `shown` says whether they are of interest.
    pub fn new(start_ns: u64, cores: usize, shown: &[bool], timeline: Timeline) -> Self {
        let channels = shown.iter().filter(|shown| **shown).count();
        let curves = vec![Envelope::new(points_of_one(cores)); cores];
        let depth = |shown: &bool| shown.then(|| Envelope::new(points_of_one(channels)));
        Self {
            start_ns,
            end: 0,
            events: 0,
            depth: shown.iter().map(depth).collect(),
            frequency: curves.clone(),
            power: curves.clone(),
            temperature: curves,
            waits: Waits::default(),
            timeline,
        }
    }

    /// Takes the next event, in the order of time over all cores.
    pub fn take(&mut self, event: &Event) {
        let at = event.time_ns.saturating_sub(self.start_ns).clamp(self.end, crate::LATEST_NS);
        let core = event.core as usize;
        self.end = at;
        self.events += 1;
        self.waits.take(event, at);
        self.timeline.take(event, at);
        match event.kind {
            Kind::Send | Kind::Receive => {
                if let Some(Some(depth)) = self.depth.get_mut(event.object as usize) {
                    depth.push(at, event.value.into());
                }
            }
            Kind::Frequency => curve(&mut self.frequency, core, at, event.value.into()),
            Kind::Power => curve(&mut self.power, core, at, event.value.into()),
            Kind::Temperature => {
                curve(&mut self.temperature, core, at, event.signed().into());
            }
            _ => {}
        }
    }

    /// The end of the run, `time_ns` after its start.
    pub fn finish(self, time_ns: u64) -> Gathered {
        let end_ns = self.end.max(time_ns.min(crate::LATEST_NS));
        let known = |curve: Envelope| (!curve.is_empty()).then(|| curve.data(end_ns));
        let all = |curves: Vec<Envelope>| curves.into_iter().map(known).collect();
        Gathered {
            events: self.events,
            end_ns,
            depth: self.depth.into_iter().map(|depth| depth.and_then(known)).collect(),
            frequency: all(self.frequency),
            power: all(self.power),
            temperature: all(self.temperature),
            timeline: self.timeline.finish(end_ns),
            waits: self.waits,
        }
    }
}

fn points_of_one(curves: usize) -> usize {
    let (most, least) = POINTS_OF_ONE;
    (POINTS / curves.max(1)).clamp(least, most)
}

fn curve(curves: &mut [Envelope], core: usize, at: u64, value: i64) {
    if let Some(curve) = curves.get_mut(core) {
        curve.push(at, value);
    }
}
