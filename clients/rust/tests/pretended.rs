// SPDX-License-Identifier: Apache-2.0
//! A client of a run that behaves as it is told.

use std::fs;
use std::io::Read;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept, bind,
    listen, recv, send, socket_with,
};
use rustix::process::geteuid;
use whimbrel_client::{Client, Error};

const BYTES: u32 = 8;
const PATIENCE: Option<Duration> = Some(Duration::from_secs(300));

/// For each connection: what welcomes the client, and the packets that follow.
type Connection = (Vec<u8>, Vec<Vec<u8>>);

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn welcome(run: u32, bytes: u32, receives: u32) -> Vec<u8> {
    words(&[0, bytes, receives, run])
}

fn message(number: u32, text: u64) -> Vec<u8> {
    [words(&[0, number]), text.to_ne_bytes().to_vec()].concat()
}

fn end() -> Vec<u8> {
    words(&[1, 0])
}

struct Pretended {
    folder: tempfile::TempDir,
    thread: JoinHandle<()>,
}

fn serve(listener: &OwnedFd, connections: Vec<Connection>) {
    for (welcome, packets) in connections {
        let Ok(one) = accept(listener) else { return };
        // A client that refuses the run says no hello.
        if matches!(recv(&one, &mut [0; 64][..], RecvFlags::empty()), Ok((_, 1..))) {
            for packet in [vec![welcome], packets].concat() {
                // The client may have left.
                let _ = send(&one, &packet, SendFlags::NOSIGNAL);
            }
        }
    }
}

impl Pretended {
    /// The run of a client `scope`; it is over when all connections are.
    fn new(connections: Vec<Connection>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scope.client");
        let (unix, packets) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let listener = socket_with(unix, packets, SocketFlags::CLOEXEC, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        let thread = thread::spawn(move || {
            // Credentials are those of the thread that listens.
            listen(&listener, 8).unwrap();
            serve(&listener, connections);
            drop(listener);
            fs::remove_file(path).unwrap();
        });
        Self { folder, thread }
    }

    fn open(&self) -> Result<Client, Error> {
        Client::open(self.folder.path().to_str().unwrap(), "scope", "in", 0, PATIENCE)
    }

    /// What comes, and why no more does.
    fn read(&self) -> (Vec<u64>, Error) {
        let mut client = self.open().unwrap();
        let (mut got, mut one) = (Vec::new(), [0; BYTES as usize]);
        loop {
            match client.receive(&mut one, PATIENCE) {
                Ok(()) => got.push(u64::from_ne_bytes(one)),
                Err(error) => return (got, error),
            }
        }
    }
}

#[test]
fn a_message_that_comes_again_has_the_number_that_it_had() {
    let run = Pretended::new(vec![
        (welcome(7, BYTES, 1), vec![message(0, 0), message(1, 1)]),
        (welcome(7, BYTES, 1), vec![message(1, 1), message(2, 2)]),
        (welcome(7, BYTES, 1), vec![message(2, 2), message(3, 3), end()]),
    ]);
    assert_eq!(run.read(), (vec![0, 1, 2, 3], Error::Gone));
    run.thread.join().unwrap();
}

fn refused(status: i32) -> Connection {
    ([status.to_ne_bytes().to_vec(), vec![0; 12]].concat(), vec![])
}

#[test]
fn who_has_to_attach_again_has_a_descriptor_that_is_ready() {
    let run = Pretended::new(vec![
        (welcome(7, BYTES, 1), vec![message(0, 0)]),
        refused(-6),
        (welcome(7, BYTES, 1), vec![message(1, 1), end()]),
    ]);
    let mut client = run.open().unwrap();
    let (mut got, mut one) = (Vec::new(), [0; BYTES as usize]);
    loop {
        match client.receive(&mut one, Some(Duration::ZERO)) {
            Ok(()) => got.push(u64::from_ne_bytes(one)),
            Err(Error::Timeout) => {
                let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
                let fd = client.fd().unwrap();
                let polled = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&patience));
                assert_eq!(polled, Ok(1));
            }
            Err(error) => break assert_eq!((got, error), (vec![0, 1], Error::Gone)),
        }
    }
    run.thread.join().unwrap();
}

#[test]
fn a_port_that_was_closed_without_a_word_is_over() {
    let run = Pretended::new(vec![
        (welcome(7, BYTES, 1), vec![message(0, 0)]),
        refused(-5),
        (welcome(7, BYTES, 1), vec![message(1, 1)]),
    ]);
    assert_eq!(run.read(), (vec![0], Error::Gone));
}

#[test]
fn another_run_of_the_name_counts_from_the_start() {
    let run = Pretended::new(vec![
        (welcome(7, BYTES, 1), vec![message(0, 10)]),
        (welcome(8, BYTES, 1), vec![message(0, 20), end()]),
    ]);
    assert_eq!(run.read(), (vec![10, 20], Error::Gone));
    run.thread.join().unwrap();
}

#[test]
fn another_size_or_direction_after_attaching_again_is_an_error() {
    for other in [welcome(8, 4096, 1), welcome(8, 4, 1), welcome(8, BYTES, 0)] {
        let first = (welcome(7, BYTES, 1), vec![message(0, 0)]);
        let run = Pretended::new(vec![first, (other, vec![])]);
        assert_eq!(run.read(), (vec![0], Error::Changed));
        run.thread.join().unwrap();
    }
}

#[test]
fn a_packet_of_another_size_is_no_message() {
    for bytes in [8, 15, 17] {
        let odd = [message(1, 1), vec![0; 8]].concat()[..bytes].to_vec();
        let run = Pretended::new(vec![(welcome(7, BYTES, 1), vec![message(0, 0), odd])]);
        assert_eq!(run.read(), (vec![0], Error::Gone));
        run.thread.join().unwrap();
    }
}

/// The folder is root's, and changes hands; or it stays, and somebody else listens there.
#[test]
fn a_run_or_a_folder_of_another_user_is_refused() {
    let nobody = 65_534;
    if !geteuid().is_root() {
        let open = |run| Client::open(run, "scope", "in", 0, Some(Duration::ZERO)).err();
        assert_eq!(open("/proc/1"), Some(Error::Denied));
        return;
    }
    let run = Pretended::new(vec![(welcome(7, BYTES, 1), vec![])]);
    let folder: PathBuf = run.folder.path().to_owned();
    chown(&folder, Some(nobody), None).unwrap();
    assert_eq!(run.open().err(), Some(Error::Denied));
    chown(&folder, Some(0), None).unwrap();
    assert!(run.open().is_ok());
    run.thread.join().unwrap();

    // A child of that user listens at a socket of ours.
    let path = folder.join("scope.client");
    let (unix, packets) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let listener = socket_with(unix, packets, SocketFlags::CLOEXEC, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    let listens = "import socket\n\
                   one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=0)\n\
                   one.listen()\nprint(flush=True)\none.accept()[0].recv(64)\n";
    let mut other = Command::new("python3")
        .args(["-c", listens])
        .uid(nobody)
        .stdin(listener)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    other.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let open = Client::open(folder.to_str().unwrap(), "scope", "in", 0, PATIENCE).err();
    assert_eq!(open, Some(Error::Denied));
    other.wait().unwrap();
}
