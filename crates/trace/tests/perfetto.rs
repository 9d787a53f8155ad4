// SPDX-License-Identifier: Apache-2.0
//! Perfetto traces, decoded again.

#[path = "../src/export/proto.rs"]
mod proto;

use std::collections::BTreeMap;

use crate::common::{Folder, SLICES, about, anything, made_up, of, trace};
use proptest::prelude::*;
use prost::Message;
use proto::{CLEARED, NEEDS_NAMES, TracePacket, TrackDescriptor, TrackEvent, Type};
use whimbrel_trace::{Exported, Format, Kind};

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

/// A slice: its track, its name, from and to.
type Slice = (u64, String, u64, u64);
/// The end of an arrow: a track and a time.
type End = (u64, u64);

/// What a viewer makes of a trace.
#[derive(Default)]
struct Viewed {
    names: BTreeMap<u64, String>,
    tracks: BTreeMap<u64, TrackDescriptor>,
    open: BTreeMap<u64, (String, u64)>,
    slices: Vec<Slice>,
    leaving: BTreeMap<u64, End>,
    arrows: Vec<(End, End)>,
    marks: Vec<(u64, String, u64, Vec<String>)>,
    values: Vec<(String, u64, f64)>,
    last_ns: u64,
}

impl Viewed {
    fn of(bytes: &[u8]) -> Self {
        let mut viewed = Self::default();
        for packet in Trace::decode(bytes).unwrap().packet {
            assert_eq!(packet.trusted_packet_sequence_id, 1);
            if packet.interned_data.is_some() {
                assert_eq!((packet.sequence_flags, viewed.names.len()), (CLEARED, 0));
            }
            for name in packet.interned_data.into_iter().flat_map(|data| data.event_names) {
                assert!(viewed.names.insert(name.iid, name.name).is_none());
            }
            if let Some(track) = packet.track_descriptor {
                let parent = track.parent_uuid;
                assert!(parent.is_none_or(|parent| viewed.tracks.contains_key(&parent)));
                assert!(viewed.tracks.insert(track.uuid, track).is_none());
            }
            if let Some(event) = packet.track_event {
                let time_ns = packet.timestamp.unwrap();
                assert!(time_ns >= viewed.last_ns && packet.sequence_flags == NEEDS_NAMES);
                viewed.last_ns = time_ns;
                viewed.event(time_ns, &event);
            }
        }
        assert!(viewed.open.is_empty(), "a slice stays open");
        viewed
    }

    fn event(&mut self, time_ns: u64, event: &TrackEvent) {
        let track = event.track_uuid;
        let name = event.name_iid.map(|iid| self.names[&iid].clone());
        match event.r#type() {
            Type::SliceBegin => {
                assert!(self.open.insert(track, (name.unwrap(), time_ns)).is_none());
            }
            Type::SliceEnd => {
                let (name, from_ns) = self.open.remove(&track).expect("a slice is open");
                self.slices.push((track, name, from_ns, time_ns));
            }
            Type::Instant => {
                let notes = event.debug_annotations.iter().map(|note| {
                    let number = note.uint_value.map(|value| value.to_string());
                    note.string_value.clone().or(number).unwrap()
                });
                self.marks.push((track, name.unwrap(), time_ns, notes.collect()));
            }
            Type::Counter => {
                let counter = self.tracks[&track].counter.as_ref().expect("a counter's track");
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let value = match event.counter_value {
                    Some(value) => (value * counter.unit_multiplier.unwrap_or(1)) as f64,
                    None => event.double_counter_value.unwrap(),
                };
                self.values.push((self.name(track), time_ns, value));
            }
            Type::Unspecified => panic!("an event without a type"),
        }
        for flow in &event.flow_ids {
            assert!(self.leaving.insert(*flow, (track, time_ns)).is_none());
        }
        for flow in &event.terminating_flow_ids {
            let from = self.leaving.remove(flow).expect("an arrow begins before it ends");
            self.arrows.push((from, (track, time_ns)));
        }
    }

    fn name(&self, track: u64) -> String {
        self.tracks[&track].name.clone().unwrap()
    }

    /// The slices of tasks that wait: the task, what for, from and to.
    fn waits(&self) -> Vec<(&str, &str, u64, u64)> {
        let waits = self.slices.iter().filter(|(_, name, ..)| name.starts_with("waits"));
        waits
            .map(|(track, name, from, to)| {
                let track = &self.tracks[track];
                let group = &self.tracks[&track.parent_uuid.unwrap()];
                assert_eq!(group.name.as_deref(), Some("waits"));
                (track.name.as_deref().unwrap(), name.as_str(), *from, *to)
            })
            .collect()
    }

    fn agrees(&self, exported: &Exported) {
        assert_eq!(self.slices.len() as u64, exported.slices);
        assert_eq!(self.arrows.len() as u64, exported.arrows);
        let missed = self.marks.iter().filter(|(_, name, ..)| name == "deadline missed");
        assert_eq!(missed.count() as u64, exported.misses);
    }
}

fn view(folder: &Folder) -> (Viewed, Exported) {
    let (bytes, exported) = trace(folder, Format::Perfetto);
    let viewed = Viewed::of(&bytes);
    viewed.agrees(&exported);
    (viewed, exported)
}

