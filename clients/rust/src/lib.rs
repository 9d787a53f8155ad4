// SPDX-License-Identifier: Apache-2.0
//! A process that is no kernel sends to and receives from channels of a run.
//!
//! ```no_run
//! use std::time::Duration;
//! use whimbrel_client::{Client, Error};
//!
//! fn main() -> Result<(), Error> {
//!     let mut scope = Client::open("fm_radio-1", "scope", "in", 0, Some(Duration::from_secs(1)))?;
//!     let mut frame = vec![0; scope.bytes()];
//!     while scope.receive(&mut frame, None).is_ok() {}
//!     Ok(())
//! }
//! ```
//!
//! A client has the ports of a task that app.toml declares with `client = true`: see
//! `docs/clients.md`. It shares no memory with the run, so nothing that it does harms it.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod packet;

use std::env;
use std::fs;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Timeout, set_socket_send_buffer_size, set_socket_timeout, socket_peercred,
};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown,
    SocketAddrUnix, SocketFlags, SocketType, connect, recv, recvmsg, send, sendmsg, shutdown,
    socket_with,
};

use rustix::process::geteuid;

use packet::{Head, Kind, Welcome, hello};

/// Between two attempts to attach.
const AGAIN: Duration = Duration::from_millis(10);
/// For which an attempt to attach waits for its answer.
const ANSWER: Duration = Duration::from_secs(1);

/// Why there is no client, or no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There was no message, or no room for one, in the time allowed.
    #[error("the time allowed has passed")]
    Timeout,
    /// The run or the other end has ended, the port is closed, or there is no such run or client.
    #[error("the run or the other end has ended")]
    Gone,
    /// Another client has the port.
    #[error("another client has the port")]
    Busy,
    /// The task has no such port; a name is too long; or the port is of the other direction.
    #[error("the task has no such port, or it is of the other direction")]
    Invalid,
    /// A message is larger than a socket of this machine takes.
    #[error("a message is larger than a socket of this machine takes")]
    TooLarge,
    /// The folder or the run is another user's.
    #[error("the folder of the run, or the run, belongs to another user")]
    Denied,
    /// Another run has come to have the name, and there the port is of another size or direction.
    #[error("another run has the name now, and its port has another size or direction")]
    Changed,
}

/// One port of a client. It detaches when dropped; the port stays open for the next one.
#[derive(Debug)]
pub struct Client {
    address: SocketAddrUnix,
    path: PathBuf,
    hello: Vec<u8>,
    socket: Option<OwnedFd>,
    welcome: Option<Welcome>,
    /// Of the last message of that run's.
    number: Option<u32>,
    over: bool,
}

/// The end of a wait; `None`: there is none.
type Until = Option<Instant>;

fn until(timeout: Option<Duration>) -> Until {
    timeout.map(|timeout| Instant::now() + timeout)
}

fn is_late(until: Until) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

/// The folder of a run, by its name or its path.
fn folder(run: &str) -> PathBuf {
    if run.contains('/') {
        return run.into();
    }
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let base = runtime.filter(|path| path.is_absolute()).map_or_else(
        || format!("/tmp/whimbrel-{}", geteuid().as_raw()).into(),
        |path| path.join("whimbrel"),
    );
    base.join(run)
}

impl Client {
    /// Attaches to element `index` of `port` of the task `task`, which may be `NAME.INDEX`. `run`
    /// is its name, as `whimbrel ps` prints it, or its folder. Waits for at most `timeout` until
    /// the run is there and the port is free; `None`: for ever.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::Busy`], [`Error::Invalid`], [`Error::TooLarge`] or
    /// [`Error::Denied`].
    pub fn open(
        run: &str,
        task: &str,
        port: &str,
        index: u32,
        timeout: Option<Duration>,
    ) -> Result<Self, Error> {
        let path = folder(run).join(format!("{task}.client"));
        let mut client = Self {
            address: SocketAddrUnix::new(&path).map_err(|_| Error::Invalid)?,
            path,
            hello: hello(port, index).ok_or(Error::Invalid)?,
            socket: None,
            welcome: None,
            number: None,
            over: false,
        };
        let until = until(timeout);
        loop {
            match client.attach() {
                Err(Error::Gone | Error::Busy) if !is_late(until) => thread::sleep(AGAIN),
                done => return done.map(|()| client),
            }
        }
    }

