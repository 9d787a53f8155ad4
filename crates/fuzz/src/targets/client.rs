// SPDX-License-Identifier: Apache-2.0
//! A client of a run whose other end is not one: the welcome is what the input begins with, and
//! each packet after it is as long as the byte before it says, in words of four bytes.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, Once};
use std::thread;
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, accept, bind, listen, recv,
    send, socket,
};
use whimbrel_client::Client;

use crate::shared::FOLDER;

const WELCOME: usize = 16;
const PACKETS_MOST: usize = 16;
const SLOT_MOST: usize = 1 << 16;

/// For the next guest; `None`: it is turned away.
static INPUT: Mutex<Option<Vec<u8>>> = Mutex::new(None);

static SERVER: Once = Once::new();

fn serve() {
    let address = SocketAddrUnix::new(FOLDER.join("feed.client")).unwrap();
    let listener = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&listener, &address).unwrap();
    listen(&listener, 1).unwrap();
    thread::spawn(move || {
        loop {
            answer(&accept(&listener).unwrap());
        }
    });
}

fn answer(guest: &OwnedFd) {
    let mut hello = [0; 256];
    if recv(guest, &mut hello[..], RecvFlags::empty()).is_err() {
        return;
    }
    let Some(input) = INPUT.lock().unwrap().take() else { return };
    let (mut input, mut bytes) = (&input[..], WELCOME);
    for _ in 0..PACKETS_MOST {
        let (packet, rest) = input.split_at(bytes.min(input.len()));
        if send(guest, packet, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).is_err() {
            return;
        }
        let Some((next, rest)) = rest.split_first() else { return };
        (bytes, input) = (usize::from(*next) * 4, rest);
    }
}

pub fn read(data: &[u8]) {
    let now = Some(Duration::ZERO);
    SERVER.call_once(serve);
    let folder = FOLDER.to_str().unwrap();
    *INPUT.lock().unwrap() = Some(data.to_vec());
    let Ok(mut client) = Client::open(folder, "feed", "out", 0, now) else { return };
    let bytes = client.bytes();
    if bytes > SLOT_MOST {
        return;
    }
    let mut message = vec![0; bytes];
    for _ in 0..PACKETS_MOST {
        if client.receive(&mut message, now).is_err() {
            break;
        }
    }
    let _ = client.send(&message, now);
    let _ = client.end(now);
}
