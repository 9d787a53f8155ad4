// SPDX-License-Identifier: Apache-2.0
//! What an emulator says of itself on standard error: lines that begin with its name. All others
//! are the application's, and are passed on.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::failure::say;

/// How many lines are kept.
const KEPT: usize = 8;
/// How long the last of them may take to arrive.
const LAST: Duration = Duration::from_millis(500);

/// The complaints of a process.
#[derive(Debug)]
pub struct Complaints {
    lines: Arc<Mutex<VecDeque<String>>>,
    reader: JoinHandle<()>,
}

impl Complaints {
    /// Reads them from a process of this name until it ends.
    pub fn of(name: &str, from: impl Read + Send + 'static) -> Self {
        let lines = Arc::default();
        let (kept, own) = (Arc::clone(&lines), format!("{name}: "));
        let reader = thread::spawn(move || read(from, &own, &kept));
        Self { lines, reader }
    }

    /// All of it, once the process has ended.
    pub fn text(&self) -> String {
        let end = Instant::now() + LAST;
        while !self.reader.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        Vec::from(lines.clone()).join("; ")
    }
}

fn read(from: impl Read, own: &str, kept: &Mutex<VecDeque<String>>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        if !matches!(from.read_until(b'\n', &mut line), Ok(n) if n > 0) {
            return;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if let Some(complaint) = line.strip_prefix(own) {
            let mut lines = kept.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push_back(complaint.to_owned());
            if lines.len() > KEPT {
                lines.pop_front();
            }
        } else {
            say(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_emulator_says_of_itself_is_kept() {
        let said = "qemu: no such board\n200 messages\nqemu: bad \u{fffd}\n";
        let complaints = Complaints::of("qemu", said.as_bytes());
        assert_eq!(complaints.text(), "no such board; bad \u{fffd}");
        let many = "qemu: again\n".repeat(100);
        let complaints = Complaints::of("qemu", std::io::Cursor::new(many));
        assert_eq!(complaints.text().matches("again").count(), KEPT);
    }
}
