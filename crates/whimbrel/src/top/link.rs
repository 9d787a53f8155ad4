// SPDX-License-Identifier: Apache-2.0
//! To and from the run. What may take a while has a thread of its own: the view never waits.

use std::io::{self, ErrorKind};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use whimbrel_run::control::{Reply, Request, Watch, ask};
use whimbrel_run::reason;
use whimbrel_run::rundir::{Base, FoundRun, SOCKET};

use super::Input;
use crate::steer::unreachable;

/// A command that was killed has let go of its directory after this time.
const SETTLE: Duration = Duration::from_millis(200);

/// Passes on what the run says, to its end.
pub fn listen(run: String, mut watch: Watch, to: Sender<Input>) {
    thread::spawn(move || {
        loop {
            let input = match watch.next(true) {
                Ok(reply) => Input::Reply(Box::new(reply)),
                Err(error) => Input::Lost(loss(&run, &error)),
            };
            let last = matches!(input, Input::Lost(_));
            if to.send(input).is_err() || last {
                return;
            }
        }
    });
}

/// Why the run was disconnected. After the final message of a run this is not called.
fn loss(run: &str, error: &io::Error) -> String {
    if error.kind() != ErrorKind::UnexpectedEof && error.kind() != ErrorKind::ConnectionReset {
        return format!("it sent an invalid line: {error}");
    }
    thread::sleep(SETTLE);
    let living = Base::open().ok().and_then(|base| base.living().ok()).unwrap_or_default();
    if living.iter().any(|found| found.name == run) {
        "it disconnected this view, which was too slow".into()
    } else {
        "its command was killed".into()
    }
}

/// Asks the run for something, and says how that went; `what` is it in words: `lpf to core 1`.
pub fn perform(run: &FoundRun, request: Request, what: String, to: Sender<Input>) {
    let run = run.clone();
    thread::spawn(move || {
        let (ok, text) = outcome(&run, &request, &what);
        // The view may have gone meanwhile.
        let _ = to.send(Input::Answer(ok, text));
    });
}

/// Asks the run for something; whether that went well, and how in words.
pub fn outcome(run: &FoundRun, request: &Request, what: &str) -> (bool, String) {
    match ask(&run.path.join(SOCKET), request) {
        Ok(reply) => words(what, reply),
        Err(error) => (false, unreachable(&run.name, &error).message),
    }
}

fn words(what: &str, reply: Reply) -> (bool, String) {
    match reply {
        Reply::Migrated(migrated) if migrated.status == "ok" => (true, format!("moved {what}")),
        Reply::Migrated(migrated) => {
            let (why, _) = reason(&migrated.status);
            (false, format!("not moved {what}: {why}"))
        }
        Reply::Set(set) if set.ok => (true, what.to_owned()),
        Reply::Set(set) => (false, format!("{what} was refused: {}", set.why)),
        Reply::Refused(why) => (false, format!("{what}: {why}")),
        _ => (false, "the run answers another question".into()),
    }
}
