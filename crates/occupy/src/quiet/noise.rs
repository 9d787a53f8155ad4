// SPDX-License-Identifier: Apache-2.0
//! What a spinning thread misses on a processor, as the kernel's osnoise tracer measures it.
//!
//! It reads the clock in a loop. Where two readings are further apart than the threshold, something
//! else had the processor meanwhile: another task, an interrupt, or the hypervisor's host.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use procfs::FromRead;
use procfs::process::Status;
use rustix::thread::{sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::bar::bar;
use crate::Error;
use whimbrel_text::{lines_of, table, time};

/// What counts as a gap unless something else is asked for.
pub const THRESHOLD: Duration = Duration::from_micros(5);

/// Gaps of similar length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The shortest that it holds, in microseconds: 0, or a power of two.
    pub from_us: u64,
    /// Those that it holds are shorter, in microseconds.
    pub below_us: u64,
    /// How many there were.
    pub count: u64,
    /// How long all of them were together, in nanoseconds.
    pub lost_ns: u64,
}

/// What was missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    /// On which processor.
    pub cpu: usize,
    /// For how long it span, in nanoseconds.
    pub watched_ns: u64,
    /// Only longer gaps count, in nanoseconds.
    pub threshold_ns: u64,
    /// How many gaps there were.
    pub gaps: u64,
    /// How long all of them were together, in nanoseconds.
    pub lost_ns: u64,
    /// The longest, in nanoseconds; 0 if there was none.
    pub longest_ns: u64,
    /// How often another task was given the processor; the other gaps are interrupts and the host.
    pub switched: u64,
    /// From the shortest to the longest that there was, without gaps between.
    pub buckets: Vec<Bucket>,
}

