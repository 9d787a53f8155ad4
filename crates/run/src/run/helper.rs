// SPDX-License-Identifier: Apache-2.0
//! The other end of a run: a helper process, or a board behind one or behind a serial device. It is
//! told lines, heard, and always reaped.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use whimbrel_model::Problem;
use whimbrel_text::{cure, lacks};

use super::complaints::Complaints;
use crate::board::link;
use crate::control::Ask;
use crate::load::Loaded;
use crate::process::{self, Process};
use crate::protocol::{LINE_MAX, Line};

/// How long a helper that does not run may take to leave, and one that does.
const IDLE: Duration = Duration::from_secs(5);
const LEAVE: Duration = Duration::from_secs(60);
/// How much of a line that makes no sense is shown, in characters.
const SHOWN: usize = 200;
/// A helper that takes no line for this long is stuck.
const TAKE: Duration = Duration::from_secs(5);

/// What a session waits for.
#[derive(Debug)]
pub enum Input {
    /// The helper has said something.
    Line(Box<Line>),
    /// The helper has said something that makes no sense.
    Garbled {
        /// Why.
        why: String,
        /// The beginning of it.
        line: String,
    },
    /// The helper has gone.
    Closed,
    /// The user wants an end.
    Signal,
    /// The user wants it to be stopped for a while.
    Suspend,
    /// A request from another terminal.
    Ask(Ask),
}

/// The time that a helper has to end the kernels by force, or to leave after its last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leave {
    due: Instant,
    end: Instant,
    used_ticks: Option<u64>,
}

impl Leave {
    /// Begins now, with a helper that has used so much processor time.
    fn new(now: Instant, used_ticks: Option<u64>) -> Self {
        Self { due: now + IDLE, end: now + LEAVE, used_ticks }
    }

    /// When [`Leave::is_over`] is to be asked.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Whether the time is up. A helper that has run meanwhile gets more of it: under Valgrind, or
    /// on a busy machine, it takes long for what it has to do.
    fn is_over(&mut self, now: Instant, used_ticks: impl FnOnce() -> Option<u64>) -> bool {
        if now < self.due {
            return false;
        }
        let used_ticks = used_ticks();
        if used_ticks == self.used_ticks || now >= self.end {
            return true;
        }
        *self = Self { due: self.end.min(now + IDLE), used_ticks, ..*self };
        false
    }

    /// It has said something: it is not stuck.
    pub fn hears(&mut self, now: Instant) {
        self.due = self.end.min(now + IDLE);
    }

    /// The user wants no more waiting than for one that does not run.
    pub fn hurry(&mut self, now: Instant) {
        self.end = self.end.min(now + IDLE);
        self.due = self.due.min(self.end);
    }

    /// Leaves out the time for which all was stopped.
    pub fn put_off(&mut self, by: Duration) {
        self.due += by;
        self.end += by;
    }
}

/// Who runs the kernels. Dropping it ends it.
#[derive(Debug)]
pub struct Helper {
    /// `None`: a board at a serial device.
    child: Option<Child>,
    socket: UnixStream,
    process: Option<Process>,
    complaints: Option<Complaints>,
    /// Of a board.
    line: Option<link::Watch>,
}

