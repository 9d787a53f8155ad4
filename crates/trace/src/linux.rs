// SPDX-License-Identifier: Apache-2.0
//! What Linux's scheduler did, from a trace of Perfetto: which thread a processor changed to, and
//! who woke whom. Names and numbers of fields are those of `protos/perfetto/trace/` in
//! github.com/google/perfetto: `trace_packet.proto`, `ftrace/ftrace_event_bundle.proto`,
//! `ftrace/ftrace_event.proto` and `ftrace/sched.proto`.

mod proto;

use std::collections::BTreeMap;

use prost::Message;
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use thiserror::Error;

use proto::{Bundle, Compact, FtraceEvent, Packet};

/// A thread's number; 0 is a processor that has none.
pub type Tid = i32;

/// Something that the scheduler did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// On the clock of the trace.
    pub time_ns: u64,
    /// The processor on which it happened.
    pub cpu: u32,
    /// What it was.
    pub what: What,
}

/// See [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The processor changed from one thread to another.
    Switch {
        /// Who ran.
        from: Tid,
        /// Whether that one waits now, and could not go on by itself.
        waits: bool,
        /// Who runs.
        to: Tid,
        /// Its priority in the kernel: 0 to 99 of real time, from 100 on nice -20 to 19.
        priority: i32,
    },
    /// A thread may run again.
    Wake {
        /// Who did it; `None`: an interrupt, so a timer or a device.
        by: Option<Tid>,
        /// Who was woken.
        thread: Tid,
    },
}

/// A trace.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Recording {
    /// In the order of their times.
    pub events: Vec<Event>,
    /// The names that each thread had, the last of them last.
    pub names: BTreeMap<Tid, Vec<String>>,
    /// Whether the recorder lost events.
    pub lost: bool,
    /// Where the last packet begins, if the file ends in it: it is read to there.
    pub cut: Option<usize>,
}

/// Why a trace is not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Damage {
    /// It is none, or ends within its first packet.
    #[error("byte {at} begins no packet of a trace: {why}")]
    Packet {
        /// Counted from 0.
        at: usize,
        /// In the decoder's words.
        why: String,
    },
    /// Packets that this reader does not unpack.
    #[error("the packet at byte {at} is compressed")]
    Compressed {
        /// Counted from 0.
        at: usize,
    },
}

/// Of `common_flags`: the processor was in an interrupt, or in what follows one.
const IN_INTERRUPT: u32 = 0x08 | 0x10;
/// Bytes of a number.
const LENGTH_MAX: usize = 10;
/// Of a state: what a thread that waits for nothing has none of.
const STATE: i64 = 0xff;

/// Reads a trace as it lies in a file; one whose recorder was killed, as far as it goes.
///
/// # Errors
/// See [`Damage`].
pub fn read(bytes: &[u8]) -> Result<Recording, Damage> {
    let mut reader = Reader::default();
    let mut rest = bytes;
    while rest.has_remaining() {
        let at = bytes.len() - rest.len();
        if is_cut(rest) && (reader.part(rest) || at > 0) {
            reader.recording.cut = Some(at);
            break;
        }
        let damage = |why: String| Damage::Packet { at, why };
        let packet = packet(&mut rest).map_err(damage)?;
        let packet = Packet::decode(packet).map_err(|error| damage(error.to_string()))?;
        if !packet.compressed_packets.is_empty() {
            return Err(Damage::Compressed { at });
        }
        if let Some(bundle) = packet.ftrace_events {
            reader.bundle(bundle);
        }
    }
    Ok(reader.finish())
}

/// Whether a file ends in the middle of the packet that begins here, or has room for more than it
/// was filled with.
fn is_cut(mut rest: &[u8]) -> bool {
    let is_short = rest.len() < LENGTH_MAX && rest.iter().all(|byte| *byte >= 0x80);
    if is_short || rest.iter().all(|byte| *byte == 0) {
        return true;
    }
    if decode_key(&mut rest).ok() != Some((1, WireType::LengthDelimited)) {
        return false;
    }
    let is_short = rest.len() < LENGTH_MAX && rest.iter().all(|byte| *byte >= 0x80);
    is_short || decode_varint(&mut rest).is_ok_and(|length| length > rest.len() as u64)
}

