// SPDX-License-Identifier: Apache-2.0
//! Watches over a board, which may not be up yet, be reset, or stop to speak without closing its
//! line.

use std::time::{Duration, Instant};

/// How often a board is asked: to start, and whether it is still there.
const ASK: Duration = Duration::from_secs(1);

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
pub struct Vigil {
    silence: Duration,
    heard: Instant,
    asked: Instant,
}

impl Vigil {
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

    /// When [`Vigil::look`] is due.
    pub fn next(&self) -> Instant {
        (self.asked + ASK).min(self.heard + self.silence)
    }

    /// What is due.
    pub fn look(&mut self, now: Instant) -> Due {
        if now >= self.heard + self.silence {
            return Due::Silent;
        }
        if now < self.asked + ASK {
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
        let mut vigil = Vigil::new(Duration::from_millis(2500), start);
        assert_eq!(vigil.next(), at(1000));
        assert_eq!(vigil.look(at(999)), Due::Nothing);
        assert_eq!(vigil.look(at(1000)), Due::Ask);
        assert_eq!(vigil.look(at(2000)), Due::Ask);
        assert_eq!(vigil.next(), at(2500));
        assert_eq!(vigil.look(at(2500)), Due::Silent);
        vigil.hears(at(2500));
        assert_eq!(vigil.look(at(2500)), Due::Nothing);
        assert_eq!(vigil.look(at(3000)), Due::Ask);
    }
}