impl Helper {
    /// Starts the helper in a folder; what it says goes to `inputs`.
    ///
    /// What the application prints goes to standard error, since standard output is for the result.
    /// It has our standard input if a path of its is that.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, loaded: &Loaded, inputs: Sender<Input>) -> Result<Self, Problem> {
        let stdin = if loaded.app.reads_stdin() { Stdio::inherit() } else { Stdio::null() };
        let command = Command::new(program);
        let (child, socket) = spawn(command, stdin, &loaded.folder).map_err(|error| {
            Problem::new(format!("the helper {} cannot be started: {error}", program.display()))
                .help(lacks(&error).unwrap_or(
                    "build it again with `make build`; `whimbrel doctor` shows what is missing",
                ))
        })?;
        Self::with(Some(child), socket, None, None, inputs)
    }

    /// Starts a board's emulator in the same way. It knows nothing of us, so the system ends it
    /// when we are killed, and what it complains of is kept for the error that follows. An answer
    /// of the board may take so long.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn emulate(
        words: &[String],
        made_by: &str,
        folder: &Path,
        patience: Duration,
        inputs: Sender<Input>,
    ) -> Result<Self, Problem> {
        let program = words.first().map_or("", String::as_str);
        let mut command = Command::new(program);
        command.args(words.get(1..).unwrap_or_default()).stderr(Stdio::piped());
        let command_pid = getpid();
        let prepare = move || {
            // The terminal's Ctrl-C is ours to interpret.
            setsid()?;
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have been killed just before.
            if getppid() == Some(command_pid) { Ok(()) } else { Err(Errno::SRCH.into()) }
        };
        // SAFETY: these are system calls that may be made between fork and exec, and nothing is
        // allocated.
        unsafe { command.pre_exec(prepare) };
        let (mut child, socket) = spawn(command, Stdio::null(), folder).map_err(|error| {
            let problem = Problem::new(format!("the board cannot be started: {program}: {error}"));
            problem.help(format!("install it with `{made_by}`, or change `command` of board.toml"))
        })?;
        let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(program);
        let complaints = child.stderr.take().map(|from| Complaints::of(name, from));
        let (socket, line) = link::guard(socket, patience).map_err(|error| unheard(&error))?;
        Self::with(Some(child), socket, complaints, Some(line), inputs)
    }

    /// Takes the serial line of a board that is there already, whose answer may take so long.
    ///
    /// # Errors
    /// It cannot be listened to.
    pub fn attach(
        socket: UnixStream,
        patience: Duration,
        inputs: Sender<Input>,
    ) -> Result<Self, Problem> {
        let (socket, line) = link::guard(socket, patience).map_err(|error| unheard(&error))?;
        Self::with(None, socket, None, Some(line), inputs)
    }

    fn with(
        child: Option<Child>,
        socket: UnixStream,
        complaints: Option<Complaints>,
        line: Option<link::Watch>,
        inputs: Sender<Input>,
    ) -> Result<Self, Problem> {
        let process = child.as_ref().and_then(|child| Process::with_pid(child.id()));
        let helper = Self { child, socket, process, complaints, line };
        let heard = helper.socket.try_clone().and_then(|heard| {
            helper.socket.set_write_timeout(Some(TAKE))?;
            Ok(heard)
        });
        let heard = heard.map_err(|error| unheard(&error))?;
        let listens = thread::Builder::new().spawn(move || listen(heard, &inputs));
        listens.map_err(|error| unheard(&error))?;
        Ok(helper)
    }

    /// Its process; `None` if it had gone at once, or has none.
    pub fn process(&self) -> Option<Process> {
        self.process
    }

    /// Writes one or more lines, each ended.
    ///
    /// # Errors
    /// The helper has gone or does not listen.
    pub fn tell(&mut self, lines: &str) -> io::Result<()> {
        self.socket.write_all(lines.as_bytes())
    }

    /// Says that nothing more will be told: a simulator waits for the plan of the next run.
    pub fn hang_up(&self) {
        // An error means that the other end has gone, which is what we want.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// The serial line of a board.
    pub fn line(&self) -> Option<&link::Watch> {
        self.line.as_ref()
    }

    /// Whether it leaves by itself after its last word.
    pub fn leaves(&self) -> bool {
        self.child.is_some()
    }

    /// What it has complained of on standard error; to be asked once it has been reaped.
    pub fn complaints(&self) -> String {
        self.complaints.as_ref().map_or_else(String::new, Complaints::text)
    }

    /// Begins to wait for it to leave.
    pub fn leave(&self) -> Leave {
        Leave::new(Instant::now(), self.used_ticks())
    }

    /// Whether it has had the time to leave.
    pub fn stays(&self, leave: &mut Leave) -> bool {
        leave.is_over(Instant::now(), || self.used_ticks())
    }

    /// `None` of an emulator: that computes whatever its kernels do.
    fn used_ticks(&self) -> Option<u64> {
        self.process.filter(|_| self.complaints.is_none())?.used_ticks()
    }

    /// Ends the conversation and waits for the helper to leave; it is killed if it does not.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        // An error means that the other end has gone, which is what we want.
        let _ = self.socket.shutdown(Shutdown::Both);
        let Some(child) = &mut self.child else { return Ok(None) };
        let end = Instant::now() + IDLE;
        while Instant::now() < end {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            thread::sleep(Duration::from_millis(1));
        }
        child.kill()?;
        child.wait().map(Some)
    }

    /// Continues it after a stop. A process of ours then continues what it has started.
    pub fn go_on(&self) {
        match &self.process {
            Some(emulator) if self.complaints.is_some() => emulator.signal_group(Signal::CONT),
            Some(helper) => helper.signal(Signal::CONT),
            None => {}
        }
    }

    /// Ends it without waiting for it to agree.
    pub fn kill(&mut self) {
        match &mut self.child {
            // It fails only when the helper has gone already.
            Some(child) => drop(child.kill()),
            None => drop(self.socket.shutdown(Shutdown::Both)),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // After an orderly end this finds the process reaped and does nothing.
        let _ = self.reap();
    }
}

