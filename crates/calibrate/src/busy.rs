// SPDX-License-Identifier: Apache-2.0
//! What others took of the processors while something was measured on them.
//!
//! Idle and stolen time are the kernel's, of the processors that are measured; what the measured
//! programs ran is what it says of this process and of its children that have ended. What is left
//! was others', interrupts included. A hypervisor that shares a physical core among two virtual
//! ones slows both down and tells neither: that is in no counter.

use std::fs;
use std::time::{Duration, Instant};

use serde::Serialize;
use whimbrel_model::{CpuList, Problem};
use whimbrel_occupy::quiet::ticks::{self, KINDS, Ticks};
use whimbrel_text::cure;

/// From so much of the processors' time on that others took, the machine was busy.
pub const BUSY_PERCENT: f64 = 5.0;
const STAT: &str = "/proc/stat";
const IDLE: [&str; 2] = ["idle", "iowait"];
const STEAL: &str = "steal";

/// What others took, of the time of the processors that were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Busy {
    /// For how long, in seconds.
    pub seconds: f64,
    /// Other programs and interrupts, in percent.
    pub others_percent: f64,
    /// What a hypervisor gave to other machines although there was work here, in percent.
    pub steal_percent: f64,
    /// How often a processor was taken from a measured thread, in a second.
    pub involuntary_per_s: f64,
    /// Whether that is too much for a measurement to be of use.
    pub busy: bool,
}

/// What this process, and its children that were waited for, have used.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    seconds: f64,
    involuntary: f64,
}

/// Counters at one moment.
#[derive(Debug)]
pub struct Reading {
    at: Instant,
    ticks: Ticks,
    used: Used,
}

impl Reading {
    /// Reads those of the processors `cpus`, each once.
    ///
    /// # Errors
    /// The kernel does not say what a processor's time went to.
    pub fn take(cpus: &CpuList) -> Result<Self, Problem> {
        let text = fs::read_to_string(STAT).map_err(|error| {
            Problem::new(format!("{STAT} cannot be read: {error}")).help(cure(&error))
        })?;
        Ok(Self { at: Instant::now(), ticks: sum(&text, cpus)?, used: used() })
    }

    /// What others took from then on until now. Every child must have been waited for.
    ///
    /// # Errors
    /// As [`Reading::take`].
    pub fn until_now(&self, cpus: &CpuList) -> Result<Busy, Problem> {
        let now = Self::take(cpus)?;
        let ticks = std::array::from_fn(|kind| now.ticks[kind].saturating_sub(self.ticks[kind]));
        let used = Used {
            seconds: now.used.seconds - self.used.seconds,
            involuntary: now.used.involuntary - self.used.involuntary,
        };
        Ok(between(now.at - self.at, &ticks, used, distinct(cpus).len()))
    }
}

fn distinct(cpus: &CpuList) -> Vec<u32> {
    let mut all = cpus.0.clone();
    all.sort_unstable();
    all.dedup();
    all
}

