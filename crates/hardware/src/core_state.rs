// SPDX-License-Identifier: Apache-2.0
//! A core's power states, and the energy it has used in them.
//!
//! A core is active or idle since some time. An idle core goes through its idle states by itself,
//! from the shallowest to the deepest, each `after_ps` after it became idle and with a passage of
//! `enter_ps` at active power; a core without idle states stays at its point's idle power. To wake
//! it costs the rest of that passage and `exit_ps`, at active power. This is the timeout form of
//! dynamic power management (L. Benini, A. Bogliolo, G. De Micheli: "A survey of design techniques
//! for system-level dynamic power management", IEEE TVLSI 8(3), 2000).
//!
//! Power is constant between two calls but for those known passages, so energy is a sum of products
//! of microwatts and picoseconds: whole attojoules, exact.

use serde::{Deserialize, Serialize};

use crate::description::{IdleState, Transition, Waking};
use crate::power::Draw;

/// Time at an operating point, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Residency {
    /// In tasks, in the middleware, or waking up.
    pub active_ps: u64,
    /// Without work, whatever the idle state.
    pub idle_ps: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Active,
    Idle { since_ps: u64 },
}

/// The state of one core. Every `now_ps` must be at least that of the call before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreState {
    mode: Mode,
    point: usize,
    draw: Draw,
    /// Up to here time is accounted for.
    settled_ps: u64,
    energy_aj: u128,
    points: Vec<Residency>,
    asleep_ps: Vec<u64>,
    transitions: u64,
    /// While it is idle it draws nothing at all.
    off: bool,
}