fn unheard(error: &io::Error) -> Problem {
    Problem::new(format!("the kernels cannot be listened to: {error}")).help(cure(error))
}

/// How a process ended, in words.
pub fn describe_end(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("ended with status {code}"),
        (None, None) => "ended".into(),
    }
}

/// Starts a command in a folder, with one end of a socket as its descriptor 3; gives the other.
fn spawn(mut command: Command, stdin: Stdio, folder: &Path) -> io::Result<(Child, UnixStream)> {
    let (socket, theirs) = UnixStream::pair()?;
    let to_stderr = io::stderr().as_fd().try_clone_to_owned()?;
    command.current_dir(folder).stdin(stdin).stdout(to_stderr);
    command
        .fd_mappings(vec![FdMapping { parent_fd: theirs.into(), child_fd: 3 }])
        .map_err(|_| io::Error::other("descriptor 3 is taken twice"))?;
    // The command is dropped at the end of this function, and with it the helper's end of the
    // socket: only then does the helper's death close it.
    let child = process::spawn(&mut command)?;
    Ok((child, socket))
}

fn listen(socket: UnixStream, inputs: &Sender<Input>) {
    let mut reader = BufReader::new(socket);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
        let input = match read {
            Ok(0) | Err(_) => Input::Closed,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => match serde_json::from_slice::<Line>(&line) {
                Ok(line) => Input::Line(Box::new(line)),
                // It was killed while it wrote.
                Err(error)
                    if error.is_eof()
                        && !line.ends_with(b"\n")
                        && (line.len() as u64) < LINE_MAX =>
                {
                    Input::Closed
                }
                Err(error) => Input::Garbled { why: error.to_string(), line: shown(&line) },
            },
        };
        let last = matches!(input, Input::Closed);
        if inputs.send(input).is_err() || last {
            return;
        }
    }
}

/// The beginning of a line, whatever is in it.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let beginning: String = text.trim_end().chars().take(SHOWN).collect();
    beginning.escape_debug().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn heard(said: &[u8]) -> Vec<Input> {
        let (mut helper, socket) = UnixStream::pair().unwrap();
        helper.write_all(said).unwrap();
        drop(helper);
        let (inputs, heard) = mpsc::channel();
        listen(socket, &inputs);
        drop(inputs);
        heard.iter().collect()
    }

    #[test]
    fn a_helper_that_is_killed_while_it_writes_has_gone() {
        assert!(matches!(heard(b"{\"started\":{\"pid\":1,")[..], [Input::Closed]));
    }

    #[test]
    fn a_helper_that_runs_gets_more_time_to_leave_but_not_for_ever() {
        let start = Instant::now();
        let mut leave = Leave::new(start, Some(1));
        let mut now = start;
        let mut turns = 1;
        while !leave.is_over(now, || Some(turns)) {
            now = leave.due();
            turns += 1;
        }
        assert_eq!(now, start + LEAVE);
        let mut hurried = Leave::new(start, Some(1));
        hurried.hurry(start + IDLE / 2);
        assert!(!hurried.is_over(start + IDLE, || Some(2)));
        assert!(hurried.is_over(start + IDLE / 2 + IDLE, || Some(3)));
        let mut stuck = Leave::new(start, Some(1));
        assert!(!stuck.is_over(start + IDLE / 2, || Some(1)));
        stuck.hears(start + IDLE / 2);
        assert!(!stuck.is_over(start + IDLE, || Some(1)));
        assert!(stuck.is_over(stuck.due(), || Some(1)));
    }

    #[test]
    fn what_is_no_line_of_the_protocol_is_garbled() {
        for said in [&b"{\"started\":{\"pid\":1,\n"[..], b"no line", b"{}\n"] {
            let heard = heard(said);
            assert!(matches!(heard[..], [Input::Garbled { .. }, Input::Closed]), "{heard:?}");
        }
    }
}
