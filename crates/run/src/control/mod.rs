// SPDX-License-Identifier: Apache-2.0
//! How a run is asked and steered from another terminal: one request, and one reply or, to who
//! watches, a stream of them, each a line of JSON, on a socket in the run directory. Both ends make
//! sure that the other is the same user.

mod client;
mod serve;

use std::io::{self, BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use whimbrel_model::NotifyPolicy;

pub use client::{Watch, ask, watch};
pub use serve::{Ask, serve};

use crate::protocol::{Advice, CoreDied, CoreRestarted, Kernel, Migrated, Migration, Set, Status};

/// How long either end may take to write its line.
const LINE_TIME: Duration = Duration::from_secs(2);
/// What a reply may take beyond the time that the request itself allows.
const SLACK: Duration = Duration::from_secs(3);
/// How long an emulator may take to boot: three times `BOOT_NS` of `kernels/linux/guests.c`.
const BOOT_TIME: Duration = Duration::from_secs(60);

/// What a run may be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Totals since the start.
    Status,
    /// Move a task.
    Migrate {
        /// Its name.
        task: String,
        /// Which of that name.
        index: u32,
        /// Where to.
        core: u32,
        /// How long it may take.
        timeout_ms: u64,
    },
    /// Another policy.
    Policy {
        /// Its name; empty: none decides any more.
        name: String,
        /// Its parameters, each as KEY=VALUE.
        settings: Vec<String>,
    },
    /// Another frame rate.
    Rate {
        /// Frames per second, in thousandths.
        millihz: u64,
    },
    /// Another notify policy for a channel.
    Channel {
        /// Its name.
        channel: String,
        /// What it is to have.
        notify: NotifyPolicy,
    },
    /// The kernel of a core again.
    Restart {
        /// Which.
        core: u32,
    },
    /// Everything that happens from now on, and totals again and again.
    Watch {
        /// How often totals come.
        interval_ms: u64,
    },
}

impl Request {
    fn time_limit(&self) -> Duration {
        match self {
            Self::Migrate { timeout_ms, .. } => SLACK + Duration::from_millis(*timeout_ms),
            Self::Restart { .. } => SLACK + BOOT_TIME,
            _ => SLACK,
        }
    }

    /// How many replies may wait to be read.
    fn backlog(&self) -> usize {
        if matches!(self, Self::Watch { .. }) { 1024 } else { 1 }
    }

    /// Why there was no reply in time.
    fn silence(&self) -> &'static str {
        match self {
            Self::Policy { .. }
            | Self::Rate { .. }
            | Self::Channel { .. }
            | Self::Restart { .. } => {
                "its helper does not answer: it is of a version that cannot do that, or stuck"
            }
            _ => "the run does not answer",
        }
    }
}

/// What a run answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The totals.
    Status(Box<Status>),
    /// The migration is over, well or not.
    Migrated(Migrated),
    /// The policy, the frame rate or the notify is in force, or the kernel there again; or not.
    Set(Set),
    /// The request makes no sense, and why.
    Refused(String),
    /// To who watches, first: what the run is.
    Watching(Box<RunDescription>),
    /// To who watches: a migration has ended.
    Migration(Migration),
    /// To who watches: a kernel was killed.
    CoreDied(CoreDied),
    /// To who watches: one that was killed is there again.
    CoreRestarted(CoreRestarted),
    /// To who watches: a decision was ignored.
    Advice(Advice),
    /// To who watches, last: the run is over.
    Ended(Box<Ended>),
}

/// What a run is: all that does not change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunDescription {
    /// The application's name.
    pub app: String,
    /// Frames per second at the start, if there is a rate.
    pub frame_rate: Option<f64>,
    /// The start on the run's clock.
    pub start_ns: u64,
    /// One per core.
    pub kernels: Vec<Kernel>,
    /// What people call each task, and whether it may move, in the order of the totals.
    pub tasks: Vec<(String, bool)>,
    /// For each task that sends to no channel, the channels that it receives from.
    pub sinks: Vec<Vec<usize>>,
}

/// How a run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ended {
    /// Nothing went wrong.
    pub ok: bool,
    /// In words.
    pub how: String,
    /// The last totals, if there ever were any.
    pub status: Option<Status>,
}

fn require_same_user(stream: &UnixStream) -> io::Result<()> {
    let peer = socket_peercred(stream)?;
    if peer.uid == geteuid() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

fn write_line(mut stream: &UnixStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Reads one line of at most `most` bytes.
fn read_line<T: for<'de> Deserialize<'de>>(from: &mut impl BufRead, most: u64) -> io::Result<T> {
    let mut line = String::new();
    from.take(most).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}
