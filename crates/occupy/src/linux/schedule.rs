// SPDX-License-Identifier: Apache-2.0
//! How a task is scheduled, as the kernel's `sched_getattr` tells, and as one line of the journal.

use std::fmt;
use std::mem::size_of;
use std::str::FromStr;

use crate::Policy;

/// The fields of `struct sched_attr`, in its order: policy, flags, nice, priority, and the three
/// times of `SCHED_DEADLINE` in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub policy: u32,
    pub flags: u64,
    pub nice: i32,
    pub priority: u32,
    pub times: [u64; 3],
}

/// `SCHED_OTHER` and `SCHED_FIFO` of `sched.h`.
const OTHER: u32 = 0;
const FIFO: u32 = 1;
/// `SCHED_FLAG_RESET_ON_FORK`: the one flag that a task keeps and that we give back.
const RESET_ON_FORK: u64 = 1;

impl Schedule {
    /// What the policy makes of this one; what it does not name stays as it was.
    pub fn under(self, policy: Policy) -> Self {
        match policy {
            Policy::Fair { nice: None } => self,
            Policy::Fair { nice: Some(nice) } => {
                Self { policy: OTHER, nice: nice.into(), priority: 0, times: [0; 3], ..self }
            }
            Policy::Fifo { priority } => {
                Self { policy: FIFO, nice: 0, priority: priority.into(), times: [0; 3], ..self }
            }
        }
    }
}

impl From<&libc::sched_attr> for Schedule {
    fn from(attr: &libc::sched_attr) -> Self {
        // The times are those of SCHED_DEADLINE alone: newer kernels tell a slice for fair tasks
        // there, which is not asked for when it is given back.
        let times = [attr.sched_runtime, attr.sched_deadline, attr.sched_period];
        let deadline = attr.sched_policy == libc::SCHED_DEADLINE.unsigned_abs();
        Self {
            policy: attr.sched_policy,
            flags: attr.sched_flags & RESET_ON_FORK,
            nice: attr.sched_nice,
            priority: attr.sched_priority,
            times: if deadline { times } else { [0; 3] },
        }
    }
}

impl From<&Schedule> for libc::sched_attr {
    fn from(schedule: &Schedule) -> Self {
        // SAFETY: all of its fields are numbers, for which zero is a value.
        let mut attr: Self = unsafe { std::mem::zeroed() };
        attr.size = u32::try_from(size_of::<Self>()).expect("it has 48 bytes");
        attr.sched_policy = schedule.policy;
        attr.sched_flags = schedule.flags;
        attr.sched_nice = schedule.nice;
        attr.sched_priority = schedule.priority;
        [attr.sched_runtime, attr.sched_deadline, attr.sched_period] = schedule.times;
        attr
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [runtime, deadline, period] = self.times;
        let Self { policy, flags, nice, priority, .. } = self;
        write!(f, "{policy} {flags} {nice} {priority} {runtime} {deadline} {period}")
    }
}

impl FromStr for Schedule {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let fields: Vec<i64> =
            text.split(' ').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        let [policy, flags, nice, priority, runtime, deadline, period] = fields[..] else {
            return Err(());
        };
        let times = [runtime, deadline, period].map(i64::unsigned_abs);
        Ok(Self {
            policy: policy.try_into().map_err(|_| ())?,
            flags: flags.unsigned_abs(),
            nice: nice.try_into().map_err(|_| ())?,
            priority: priority.try_into().map_err(|_| ())?,
            times,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use crate::Policy;
    use proptest::prelude::*;

    const FAIR: Schedule = Schedule { policy: 0, flags: 1, nice: 5, priority: 0, times: [0; 3] };

    proptest! {
        #[test]
        fn lines_come_back(policy in 0_u32..8, nice in -20_i32..20, times in any::<[u32; 3]>()) {
            let times = times.map(u64::from);
            let schedule = Schedule { policy, flags: 1, nice, priority: 9, times };
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
            prop_assert_eq!(Schedule::from(&libc::sched_attr::from(&FAIR)), FAIR);
        }

        #[test]
        fn no_line_makes_it_panic(text in "[0-9 -]{0,30}") {
            let _ = text.parse::<Schedule>();
        }
    }

    #[test]
    fn a_policy_changes_what_it_names_and_nothing_else() {
        assert_eq!(FAIR.under(Policy::Fair { nice: None }), FAIR);
        let nicer = Policy::Fair { nice: Some(-3) };
        assert_eq!(FAIR.under(nicer), Schedule { nice: -3, ..FAIR });
        let fifo = FAIR.under(Policy::Fifo { priority: 50 });
        assert_eq!((fifo.policy, fifo.priority, fifo.flags), (1, 50, 1));
    }
}