/// The fields of a message that are whole, and what follows them.
fn whole(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut after = bytes;
    loop {
        let mut rest = after;
        let field = decode_key(&mut rest)
            .and_then(|(tag, kind)| skip_field(kind, tag, &mut rest, DecodeContext::default()));
        if field.is_err() {
            return (&bytes[..bytes.len() - after.len()], after);
        }
        after = rest;
    }
}

/// What there is of a message whose length is more than that.
fn inside(mut field: &[u8], number: u32) -> Option<&[u8]> {
    let key = decode_key(&mut field).ok()?;
    decode_varint(&mut field).ok()?;
    (key == (number, WireType::LengthDelimited)).then_some(field)
}

/// The bytes of the next packet.
fn packet<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], String> {
    let (tag, kind) = decode_key(rest).map_err(|error| error.to_string())?;
    if (tag, kind) != (1, WireType::LengthDelimited) {
        return Err(format!("field {tag} is not a packet's"));
    }
    let length = decode_varint(rest).map_err(|error| error.to_string())?;
    let length = usize::try_from(length).ok().filter(|length| *length <= rest.len());
    let (packet, after) = rest.split_at(length.ok_or("it is longer than the file")?);
    *rest = after;
    Ok(packet)
}

#[derive(Default)]
struct Reader {
    recording: Recording,
    /// Who runs on each processor, as far as compact events tell.
    runs: BTreeMap<u32, Tid>,
    /// Without `sched_waking`, what tells of wake-ups.
    woken: Vec<Event>,
    has_waking: bool,
}

impl Reader {
    /// Reads the events of a packet that are before the end of the file; false: there are none.
    fn part(&mut self, rest: &[u8]) -> bool {
        let bundle = inside(rest, 1).and_then(|packet| inside(whole(packet).1, 1));
        let bundle = bundle.and_then(|bundle| Bundle::decode(whole(bundle).0).ok());
        let some = bundle.as_ref().is_some_and(|bundle| !bundle.event.is_empty());
        bundle.into_iter().for_each(|bundle| self.bundle(bundle));
        some
    }

    fn bundle(&mut self, bundle: Bundle) {
        self.recording.lost |= bundle.lost_events.unwrap_or_default();
        let cpu = bundle.cpu.unwrap_or_default();
        for event in bundle.event {
            self.event(cpu, event);
        }
        if let Some(compact) = bundle.compact_sched {
            self.compact(cpu, &compact);
        }
    }

    fn event(&mut self, cpu: u32, event: FtraceEvent) {
        let time_ns = event.timestamp.unwrap_or_default();
        let current = event.pid.and_then(|pid| Tid::try_from(pid).ok()).unwrap_or_default();
        let in_interrupt = event.common_flags.unwrap_or_default() & IN_INTERRUPT != 0;
        if let Some(switch) = event.sched_switch {
            self.name(switch.prev_pid, &switch.prev_comm);
            self.name(switch.next_pid, &switch.next_comm);
            let waits = switch.prev_state & STATE != 0;
            let (from, to, priority) = (switch.prev_pid, switch.next_pid, switch.next_prio);
            let what = What::Switch { from, waits, to, priority };
            self.recording.events.push(Event { time_ns, cpu, what });
        }
        let by = Some(current).filter(|_| !in_interrupt);
        if let Some(waking) = event.sched_waking {
            self.has_waking = true;
            self.name(waking.pid, &waking.comm);
            let what = What::Wake { by, thread: waking.pid };
            self.recording.events.push(Event { time_ns, cpu, what });
        } else if let Some(wakeup) = event.sched_wakeup.or(event.sched_wakeup_new) {
            self.name(wakeup.pid, &wakeup.comm);
            let what = What::Wake { by, thread: wakeup.pid };
            self.woken.push(Event { time_ns, cpu, what });
        }
    }

