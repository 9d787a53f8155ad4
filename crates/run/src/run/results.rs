// SPDX-License-Identifier: Apache-2.0
//! Everything that is learnt about a run while it goes on.

use std::process::ExitStatus;
use std::time::Duration;

use crate::board::link::Counts;
use crate::protocol::{
    Advice, CoreDied, CoreRestarted, End, ErrorKind, HelperError, Migration, Simulated, Stalled,
    Started, Status,
};

/// More migrations than this are counted, not kept: about 200 MB.
const MIGRATIONS_MAX: usize = 1 << 20;

/// More ignored decisions than this are counted, not kept: one is as good as the other.
const ADVICE_MAX: usize = 1 << 10;

/// Why a run was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Ctrl-C or SIGTERM.
    User,
    /// `--duration`.
    Duration,
}

/// What is known of a run.
#[derive(Debug, Default)]
pub struct Results {
    /// Once the kernels ran.
    pub started: Option<Started>,
    /// The last totals.
    pub latest: Option<Status>,
    /// Migrations that ended, in order.
    pub migrations: Vec<Migration>,
    /// How many more there were.
    pub migrations_left_out: u64,
    /// Kernels that were killed.
    pub deaths: Vec<CoreDied>,
    /// What a policy decided and could not be done.
    pub advice: Vec<Advice>,
    /// How many more there were.
    pub advice_left_out: u64,
    /// What the helper complained about.
    pub errors: Vec<HelperError>,
    /// What a simulation took.
    pub simulated: Option<Simulated>,
    /// Tasks that kept their cores to themselves when the run was ended by force.
    pub stalled: Vec<Stalled>,
    /// The helper's last word.
    pub end: Option<End>,
    /// Who asked for the end, if anybody did.
    pub stop: Option<Stop>,
    /// The channels did not drain in time, or the user did not want to wait.
    pub forced: bool,
    /// The helper was killed before it had ended the kernels.
    pub stayed: bool,
    /// A line that makes no sense.
    pub garbled: Option<String>,
    /// How long a board had said nothing when it was given up.
    pub silent: Option<Duration>,
    /// What had to be sent again over the line of a board.
    pub line: Option<Counts>,
    /// What a board printed before it answered, or instead of answering.
    pub noise: Option<String>,
    /// How the helper ended.
    pub exit: Option<ExitStatus>,
    /// What an emulator complained of.
    pub complaints: String,
}

impl Results {
    /// Keeps a migration.
    pub fn migration(&mut self, migration: Migration) {
        if self.migrations.len() < MIGRATIONS_MAX {
            self.migrations.push(migration);
        } else {
            self.migrations_left_out += 1;
        }
    }

    /// Keeps a decision that was ignored.
    pub fn advice(&mut self, advice: Advice) {
        if self.advice.len() < ADVICE_MAX {
            self.advice.push(advice);
        } else {
            self.advice_left_out += 1;
        }
    }

    /// Notes that a kernel is there again.
    pub fn restarted(&mut self, restarted: &CoreRestarted) {
        let CoreRestarted { core, pid, took_ns, .. } = restarted;
        if let Some(death) = self.deaths.iter_mut().rfind(|death| death.core == *core) {
            death.back_after_ns = Some(*took_ns);
        }
        let kernels = self.started.iter_mut().flat_map(|started| &mut started.kernels);
        for kernel in kernels.filter(|kernel| kernel.core == *core) {
            kernel.pid = *pid;
        }
    }

    /// Brings everything into the order of time: each core tells of its own.
    pub fn sort(&mut self) {
        let ended = |m: &Migration| {
            let times = [m.request_ns, m.parked_ns, m.copied_ns, m.attached_ns, m.running_ns];
            times.into_iter().max().max(Some(m.output_ns))
        };
        let key = |m: &Migration| (ended(m), m.task.clone(), m.index);
        self.migrations.sort_by_cached_key(key);
        self.advice.sort_by_key(|advice| advice.time_ns);
    }

    /// Takes over how a simulation was ended by its plan. One of an application that does not drain
    /// was not forced to.
    pub fn settle(&mut self, drains: bool) {
        let ended_by = self.simulated.as_ref().map_or("", |simulated| simulated.ended_by.as_str());
        if self.stop.is_none() && !ended_by.is_empty() {
            self.stop = Some(Stop::Duration);
            self.forced = ended_by == "kill" && drains;
        }
    }

    /// Whether anything ran. A simulator that cannot go on from a saved run has laid its cores out
    /// by then, and nothing more.
    pub fn began(&self) -> bool {
        self.started.is_some() && !self.errors.iter().any(|error| error.kind == ErrorKind::Restore)
    }

    /// The totals: those at the end, or else the last ones seen.
    pub fn totals(&self) -> Option<&Status> {
        self.end.as_ref().map(|end| &end.status).or(self.latest.as_ref())
    }
}
