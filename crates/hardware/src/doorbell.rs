// SPDX-License-Identifier: Apache-2.0
//! When a core learns that something waits for it.
//!
//! An interrupt arrives `latency` after it was raised. A polling core that is idle looks every
//! `interval` since it became idle, and learns at the first look that is not before the arrival; on
//! average half an interval late, as lee2009 (table 4) measures with a task of about 6 ms: 10.3 ms
//! for an interval of 5 or 10 ms, 17.4 ms for 15, 20.4 ms for 20. A busy core learns at its next
//! scheduling point in both cases, which is not for this model to say. What both ends pay is in the
//! table of costs ([`crate::cost::Charge::RING`], [`crate::cost::Charge::RUNG`]).

use serde::{Deserialize, Serialize};

use crate::description::{self, DoorbellKind};

/// Doorbells between cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doorbell {
    kind: DoorbellKind,
    latency_ps: u64,
    interval_ps: u64,
}

impl Doorbell {
    /// Takes times and kind from a description.
    pub fn new(description: &description::Doorbell) -> Self {
        Self {
            kind: description.kind,
            latency_ps: description.latency_ps,
            interval_ps: description.interval_ps,
        }
    }

    /// Which.
    pub fn kind(self) -> DoorbellKind {
        self.kind
    }

    /// True if a ring is noticed when it is rung.
    pub fn is_instant(self) -> bool {
        self.latency_ps == 0 && (self.kind == DoorbellKind::Interrupt || self.interval_ps == 0)
    }

    /// When a ring of `now_ps` arrives, in picoseconds.
    pub fn arrival_ps(self, now_ps: u64) -> u64 {
        now_ps.saturating_add(self.latency_ps)
    }

    /// When a core that has been idle since `idle_since_ps` notices what arrived at `arrival_ps`.
    pub fn notice_ps(self, arrival_ps: u64, idle_since_ps: u64) -> u64 {
        if self.kind == DoorbellKind::Interrupt || self.interval_ps == 0 {
            return arrival_ps.max(idle_since_ps);
        }
        let looks = arrival_ps.saturating_sub(idle_since_ps).div_ceil(self.interval_ps);
        idle_since_ps.saturating_add(looks.saturating_mul(self.interval_ps))
    }

    /// How often a core that is idle from one time to another looks, the first time excluded.
    pub fn looks(self, from_ps: u64, to_ps: u64) -> u64 {
        match self.kind {
            DoorbellKind::Polling if self.interval_ps > 0 => {
                to_ps.saturating_sub(from_ps) / self.interval_ps
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doorbell(kind: DoorbellKind, interval_ps: u64) -> Doorbell {
        let costs = description::Doorbell::default();
        Doorbell::new(&description::Doorbell { kind, latency_ps: 100, interval_ps, ..costs })
    }

    #[test]
    fn an_interrupt_is_noticed_when_it_arrives() {
        let bell = doorbell(DoorbellKind::Interrupt, 1_000);
        assert_eq!(bell.arrival_ps(5), 105);
        assert_eq!(bell.notice_ps(105, 7), 105);
    }

    #[test]
    fn a_polling_core_notices_at_its_next_look() {
        let bell = doorbell(DoorbellKind::Polling, 1_000);
        let notices = [(70, 70), (71, 1_070), (1_070, 1_070), (1_071, 2_070), (9, 70)];
        for (arrival, notice) in notices {
            assert_eq!(bell.notice_ps(arrival, 70), notice, "{arrival}");
        }
        assert_eq!(
            [bell.looks(70, 1_069), bell.looks(70, 1_070), bell.looks(70, 3_500)],
            [0, 1, 3]
        );
    }

    #[test]
    fn a_core_that_looks_without_a_pause_notices_at_once() {
        assert_eq!(doorbell(DoorbellKind::Polling, 0).notice_ps(71, 70), 71);
        assert_eq!(doorbell(DoorbellKind::Polling, 0).looks(0, 1_000), 0);
    }

    #[test]
    fn the_later_a_polling_core_looks_the_later_it_learns_as_lee2009_measures() {
        // Table 4: the DSP needs about 6 ms; intervals and notification latencies in ms.
        for (interval, paper) in [(5, 10.28), (10, 10.31), (15, 17.35), (20, 20.42)] {
            let bell = doorbell(DoorbellKind::Polling, interval * 1_000_000_000);
            let notice = bell.notice_ps(6_000_000_000, 0) as f64 / 1e9;
            assert!((notice - paper).abs() < 2.5, "{interval} ms: {notice}, paper {paper}");
        }
    }
}
