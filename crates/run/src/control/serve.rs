// SPDX-License-Identifier: Apache-2.0
//! The end that is asked: a thread for each connection, which only reads, passes on and writes.

use std::convert::Infallible;
use std::fs;
use std::io::{self, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use super::{LINE_TIME, Reply, Request, read_line, require_same_user, write_line};

/// The longest request.
const REQUEST_MAX: u64 = 4096;

/// How long nothing is accepted after an error. As a connection waits meanwhile, the next attempt
/// would come to the same at once.
const BACK_OFF: Duration = Duration::from_millis(50);

/// A request with the way back to who asked.
#[derive(Debug)]
pub struct Ask {
    /// What is asked.
    pub request: Request,
    /// Where replies go. Whoever takes the request must use `try_send`: a full one belongs to a
    /// peer that does not read.
    pub reply: SyncSender<Reply>,
    /// Closed as soon as nobody writes to the peer any more.
    pub gone: Receiver<Infallible>,
}

/// Listens on a new socket; requests go to `take` until it returns false.
///
/// # Errors
/// The socket cannot be made, for instance because its path is longer than 107 bytes.
pub fn serve(path: &Path, take: impl Fn(Ask) -> bool + Clone + Send + 'static) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    thread::Builder::new().spawn(move || {
        for stream in listener.incoming() {
            // A connection that was given up, or too many open files in this process or all of
            // them: the next may be accepted, once some are closed.
            let Ok(stream) = stream else {
                thread::sleep(BACK_OFF);
                continue;
            };
            let take = take.clone();
            // A peer that fails, is none of ours, or that no thread can be had for only loses its
            // own connection.
            let _ = thread::Builder::new().spawn(move || answer(&stream, take));
        }
    })?;
    Ok(())
}

fn answer(stream: &UnixStream, take: impl Fn(Ask) -> bool) -> io::Result<()> {
    require_same_user(stream)?;
    stream.set_read_timeout(Some(LINE_TIME))?;
    stream.set_write_timeout(Some(LINE_TIME))?;

    let request: Request = read_line(&mut BufReader::new(stream), REQUEST_MAX)?;
    let (reply, replies) = mpsc::sync_channel(request.backlog());
    // Dropped at the end of this function, and that is what `gone` says.
    let (_here, gone): (Sender<Infallible>, _) = mpsc::channel();
    if !take(Ask { request: request.clone(), reply, gone }) {
        return write_line(stream, &Reply::Refused("the run has ended".into()));
    }
    match request {
        Request::Watch { .. } => pass_on(stream, &replies),
        _ => write_line(stream, &one(&replies, &request, request.time_limit())),
    }
}

fn one(replies: &Receiver<Reply>, request: &Request, limit: Duration) -> Reply {
    replies.recv_timeout(limit).unwrap_or_else(|error| {
        let why = match error {
            RecvTimeoutError::Timeout => request.silence(),
            RecvTimeoutError::Disconnected => "the run has ended",
        };
        Reply::Refused(why.into())
    })
}

/// Until the run is over or has given this peer up, or the peer has gone or does not read.
fn pass_on(stream: &UnixStream, replies: &Receiver<Reply>) -> io::Result<()> {
    replies.iter().try_for_each(|reply| write_line(stream, &reply))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use rustix::process::geteuid;

    use super::super::{ask, watch};
    use super::*;

    fn echo_server() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir_in("/tmp").unwrap(); // its path must be short
        let path = folder.path().join("control.sock");
        serve(&path, |Ask { request, reply, .. }| {
            let text = format!("{request:?}");
            reply.try_send(Reply::Refused(text)).is_ok()
        })
        .unwrap();
        (folder, path)
    }

    /// A server that hands over what it is asked.
    fn server() -> (tempfile::TempDir, std::path::PathBuf, Receiver<Ask>) {
        let folder = tempfile::tempdir_in("/tmp").unwrap(); // its path must be short
        let path = folder.path().join("control.sock");
        let (sender, asked) = mpsc::channel();
        serve(&path, move |ask| sender.send(ask).is_ok()).unwrap();
        (folder, path, asked)
    }

    #[test]
    fn who_watches_gets_every_reply_in_order_until_the_run_lets_go() {
        let (_folder, path, asked) = server();
        let mut watch = watch(&path, Duration::from_millis(700)).unwrap();
        let ask = asked.recv().unwrap();
        assert!(matches!(ask.request, Request::Watch { interval_ms: 700 }));
        for number in 0..100 {
            ask.reply.try_send(Reply::Refused(number.to_string())).unwrap();
        }
        drop(ask.reply);
        for number in 0..100 {
            let Reply::Refused(text) = watch.next(true).unwrap() else { panic!() };
            assert_eq!(text, number.to_string());
        }
        assert_eq!(watch.next(true).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(ask.gone.recv().map_err(|_| ()), Err(()));
    }

    #[test]
    fn who_watches_and_does_not_read_fills_its_queue_and_holds_up_nobody() {
        let (_folder, path, asked) = server();
        let watch = watch(&path, Duration::from_secs(1)).unwrap();
        let ask = asked.recv().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        // Two kilobytes fill the socket and then the queue long before the end.
        let long = Reply::Refused("x".repeat(2048));
        while ask.reply.try_send(long.clone()).is_ok() {
            assert!(Instant::now() < end);
        }
        drop(ask.reply);
        assert_eq!(ask.gone.recv().map_err(|_| ()), Err(()), "the thread has given the peer up");
        drop(watch);
    }

    #[test]
    fn a_policy_that_the_helper_does_not_answer_for_is_refused_in_words() {
        let (_sender, replies) = mpsc::sync_channel(1);
        let request = Request::Rate { millihz: 50_000 };
        let Reply::Refused(why) = one(&replies, &request, Duration::ZERO) else { panic!() };
        assert!(why.contains("of a version that cannot do that"), "{why}");
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