impl CoreState {
    /// An idle core at time 0, with `points` operating points and `idle_states` idle states.
    pub fn new(points: usize, idle_states: usize, start: usize, draw: Draw) -> Self {
        Self {
            mode: Mode::Idle { since_ps: 0 },
            point: start,
            draw,
            settled_ps: 0,
            energy_aj: 0,
            points: vec![Residency::default(); points],
            asleep_ps: vec![0; idle_states],
            transitions: 0,
            off: false,
        }
    }

    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        self.points.len() == like.points.len()
            && self.asleep_ps.len() == like.asleep_ps.len()
            && self.point < self.points.len()
    }

    /// Switches it off, or on: from now on it draws nothing while it is idle, or what it did.
    pub fn turn_off(&mut self, now_ps: u64, off: bool, states: &[IdleState]) {
        self.settle(now_ps, states);
        self.off = off;
    }

    /// Whether it is switched off.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Lets its time begin at `now_ps`, when nothing has happened yet.
    pub fn begin(&mut self, now_ps: u64) {
        self.mode = Mode::Idle { since_ps: now_ps };
        self.settled_ps = now_ps;
    }

    /// The operating point it is at.
    #[inline]
    pub fn point(&self) -> usize {
        self.point
    }

    /// When it became idle; `None` while it is active.
    #[inline]
    pub fn idle_since(&self) -> Option<u64> {
        match self.mode {
            Mode::Active => None,
            Mode::Idle { since_ps } => Some(since_ps),
        }
    }

    /// Makes it active. Returns how many picoseconds pass before it runs: leaving its idle state.
    #[inline]
    pub fn wake(&mut self, now_ps: u64, states: &[IdleState]) -> u64 {
        let Mode::Idle { since_ps } = self.mode else { return 0 };
        self.settle(now_ps, states);
        self.mode = Mode::Active;
        let idle_ps = now_ps - since_ps;
        let Some(state) = states.iter().rfind(|state| state.after_ps <= idle_ps) else { return 0 };
        (state.after_ps + state.enter_ps).saturating_sub(idle_ps) + state.exit_ps
    }

    /// What waking it now costs besides; `None`: it is in no idle state.
    #[inline]
    pub fn waking(&self, now_ps: u64, states: &[IdleState]) -> Option<Waking> {
        let Mode::Idle { since_ps } = self.mode else { return None };
        let idle_ps = now_ps.saturating_sub(since_ps);
        states.iter().rfind(|state| state.after_ps <= idle_ps).map(|state| state.waking)
    }

    /// Whether its cache is lost if it wakes now.
    #[inline]
    pub fn has_lost_cache(&self, now_ps: u64, states: &[IdleState]) -> bool {
        let Mode::Idle { since_ps } = self.mode else { return false };
        let reached = |state: &&IdleState| since_ps.saturating_add(state.after_ps) <= now_ps;
        states.iter().filter(reached).any(|state| state.loses_cache)
    }

    /// Makes it idle. Nothing if it is.
    #[inline]
    pub fn rest(&mut self, now_ps: u64, states: &[IdleState]) {
        if self.mode == Mode::Active {
            self.settle(now_ps, states);
            self.mode = Mode::Idle { since_ps: now_ps };
        }
    }

    /// Brings it to another operating point, where it draws `draw`. Returns for how many
    /// picoseconds it does nothing; meanwhile it draws what it does at the new point, and the
    /// energy of the transition is added.
    pub fn set_point(
        &mut self,
        now_ps: u64,
        point: usize,
        draw: Draw,
        transition: &Transition,
        states: &[IdleState],
    ) -> u64 {
        if point == self.point {
            return 0;
        }
        self.settle(now_ps, states);
        self.point = point;
        self.draw = draw;
        self.transitions += 1;
        self.energy_aj += u128::from(transition.energy_pj) * 1_000_000;
        transition.time_ps
    }

    /// Lets it draw `draw` from now on: its temperature has changed.
    pub fn set_draw(&mut self, now_ps: u64, draw: Draw, states: &[IdleState]) {
        if draw != self.draw {
            self.settle(now_ps, states);
            self.draw = draw;
        }
    }

    /// Accounts for the time until now.
    #[inline]
    pub fn settle(&mut self, now_ps: u64, states: &[IdleState]) {
        debug_assert!(now_ps >= self.settled_ps, "time does not go back");
        let passed_ps = now_ps - self.settled_ps;
        match self.mode {
            Mode::Active => {
                self.spend(self.draw.active_uw, passed_ps);
                self.points[self.point].active_ps += passed_ps;
            }
            Mode::Idle { since_ps } => {
                self.settle_idle(self.settled_ps - since_ps, now_ps - since_ps, states);
                self.points[self.point].idle_ps += passed_ps;
            }
        }
        self.settled_ps = now_ps;
    }

    /// The same for a core without idle states, whose times somebody else has added up since it was
    /// settled; and whether it is idle now.
    pub fn account(&mut self, now_ps: u64, spent: Residency, is_idle: bool) {
        debug_assert!(self.asleep_ps.is_empty(), "its idle power is not constant");
        self.spend(self.draw.active_uw, spent.active_ps);
        self.spend(if self.off { 0 } else { self.draw.idle_uw }, spent.idle_ps);
        let point = &mut self.points[self.point];
        point.active_ps += spent.active_ps;
        point.idle_ps += spent.idle_ps;
        self.settled_ps = now_ps;
        self.mode = if is_idle { Mode::Idle { since_ps: now_ps } } else { Mode::Active };
    }

    /// Energy up to the last call that took a time, in attojoules.
    pub fn energy_aj(&self) -> u128 {
        self.energy_aj
    }

    /// Time at each operating point.
    pub fn points(&self) -> &[Residency] {
        &self.points
    }

    /// Time in each idle state, without the passages into it, in picoseconds.
    pub fn asleep_ps(&self) -> &[u64] {
        &self.asleep_ps
    }

    /// How often its operating point changed.
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// What it draws while it is active, and idle but in no idle state.
    pub fn draw(&self) -> Draw {
        if self.off { Draw { idle_uw: 0, ..self.draw } } else { self.draw }
    }

    /// What it draws now, in microwatts.
    pub fn power_uw(&self, now_ps: u64, states: &[IdleState]) -> u64 {
        let Mode::Idle { since_ps } = self.mode else { return self.draw.active_uw };
        if self.off {
            return 0;
        }
        let idle_ps = now_ps - since_ps;
        match states.iter().rfind(|state| state.after_ps <= idle_ps) {
            None => self.draw.idle_uw,
            Some(state) if idle_ps - state.after_ps < state.enter_ps => self.draw.active_uw,
            Some(state) => state.power_uw.into(),
        }
    }

    /// When its power next changes by itself, going through its idle states, after `after_ps`.
    pub fn next_passage_ps(&self, after_ps: u64, states: &[IdleState]) -> Option<u64> {
        let Mode::Idle { since_ps } = self.mode else { return None };
        if self.off {
            return None;
        }
        let passages = states.iter().flat_map(|state| {
            let enters_ps = since_ps.saturating_add(state.after_ps);
            [enters_ps, enters_ps.saturating_add(state.enter_ps)]
        });
        passages.filter(|at_ps| *at_ps > after_ps).min()
    }

    /// Accounts for the idle time between two moments, both counted from when it became idle.
    fn settle_idle(&mut self, from_ps: u64, to_ps: u64, states: &[IdleState]) {
        if self.off {
            return;
        }
        if states.is_empty() {
            return self.spend(self.draw.idle_uw, to_ps - from_ps);
        }
        let within = |begin: u64, end: u64| to_ps.min(end).saturating_sub(from_ps.max(begin));
        self.spend(self.draw.idle_uw, within(0, states[0].after_ps));
        for (i, state) in states.iter().enumerate() {
            let end_ps = states.get(i + 1).map_or(u64::MAX, |deeper| deeper.after_ps);
            let asleep_from_ps = state.after_ps + state.enter_ps;
            let asleep_ps = within(asleep_from_ps, end_ps);
            self.spend(self.draw.active_uw, within(state.after_ps, asleep_from_ps));
            self.spend(state.power_uw.into(), asleep_ps);
            self.asleep_ps[i] += asleep_ps;
        }
    }

    fn spend(&mut self, power_uw: u64, ps: u64) {
        self.energy_aj += u128::from(power_uw) * u128::from(ps);
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    const US: u64 = 1_000_000;
    const MS: u64 = 1_000 * US;
    const DRAW: Draw = Draw { active_uw: 84_000, idle_uw: 10_000 };

    fn idle(name: &str, power_uw: u32, after_ps: u64, enter_ps: u64, exit_ps: u64) -> IdleState {
        IdleState {
            name: name.into(),
            power_uw,
            enter_ps,
            exit_ps,
            after_ps,
            loses_cache: false,
            waking: Waking { ring_ps: exit_ps / 2, ..Waking::default() },
        }
    }

    #[test]
    fn a_periodic_task_uses_the_energy_that_a_calculation_by_hand_gives() {
        let mut core = CoreState::new(1, 0, 0, DRAW);
        for period in 0..100 {
            assert_eq!(core.wake(period * 10 * MS, &[]), 0);
            core.rest(period * 10 * MS + 3 * MS, &[]);
        }
        core.settle(1000 * MS, &[]);
        // 0.3 s * 84 mW + 0.7 s * 10 mW = 32.2 mJ.
        assert_eq!(core.energy_aj(), 32_200_000_000_000_000);
        let spent = Residency { active_ps: 300 * MS, idle_ps: 700 * MS };
        assert_eq!(core.points(), [spent]);
    }

    #[test]
    fn times_that_are_added_up_elsewhere_count_as_those_that_were_settled() {
        let (mut settled, mut told) =
            (CoreState::new(1, 0, 0, DRAW), CoreState::new(1, 0, 0, DRAW));
        settled.wake(2 * MS, &[]);
        settled.rest(5 * MS, &[]);
        settled.wake(9 * MS, &[]);
        settled.settle(10 * MS, &[]);
        told.account(10 * MS, Residency { active_ps: 4 * MS, idle_ps: 6 * MS }, false);
        assert_eq!(told, settled);
        told.account(11 * MS, Residency { active_ps: MS, idle_ps: 0 }, true);
        assert_eq!(told.idle_since(), Some(11 * MS));
    }

    #[test]
    fn an_idle_core_sinks_through_its_idle_states_and_pays_to_wake() {
        let states = [idle("wfi", 5_000, 0, US, 2 * US), idle("off", 0, MS, 10 * US, 100 * US)];
        let mut core = CoreState::new(1, 2, 0, DRAW);
        assert_eq!(core.power_uw(0, &states), 84_000);
        assert_eq!(core.power_uw(US, &states), 5_000);
        assert_eq!(core.power_uw(MS + 9 * US, &states), 84_000);
        assert_eq!(core.power_uw(MS + 10 * US, &states), 0);
        assert_eq!(core.wake(3 * MS, &states), 100 * US);
        // 1 us + 10 us at 84 mW to enter, 999 us at 5 mW, the rest at nothing.
        assert_eq!(core.energy_aj(), u128::from(11 * US * 84_000 + 999 * US * 5_000));
        assert_eq!(core.asleep_ps(), [999 * US, 2 * MS - 10 * US]);
        core.rest(4 * MS, &states);
        assert_eq!(core.wake(4 * MS + 500 * US, &states), 2 * US);
    }

    #[test]
    fn waking_costs_what_the_state_says_that_has_been_reached() {
        let states = [idle("wfi", 5_000, US, US, 2 * US), idle("off", 0, MS, 10 * US, 100 * US)];
        let mut core = CoreState::new(1, 2, 0, DRAW);
        let ring_ps = |core: &CoreState, now_ps| core.waking(now_ps, &states).map(|w| w.ring_ps);
        assert_eq!(ring_ps(&core, US - 1), None);
        assert_eq!(ring_ps(&core, US), Some(US));
        assert_eq!(ring_ps(&core, MS - 1), Some(US));
        assert_eq!(ring_ps(&core, MS), Some(50 * US));
        core.wake(2 * MS, &states);
        assert_eq!(ring_ps(&core, 2 * MS), None);
    }

    #[test]
    fn a_core_that_is_woken_on_its_way_into_a_state_goes_there_first() {
        let states = [idle("off", 0, MS, 10 * US, 100 * US)];
        let mut core = CoreState::new(1, 1, 0, DRAW);
        assert_eq!(core.wake(MS + 4 * US, &states), 6 * US + 100 * US);
        core.rest(2 * MS, &states);
        assert_eq!(core.wake(3 * MS - 1, &states), 0);
    }

    #[test]
    fn a_core_that_is_off_draws_nothing_until_it_is_on_again() {
        let states = [idle("wfi", 5_000, US, US, US)];
        let mut core = CoreState::new(1, 1, 0, DRAW);
        core.turn_off(0, true, &states);
        assert_eq!((core.power_uw(MS, &states), core.next_passage_ps(0, &states)), (0, None));
        assert_eq!(core.draw(), Draw { idle_uw: 0, ..DRAW });
        core.turn_off(MS, false, &states);
        assert_eq!(core.draw(), DRAW);
        assert_eq!(core.energy_aj(), 0);
        // It is as deep in its idle states as it would have been.
        assert_eq!((core.power_uw(MS, &states), core.wake(MS, &states)), (5_000, US));
        let mut told = CoreState::new(1, 0, 0, DRAW);
        told.turn_off(0, true, &[]);
        told.account(MS, Residency { active_ps: 0, idle_ps: MS }, true);
        assert_eq!(told.energy_aj(), 0);
    }

    #[test]
    fn settling_in_pieces_gives_what_settling_at_once_does() {
        let states = [idle("wfi", 5_000, US, US, US), idle("off", 0, MS, 10 * US, 100 * US)];
        let (mut whole, mut parts) = (CoreState::new(1, 2, 0, DRAW), CoreState::new(1, 2, 0, DRAW));
        whole.settle(5 * MS, &states);
        for piece in 1..=5_000 {
            parts.settle(piece * US, &states);
        }
        assert_eq!(whole, parts);
    }

    #[test]
    fn a_transition_takes_its_time_and_its_energy_and_power_follows_the_point() {
        let change = Transition { time_ps: 50 * US, energy_pj: 7 };
        let fast = Draw { active_uw: 1_000_000, idle_uw: 0 };
        let mut core = CoreState::new(2, 0, 0, DRAW);
        core.wake(0, &[]);
        assert_eq!(core.set_point(MS, 1, fast, &change, &[]), 50 * US);
        assert_eq!(core.set_point(MS, 1, fast, &change, &[]), 0);
        core.settle(2 * MS, &[]);
        let spent = u128::from(MS) * 84_000 + u128::from(MS) * 1_000_000 + 7_000_000;
        assert_eq!((core.energy_aj(), core.transitions()), (spent, 1));
        assert_eq!([core.points()[0].active_ps, core.points()[1].active_ps], [MS, MS]);
    }

    #[test]
    fn a_state_that_is_saved_and_restored_is_the_same() {
        let states = [idle("off", 0, MS, 10 * US, 100 * US)];
        let mut core = CoreState::new(1, 1, 0, DRAW);
        core.settle(7 * MS, &states);
        let text = serde_json::to_string(&core).unwrap();
        assert_eq!(serde_json::from_str::<CoreState>(&text).unwrap(), core);
    }

    #[test]
    fn an_idle_core_says_when_its_power_changes_next() {
        let draw = Draw { active_uw: 100, idle_uw: 50 };
        let state = |after_ps, enter_ps| IdleState {
            name: "s".into(),
            power_uw: 1,
            enter_ps,
            exit_ps: 0,
            after_ps,
            loses_cache: false,
            waking: Waking::default(),
        };
        let states = [state(10, 5), state(40, 0)];
        let mut core = CoreState::new(1, 2, 0, draw);
        let passages: Vec<u64> =
            iter::successors(Some(0), |after| core.next_passage_ps(*after, &states)).collect();
        assert_eq!(passages, [0, 10, 15, 40]);
        core.wake(50, &states);
        assert_eq!(core.next_passage_ps(0, &states), None);
    }
}
