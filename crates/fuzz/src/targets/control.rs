// SPDX-License-Identifier: Apache-2.0
//! The socket by which another terminal asks a run. The input is what comes from the other end: a
//! request to the run if it begins with an even byte, else replies to a command that asks it.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use crate::control::{self, Ask, Reply, Request, RunDescription};
use crate::shared::FOLDER;

const REPLIES_MOST: usize = 64;

/// What the run that is none says; `None`: it hangs up.
static SAYS: Mutex<Option<Vec<u8>>> = Mutex::new(None);

struct Sockets {
    run: PathBuf,
    other: PathBuf,
}

static SOCKETS: LazyLock<Sockets> = LazyLock::new(|| {
    let (run, other) = (FOLDER.join("control.sock"), FOLDER.join("other.sock"));
    control::serve(&run, answer).unwrap();
    let listener = UnixListener::bind(&other).unwrap();
    thread::spawn(move || listener.incoming().for_each(|guest| say(guest.unwrap())));
    Sockets { run, other }
});

/// As a run does with what it is asked, without a helper: it says what it has read.
fn answer(Ask { request, reply, .. }: Ask) -> bool {
    let again = serde_json::to_vec(&request).unwrap();
    assert_eq!(serde_json::from_slice::<Request>(&again).unwrap(), request);
    if let Request::Watch { .. } = request {
        let _ = reply.try_send(Reply::Watching(Box::<RunDescription>::default()));
    }
    reply.try_send(Reply::Refused(format!("{request:?}"))).is_ok()
}

fn say(mut guest: UnixStream) {
    // The request, which is a line; then what the input is, whole or until the guest has gone.
    let _ = guest.read(&mut [0; 512]);
    if let Some(words) = SAYS.lock().unwrap().take() {
        let _ = guest.write_all(&words);
    }
}

pub fn read(data: &[u8]) {
    let Some((first, words)) = data.split_first() else { return };
    if first % 2 == 0 {
        ask(words);
    } else {
        *SAYS.lock().unwrap() = Some(words.to_vec());
        hear(first / 2 % 2 == 0);
    }
}

/// Whatever is asked, the answer is nothing or whole lines, each of them a reply.
fn ask(words: &[u8]) {
    let mut stream = UnixStream::connect(&SOCKETS.run).unwrap();
    // The run may hang up before it has read everything.
    let _ = stream.write_all(words);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    if stream.read_to_end(&mut answer).is_err() || answer.is_empty() {
        return;
    }
    let lines = answer.strip_suffix(b"\n").unwrap();
    for line in lines.split(|byte| *byte == b'\n') {
        serde_json::from_slice::<Reply>(line).unwrap();
    }
}

fn hear(watches: bool) {
    if watches {
        let Ok(mut watch) = control::watch(&SOCKETS.other, Duration::from_secs(1)) else { return };
        let mut said = 0;
        while said < REPLIES_MOST && watch.next(true).is_ok_and(|reply| again(&reply)) {
            said += 1;
        }
    } else if let Ok(reply) = control::ask(&SOCKETS.other, &Request::Status) {
        again(&reply);
    }
}

/// What was read can be written, and is read again.
fn again(reply: &Reply) -> bool {
    let text = serde_json::to_vec(reply).unwrap();
    serde_json::from_slice::<Reply>(&text).unwrap();
    true
}
