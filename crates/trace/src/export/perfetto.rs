// SPDX-License-Identifier: Apache-2.0
//! Perfetto's protobuf.
//!
//! The viewer colours a slice by its name, so a task keeps its colour on every core. Names are
//! interned and identifiers of tracks small, which makes an event about 20 bytes long.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use prost::Message;
use prost::encoding::{WireType, encode_key};

use super::names::Names;
use super::proto::{
    CLEARED, CounterDescriptor, DebugAnnotation, EventName, InternedData, NEEDS_NAMES, Ordering,
    ProcessDescriptor, TracePacket, TrackDescriptor, TrackEvent, Type,
};
use super::{Transition, Writer};
use crate::{Awaited, Event, Kind};

/// How much is written at a time, in bytes.
const BLOCK: usize = 1 << 16;
/// The number of `packet` in `Trace`, which is nothing but a sequence of packets.
const PACKET: u32 = 1;
/// The one sequence of packets; any number but 0.
const SEQUENCE: u32 = 1;

/// The track of the application, which the others are children of.
const APP: u64 = 1;
/// The group of the channels' counters.
const CHANNELS: u64 = 2;
/// The first track of the first core.
const CORES: u64 = 3;
/// Tracks per core: its tasks and three counters.
const PER_CORE: u64 = 4;
/// Which of a core's tracks a counter is, its name and its unit.
type Counter = (u64, &'static str, &'static str);
const FREQUENCY: Counter = (1, "frequency", "Hz");
const POWER: Counter = (2, "power", "W");
const TEMPERATURE: Counter = (3, "temperature", "°C");

/// Names that are no tasks; tasks come after them, and then what they wait for.
const MARKS: [&str; 15] = [
    "deadline missed",
    "parked",
    "first output",
    "doorbell",
    // The steps of a call, and from which on they come.
    "call begins",
    "request copied in",
    "request described",
    "service notified",
    "request seen",
    "request found",
    "request served",
    "answer described",
    "caller notified",
    "answer seen",
    "call over",
];
const MISSED: u64 = 1;
const PARKED: u64 = 2;
const OUTPUT: u64 = 3;
const RUNG: u64 = 4;
const STEPS: std::ops::Range<u64> = 5..16;

/// A trace being written.
pub struct Perfetto<'a> {
    names: &'a Names,
    positions: Vec<usize>,
    /// Cores on which a slice is open, by number.
    open: Vec<bool>,
    /// Counters of cores, and tasks that wait, that have a track.
    declared: BTreeSet<u64>,
    /// The names of what tasks wait for.
    awaited: BTreeMap<Awaited, u64>,
    /// Tasks whose slice of waiting is open, by number.
    waiting: Vec<bool>,
    out: &'a mut dyn Write,
    block: Vec<u8>,
}

impl<'a> Perfetto<'a> {
    pub fn new(names: &'a Names, out: &'a mut dyn Write) -> Self {
        let positions = names.positions();
        let block = Vec::with_capacity(2 * BLOCK);
        let open = vec![false; positions.len()];
        let first = name_of(u32::try_from(names.tasks.len()).unwrap_or(u32::MAX));
        let awaited = names.awaited().zip(first..).collect();
        let waiting = vec![false; names.tasks.len()];
        let declared = BTreeSet::new();
        Self { names, open, positions, declared, awaited, waiting, out, block }
    }

    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        encode_key(PACKET, WireType::LengthDelimited, &mut self.block);
        packet.encode_length_delimited(&mut self.block).map_err(io::Error::other)?;
        if self.block.len() >= BLOCK { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(&TracePacket {
            trusted_packet_sequence_id: SEQUENCE,
            track_descriptor: Some(track),
            ..TracePacket::default()
        })
    }

    fn put(&mut self, time_ns: u64, event: TrackEvent) -> io::Result<()> {
        self.packet(&TracePacket {
            timestamp: Some(time_ns),
            trusted_packet_sequence_id: SEQUENCE,
            sequence_flags: NEEDS_NAMES,
            track_event: Some(event),
            ..TracePacket::default()
        })
    }

    fn core(&self, core: u32) -> u64 {
        CORES + PER_CORE * self.positions[core as usize] as u64
    }

    fn channel(&self, channel: usize) -> u64 {
        CORES + PER_CORE * self.names.cores.len() as u64 + channel as u64
    }

    /// The group of tasks that wait; that of a task comes after it, by its number.
    fn waits(&self) -> u64 {
        self.channel(self.names.channels.len())
    }

