// SPDX-License-Identifier: Apache-2.0
//! Watches over a board, which may not be up yet, be reset, or stop to speak without closing its
//! line.

use std::time::{Duration, Instant};

/// How often a board is asked at most: to start, and whether it is still there. Of the time that it
/// may be silent a tenth: to answer costs a slow board much.
const ASK: Duration = Duration::from_secs(1);
const PARTS: u32 = 10;

/// How long an answer of a board may take that may be silent for so long.
pub fn patience(silence: Duration) -> Duration {
    ASK.max(silence / PARTS)
}

/// What is to be done now.
#[derive(Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// Ask once more.
    Ask,
    /// It has been silent for too long.
    Silent,
}

/// When a board was asked and heard.
#[derive(Debug)]
pub struct Watchdog {
    silence: Duration,
    heard: Instant,
    asked: Instant,
}

impl Watchdog {
    /// Begins with a board that was just asked, and may be silent for so long.
    pub fn new(silence: Duration, now: Instant) -> Self {
        Self { silence, heard: now, asked: now }
    }

    /// It has said something.
    pub fn hears(&mut self, now: Instant) {
        self.heard = now;
    }

    /// How long it may be silent.
    pub fn silence(&self) -> Duration {
        self.silence
    }

    /// When [`Watchdog::look`] is due.
    pub fn next(&self) -> Instant {
        self.ask().min(self.heard + self.silence)
    }

    /// Who has just spoken need not be asked.
    fn ask(&self) -> Instant {
        self.asked.max(self.heard) + patience(self.silence)
    }

    /// What is due.
    pub fn look(&mut self, now: Instant) -> Due {
        if now >= self.heard + self.silence {
            return Due::Silent;
        }
        if now < self.ask() {
            return Due::Nothing;
        }
        self.asked = now;
        Due::Ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_asked_each_second_until_it_has_been_silent_for_too_long() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut watchdog = Watchdog::new(Duration::from_millis(2500), start);
        assert_eq!(watchdog.next(), at(1000));
        assert_eq!(watchdog.look(at(999)), Due::Nothing);
        assert_eq!(watchdog.look(at(1000)), Due::Ask);
        assert_eq!(watchdog.look(at(2000)), Due::Ask);
        assert_eq!(watchdog.next(), at(2500));
        assert_eq!(watchdog.look(at(2500)), Due::Silent);
        watchdog.hears(at(2500));
        assert_eq!(watchdog.look(at(3499)), Due::Nothing);
        assert_eq!(watchdog.look(at(3500)), Due::Ask);
    }

    #[test]
    fn a_slow_board_that_may_be_silent_for_long_is_seldom_asked() {
        let start = Instant::now();
        let at = |s| start + Duration::from_secs(s);
        let mut watchdog = Watchdog::new(Duration::from_secs(60), start);
        assert_eq!(watchdog.next(), at(6));
        assert_eq!(watchdog.look(at(6)), Due::Ask);
        watchdog.hears(at(8));
        assert_eq!(watchdog.next(), at(14));
        assert_eq!(watchdog.look(at(13)), Due::Nothing);
        assert_eq!(watchdog.look(at(14)), Due::Ask);
    }
}
