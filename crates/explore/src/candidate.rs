// SPDX-License-Identifier: Apache-2.0
//! One way to run an application, and what came of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use whimbrel_model::Transport;

/// One way to run an application on a platform. The order of candidates is the order of results.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// Thousandths of a frame per second; 0: the application has no rate.
    pub rate_millihz: u64,
    /// The policy, as `NAME:KEY=VALUE,…`.
    pub policy: String,
    /// Which cores of the platform there are; the others are off, as if they were not built.
    pub available: Vec<bool>,
    /// The core on which each task begins, by its number on the platform.
    pub mapping: Vec<u32>,
    /// The operating point at which each core begins; 0 for a core that is off.
    pub points: Vec<u32>,
    /// The slots of each channel.
    pub slots: Vec<u32>,
    /// How messages go through each channel.
    pub ways: Vec<Transport>,
}

impl Candidate {
    /// One of many, for tests.
    #[cfg(test)]
    pub(crate) fn numbered(number: u32) -> Self {
        Self {
            rate_millihz: 1000,
            policy: "static".into(),
            available: vec![true],
            mapping: vec![number],
            points: vec![0],
            slots: Vec::new(),
            ways: Vec::new(),
        }
    }

    /// The numbers of the cores that are available, in order.
    pub fn cores(&self) -> Vec<usize> {
        (0..self.available.len()).filter(|core| self.available[*core]).collect()
    }

    /// Stands for it where there are too many to be kept. Two of a million have the same key with a
    /// probability of 10^-27. Another build of this program may have other keys.
    pub(crate) fn key(&self) -> u128 {
        let half = |number: u8| {
            let mut hasher = DefaultHasher::new();
            (number, self).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }
}

/// What came of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Energy of all cores, in millijoules.
    pub energy_mj: f64,
    /// Deadlines that were missed.
    pub misses: u64,
    /// Jobs that had one.
    pub jobs: u64,
    /// From the source of a frame until it leaves the application, in milliseconds; `None`: no
    /// frame left it.
    pub latency_ms: Option<f64>,
    /// Cores that computed anything.
    pub cores: u32,
    /// How long it ran, in milliseconds of virtual time.
    pub time_ms: f64,
    /// Part of the time in tasks, of each core of the platform, from 0 to 1.
    pub load: Vec<f64>,
    /// Frames that left the application.
    pub frames: u64,
    /// Firings that ended, of all tasks.
    pub firings: u64,
}

impl Outcome {
    /// The mean power of all cores, in milliwatts; `None`: no time has passed.
    pub fn power_mw(&self) -> Option<f64> {
        (self.time_ms > 0.0).then(|| self.energy_mj / self.time_ms * 1e3)
    }

    /// Energy for each frame that left the application, in millijoules; `None`: none did.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 frames")]
    pub fn energy_per_frame_mj(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.energy_mj / self.frames as f64)
    }

    /// Energy for each firing of a task, in millijoules; `None`: none has ended.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 firings")]
    pub fn energy_per_task_mj(&self) -> Option<f64> {
        (self.firings > 0).then(|| self.energy_mj / self.firings as f64)
    }
}

/// Why a candidate has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// It cannot run, as with so few slots that it deadlocks: others may.
    Candidate(String),
    /// Nothing can be evaluated; the exploration ends.
    Fatal(String),
}

/// Finds out what comes of candidates.
pub trait Evaluate: Sync {
    /// Runs one; the same candidate has the same outcome each time. Called from many threads.
    ///
    /// # Errors
    /// It could not run.
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure>;

    /// Runs many, each once and in any order, and hands on what came of each as soon as it is
    /// there. Candidates that are not begun when the taker has enough are left out.
    fn all(&self, candidates: &[Candidate], taker: &dyn Taker) {
        // One by one: whoever has none left takes the next, to the last of them.
        candidates.par_iter().with_max_len(1).for_each(|candidate| {
            if !taker.has_enough() {
                taker.take(candidate, self.run(candidate));
            }
        });
    }
}

/// Takes what came of candidates, from any thread.
pub trait Taker: Sync {
    /// Whether no further one is to be begun.
    fn has_enough(&self) -> bool;

    /// Takes what came of one.
    fn take(&self, candidate: &Candidate, outcome: Result<Outcome, Failure>);
}

/// What is to be low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// [`Outcome::energy_mj`].
    Energy,
    /// [`Outcome::misses`].
    Misses,
    /// [`Outcome::latency_ms`].
    Latency,
    /// [`Outcome::cores`].
    Cores,
    /// [`Outcome::power_mw`].
    Power,
    /// [`Outcome::energy_per_frame_mj`].
    #[serde(rename = "energy_per_frame")]
    EnergyPerFrame,
    /// [`Outcome::energy_per_task_mj`].
    #[serde(rename = "energy_per_task")]
    EnergyPerTask,
    /// [`Outcome::time_ms`].
    Time,
    /// [`Outcome::frames`], of which there are to be many.
    Frames,
}

impl Objective {
    /// Every objective, by the words for it.
    pub const ALL: [(&str, Self); 9] = [
        ("energy", Self::Energy),
        ("misses", Self::Misses),
        ("latency", Self::Latency),
        ("cores", Self::Cores),
        ("power", Self::Power),
        ("energy_per_frame", Self::EnergyPerFrame),
        ("energy_per_task", Self::EnergyPerTask),
        ("time", Self::Time),
        ("frames", Self::Frames),
    ];

    /// Those of an exploration that is not told.
    pub const DEFAULT: [Self; 4] = [Self::Energy, Self::Misses, Self::Latency, Self::Cores];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }

    /// Its value; infinite where it is not known, and negative if there is to be much of it.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 deadlines or frames")]
    pub fn of(self, outcome: &Outcome) -> f64 {
        let known = match self {
            Self::Energy => Some(outcome.energy_mj),
            Self::Misses => Some(outcome.misses as f64),
            Self::Latency => outcome.latency_ms,
            Self::Cores => Some(f64::from(outcome.cores)),
            Self::Power => outcome.power_mw(),
            Self::EnergyPerFrame => outcome.energy_per_frame_mj(),
            Self::EnergyPerTask => outcome.energy_per_task_mj(),
            Self::Time => Some(outcome.time_ms),
            Self::Frames => Some(-(outcome.frames as f64)),
        };
        known.unwrap_or(f64::INFINITY)
    }
}