    /// The size of a message. It never changes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.welcome.map_or(0, |welcome| welcome.slot_bytes)
    }

    fn is_receiver(&self) -> bool {
        self.welcome.is_some_and(|welcome| welcome.is_receiver)
    }

    /// For poll, epoll and their like; `None` while the client is not attached. Another one after
    /// it had to attach again.
    #[must_use]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    /// Sends one message of [`Client::bytes`].
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::Gone`], or [`Error::Invalid`] for another size or direction.
    /// [`Error::Changed`] or [`Error::Denied`] if another run has come to have the name.
    pub fn send(&mut self, message: &[u8], timeout: Option<Duration>) -> Result<(), Error> {
        if message.len() != self.bytes() || self.is_receiver() {
            return Err(Error::Invalid);
        }
        self.send_packet(Kind::Message, message, until(timeout))
    }

    /// Closes the port for good: its receiver sees the end of the stream.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn end(mut self, timeout: Option<Duration>) -> Result<(), Error> {
        if self.is_receiver() {
            return Err(Error::Invalid);
        }
        self.send_packet(Kind::End, &[], until(timeout))
    }

    /// Receives one message of [`Client::bytes`].
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn receive(&mut self, message: &mut [u8], timeout: Option<Duration>) -> Result<(), Error> {
        if message.len() != self.bytes() || !self.is_receiver() {
            return Err(Error::Invalid);
        }
        let until = until(timeout);
        while !self.over {
            match self.receive_now(message) {
                // One that comes again, from another kernel, has the number that it had.
                Ok(Some(Head { kind: Kind::Message, number })) => {
                    if self.number.replace(number) != Some(number) {
                        return Ok(());
                    }
                }
                Ok(Some(_)) => self.over = true,
                Err(Errno::AGAIN | Errno::INTR) => self.wait(PollFlags::IN, until)?,
                Ok(None) | Err(_) => self.attach_again(until)?,
            }
        }
        Err(Error::Gone)
    }

    fn attach(&mut self) -> Result<(), Error> {
        let (unix, packets) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        self.check_folder()?;
        let socket =
            socket_with(unix, packets, SocketFlags::CLOEXEC, None).map_err(|_| Error::Gone)?;
        connect(&socket, &self.address).map_err(|_| Error::Gone)?;
        // Who listens: a folder may change hands after check_folder().
        if socket_peercred(&socket).map_err(|_| Error::Gone)?.uid != geteuid() {
            return Err(Error::Denied);
        }
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER)).map_err(|_| Error::Gone)?;
        send(&socket, &self.hello, SendFlags::NOSIGNAL).map_err(|_| Error::Gone)?;
        let mut answer = [0; Welcome::BYTES];
        let (_, bytes) =
            recv(&socket, &mut answer[..], RecvFlags::empty()).map_err(|_| Error::Gone)?;
        let answer = &answer[..bytes.min(Welcome::BYTES)];
        // A port that had a client is closed: the end of the stream did not arrive, for want of
        // room in the socket or because a kernel died.
        self.over |= self.welcome.is_some() && Welcome::is_closed(answer);
        self.take_welcome(Welcome::read(answer)?)?;
        if !self.is_receiver() {
            // Few messages: those in a socket are lost if the kernel of the client's task is
            // killed. What cannot be set stays as it is.
            let _ = set_socket_send_buffer_size(&socket, 2 * (Head::BYTES + self.bytes()));
        }
        self.socket = Some(socket);
        Ok(())
    }

    /// Anybody can make a folder in /tmp that is called like this user's.
    fn check_folder(&self) -> Result<(), Error> {
        let folder = self.path.parent().ok_or(Error::Gone)?;
        let owner = fs::metadata(folder).map_err(|_| Error::Gone)?.uid();
        if owner == geteuid().as_raw() { Ok(()) } else { Err(Error::Denied) }
    }

    fn take_welcome(&mut self, welcome: Welcome) -> Result<(), Error> {
        if let Some(before) = self.welcome {
            if (welcome.slot_bytes, welcome.is_receiver) != (before.slot_bytes, before.is_receiver)
            {
                return Err(Error::Changed);
            }
            if welcome.run != before.run {
                self.number = None;
            }
        }
        self.welcome = Some(welcome);
        Ok(())
    }

    /// The task's kernel has died, and another has the task by now; or the port or the run is
    /// over. The old socket stays until there is a new one: it is ready for whoever polls it.
    fn attach_again(&mut self, until: Until) -> Result<(), Error> {
        if let Some(socket) = &self.socket {
            let _ = shutdown(socket, Shutdown::Both);
        }
        loop {
            match self.attach() {
                Err(Error::Gone) if self.over || !self.path.exists() => {
                    self.over = true;
                    return Ok(());
                }
                Err(Error::Gone | Error::Busy) => thread::sleep(AGAIN),
                done => return done,
            }
            if is_late(until) {
                return Err(Error::Timeout);
            }
        }
    }

    /// The head of the next packet, with its message; `None`: the connection is over.
    fn receive_now(&self, message: &mut [u8]) -> Result<Option<Head>, Errno> {
        let Some(socket) = &self.socket else { return Ok(None) };
        let whole = Head::BYTES + message.len();
        let mut head = [0; Head::BYTES];
        let mut parts = [IoSliceMut::new(&mut head), IoSliceMut::new(message)];
        let mut nothing = RecvAncillaryBuffer::default();
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        let got = recvmsg(socket, &mut parts, &mut nothing, flags)?;
        let read = Head::read(head);
        Ok(match (got.bytes, read.kind) {
            (0, _) => None,
            (bytes, Kind::Message) if bytes != whole => Some(Head { kind: Kind::Refused, ..read }),
            _ => Some(read),
        })
    }

    fn send_packet(&mut self, kind: Kind, message: &[u8], until: Until) -> Result<(), Error> {
        while !self.over {
            match self.send_now(kind, message) {
                Ok(true) => return Ok(()),
                Err(Errno::AGAIN | Errno::INTR) => self.wait(PollFlags::OUT, until)?,
                // The end of the stream comes as a packet of the run's.
                _ if matches!(self.receive_now(&mut []), Ok(Some(_))) => self.over = true,
                _ => self.attach_again(until)?,
            }
        }
        Err(Error::Gone)
    }

    fn send_now(&self, kind: Kind, message: &[u8]) -> Result<bool, Errno> {
        let Some(socket) = &self.socket else { return Ok(false) };
        let head = Head::bytes(kind);
        let parts = [IoSlice::new(&head), IoSlice::new(message)];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(socket, &parts, &mut SendAncillaryBuffer::default(), flags).map(|_| true)
    }

    fn wait(&self, what: PollFlags, until: Until) -> Result<(), Error> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Error::Timeout);
        }
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(socket, what)], left.as_ref()) {
            Ok(0) => Err(Error::Timeout),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_client_of_a_run_that_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().to_str().unwrap();
        let open = |port| Client::open(run, "feed", port, 0, Some(Duration::ZERO)).err();
        assert_eq!(open("out"), Some(Error::Gone));
        assert_eq!(open(&"o".repeat(32)), Some(Error::Invalid));
        let deep = "/".to_owned() + &"d".repeat(200);
        assert_eq!(Client::open(&deep, "feed", "out", 0, None).err(), Some(Error::Invalid));
    }
}