fn sum(text: &str, cpus: &CpuList) -> Result<Ticks, Problem> {
    let online = ticks::parse(text);
    let mut sum = Ticks::default();
    for cpu in distinct(cpus) {
        let ticks = online.get(&(cpu as usize)).ok_or_else(|| {
            Problem::new(format!("{STAT} does not say what processor {cpu} does"))
                .help("name processors that are on-line with --cores")
        })?;
        sum = std::array::from_fn(|kind| sum[kind].saturating_add(ticks[kind]));
    }
    Ok(sum)
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run")]
fn between(time: Duration, ticks: &Ticks, used: Used, cpus: usize) -> Busy {
    let per_s = ticks_per_s();
    let of = |name: &str| {
        let kind = KINDS.iter().position(|kind| *kind == name);
        kind.map_or(0.0, |kind| ticks[kind] as f64 / per_s)
    };
    let capacity = time.as_secs_f64() * cpus as f64;
    let steal = of(STEAL).min(capacity);
    let idle: f64 = IDLE.iter().map(|name| of(name)).sum();
    let others = (capacity - idle - steal - used.seconds).clamp(0.0, capacity);
    let percent = |part: f64| if capacity > 0.0 { part / capacity * 100.0 } else { 0.0 };
    // The kernel tells capacity ticks, of each kind and processor: one may be too many.
    let doubt = 2.0 * cpus as f64 / per_s;
    Busy {
        seconds: time.as_secs_f64(),
        others_percent: percent(others),
        steal_percent: percent(steal),
        involuntary_per_s: used.involuntary / time.as_secs_f64().max(f64::MIN_POSITIVE),
        busy: percent(others + steal - doubt) > BUSY_PERCENT,
    }
}

impl Busy {
    /// All of several together.
    pub fn mean(all: &[Self]) -> Self {
        let seconds: f64 = all.iter().map(|one| one.seconds).sum();
        let part = |of: fn(&Self) -> f64| {
            let sum: f64 = all.iter().map(|one| of(one) * one.seconds).sum();
            if seconds > 0.0 { sum / seconds } else { 0.0 }
        };
        let (others_percent, steal_percent) =
            (part(|one| one.others_percent), part(|one| one.steal_percent));
        Self {
            seconds,
            others_percent,
            steal_percent,
            involuntary_per_s: part(|one| one.involuntary_per_s),
            busy: others_percent + steal_percent > BUSY_PERCENT,
        }
    }

    /// By how much, for people.
    pub fn words(&self) -> String {
        let Self { others_percent, steal_percent, involuntary_per_s, .. } = self;
        format!(
            "other programs took {others_percent:.1} % of the processors' time, a hypervisor \
             {steal_percent:.1} %, with {involuntary_per_s:.0} involuntary context switches \
             a second"
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "a hundred or a thousand")]
fn ticks_per_s() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

fn used() -> Used {
    let (mine, children) = (usage(libc::RUSAGE_SELF), usage(libc::RUSAGE_CHILDREN));
    Used {
        seconds: mine.seconds + children.seconds,
        involuntary: mine.involuntary + children.involuntary,
    }
}

#[expect(clippy::cast_precision_loss, reason = "times and counts of one process")]
fn usage(who: libc::c_int) -> Used {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of the type that the call fills; zeroes are valid for it.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Used {
        seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        involuntary: usage.ru_nivcsw as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of user, idle and steal.
    fn ticks(user: u64, idle: u64, steal: u64) -> Ticks {
        [user, 0, 0, idle, 0, 0, 0, steal]
    }

    fn seconds(n: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
        let ticks = (n * ticks_per_s()).round() as u64;
        ticks
    }

    #[test]
    fn what_is_neither_idle_nor_stolen_nor_ones_own_was_others() {
        let counted = ticks(seconds(5.0), seconds(2.0), seconds(1.0));
        let used = Used { seconds: 3.0, involuntary: 80.0 };
        let busy = between(Duration::from_secs(4), &counted, used, 2);
        let Busy { others_percent, steal_percent, involuntary_per_s, .. } = busy;
        assert_eq!((others_percent, steal_percent, involuntary_per_s), (25.0, 12.5, 20.0));
        assert!(busy.busy);
    }

    #[test]
    fn a_program_that_has_its_processors_for_itself_is_on_a_quiet_machine() {
        let counted = ticks(seconds(3.0), seconds(1.0), 0);
        let used = |seconds| Used { seconds, involuntary: 0.0 };
        for own_s in [3.0, 2.9, 3.1, 4.5] {
            let busy = between(Duration::from_secs(4), &counted, used(own_s), 1);
            assert!(!busy.busy, "{own_s}: {busy:?}");
            assert!(busy.others_percent >= 0.0);
        }
        assert!(between(Duration::from_secs(4), &counted, used(2.5), 1).busy);
    }

    #[test]
    fn a_tick_or_two_of_a_short_run_are_no_reason() {
        let counted = |idle| ticks(0, idle, 0);
        let short = Duration::from_secs_f64(10.0 / ticks_per_s());
        assert!(!between(short, &counted(8), Used::default(), 1).busy);
        assert!(between(short, &counted(7), Used::default(), 1).busy);
    }

    #[test]
    fn the_mean_of_several_runs_goes_by_their_time() {
        let one = |seconds, others_percent| Busy { seconds, others_percent, ..Busy::default() };
        let mean = Busy::mean(&[one(1.0, 16.0), one(3.0, 0.0)]);
        assert_eq!((mean.seconds, mean.others_percent, mean.busy), (4.0, 4.0, false));
        assert!(Busy::mean(&[one(1.0, 16.0), one(1.0, 0.0)]).busy);
        assert_eq!(Busy::mean(&[]), Busy::default());
    }

    #[test]
    fn a_processor_that_is_named_twice_counts_once_and_one_that_is_missing_is_named() {
        let text = "cpu 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8\ncpu2 1 1 1 1 1 1 1 1\n";
        assert_eq!(sum(text, &CpuList(vec![0, 0])).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(sum(text, &CpuList(vec![2, 0])).unwrap()[7], 9);
        let said = sum(text, &CpuList(vec![1])).unwrap_err().to_string();
        assert!(said.contains("does not say what processor 1 does"), "{said}");
    }
}