impl Noise {
    /// The lost part of the time, from 0 to 1.
    pub fn lost_share(&self) -> f64 {
        part(self.lost_ns, self.watched_ns)
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "processor {}: {:.2} % lost in {}, in {} gaps over {}, the longest {}; \
             another task was given it {} times",
            self.cpu,
            self.lost_share() * 100.0,
            time(self.watched_ns),
            self.gaps,
            time(self.threshold_ns),
            time(self.longest_ns),
            self.switched,
        )?;
        if self.buckets.is_empty() {
            return Ok(());
        }
        let mut table = table(&[">gap, µs", ">gaps", ">lost", "of all that was lost"]);
        for bucket in &self.buckets {
            table.add_row([
                format!("{}-{}", bucket.from_us, bucket.below_us),
                bucket.count.to_string(),
                time(bucket.lost_ns),
                bar(part(bucket.lost_ns, self.lost_ns)),
            ]);
        }
        f.write_str(&lines_of(&table))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a part is not exact anyway")]
fn part(of: u64, total: u64) -> f64 {
    of as f64 / total.max(1) as f64
}

/// Spins on a processor for some time and tells what it missed; on an occupied processor, only a
/// process of the occupation may.
///
/// # Errors
/// The processor is off-line, or the process is in a cpuset without it.
pub fn run(cpu: usize, duration: Duration, threshold: Duration) -> Result<Noise, Error> {
    // A thread of its own, so that the caller's affinity stays.
    let spinning = thread::spawn(move || {
        pin(cpu)?;
        let before = taken_away()?;
        let mut gaps = Gaps::default();
        let watched = gaps.watch(duration, threshold);
        Ok(gaps.noise(cpu, watched, threshold, taken_away()?.saturating_sub(before)))
    });
    spinning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn pin(cpu: usize) -> Result<(), Error> {
    let set = |cpus: &mut dyn Iterator<Item = usize>| {
        let mut set = rustix::thread::CpuSet::new();
        cpus.for_each(|cpu| set.set(cpu));
        sched_setaffinity(None, &set)
    };
    let every = 0..rustix::thread::CpuSet::MAX_CPU;
    if every.contains(&cpu) && set(&mut std::iter::once(cpu)).is_ok() {
        return Ok(());
    }
    // Which there are, and are not another cpuset's: what is left when all are asked for.
    let usable = set(&mut every.clone()).and_then(|()| sched_getaffinity(None));
    let usable = usable.map(|usable| every.filter(|cpu| usable.is_set(*cpu)).collect());
    Err(Error::Unusable { cpu, usable: usable.unwrap_or_default() })
}

/// How often this thread has lost its processor to another one.
fn taken_away() -> Result<u64, Error> {
    let path = "/proc/thread-self/status";
    let status = Status::from_file(path)
        .map_err(|error| Error::File { path: path.into(), error: std::io::Error::other(error) })?;
    Ok(status.nonvoluntary_ctxt_switches.unwrap_or(0))
}

/// Gaps by their length: how many, and how long together in nanoseconds.
#[derive(Debug)]
struct Gaps {
    /// By the number of bits of the length in whole microseconds.
    by_bits: [(u64, u64); 65],
    longest_ns: u64,
}

impl Default for Gaps {
    fn default() -> Self {
        Self { by_bits: [(0, 0); 65], longest_ns: 0 }
    }
}

impl Gaps {
    /// Spins, and returns for how long it did.
    fn watch(&mut self, duration: Duration, threshold: Duration) -> Duration {
        let start = Instant::now();
        let mut last = start;
        loop {
            let now = Instant::now();
            let gap = now - last;
            if gap > threshold {
                self.add(gap);
            }
            last = now;
            if now - start >= duration {
                return now - start;
            }
        }
    }

    fn add(&mut self, gap: Duration) {
        let ns = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX);
        let (count, lost) = &mut self.by_bits[(u64::BITS - (ns / 1000).leading_zeros()) as usize];
        (*count, *lost) = (*count + 1, lost.saturating_add(ns));
        self.longest_ns = self.longest_ns.max(ns);
    }

    fn noise(&self, cpu: usize, watched: Duration, threshold: Duration, switched: u64) -> Noise {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let some = |(count, _): &(u64, u64)| *count > 0;
        let first = self.by_bits.iter().position(some).unwrap_or(0);
        let end = self.by_bits.iter().rposition(some).map_or(0, |last| last + 1);
        let bucket = |bits: usize| Bucket {
            from_us: if bits == 0 { 0 } else { 1 << (bits - 1) },
            below_us: 1_u64.checked_shl(bits as u32).unwrap_or(u64::MAX),
            count: self.by_bits[bits].0,
            lost_ns: self.by_bits[bits].1,
        };
        Noise {
            cpu,
            watched_ns: ns(watched),
            threshold_ns: ns(threshold),
            gaps: self.by_bits.iter().map(|(count, _)| count).sum(),
            lost_ns: self.by_bits.iter().fold(0, |sum, (_, lost)| lost.saturating_add(sum)),
            longest_ns: self.longest_ns,
            switched,
            buckets: (first..end).map(bucket).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_gap_is_in_one_bucket_that_holds_its_length(
            lengths in prop::collection::vec(any::<u64>().prop_map(|n| n >> (n % 61)), 0..40),
        ) {
            let mut gaps = Gaps::default();
            for ns in &lengths {
                gaps.add(Duration::from_nanos(*ns));
            }
            let noise = gaps.noise(0, Duration::from_secs(1), THRESHOLD, 0);
            prop_assert_eq!(noise.gaps, lengths.len() as u64);
            prop_assert_eq!(noise.longest_ns, lengths.iter().max().copied().unwrap_or(0));
            for bucket in &noise.buckets {
                let held = |ns: &&u64| (bucket.from_us..bucket.below_us).contains(&(**ns / 1000));
                prop_assert_eq!(bucket.count, lengths.iter().filter(held).count() as u64);
            }
            let follows = |pair: &[Bucket]| pair[0].below_us == pair[1].from_us;
            prop_assert!(noise.buckets.windows(2).all(follows));
            let _ = noise.to_string();
        }
    }
}
