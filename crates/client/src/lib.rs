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
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, recvmsg, send, sendmsg, socket_with,
};

use packet::{KIND_BYTES, Kind, Welcome, hello};

/// Between two attempts to attach.
const AGAIN: Duration = Duration::from_millis(10);

/// Why there is no client, or no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There was no message, or no room for one, in the time allowed.
    #[error("the time allowed has passed")]
    Timeout,
    /// The run or the other end is over, the port is closed, or there is no such run or client.
    #[error("the run or the other end is over")]
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
}

/// One port of a client. It detaches when dropped; the port stays open for the next one.
#[derive(Debug)]
pub struct Client {
    address: SocketAddrUnix,
    path: PathBuf,
    hello: Vec<u8>,
    socket: Option<OwnedFd>,
    welcome: Welcome,
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
        || format!("/tmp/whimbrel-{}", rustix::process::geteuid().as_raw()).into(),
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
    /// [`Error::Gone`], [`Error::Busy`], [`Error::Invalid`] or [`Error::TooLarge`].
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
            welcome: Welcome::default(),
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

    /// The size of a message.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.welcome.slot_bytes
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
    pub fn send(&mut self, message: &[u8], timeout: Option<Duration>) -> Result<(), Error> {
        if message.len() != self.bytes() || self.welcome.is_receiver {
            return Err(Error::Invalid);
        }
        self.send_packet(Kind::Message, message, until(timeout))
    }

    /// Closes the port for good: its receiver sees the end of the stream.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn end(mut self, timeout: Option<Duration>) -> Result<(), Error> {
        if self.welcome.is_receiver {
            return Err(Error::Invalid);
        }
        self.send_packet(Kind::End, &[], until(timeout))
    }

    /// Receives one message of [`Client::bytes`].
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::Gone`], or [`Error::Invalid`] for another size or direction.
    pub fn receive(&mut self, message: &mut [u8], timeout: Option<Duration>) -> Result<(), Error> {
        if message.len() != self.bytes() || !self.welcome.is_receiver {
            return Err(Error::Invalid);
        }
        let until = until(timeout);
        while !self.over {
            match self.receive_now(message) {
                Ok(Some(Kind::Message)) => return Ok(()),
                Ok(Some(_)) => self.over = true,
                Err(Errno::AGAIN | Errno::INTR) => self.wait(PollFlags::IN, until)?,
                Ok(None) | Err(_) => self.attach_again(until),
            }
        }
        Err(Error::Gone)
    }

    fn attach(&mut self) -> Result<(), Error> {
        let (unix, packets) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let socket =
            socket_with(unix, packets, SocketFlags::CLOEXEC, None).map_err(|_| Error::Gone)?;
        connect(&socket, &self.address).map_err(|_| Error::Gone)?;
        send(&socket, &self.hello, SendFlags::NOSIGNAL).map_err(|_| Error::Gone)?;
        let mut answer = [0; Welcome::BYTES];
        let (_, bytes) =
            recv(&socket, &mut answer[..], RecvFlags::empty()).map_err(|_| Error::Gone)?;
        self.welcome = Welcome::read(&answer[..bytes.min(Welcome::BYTES)])?;
        self.socket = Some(socket);
        Ok(())
    }

    /// The task's kernel has died, and another has the task by now; or the run is over.
    fn attach_again(&mut self, until: Until) {
        self.socket = None;
        while let Err(error) = self.attach() {
            if is_late(until) || (error != Error::Busy && !self.path.exists()) {
                self.over = true;
                return;
            }
            thread::sleep(AGAIN);
        }
    }

    /// The kind of the next packet, with its message; `None`: the connection is over.
    fn receive_now(&self, message: &mut [u8]) -> Result<Option<Kind>, Errno> {
        let Some(socket) = &self.socket else { return Ok(None) };
        let mut kind = [0; KIND_BYTES];
        let mut parts = [IoSliceMut::new(&mut kind), IoSliceMut::new(message)];
        let mut nothing = RecvAncillaryBuffer::default();
        let got = recvmsg(socket, &mut parts, &mut nothing, RecvFlags::DONTWAIT)?;
        Ok((got.bytes >= KIND_BYTES).then(|| Kind::read(kind)))
    }

    fn send_packet(&mut self, kind: Kind, message: &[u8], until: Until) -> Result<(), Error> {
        while !self.over {
            match self.send_now(kind, message) {
                Ok(true) => return Ok(()),
                Err(Errno::AGAIN | Errno::INTR) => self.wait(PollFlags::OUT, until)?,
                // The end of the stream comes as a packet of the run's.
                _ if matches!(self.receive_now(&mut []), Ok(Some(Kind::End | Kind::Refused))) => {
                    self.over = true;
                }
                _ => self.attach_again(until),
            }
        }
        Err(Error::Gone)
    }

    fn send_now(&self, kind: Kind, message: &[u8]) -> Result<bool, Errno> {
        let Some(socket) = &self.socket else { return Ok(false) };
        let kind = kind.bytes();
        let parts = [IoSlice::new(&kind), IoSlice::new(message)];
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