    /// The track of what a task waits for, which is declared when it first waits.
    fn track_of_waits(&mut self, task: u32) -> io::Result<u64> {
        let group = self.waits();
        let uuid = group + 1 + u64::from(task);
        if self.declared.insert(group) {
            let rank = i32::try_from(self.names.cores.len() + 1).ok();
            self.track(TrackDescriptor {
                child_ordering: Some(Ordering::Explicit.into()),
                ..child(group, APP, "waits".into(), rank)
            })?;
        }
        if self.declared.insert(uuid) {
            let name = self.names.task(task).to_owned();
            self.track(child(uuid, group, name, i32::try_from(task).ok()))?;
        }
        Ok(uuid)
    }

    fn begin_wait(&mut self, event: &Event) -> io::Result<()> {
        let known = Awaited::of(event).and_then(|awaited| self.awaited.get(&awaited).copied());
        self.end_wait(event.task, event.time_ns)?;
        let Some(name) = known else { return Ok(()) };
        let begin = of(Type::SliceBegin, self.track_of_waits(event.task)?);
        self.waiting[event.task as usize] = true;
        self.put(event.time_ns, TrackEvent { name_iid: Some(name), ..begin })
    }

    fn end_wait(&mut self, task: u32, time_ns: u64) -> io::Result<()> {
        if !std::mem::take(&mut self.waiting[task as usize]) {
            return Ok(());
        }
        let end = of(Type::SliceEnd, self.track_of_waits(task)?);
        self.put(time_ns, end)
    }

    fn track_of_core(&mut self, core: u32) -> io::Result<()> {
        let rank = i32::try_from(self.positions[core as usize]).ok();
        let track = child(self.core(core), APP, format!("core {core}"), rank);
        self.track(TrackDescriptor { child_ordering: Some(Ordering::Explicit.into()), ..track })
    }

    /// The track of a core's counter, which is declared when it has its first value: the viewer
    /// would show an empty one.
    fn counter(&mut self, core: u32, (number, name, unit): Counter) -> io::Result<u64> {
        let parent = self.core(core);
        let uuid = parent + number;
        if self.declared.insert(uuid) {
            self.track(TrackDescriptor {
                counter: Some(CounterDescriptor {
                    // Of kilohertz; what the viewer shows is in the unit.
                    unit_multiplier: (number == FREQUENCY.0).then_some(1000),
                    unit_name: Some(unit.into()),
                }),
                ..child(uuid, parent, name.into(), i32::try_from(number).ok())
            })?;
        }
        Ok(uuid)
    }

    fn tracks_of_channels(&mut self) -> io::Result<()> {
        let rank = i32::try_from(self.names.cores.len()).ok();
        self.track(TrackDescriptor {
            child_ordering: Some(Ordering::Explicit.into()),
            ..child(CHANNELS, APP, "channels".into(), rank)
        })?;
        for (channel, name) in self.names.channels.iter().enumerate() {
            let rank = i32::try_from(channel).ok();
            self.track(TrackDescriptor {
                counter: Some(CounterDescriptor {
                    unit_multiplier: None,
                    unit_name: Some("messages".into()),
                }),
                ..child(self.channel(channel), CHANNELS, name.clone(), rank)
            })?;
        }
        Ok(())
    }

    fn stop(&mut self, event: &Event, departs: Option<u64>) -> io::Result<()> {
        self.open[event.core as usize] = false;
        let track_uuid = self.core(event.core);
        let flow_ids = departs.into_iter().collect();
        let end = TrackEvent { flow_ids, ..of(Type::SliceEnd, track_uuid) };
        self.put(event.time_ns, end)
    }

    fn start(&mut self, event: &Event, arrives: Option<u64>) -> io::Result<()> {
        self.open[event.core as usize] = true;
        let track_uuid = self.core(event.core);
        let begin = TrackEvent {
            name_iid: Some(name_of(event.task)),
            terminating_flow_ids: arrives.into_iter().collect(),
            ..of(Type::SliceBegin, track_uuid)
        };
        self.put(event.time_ns, begin)
    }

    fn mark(&mut self, event: &Event, name: u64, departs: Option<u64>) -> io::Result<()> {
        let mut notes = Vec::new();
        if event.kind.is_of_a_task() {
            let string_value = Some(self.names.task(event.task).into());
            notes.push(DebugAnnotation { name: "task".into(), string_value, uint_value: None });
        }
        let number = match event.kind {
            Kind::Miss => Some(("late_ns", event.value)),
            Kind::Park => Some(("target", event.object)),
            Kind::Doorbell => Some(("by", event.object)),
            Kind::Call => Some(("call", event.call().0)),
            _ => None,
        };
        notes.extend(number.map(|(name, value)| DebugAnnotation {
            name: name.into(),
            string_value: None,
            uint_value: Some(value.into()),
        }));
        let mark = TrackEvent {
            debug_annotations: notes,
            name_iid: Some(name),
            flow_ids: departs.into_iter().collect(),
            ..of(Type::Instant, self.core(event.core))
        };
        self.put(event.time_ns, mark)
    }

