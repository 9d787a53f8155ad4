// SPDX-License-Identifier: Apache-2.0
//! What is asked for, and what there is.

use std::fmt;
use std::io;

use clap::ValueEnum;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use crate::{CpuSet, TaskId};

/// How others are kept away from occupied processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ShieldKind {
    /// cgroup v2: a cpuset partition; isolated for one processor, `root` for several.
    #[value(help = "A cpuset partition of cgroup v2")]
    V2,
    /// cgroup v1: a cpuset for the program and one for everything else, no balancing between them.
    #[value(help = "Cpusets of cgroup v1")]
    V1,
    /// Affinities alone, where there are no cpusets or they may not be written.
    #[value(help = "Affinities alone")]
    Affinity,
}

impl ShieldKind {
    /// As in options and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2 => "v2",
            Self::V1 => "v1",
            Self::Affinity => "affinity",
        }
    }
}

/// How the program is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// As it is: `SCHED_OTHER` with this niceness, or untouched.
    Fair {
        /// -20 (most) to 19; none leaves it as it is.
        nice: Option<i8>,
    },
    /// The paper's: `SCHED_FIFO` (section 3, RT0).
    Fifo {
        /// 1 to 99.
        priority: u8,
    },
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fair { nice: None } => f.write_str("fair"),
            Self::Fair { nice: Some(nice) } => write!(f, "nice {nice}"),
            Self::Fifo { priority } => write!(f, "fifo {priority}"),
        }
    }
}

/// What a user asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Which processors; none chooses one.
    pub cpus: Option<CpuSet>,
    /// ARTiS's way (section 2.2): others may use the processors while the program sleeps.
    pub soft: bool,
    /// How the program is scheduled.
    pub policy: Policy,
    /// Which shield; none takes the best that this machine has.
    pub shield: Option<ShieldKind>,
    /// The program's words, for `status`.
    pub command: Vec<String>,
}

/// Something that could not be moved away from an occupied processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmovable {
    /// Its name: `task 17 (ksoftirqd/1)`, `interrupt 24 (virtio0-input.0)`.
    pub what: String,
    /// The reason, for people.
    pub why: String,
}

/// Processors that a program has for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupation {
    /// Its number, the smallest that is free when it begins, from 1.
    pub id: u32,
    /// Its processors.
    pub cpus: CpuSet,
    /// How others are kept away.
    pub shield: ShieldKind,
    /// Others may use the processors while the program sleeps.
    pub soft: bool,
    /// How the program is scheduled.
    pub policy: Policy,
    /// The program's first process, once it is known.
    pub program: Option<TaskId>,
    /// The user that the program runs as, once it is known.
    #[serde(default)]
    pub user: Option<u32>,
    /// What only the program and its children know. It is shown to nobody: who has it and is of
    /// the same user is taken for one of the program's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// The process that undoes the occupation.
    pub guardian: TaskId,
    /// The program's words.
    pub command: Vec<String>,
    /// Seconds since 1970.
    pub since: u64,
    /// Why these processors, for people.
    pub reason: String,
    /// What could not be moved away.
    pub kept: Vec<Unmovable>,
}

impl Occupation {
    /// What the program's environment has in [`crate::MARK`]: the number, and what no other process
    /// can guess.
    pub fn mark(&self) -> String {
        format!("{}:{}", self.id, self.token)
    }
}

/// A text that nobody can guess.
pub(crate) fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
