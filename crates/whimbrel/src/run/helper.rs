// SPDX-License-Identifier: Apache-2.0
//! The helper process: started with one end of a socket, told lines, heard, and always reaped.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use whimbrel_model::Problem;

use crate::control::Ask;
use crate::process::Process;
use crate::protocol::{LINE_MAX, Line};

/// How long a helper may take to leave after its socket is closed.
const LEAVE: Duration = Duration::from_secs(5);
/// A helper that takes no line for this long is stuck.
const TAKE: Duration = Duration::from_secs(5);

/// What a session waits for.
#[derive(Debug)]
pub enum Input {
    /// The helper has said something.
    Line(Box<Line>),
    /// The helper has said something that makes no sense.
    Garbled(String),
    /// The helper has gone.
    Closed,
    /// The user wants an end.
    Signal,
    /// A request from another terminal.
    Ask(Ask),
}

/// A running helper. Dropping it ends it.
#[derive(Debug)]
pub struct Helper {
    child: Child,
    socket: UnixStream,
    process: Option<Process>,
}

impl Helper {
    /// Starts the helper in a folder; what it says goes to `inputs`.
    ///
    /// What the application prints goes to standard error, since standard output is for the result.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, folder: &Path, inputs: Sender<Input>) -> Result<Self, Problem> {
        let started = || -> io::Result<Self> {
            let (socket, theirs) = UnixStream::pair()?;
            let mut command = Command::new(program);
            let to_stderr = io::stderr().as_fd().try_clone_to_owned()?;
            command.current_dir(folder).stdin(Stdio::null()).stdout(to_stderr);
            command
                .fd_mappings(vec![FdMapping { parent_fd: theirs.into(), child_fd: 3 }])
                .map_err(|_| io::Error::other("descriptor 3 is taken twice"))?;
            // The command is dropped at the end of this block, and with it the helper's end of the
            // socket: only then does the helper's death close it.
            let child = command.spawn()?;
            socket.set_write_timeout(Some(TAKE))?;
            let process = Process::with_pid(child.id());
            Ok(Self { child, socket, process })
        };
        let helper = started().map_err(|error| {
            Problem::new(format!("the helper {} cannot be started: {error}", program.display()))
                .help("build it again with `make build`; `whimbrel doctor` shows what is missing")
        })?;
        let socket = helper
            .socket
            .try_clone()
            .map_err(|error| Problem::new(format!("the helper cannot be listened to: {error}")))?;
        thread::spawn(move || listen(socket, &inputs));
        Ok(helper)
    }

    /// Its process; `None` if it had gone at once.
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

    /// Ends the conversation and waits for the helper to leave; it is killed if it does not.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn reap(&mut self) -> io::Result<ExitStatus> {
        // An error means that the other end has gone, which is what we want.
        let _ = self.socket.shutdown(Shutdown::Both);
        let end = Instant::now() + LEAVE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.child.kill()?;
        self.child.wait()
    }

    /// Ends it without waiting for it to agree.
    pub fn kill(&mut self) {
        // It fails only when the helper has gone already.
        let _ = self.child.kill();
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // After an orderly end this finds the process reaped and does nothing.
        let _ = self.reap();
    }
}

/// How a process ended, in words.
pub fn describe_end(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("ended with status {code}"),
        (None, None) => "ended".into(),
    }
}

fn listen(socket: UnixStream, inputs: &Sender<Input>) {
    let mut reader = BufReader::new(socket);
    loop {
        let mut line = String::new();
        let read = reader.by_ref().take(LINE_MAX).read_line(&mut line);
        let input = match read {
            Ok(0) | Err(_) => Input::Closed,
            Ok(_) => match serde_json::from_str::<Line>(&line) {
                Ok(line) => Input::Line(Box::new(line)),
                Err(error) => Input::Garbled(format!("{error}: {}", line.trim_end())),
            },
        };
        let last = matches!(input, Input::Closed);
        if inputs.send(input).is_err() || last {
            return;
        }
    }
}
