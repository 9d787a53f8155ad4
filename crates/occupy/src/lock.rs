// SPDX-License-Identifier: Apache-2.0
//! The lock of the machine's journal: one process at a time changes anything.

use std::fs::{self, DirBuilder};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::{Error, Machine};

/// How long a command waits for another that changes the machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(1);

impl Machine {
    /// What the journal says is done with our rights: nobody else may have written it.
    fn check_owner(&self) -> Result<(), Error> {
        let at = |error: std::io::Error| Error::File { path: self.state.clone(), error };
        let folder = fs::metadata(&self.state).map_err(at)?;
        let user = geteuid().as_raw();
        if folder.mode() & 0o022 == 0 && [0, user].contains(&folder.uid()) {
            return Ok(());
        }
        Err(at(std::io::Error::other("others than this user and root may write it")))
    }

    /// The lock is on the folder: the journal itself comes and goes.
    pub(crate) fn flock(&self) -> Result<OwnedFd, Error> {
        let at = |error: std::io::Error| Error::File { path: self.state.clone(), error };
        DirBuilder::new().recursive(true).mode(0o755).create(&self.state).map_err(at)?;
        self.check_owner()?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&self.state, flags, Mode::empty());
        let folder = folder.map_err(|error| at(error.into()))?;
        let end = Instant::now() + PATIENCE;
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(folder),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    thread::sleep(PAUSE);
                }
                Err(error) => return Err(at(error.into())),
            }
        }
    }
}
