// SPDX-License-Identifier: Apache-2.0
//! Candidates in the simulator: a process gets a plan, answers to its end, and waits for the next.
//!
//! Only the cores that a candidate has are in its plan, in order; so a candidate on cores 0 and 2
//! of the platform runs on cores 0 and 1 of its simulation, and nothing else consumes energy.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use command_fds::{CommandFdExt, FdMapping};
use whimbrel_explore::{Candidate, Evaluate, Failure, Outcome, Way};
use whimbrel_hardware::Description;
use whimbrel_model::{
    App, At, Core, Frequency, Moving, Pacing, Plan, PlanOptions, Point, PolicyName, plan,
};

use crate::fingerprint::fingerprint;
use crate::protocol::{End, LINE_MAX, Line};
use crate::run::received;

/// How often agents report where a policy decides.
const AGENTS_NS: u64 = 100_000_000;
/// How long an idle kernel polls, as in a run that is not told.
const SPIN_NS: u64 = 20_000;
/// How long a target may take to attach a task.
const OFFER_NS: u64 = 100_000_000;
/// How long channels may take to drain at the end.
const DRAIN_NS: u64 = 2_000_000_000;

/// Starts simulators.
#[derive(Debug)]
pub struct Simulator {
    program: PathBuf,
    folder: PathBuf,
    module: String,
    app: App,
    hardware: Description,
    duration_ns: u64,
    seed: u64,
    /// Processes that wait for a plan.
    idle: Mutex<Vec<Process>>,
}

impl Simulator {
    /// One that runs `app` in its folder on `hardware`, for so long, from this seed.
    pub fn new(
        program: PathBuf,
        folder: PathBuf,
        module: String,
        (app, hardware): (App, Description),
        (duration_ns, seed): (u64, u64),
    ) -> Self {
        let idle = Mutex::default();
        Self { program, folder, module, app, hardware, duration_ns, seed, idle }
    }

    /// Stands for everything that outcomes depend on besides candidates: a hash of the plan of a
    /// candidate that is as the application says.
    pub fn identity(&self) -> String {
        let cores = self.hardware.cores.len();
        let most = u32::try_from(cores.saturating_sub(1)).unwrap_or(u32::MAX);
        let candidate = Candidate {
            rate_millihz: 0,
            policy: "static".into(),
            available: vec![true; cores],
            mapping: self.app.tasks.iter().map(|t| (*t.core.get_ref()).min(most)).collect(),
            points: vec![0; cores],
            slots: self.app.channels.iter().map(|channel| channel.slots).collect(),
            ways: self
                .app
                .channels
                .iter()
                .map(|channel| Way { bell: channel.bell, internal: channel.internal })
                .collect(),
        };
        fingerprint(&self.plan(&candidate).line())
    }

    /// The plan of a candidate.
    fn plan(&self, candidate: &Candidate) -> Plan {
        let cores = candidate.cores();
        let hardware = subset(&self.hardware, candidate, &cores);
        let mut app = self.app.clone();
        for (task, core) in app.tasks.iter_mut().zip(&candidate.mapping) {
            let position = cores.iter().position(|known| known == &(*core as usize)).unwrap_or(0);
            *task.core.get_mut() = u32::try_from(position).unwrap_or(u32::MAX);
        }
        for (channel, slots) in app.channels.iter_mut().zip(&candidate.slots) {
            channel.slots = *slots;
        }
        for (channel, way) in app.channels.iter_mut().zip(&candidate.ways) {
            (channel.bell, channel.internal) = (way.bell, way.internal);
        }
        let policy: Option<PolicyName> =
            Some(&candidate.policy).filter(|name| *name != "static").and_then(|n| n.parse().ok());
        #[expect(clippy::cast_precision_loss, reason = "a rate is at most 1e12 thousandths")]
        let pacing = match candidate.rate_millihz {
            0 => Pacing::Application,
            millihz => Pacing::Rate(millihz as f64 / 1e3),
        };
        let options = PlanOptions {
            cpus: (0..).take(cores.len()).collect(),
            module: self.module.clone(),
            spin_ns: Some(SPIN_NS),
            offer_ns: OFFER_NS,
            record: None,
            pacing,
            moving: Moving {
                agents_ns: if policy.is_some() { AGENTS_NS } else { 0 },
                policy,
                ..Moving::default()
            },
            cores: hardware.cores.iter().map(core).collect(),
            frequency: Frequency::None,
            kinds: hardware.cores.iter().map(|core| core.kind.clone()).collect(),
            seed: self.seed,
            journal: String::new(),
        };
        // What a description cannot say in JSON does not exist: it is plain data.
        let platform = serde_json::to_string(&hardware).ok();
        let commands = At::ending(&app, self.duration_ns, DRAIN_NS);
        Plan { platform, commands, ..plan(&app, &options) }
    }

