// SPDX-License-Identifier: Apache-2.0
//! The end that asks.

use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{LINE_TIME, Reply, Request, read_line, require_same_user, write_line};
use crate::protocol::LINE_MAX;

/// Asks a run.
///
/// # Errors
/// It has gone, does not answer, or belongs to somebody else.
pub fn ask(path: &Path, request: &Request) -> io::Result<Reply> {
    read_line(&mut connect(path, request)?, LINE_MAX)
}

/// Watches a run; totals come every `interval`.
///
/// # Errors
/// It has gone, does not answer, or belongs to somebody else.
pub fn watch(path: &Path, interval: Duration) -> io::Result<Watch> {
    let interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    Ok(Watch(connect(path, &Request::Watch { interval_ms })?))
}

/// What a run says while it is watched.
#[derive(Debug)]
pub struct Watch(BufReader<UnixStream>);

impl Watch {
    /// The next thing; waits for ever from now on if `patient`.
    ///
    /// # Errors
    /// The run has gone, or says what makes no sense.
    pub fn next(&mut self, patient: bool) -> io::Result<Reply> {
        if patient {
            self.0.get_ref().set_read_timeout(None)?;
        }
        read_line(&mut self.0, LINE_MAX)
    }
}

fn connect(path: &Path, request: &Request) -> io::Result<BufReader<UnixStream>> {
    let stream = UnixStream::connect(path)?;
    require_same_user(&stream)?;
    stream.set_write_timeout(Some(LINE_TIME))?;
    // The run gives up first, so that its words arrive.
    stream.set_read_timeout(Some(request.time_limit() + LINE_TIME))?;
    write_line(&stream, request)?;
    Ok(BufReader::new(stream))
}