    /// Events as columns, whose times are differences. Who runs before the first switch of a
    /// processor is not told.
    fn compact(&mut self, cpu: u32, all: &Compact) {
        let comm = |index: Option<&u32>| {
            index.and_then(|index| all.intern_table.get(usize::try_from(*index).ok()?))
        };
        let mut events = Vec::new();
        let mut time_ns = 0_u64;
        for (row, delta) in all.switch_timestamp.iter().enumerate() {
            time_ns = time_ns.wrapping_add(*delta);
            let to = all.switch_next_pid.get(row).copied().unwrap_or_default();
            if let Some(name) = comm(all.switch_next_comm_index.get(row)) {
                self.name(to, name);
            }
            let waits = all.switch_prev_state.get(row).is_some_and(|state| state & STATE != 0);
            let priority = all.switch_next_prio.get(row).copied().unwrap_or_default();
            let what = What::Switch { from: 0, waits, to, priority };
            events.push(Event { time_ns, cpu, what });
        }
        time_ns = 0;
        for (row, delta) in all.waking_timestamp.iter().enumerate() {
            time_ns = time_ns.wrapping_add(*delta);
            let thread = all.waking_pid.get(row).copied().unwrap_or_default();
            if let Some(name) = comm(all.waking_comm_index.get(row)) {
                self.name(thread, name);
            }
            let flags = all.waking_common_flags.get(row).copied().unwrap_or_default();
            let by = (flags & IN_INTERRUPT == 0).then_some(0);
            self.has_waking = true;
            events.push(Event { time_ns, cpu, what: What::Wake { by, thread } });
        }
        events.sort_by_key(|event| event.time_ns);
        for event in &mut events {
            self.fill(event);
        }
        self.recording.events.append(&mut events);
    }

    /// Who ran is who was changed to before.
    fn fill(&mut self, event: &mut Event) {
        let current = self.runs.get(&event.cpu).copied();
        match &mut event.what {
            What::Switch { from, to, .. } => {
                *from = current.unwrap_or_default();
                self.runs.insert(event.cpu, *to);
            }
            What::Wake { by, .. } => *by = by.and(current),
        }
    }

