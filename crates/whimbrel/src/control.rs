// SPDX-License-Identifier: Apache-2.0
//! How a run is asked and steered from another terminal: one request and one reply, each a line of
//! JSON, on a socket in the run directory. Both ends make sure that the other is the same user.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::protocol::{LINE_MAX, Migrated, Status};

/// How long either end may take to write its line.
const LINE_TIME: Duration = Duration::from_secs(2);
/// What a reply may take beyond the time that the request itself allows.
const SLACK: Duration = Duration::from_secs(3);

/// What a run may be asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
}

impl Request {
    fn time_limit(&self) -> Duration {
        match self {
            Self::Status => SLACK,
            Self::Migrate { timeout_ms, .. } => SLACK + Duration::from_millis(*timeout_ms),
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
    /// The request makes no sense, and why.
    Refused(String),
}

/// A request with the way back to who asked.
pub type Ask = (Request, Sender<Reply>);

/// Listens on a new socket; requests go to `take` until it returns false.
///
/// # Errors
/// The socket cannot be made, for instance because its path is longer than 107 bytes.
pub fn serve(path: &Path, take: impl Fn(Ask) -> bool + Clone + Send + 'static) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let take = take.clone();
            // A peer that fails, or is none of ours, only loses its own connection.
            thread::spawn(move || answer(&stream, take));
        }
    });
    Ok(())
}

fn answer(stream: &UnixStream, take: impl Fn(Ask) -> bool) -> io::Result<()> {
    require_same_user(stream)?;
    stream.set_read_timeout(Some(LINE_TIME))?;
    stream.set_write_timeout(Some(LINE_TIME))?;

    let request: Request = read_line(stream, 4096)?;
    let limit = request.time_limit();
    let (sender, receiver) = mpsc::channel();
    let reply = if take((request, sender)) {
        let why = |error| match error {
            RecvTimeoutError::Timeout => "the run does not answer",
            RecvTimeoutError::Disconnected => "the run has ended",
        };
        receiver.recv_timeout(limit).unwrap_or_else(|error| Reply::Refused(why(error).into()))
    } else {
        Reply::Refused("the run is over".into())
    };
    write_line(stream, &reply)
}

/// Asks a run.
///
/// # Errors
/// It has gone, does not answer, or belongs to somebody else.
pub fn ask(path: &Path, request: &Request) -> io::Result<Reply> {
    let stream = UnixStream::connect(path)?;
    require_same_user(&stream)?;
    stream.set_write_timeout(Some(LINE_TIME))?;
    // The run gives up first, so that its words arrive.
    stream.set_read_timeout(Some(request.time_limit() + LINE_TIME))?;
    write_line(&stream, request)?;
    read_line(&stream, LINE_MAX)
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

fn read_line<T: for<'de> Deserialize<'de>>(stream: &UnixStream, most: u64) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(stream.take(most)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn echo_server() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        serve(&path, |(request, reply)| {
            let text = format!("{request:?}");
            reply.send(Reply::Refused(text)).is_ok()
        })
        .unwrap();
        (folder, path)
    }

    #[test]
    fn a_request_is_answered_on_a_socket_that_only_its_user_may_open() {
        let (_folder, path) = echo_server();
        let Reply::Refused(text) = ask(&path, &Request::Status).unwrap() else { panic!() };
        assert_eq!(text, "Status");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_line_that_is_no_request_only_loses_its_own_connection() {
        let (_folder, path) = echo_server();
        for nonsense in ["{}\n", "\n", "{\"migrate\":", &"x".repeat(10_000)] {
            let mut stream = UnixStream::connect(&path).unwrap();
            // The other end may hang up before it has read everything.
            let _ = stream.write_all(nonsense.as_bytes());
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.is_empty());
        }
        assert!(ask(&path, &Request::Status).is_ok());
    }

    #[test]
    fn a_user_other_than_the_one_who_runs_is_not_answered() {
        if !geteuid().is_root() {
            return; // only root can become somebody else to try it
        }
        let (folder, path) = echo_server();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                      s.sendall(b'\"status\"\\n')\nsys.stdout.buffer.write(s.recv(100))";
        let output = Command::new("/usr/bin/setpriv")
            .args(["--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script])
            .arg(&path)
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(output.stdout.is_empty(), "{output:?}");
        assert!(ask(&path, &Request::Status).is_ok());
    }
}