#[test]
fn a_task_waits_for_what_it_blocks_for_until_it_runs_again() {
    use Kind::{Block, Run};
    let folder = Folder::new();
    folder.sum_up(&[("a", 0), ("b", 0)], &[("c", 2)]).record(
        0,
        &[
            of(1000, 0, Run, 0),
            about(1100, 0, Block, 0, 1 << 28, 0),
            of(1600, 0, Run, 0),
            about(1700, 0, Block, 0, 2 << 28, 0),
            of(1750, 0, Run, 1),
            about(1800, 0, Block, 1, 4 << 28, 0),
            of(1900, 0, Run, 0),
            // A time, and what has no name.
            of(2000, 0, Block, 0),
            of(2100, 0, Run, 0),
            about(2200, 0, Block, 0, 1 << 28 | 9, 0),
        ],
    );
    let (bytes, exported) = trace(&folder, Format::Perfetto);
    let viewed = Viewed::of(&bytes);
    assert_eq!(
        viewed.waits(),
        [
            ("a", "waits for mutex m", 100, 600),
            ("a", "waits for channel c", 700, 900),
            ("b", "waits for a semaphore", 800, 5000),
        ]
    );
    assert_eq!(exported.slices, 5, "of tasks that run");
}

#[test]
fn in_a_killed_run_a_task_waits_for_the_number_of_a_channel_or_an_object() {
    use Kind::{Block, Run};
    let folder = Folder::new();
    folder.record(
        0,
        &[
            of(1000, 0, Run, 0),
            about(1100, 0, Block, 0, 2 << 28 | 5, 0),
            of(1200, 0, Run, 0),
            about(1300, 0, Block, 0, 1 << 28 | 2, 0),
            of(1400, 0, Run, 0),
            // More than there are names for, as in a damaged record.
            about(1500, 0, Block, 0, 2 << 28 | 1 << 27, 0),
            of(1600, 0, Run, 0),
        ],
    );
    let viewed = Viewed::of(&trace(&folder, Format::Perfetto).0);
    assert_eq!(
        viewed.waits(),
        [("task_0", "waits for channel 5", 100, 200), ("task_0", "waits for object 2", 300, 400),]
    );
    let names = viewed.tracks.values().filter_map(|track| track.name.as_deref());
    let channels: Vec<_> = names.filter(|name| name.starts_with("channel_")).collect();
    assert_eq!(channels, ["channel_5"], "only what is mentioned has a track");
}

#[test]
fn each_stretch_for_which_a_task_runs_is_a_slice_on_the_track_of_its_core() {
    let (viewed, _) = view(&made_up());
    let mut slices: Vec<_> = viewed
        .slices
        .iter()
        .map(|(track, task, from, to)| (viewed.name(*track), task.as_str(), *from, *to))
        .collect();
    slices.sort_by_key(|(.., from, _)| *from);
    let wanted = SLICES.map(|(core, task, from, to)| (format!("core {core}"), task, from, to));
    assert_eq!(slices, wanted);
}

#[test]
fn a_migration_is_an_arrow_from_where_the_task_was_parked_to_where_it_runs() {
    let (viewed, exported) = view(&made_up());
    let ends: Vec<_> = viewed
        .arrows
        .iter()
        .map(|(from, to)| ((viewed.name(from.0), from.1), (viewed.name(to.0), to.1)))
        .collect();
    assert_eq!(ends, [(("core 0".into(), 300), ("core 1".into(), 350))]);
    assert_eq!((exported.arrows, viewed.leaving.len()), (1, 1), "the other one did not arrive");
}

#[test]
fn a_missed_deadline_a_doorbell_and_a_step_of_a_call_are_marks_that_say_more() {
    let (viewed, _) = view(&made_up());
    let marks: Vec<_> = viewed
        .marks
        .iter()
        .map(|(track, name, at, notes)| format!("{} {at} {name} {notes:?}", viewed.name(*track)))
        .collect();
    assert_eq!(
        marks,
        [
            r#"core 0 140 service notified ["src", "7"]"#,
            r#"core 1 320 doorbell ["0"]"#,
            r#"core 1 400 first output ["dsp.0"]"#,
            r#"core 0 550 deadline missed ["src", "40"]"#,
        ]
    );
}

#[test]
fn frequency_power_temperature_and_depth_are_counters_in_their_units() {
    let (viewed, _) = view(&made_up());
    let wanted = [
        ("frequency", 0, 2e8),
        ("power", 0, 0.5),
        ("link", 150, 1.0),
        ("link", 250, 0.0),
        ("temperature", 420, -5.0),
    ];
    assert_eq!(viewed.values, wanted.map(|(name, at, value)| (name.to_owned(), at, value)));
    let units: Vec<_> = viewed.tracks.values().filter_map(|track| track.counter.as_ref()).collect();
    assert_eq!(units.len(), 4, "a counter without a value has no track");
}

proptest! {
    #[test]
    fn whatever_was_recorded_slices_are_balanced_and_arrows_begin_before_they_end(
        run in anything(),
    ) {
        view(&run.folder());
    }
}