    fn count(&mut self, event: &Event, track_uuid: u64, value: i64) -> io::Result<()> {
        let counter = TrackEvent { counter_value: Some(value), ..of(Type::Counter, track_uuid) };
        self.put(event.time_ns, counter)
    }

    fn measure(&mut self, event: &Event, counter: Counter, value: f64) -> io::Result<()> {
        let track_uuid = self.counter(event.core, counter)?;
        let counter =
            TrackEvent { double_counter_value: Some(value), ..of(Type::Counter, track_uuid) };
        self.put(event.time_ns, counter)
    }
}

fn child(uuid: u64, parent: u64, name: String, rank: Option<i32>) -> TrackDescriptor {
    TrackDescriptor {
        uuid,
        name: Some(name),
        parent_uuid: Some(parent),
        sibling_order_rank: rank,
        ..TrackDescriptor::default()
    }
}

fn of(kind: Type, track_uuid: u64) -> TrackEvent {
    TrackEvent { r#type: kind.into(), track_uuid, ..TrackEvent::default() }
}

fn name_of(task: u32) -> u64 {
    1 + MARKS.len() as u64 + u64::from(task)
}

impl Writer for Perfetto<'_> {
    fn begin(&mut self) -> io::Result<()> {
        let marks = MARKS.iter().map(|name| (*name).to_owned());
        let names = self.names;
        let waits = names.awaited().map(|what| format!("waits for {}", names.of_awaited(what)));
        let event_names = (1..)
            .zip(marks.chain(self.names.tasks.iter().cloned()).chain(waits))
            .map(|(iid, name)| EventName { iid, name });
        self.packet(&TracePacket {
            trusted_packet_sequence_id: SEQUENCE,
            sequence_flags: CLEARED,
            interned_data: Some(InternedData { event_names: event_names.collect() }),
            ..TracePacket::default()
        })?;
        self.track(TrackDescriptor {
            uuid: APP,
            process: Some(ProcessDescriptor { pid: 1, process_name: self.names.app.clone() }),
            child_ordering: Some(Ordering::Explicit.into()),
            ..TrackDescriptor::default()
        })?;
        for core in &self.names.cores {
            self.track_of_core(*core)?;
        }
        self.tracks_of_channels()
    }

    fn event(&mut self, event: &Event, step: &Transition) -> io::Result<()> {
        if step.stopped.is_some() {
            self.stop(event, step.departs)?;
        }
        if step.started.is_some() {
            self.start(event, step.arrives)?;
        }
        match event.kind {
            Kind::Run => self.end_wait(event.task, event.time_ns),
            Kind::Block => self.begin_wait(event),
            Kind::Send | Kind::Receive => {
                self.count(event, self.channel(event.object as usize), event.value.into())
            }
            Kind::Frequency => {
                let track = self.counter(event.core, FREQUENCY)?;
                self.count(event, track, event.value.into())
            }
            Kind::Power => self.measure(event, POWER, f64::from(event.value) / 1e6),
            Kind::Temperature => self.measure(event, TEMPERATURE, f64::from(event.signed()) / 1e3),
            Kind::Miss => self.mark(event, MISSED, None),
            Kind::Output => self.mark(event, OUTPUT, None),
            Kind::Doorbell => self.mark(event, RUNG, None),
            Kind::Call => {
                let name = STEPS.start + u64::from(event.call().1);
                if STEPS.contains(&name) { self.mark(event, name, None) } else { Ok(()) }
            }
            // One that did not run when it was parked has no slice for the arrow to begin at.
            Kind::Park if step.stopped.is_none() => self.mark(event, PARKED, step.departs),
            _ => Ok(()),
        }
    }

    fn end(&mut self, time_ns: u64) -> io::Result<()> {
        for core in &self.names.cores {
            if self.open[*core as usize] {
                let end = of(Type::SliceEnd, self.core(*core));
                self.put(time_ns, end)?;
            }
        }
        for task in (0..).take(self.waiting.len()) {
            self.end_wait(task, time_ns)?;
        }
        self.write()?;
        self.out.flush()
    }
}
