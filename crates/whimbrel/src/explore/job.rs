// SPDX-License-Identifier: Apache-2.0
//! A candidate as any simulator runs it, in this process or another, and the simulators: a process
//! gets a plan, answers to its end, and waits for the next.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use serde::{Deserialize, Serialize};
use whimbrel_explore::{Failure, Outcome};
use whimbrel_run::helpers;
use whimbrel_run::protocol::{End, LINE_MAX, Line};
use whimbrel_run::{ratio, received, spawn};

/// All that is needed to run a candidate, as plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The folder of the application.
    pub folder: PathBuf,
    /// Its module, as the plan names it.
    pub module: String,
    /// Whether that came with the command, so that any other command has it as well.
    pub own: bool,
    /// The plan, a line of it.
    #[serde(skip)]
    pub plan: String,
    /// Of the cores of the plan, their numbers on the platform.
    pub cores: Vec<usize>,
    /// How many cores the platform has.
    pub of: usize,
    /// The channels into each task that sends to none.
    pub sinks: Vec<Vec<usize>>,
}

impl Job {
    /// As text: a line of all but the plan, then the plan as it is, which is most of it.
    pub fn text(&self) -> String {
        // Plain data can always be said in JSON.
        format!("{}\n{}", serde_json::to_string(self).unwrap_or_default(), self.plan)
    }

    /// From its text.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        let (head, plan) = text.split_once('\n').unwrap_or((text, ""));
        Ok(Self { plan: plan.to_owned(), ..serde_json::from_str(head)? })
    }

    /// The plan on this machine: where a module that came with the command is not there, that of
    /// this command has its place.
    fn plan(&self) -> String {
        let module = Path::new(&self.module);
        let own = helpers::modules().ok().zip(module.file_name());
        let own = own.map(|(folder, name)| folder.join(name));
        let own = own.filter(|own| self.own && !module.is_file() && own.is_file());
        let text = |path: &str| serde_json::to_string(path).unwrap_or_default();
        match own.as_deref().and_then(Path::to_str) {
            Some(own) => self.plan.replace(&text(&self.module), &text(own)),
            None => self.plan.clone(),
        }
    }

    /// The folder on this machine: that of the application may be on another.
    fn folder(&self) -> PathBuf {
        if self.folder.is_dir() { self.folder.clone() } else { env::temp_dir() }
    }

    fn outcome(&self, start_ns: u64, end: &End) -> Outcome {
        let status = &end.status;
        let time_ns = status.time_ns.saturating_sub(start_ns);
        let mut load = vec![0.0; self.of];
        for (core, status) in self.cores.iter().zip(&status.cores) {
            if let Some(load) = load.get_mut(*core) {
                *load = ratio(status.busy_ns, time_ns);
            }
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
            frames: received(&self.sinks, status),
            firings: status.tasks.iter().map(|task| task.firings).sum(),
        }
    }
}

/// Simulators, started as they are needed.
#[derive(Debug)]
pub struct Pool {
    program: PathBuf,
    /// Those that wait for a plan.
    idle: Mutex<Vec<Process>>,
}

impl Pool {
    /// Of this program.
    pub fn new(program: PathBuf) -> Self {
        Self { program, idle: Mutex::default() }
    }

    /// Runs a candidate.
    ///
    /// # Errors
    /// It cannot run, or none can.
    pub fn run(&self, job: &Job) -> Result<Outcome, Failure> {
        let (mut process, answer) = self.simulate(&job.folder(), &job.plan())?;
        match (answer.why, answer.start_ns, answer.end) {
            // What keeps one from starting keeps every other from it.
            (Some(why), None, _) => Err(Failure::Fatal(why)),
            (Some(why), Some(_), _) => Err(Failure::Candidate(why)),
            (None, Some(start_ns), Some(end)) => {
                self.waiting().push(process);
                Ok(job.outcome(start_ns, &end))
            }
            (None, ..) => Err(Failure::Fatal(process.last_words())),
        }
    }

    /// Starts a simulator in a folder.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, folder: &Path) -> io::Result<Process> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut command = process::Command::new(&self.program);
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        // Of a group of its own: Ctrl-C is for the command, which keeps what is done.
        command.stderr(Stdio::null()).process_group(0);
        command
            .fd_mappings(vec![FdMapping { parent_fd: theirs.into(), child_fd: 3 }])
            .map_err(|_| io::Error::other("descriptor 3 is taken twice"))?;
        let answers = BufReader::new(socket.try_clone()?);
        let folder = folder.to_owned();
        Ok(Process { child: spawn(&mut command)?, folder, socket, answers, patience: None })
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that waits in this folder.
    fn idle(&self, folder: &Path) -> Option<Process> {
        let mut waiting = self.waiting();
        let found = waiting.iter().rposition(|process| process.folder == folder)?;
        Some(waiting.swap_remove(found))
    }

    /// Tells a plan to one that waits for it, or to a new one.
    fn simulate(&self, folder: &Path, plan: &str) -> Result<(Process, Answer), Failure> {
        if let Some(mut process) = self.idle(folder) {
            let answer = process.answer(plan)?;
            // One that has ended while it waited says nothing.
            if !answer.is_nothing() {
                return Ok((process, answer));
            }
        }
        let mut process = self.start(folder).map_err(|error| {
            let program = self.program.display();
            Failure::Fatal(format!("the simulator {program} cannot be started: {error}"))
        })?;
        let answer = process.answer(plan)?;
        Ok((process, answer))
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
                return Err(format!("invalid line of the simulator: {error}: {}", line.trim_end()));
            }
        }
    }
}

/// A simulator that is always ended and reaped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    folder: PathBuf,
    socket: UnixStream,
    answers: BufReader<UnixStream>,
    /// How long a read waits; `None`: for ever.
    patience: Option<Duration>,
}

impl Process {
    /// Tells it a plan, and listens to the end of its run.
    fn answer(&mut self, plan: &str) -> Result<Answer, Failure> {
        self.tell(plan);
        read_answer(&mut self.answers).map_err(Failure::Fatal)
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it a line.
    pub fn tell(&mut self, line: &str) {
        // A simulator that ends before it has read everything says why in its answers.
        let _ = self.socket.write_all(line.as_bytes());
    }

    /// Appends what it says within so long; whether that is the end of a line or of all lines.
    ///
    /// # Errors
    /// The socket cannot be read.
    pub fn listen(&mut self, line: &mut Vec<u8>, wait: Duration) -> io::Result<bool> {
        if self.patience != Some(wait) {
            self.socket.set_read_timeout(Some(wait))?;
            self.patience = Some(wait);
        }
        match self.answers.read_until(b'\n', line) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // It was killed with lines that it had not read.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// How it ended, when it should not have.
    pub fn last_words(&mut self) -> String {
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