    fn start(&self) -> io::Result<Process> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut command = process::Command::new(&self.program);
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null());
        // Of a group of its own: Ctrl-C is for the command, which keeps what is done.
        command.stderr(Stdio::null()).process_group(0);
        command
            .fd_mappings(vec![FdMapping { parent_fd: theirs.into(), child_fd: 3 }])
            .map_err(|_| io::Error::other("descriptor 3 is taken twice"))?;
        let answers = BufReader::new(socket.try_clone()?);
        Ok(Process { child: command.spawn()?, socket, answers })
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a plan to one that waits for it, or to a new one.
    fn simulate(&self, plan: &str) -> Result<(Process, Answer), Failure> {
        let waiting = self.waiting().pop();
        if let Some(mut process) = waiting {
            let answer = process.answer(plan)?;
            // One that has ended while it waited says nothing.
            if !answer.is_nothing() {
                return Ok((process, answer));
            }
        }
        let mut process = self.start().map_err(|error| {
            let program = self.program.display();
            Failure::Fatal(format!("the simulator {program} cannot be started: {error}"))
        })?;
        let answer = process.answer(plan)?;
        Ok((process, answer))
    }

    fn outcome(&self, candidate: &Candidate, start_ns: u64, end: &End) -> Outcome {
        let status = &end.status;
        let time_ns = status.time_ns.saturating_sub(start_ns);
        let mut load = vec![0.0; self.hardware.cores.len()];
        for (core, status) in candidate.cores().into_iter().zip(&status.cores) {
            load[core] = ratio(status.busy_ns, time_ns);
        }
        let energy_uj: u64 = status.cores.iter().map(|core| core.energy_uj).sum();
        let used = status.cores.iter().filter(|core| core.busy_ns > 0).count();
        Outcome {
            energy_mj: ratio(energy_uj, 1000),
            misses: status.tasks.iter().map(|task| task.misses).sum(),
            jobs: status.tasks.iter().map(|task| task.jobs).sum(),
            latency_ms: end.latency_ns.map(|ns| ratio(ns, 1_000_000)),
            cores: u32::try_from(used).unwrap_or(u32::MAX),
            time_ms: ratio(time_ns, 1_000_000),
            load,
            frames: received(&self.app.sinks(), status),
        }
    }
}

impl Evaluate for Simulator {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        let (mut process, answer) = self.simulate(&self.plan(candidate).line())?;
        match (answer.why, answer.start_ns, answer.end) {
            // What keeps one from starting keeps every other from it.
            (Some(why), None, _) => Err(Failure::Fatal(why)),
            (Some(why), Some(_), _) => Err(Failure::Candidate(why)),
            (None, Some(start_ns), Some(end)) => {
                self.waiting().push(process);
                Ok(self.outcome(candidate, start_ns, &end))
            }
            (None, ..) => Err(Failure::Fatal(process.last_words())),
        }
    }
}

/// What a simulator said.
#[derive(Default)]
struct Answer {
    /// Its time at the start; `None`: it did not.
    start_ns: Option<u64>,
    end: Option<End>,
    /// The first error.
    why: Option<String>,
}

impl Answer {
    fn is_nothing(&self) -> bool {
        self.start_ns.is_none() && self.end.is_none() && self.why.is_none()
    }
}

/// A core as the plan has it.
fn core(described: &whimbrel_hardware::Core) -> Core {
    let point = |point: &whimbrel_hardware::Point| Point {
        hz: point.hz,
        active_uw: point.active_uw,
        idle_uw: point.idle_uw,
    };
    Core { points: described.points.iter().map(point).collect(), start: described.start }
}

/// Listens until the end.
fn read_answer(answers: &mut BufReader<UnixStream>) -> Result<Answer, String> {
    let mut answer = Answer::default();
    loop {
        let mut line = String::new();
        match answers.by_ref().take(LINE_MAX).read_line(&mut line) {
            Ok(0) | Err(_) => return Ok(answer),
            Ok(_) => {}
        }
        match serde_json::from_str(&line) {
            Ok(Line::Started(started)) => answer.start_ns = Some(started.start_ns),
            Ok(Line::Error(error)) => {
                answer.why.get_or_insert(error.text);
            }
            Ok(Line::End(end)) => {
                answer.end = Some(end);
                return Ok(answer);
            }
            Ok(_) => {}
            Err(error) => {
                return Err(format!("the simulator makes no sense: {error}: {}", line.trim_end()));
            }
        }
    }
}

/// A simulator that is always ended and reaped.
#[derive(Debug)]
struct Process {
    child: Child,
    socket: UnixStream,
    answers: BufReader<UnixStream>,
}

impl Process {
    /// Tells it a plan, and listens to the end of its run.
    fn answer(&mut self, plan: &str) -> Result<Answer, Failure> {
        // A simulator that ends before it has read everything says why in its answers.
        let _ = self.socket.write_all(plan.as_bytes());
        read_answer(&mut self.answers).map_err(Failure::Fatal)
    }

    /// How it ended, when it should not have.
    fn last_words(&mut self) -> String {
        let _ = self.socket.shutdown(Shutdown::Both);
        let ended = self.child.wait().map(|status| status.to_string());
        format!(
            "the simulator ended without a result ({})",
            ended.unwrap_or_else(|error| error.to_string())
        )
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that it has gone already.
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The hardware of a candidate: its cores only, renumbered, each at the point it begins at.
fn subset(hardware: &Description, candidate: &Candidate, cores: &[usize]) -> Description {
    let place = |core: Option<u32>| {
        let position = cores.iter().position(|known| core.is_some_and(|c| *known == c as usize));
        position.and_then(|position| u32::try_from(position).ok())
    };
    let mut hardware = hardware.clone();
    let all = std::mem::take(&mut hardware.cores);
    for core in cores {
        let mut core_alone = all[*core].clone();
        core_alone.start = candidate.points[*core] as usize;
        hardware.cores.push(core_alone);
    }
    hardware.memories.retain(|memory| memory.core.is_none() || place(memory.core).is_some());
    for memory in &mut hardware.memories {
        memory.core = place(memory.core);
    }
    // The block of a core that is off stays on the die, cold.
    let blocks = hardware.thermal.iter_mut().flat_map(|thermal| &mut thermal.blocks);
    blocks.for_each(|block| block.core = place(block.core));
    hardware
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of measurements")]
fn ratio(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}
