// SPDX-License-Identifier: Apache-2.0
//! What a task that blocks waits for.

use super::event::{Event, Kind};

/// Where the upper bits of [`Event::object`] begin, which say what it is (`enum wb_wait_for`).
const SHIFT: u32 = 28;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Awaited {
    /// What scripts have in common, by its position in
    /// [`Summary::objects`](crate::Summary::objects).
    Object(u32),
    /// A message of a channel, or room in it, by its position in
    /// [`Summary::channels`](crate::Summary::channels).
    Channel(u32),
    /// One of the application's own.
    Mutex,
    /// The same.
    Semaphore,
    /// The same.
    Condition,
    /// The same.
    Barrier,
}

impl Awaited {
    /// Of the application's own, which have no names.
    pub const NAMELESS: [Self; 4] = [Self::Mutex, Self::Semaphore, Self::Condition, Self::Barrier];

    /// What the task of this event waits for from here on; `None`: it does not, or that is not
    /// told.
    #[must_use]
    pub fn of(event: &Event) -> Option<Self> {
        let number = event.object & ((1 << SHIFT) - 1);
        match (event.kind, event.object >> SHIFT) {
            (Kind::Block, 1) => Some(Self::Object(number)),
            (Kind::Block, 2) => Some(Self::Channel(number)),
            (Kind::Block, own @ 3..) => Self::NAMELESS.get(own as usize - 3).copied(),
            _ => None,
        }
    }

    /// The same event of a task that waits for what is at another position.
    pub(crate) fn at(event: &Event, position: u32) -> Event {
        Event { object: event.object >> SHIFT << SHIFT | position, ..*event }
    }

    /// What it is called, where objects and channels have these names; numbers stand for others.
    #[must_use]
    pub fn name(self, objects: &[String], channels: &[String]) -> String {
        let known = |all: &[String], number: u32| all.get(number as usize).cloned();
        match self {
            Self::Object(n) => known(objects, n).unwrap_or_else(|| format!("object {n}")),
            Self::Channel(n) => {
                format!("channel {}", known(channels, n).unwrap_or_else(|| n.to_string()))
            }
            Self::Mutex => "a mutex".into(),
            Self::Semaphore => "a semaphore".into(),
            Self::Condition => "a condition".into(),
            Self::Barrier => "a barrier".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, object: u32) -> Option<Awaited> {
        Awaited::of(&Event { time_ns: 0, kind, core: 0, task: 0, object, value: 0 })
    }

    #[test]
    fn only_who_blocks_waits_and_only_for_what_is_known() {
        assert_eq!(of(Kind::Block, 1 << SHIFT | 7), Some(Awaited::Object(7)));
        assert_eq!(of(Kind::Block, 2 << SHIFT), Some(Awaited::Channel(0)));
        assert_eq!(of(Kind::Block, 6 << SHIFT), Some(Awaited::Barrier));
        assert_eq!([0, 9, 7 << SHIFT, u32::MAX].map(|object| of(Kind::Block, object)), [None; 4]);
        assert_eq!(of(Kind::Send, 1 << SHIFT), None);
    }

    #[test]
    fn what_has_no_name_has_its_number() {
        let names = ["mutex m".to_owned()];
        assert_eq!(Awaited::Object(0).name(&names, &[]), "mutex m");
        assert_eq!(Awaited::Object(1).name(&names, &[]), "object 1");
        assert_eq!(Awaited::Channel(0).name(&[], &["c".into()]), "channel c");
        assert_eq!(Awaited::Channel(3).name(&[], &[]), "channel 3");
        assert_eq!(Awaited::Mutex.name(&[], &[]), "a mutex");
    }
}