    fn name(&mut self, thread: Tid, name: &[u8]) {
        let names = self.recording.names.entry(thread).or_default();
        if names.last().is_some_and(|last| last.as_bytes() == name) || name.is_empty() {
            return;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        names.retain(|known| *known != name);
        names.push(name);
    }

    fn finish(mut self) -> Recording {
        if !self.has_waking {
            self.recording.events.append(&mut self.woken);
        }
        // Stable: of one processor events keep their order.
        self.recording.events.sort_by_key(|event| event.time_ns);
        self.recording
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::{Switch, Wake};

    fn file(bundles: Vec<Bundle>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for bundle in bundles {
            let packet = Packet { ftrace_events: Some(bundle), compressed_packets: Vec::new() };
            let packet = packet.encode_to_vec();
            prost::encoding::encode_key(1, WireType::LengthDelimited, &mut bytes);
            prost::encoding::encode_varint(packet.len() as u64, &mut bytes);
            bytes.extend(packet);
        }
        bytes
    }

    fn event(timestamp: u64, pid: u32) -> FtraceEvent {
        FtraceEvent { timestamp: Some(timestamp), pid: Some(pid), ..FtraceEvent::default() }
    }

    fn named(comm: &str, pid: Tid) -> Option<Wake> {
        Some(Wake { comm: comm.into(), pid })
    }

    /// The same as columns and as events: an interrupt wakes a, which wakes b on another processor.
    fn both() -> [Vec<Bundle>; 2] {
        let switch = |(prev_pid, prev_state), (next_comm, next_pid): (&str, _)| {
            let next_comm = next_comm.into();
            let (prev_comm, next_prio) = (Vec::new(), 120);
            Some(Switch { prev_comm, prev_pid, prev_state, next_comm, next_pid, next_prio })
        };
        let plain = vec![
            Bundle {
                cpu: Some(0),
                event: vec![
                    FtraceEvent { sched_switch: switch((0, 0), ("", 0)), ..event(5, 0) },
                    FtraceEvent {
                        sched_waking: named("a", 7),
                        common_flags: Some(9),
                        ..event(10, 0)
                    },
                    FtraceEvent { sched_switch: switch((0, 0), ("a", 7)), ..event(20, 0) },
                    FtraceEvent { sched_waking: named("b", 8), ..event(30, 7) },
                    FtraceEvent { sched_switch: switch((7, 1), ("", 0)), ..event(40, 7) },
                ],
                ..Bundle::default()
            },
            Bundle {
                cpu: Some(1),
                event: vec![FtraceEvent { sched_switch: switch((0, 0), ("b", 8)), ..event(35, 0) }],
                ..Bundle::default()
            },
        ];
        let table = || vec![Vec::new(), b"a".to_vec(), b"b".to_vec()];
        let compact = vec![
            Bundle {
                cpu: Some(1),
                compact_sched: Some(Compact {
                    intern_table: table(),
                    switch_timestamp: vec![35],
                    switch_prev_state: vec![0],
                    switch_next_pid: vec![8],
                    switch_next_prio: vec![120],
                    switch_next_comm_index: vec![2],
                    ..Compact::default()
                }),
                ..Bundle::default()
            },
            Bundle {
                cpu: Some(0),
                compact_sched: Some(Compact {
                    intern_table: table(),
                    switch_timestamp: vec![5, 15, 20],
                    switch_prev_state: vec![0, 0, 1],
                    switch_next_pid: vec![0, 7, 0],
                    switch_next_prio: vec![120, 120, 120],
                    switch_next_comm_index: vec![0, 1, 0],
                    waking_timestamp: vec![10, 20],
                    waking_pid: vec![7, 8],
                    waking_comm_index: vec![1, 2],
                    waking_common_flags: vec![9, 1],
                }),
                ..Bundle::default()
            },
        ];
        [plain, compact]
    }

    #[test]
    fn events_and_columns_of_them_tell_the_same() {
        let [plain, compact] = both().map(|bundles| read(&file(bundles)).unwrap());
        assert_eq!(plain.events, compact.events);
        assert_eq!(plain.names[&7], ["a"]);
        assert_eq!(plain.names[&8], compact.names[&8]);
        let wakes: Vec<What> = plain
            .events
            .iter()
            .map(|event| event.what)
            .filter(|what| matches!(what, What::Wake { .. }))
            .collect();
        let by = |by, thread| What::Wake { by, thread };
        assert_eq!(wakes, [by(None, 7), by(Some(7), 8)]);
    }

    #[test]
    fn wake_ups_count_where_their_causes_were_not_recorded() {
        let woken = FtraceEvent { sched_wakeup: named("a", 7), ..event(3, 5) };
        let waking = FtraceEvent { sched_waking: named("a", 7), ..event(2, 5) };
        let bundle = |event| Bundle { event, lost_events: Some(true), ..Bundle::default() };
        let told = read(&file(vec![bundle(vec![woken.clone()])])).unwrap();
        assert_eq!(told.events[0].what, What::Wake { by: Some(5), thread: 7 });
        assert!(told.lost);
        assert_eq!(read(&file(vec![bundle(vec![waking, woken])])).unwrap().events.len(), 1);
    }

    #[test]
    fn a_file_that_ends_within_a_packet_is_read_to_there() {
        let [plain, compact] = both();
        for (bundles, columns) in [(plain, false), (compact, true)] {
            let first = file(bundles[..1].to_vec());
            let bytes = file(bundles);
            let events = read(&bytes).unwrap().events;
            let of_first = read(&first).unwrap().events.len();
            let mut before = of_first;
            for end in first.len() + 1..bytes.len() {
                let told = read(&bytes[..end]).unwrap();
                assert_eq!(told.cut, Some(first.len()), "{end}");
                assert!((before..=events.len()).contains(&told.events.len()), "{end}");
                assert!(told.events.iter().all(|event| events.contains(event)), "{end}");
                before = told.events.len();
            }
            assert_eq!(before, of_first, "the last is one event, or columns");
            // A file of one packet that is cut off has what is before the end.
            let within = (1..first.len()).filter(|end| read(&first[..*end]).is_ok()).count();
            assert_eq!(within > 0, !columns, "{within}");
            let room: Vec<u8> = first.iter().copied().chain([0; 4096]).collect();
            assert_eq!(read(&room).unwrap().cut, Some(first.len()));
            let other = [first.as_slice(), &[0x0a, 1, 0xff, 0]].concat();
            assert!(read(&other).is_err());
        }
    }

    #[test]
    fn what_is_no_trace_says_where_it_is_none() {
        let whole = file(both()[0].clone());
        let cut = read(&file(both()[0][..1].to_vec())[..6]).unwrap_err().to_string();
        assert!(cut.contains("it is longer than the file"), "{cut}");
        assert!(matches!(read(b"{}"), Err(Damage::Packet { at: 0, .. })));
        let mut twice = whole.clone();
        twice.extend(b"\x12\x00");
        let after = read(&twice).unwrap_err();
        assert!(after.to_string().contains(&format!("byte {} ", whole.len())), "{after}");
        let packed = Packet { ftrace_events: None, compressed_packets: vec![1] }.encode_to_vec();
        let mut bytes = vec![0x0a, u8::try_from(packed.len()).unwrap()];
        bytes.extend(packed);
        assert_eq!(read(&bytes), Err(Damage::Compressed { at: 0 }));
        assert_eq!(read(b"").unwrap(), Recording::default());
    }
}
