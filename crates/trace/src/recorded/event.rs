// SPDX-License-Identifier: Apache-2.0
//! One record of an event stream.

/// The size of a record, in bytes.
pub const RECORD: usize = 24;

/// `task` of an event that is about no task.
pub const NO_TASK: u32 = u32::MAX;

/// Numbers of tasks, channels and cores are below this; a record that says otherwise is damaged.
/// It bounds what readers keep per number.
const MOST: u32 = 1 << 20;

/// What happened; see `docs/recorded-run.md` for `object` and `value` of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Kind {
    /// The core switches to the task.
    Run = 1,
    /// The task gives its core up, ready; `value`: as of [`Kind::Block`].
    Ready = 2,
    /// The task blocks; `object`: what it waits for, see [`Awaited`](super::Awaited); `value`: for
    /// how many nanoseconds since its `Run` it has polled.
    Block = 3,
    /// The task ends; `value`: as of [`Kind::Block`].
    End = 4,
    /// The task sends to the channel `object`; `value`: the messages in it after that.
    Send = 5,
    /// The task releases a message of the channel `object`; `value`: those in it after that.
    Receive = 6,
    /// The task misses a deadline; `value`: by how many nanoseconds.
    Miss = 7,
    /// The task is parked, on its way to the core `object`; `value`: as of [`Kind::Block`].
    Park = 8,
    /// The task is attached here, from the core `object`.
    Attach = 9,
    /// The task is taken back, for it could not get to the core `object`.
    Return = 10,
    /// The kernel sleeps.
    Sleep = 11,
    /// The kernel is awake.
    Awake = 12,
    /// The task sends its first message after a migration.
    Output = 13,
    /// `value`: the core's frequency from here on, in kilohertz.
    Frequency = 14,
    /// `value`: what the core consumes from here on, in microwatts.
    Power = 15,
    /// The temperature of the core; see [`Event::signed`].
    Temperature = 16,
    /// The core is rung by the core `object`.
    Doorbell = 17,
    /// The task has done a step of a call over the mailbox `object`; see [`Event::call`].
    Call = 18,
}

impl Kind {
    /// Every kind; the one with number N is at N - 1.
    pub const ALL: [Self; 18] = [
        Self::Run,
        Self::Ready,
        Self::Block,
        Self::End,
        Self::Send,
        Self::Receive,
        Self::Miss,
        Self::Park,
        Self::Attach,
        Self::Return,
        Self::Sleep,
        Self::Awake,
        Self::Output,
        Self::Frequency,
        Self::Power,
        Self::Temperature,
        Self::Doorbell,
        Self::Call,
    ];

    /// The kind with this number; `None`: not known.
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Whether it says something of a task.
    #[must_use]
    pub fn is_of_a_task(self) -> bool {
        use Kind::{Awake, Doorbell, Frequency, Power, Sleep, Temperature};
        !matches!(self, Sleep | Awake | Frequency | Power | Temperature | Doorbell)
    }

    /// Whether a task that runs does not run after it.
    #[must_use]
    pub fn is_a_pause(self) -> bool {
        matches!(self, Self::Ready | Self::Block | Self::End | Self::Park)
    }

    fn has_an_object(self) -> bool {
        use Kind::{Attach, Call, Doorbell, Park, Receive, Return, Send};
        matches!(self, Call | Send | Receive | Park | Attach | Return | Doorbell)
    }
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When, in nanoseconds on the run's clock.
    pub time_ns: u64,
    /// What happened.
    pub kind: Kind,
    /// Where.
    pub core: u32,
    /// The task's position in [`Summary::tasks`](crate::Summary::tasks), or [`NO_TASK`].
    pub task: u32,
    /// By kind: a channel's position in [`Summary::channels`](crate::Summary::channels), or a core.
    pub object: u32,
    /// By kind.
    pub value: u32,
}

impl Event {
    /// `value` as a signed number: of a temperature, thousandths of a degree Celsius.
    #[must_use]
    pub fn signed(&self) -> i32 {
        i32::from_le_bytes(self.value.to_le_bytes())
    }

    /// `value` as a call's number and the step of it that is done: see
    /// `docs/recorded-run.md`.
    #[must_use]
    pub fn call(&self) -> (u32, u32) {
        (self.value >> 4, self.value & 15)
    }

    /// The record of this event in a stream.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the format has 16 bits for the core")]
    pub fn to_record(&self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&self.time_ns.to_le_bytes());
        record[8..10].copy_from_slice(&(self.kind as u16).to_le_bytes());
        record[10..12].copy_from_slice(&(self.core as u16).to_le_bytes());
        record[12..16].copy_from_slice(&self.task.to_le_bytes());
        record[16..20].copy_from_slice(&self.object.to_le_bytes());
        record[20..].copy_from_slice(&self.value.to_le_bytes());
        record
    }

    /// What a record of the stream of `core` says, or why it says nothing.
    pub(super) fn from_record(record: &[u8; RECORD], core: u32) -> Result<Self, Unread> {
        let half = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let kind = Kind::new(half(8)).ok_or(Unread::Unknown)?;
        let event = Self {
            time_ns: u64::from(word(0)) | u64::from(word(4)) << 32,
            kind,
            core,
            task: word(12),
            object: word(16),
            value: word(20),
        };
        let sound = u32::from(half(10)) == core
            && (event.task < MOST || event.task == NO_TASK && !kind.is_of_a_task())
            && (event.object < MOST || !kind.has_an_object());
        sound.then_some(event).ok_or(Unread::Damaged)
    }
}

/// Why a record says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Its kind is not known.
    Unknown,
    /// It is of another core, or of a task, channel or core that cannot be.
    Damaged,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_number_and_no_other_number_is_a_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::new(kind as u16), Some(kind));
        }
        assert_eq!([0, 19, u16::MAX].map(Kind::new), [None; 3]);
    }

    #[test]
    fn a_temperature_below_zero_stays_below_zero() {
        let event = Event {
            time_ns: 1,
            kind: Kind::Temperature,
            core: 0,
            task: NO_TASK,
            object: 0,
            value: u32::from_le_bytes((-5_000_i32).to_le_bytes()),
        };
        let read = Event::from_record(&event.to_record(), 0).unwrap();
        assert_eq!(read.signed(), -5_000);
    }

    #[test]
    fn a_record_of_another_core_or_of_an_impossible_task_is_damaged() {
        let run = Event { time_ns: 1, kind: Kind::Run, core: 3, task: 7, object: 0, value: 0 };
        assert_eq!(Event::from_record(&run.to_record(), 3), Ok(run));
        assert_eq!(Event::from_record(&run.to_record(), 2), Err(Unread::Damaged));
        let nobody = Event { task: NO_TASK, ..run };
        assert_eq!(Event::from_record(&nobody.to_record(), 3), Err(Unread::Damaged));
        let send = Event { kind: Kind::Send, object: MOST, ..run };
        assert_eq!(Event::from_record(&send.to_record(), 3), Err(Unread::Damaged));
    }
}
