// SPDX-License-Identifier: Apache-2.0
//! The lock of the machine's journal: one process at a time changes anything.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::Error;
use crate::folder::{Distrust, Folder};

/// How long a command waits for another that changes the machine: much longer than a change takes,
/// as the other may get a processor rarely.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(1);
/// The file that is locked. It stays, unlike the journal. Who may open a file may lock it, so it
/// and its folder are this user's alone: another could hold the lock for ever, and nothing would be
/// undone.
const LOCK: &str = "lock";

/// The folder of the journal, which is locked while this is there.
#[derive(Debug)]
pub(crate) struct Locked {
    pub folder: Folder,
    _lock: File,
}

impl Locked {
    /// Waits for at most this time until nobody else has the journal.
    pub fn within(path: &Path, patience: Duration) -> Result<Self, Error> {
        let at = |error: io::Error| Error::File { path: path.to_owned(), error };
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let mut builder = DirBuilder::new();
        let made = above.map_or(Ok(()), |above| builder.recursive(true).mode(0o755).create(above));
        made.map_err(at)?;
        let folder = Folder::open(path).map_err(|distrust| refused(path, distrust))?;
        let lock = folder.append(LOCK).map_err(at)?;
        let end = Instant::now() + patience;
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { folder, _lock: lock }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    thread::sleep(PAUSE);
                }
                Err(Errno::WOULDBLOCK) => {
                    return Err(Error::Locked { lock: path.join(LOCK), waited: patience });
                }
                Err(error) => return Err(at(error.into())),
            }
        }
    }
}

fn refused(path: &Path, distrust: Distrust) -> Error {
    let help = match &distrust {
        Distrust::Io(_) => None,
        Distrust::Owner(0) if !geteuid().is_root() => Some(
            "run as root, which uses this folder, or set WHIMBREL_OCCUPY_STATE to your own folder"
                .to_owned(),
        ),
        Distrust::Open(_) => Some(format!("close it by `chmod 700 {}`", path.display())),
        _ => Some("set WHIMBREL_OCCUPY_STATE to a folder that only this user can use".to_owned()),
    };
    match distrust {
        Distrust::Io(error) => Error::File { path: path.to_owned(), error },
        other => {
            let path = path.display();
            let message = format!("{path}: the journal's folder is not trusted: {other}");
            Error::Told { message, help }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn no_other_user_can_take_the_lock() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root becomes another user");
            return;
        }
        let around = crate::tests::fake::folder();
        let path = around.path().join("state");
        drop(Locked::within(&path, PATIENCE).unwrap());
        let open = Permissions::from_mode(0o755);
        std::fs::set_permissions(around.path(), open.clone()).unwrap();
        let take = |what: &Path| {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg("flock").arg("--nonblock").arg(what).arg("true").output().unwrap()
        };
        let shown = |what: &Path| {
            let taken = take(what);
            (taken.status.success(), String::from_utf8(taken.stderr).unwrap())
        };
        // What this shows of a folder as it was: that the tools are there and do it.
        std::fs::set_permissions(&path, open).unwrap();
        assert_eq!(shown(&path), (true, String::new()));
        drop(Locked::within(&path, PATIENCE).unwrap());
        for what in [path.clone(), path.join(LOCK)] {
            let (taken, why) = shown(&what);
            assert!(!taken && why.contains("Permission denied"), "{}: {why}", what.display());
        }
    }

    #[test]
    fn a_lock_that_another_keeps_says_who_to_look_for() {
        let around = crate::tests::fake::folder();
        let path = around.path().join("state");
        let _held = Locked::within(&path, PATIENCE).unwrap();
        let why = Locked::within(&path, Duration::from_millis(20)).unwrap_err();
        let cure = format!("find it by `fuser {}`", path.join(LOCK).display());
        assert_eq!(why.to_string(), "another process has been changing the machine for 20ms");
        assert!(why.help().is_some_and(|help| help.ends_with(&cure)), "{why:?}");
    }

    #[test]
    fn a_folder_that_is_not_trusted_says_what_to_do() {
        let around = crate::tests::fake::folder();
        let path = around.path().join("state");
        let refused = || whimbrel_text::Failed::from(&Locked::within(&path, PATIENCE).unwrap_err());
        drop(Locked::within(&path, PATIENCE).unwrap());
        std::fs::set_permissions(&path, Permissions::from_mode(0o720)).unwrap();
        let cure = format!("close it by `chmod 700 {}`", path.display());
        assert_eq!(refused().help, Some(cure));
        if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            assert!(refused().message.ends_with("it belongs to user 65534"), "{}", refused());
            assert!(refused().help.unwrap().starts_with("set WHIMBREL_OCCUPY_STATE"));
        }
    }
}
