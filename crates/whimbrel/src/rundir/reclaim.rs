// SPDX-License-Identifier: Apache-2.0
//! Takes back what runs left behind whose command was killed.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use whimbrel_occupy::place::descriptor;

use super::{Base, Found, frequencies};
use crate::process::Process;

/// How long a helper may take to notice by itself that its command has gone.
const GRACE: Duration = Duration::from_millis(500);

/// A run that was reclaimed.
#[derive(Debug, Serialize)]
pub struct Reclaimed {
    /// Its name.
    pub run: String,
    /// The processes of it that had to be ended.
    pub ended: Vec<u32>,
}

/// Removes the directories of dead runs, ends what still lives of their helpers and kernels, and
/// puts back the frequencies they had set.
///
/// # Errors
/// A directory cannot be read or removed, a process does not end, or a frequency cannot be put
/// back.
pub fn reclaim(base: &Base) -> io::Result<Vec<Reclaimed>> {
    let mut reclaimed = Vec::new();
    for found in base.every()? {
        let Ok(folder) = base.folder().folder(&found.name) else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue; // it lives
        }
        let ended = end_processes(&found)?;
        frequencies::restore(&folder)?;
        fs::remove_dir_all(descriptor(base.folder()).join(&found.name))?;
        reclaimed.push(Reclaimed { run: found.name, ended });
    }
    Ok(reclaimed)
}

/// Ends the helper before the kernels, so that it does not take their end for a failure.
fn end_processes(found: &Found) -> io::Result<Vec<u32>> {
    let Some(record) = &found.record else { return Ok(Vec::new()) };
    if let Some(helper) = &record.helper {
        helper.wait(GRACE);
    }
    let all = record.helper.iter().chain(&record.kernels);
    let killed = all.map(|process: &Process| Ok(process.kill()?.then_some(process.pid)));
    Ok(killed.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
}
