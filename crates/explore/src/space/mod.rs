// SPDX-License-Identifier: Apache-2.0
//! The space of candidates: every one that differs from all others and can keep up, once.

mod distribute;

use std::ops::ControlFlow;

use crate::bound::{Bound, ROUNDING};
use crate::candidate::{Candidate, Objective};
use crate::choices::{Checked, Choices};
use crate::policy::sees_places;
use crate::symmetry::{Symmetry, View};
use crate::system::System;
use distribute::distribute;
use whimbrel_model::{Decides, Problem};

/// All there is to choose from.
#[derive(Debug, Clone)]
pub struct Space {
    pub(crate) system: System,
    pub(crate) checked: Checked,
    pub(crate) policies: Vec<SpacePolicy>,
    pub(crate) bound: Bound,
}

/// A policy in a space.
#[derive(Debug, Clone)]
pub(crate) struct SpacePolicy {
    /// As it is written.
    pub text: String,
    /// What it decides.
    pub decides: Decides,
    /// What is alike under it.
    pub symmetry: Symmetry,
}

impl SpacePolicy {
    /// Whether the points at which cores begin are worth choosing: a policy that sets them decides
    /// at once.
    pub fn keeps_points(&self) -> bool {
        matches!(self.decides, Decides::Nothing | Decides::Moves)
    }

    /// Whether a core without a task may be available: only a policy could make use of it.
    pub fn fills(&self) -> bool {
        self.decides != Decides::Nothing
    }
}

impl Space {
    /// Checks the choices. `duration_ns` is how long each candidate is to run.
    ///
    /// # Errors
    /// Choices that do not fit the system, or leave nothing to explore.
    pub fn new(system: System, choices: &Choices, duration_ns: u64) -> Result<Self, Vec<Problem>> {
        let checked = choices.check(&system)?;
        let governed = |(policy, decides): &(whimbrel_model::PolicyName, Decides)| {
            let view = match decides {
                _ if sees_places(policy, &system) => View::Places,
                Decides::Nothing => View::Nothing,
                _ => View::Coordinator,
            };
            let symmetry = Symmetry::new(&system, &checked, view);
            SpacePolicy { text: policy.to_string(), decides: *decides, symmetry }
        };
        let policies = checked.policies.iter().map(governed).collect();
        let bound = Bound::new(&system, duration_ns);
        let space = Self { system, checked, policies, bound };
        for rate in &space.checked.rates_millihz {
            if space.collect(*rate, 1).0.is_empty() {
                return Err(vec![space.overloaded(*rate)]);
            }
        }
        Ok(space)
    }

    /// The system it belongs to.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// What is alike under a policy of this space.
    pub fn symmetry(&self, policy: &str) -> Option<&Symmetry> {
        let known = self.policies.iter().find(|known| known.text == policy);
        known.map(|known| &known.symmetry)
    }

    /// The frame rates, in thousandths per second, ascending; 0 alone: there is none.
    pub fn rates(&self) -> &[u64] {
        &self.checked.rates_millihz
    }

    /// The candidates of a frame rate in a fixed order, at most `limit` of them, and whether these
    /// are all. Where points are found by halving, candidates begin at the highest.
    pub fn collect(&self, rate_millihz: u64, limit: usize) -> (Vec<Candidate>, bool) {
        let mut found = Vec::new();
        let flow = self.each(rate_millihz, &mut |candidate| {
            if found.len() == limit {
                return ControlFlow::Break(());
            }
            found.push(candidate);
            ControlFlow::Continue(())
        });
        (found, flow.is_continue())
    }

    /// How many candidates a frame rate has; `None`: more than `limit`.
    pub(crate) fn count(&self, rate_millihz: u64, limit: usize) -> Option<usize> {
        let mut count = 0;
        let flow = self.each(rate_millihz, &mut |_| {
            if count == limit {
                return ControlFlow::Break(());
            }
            count += 1;
            ControlFlow::Continue(())
        });
        flow.is_continue().then_some(count)
    }

    /// The objectives of a candidate are nowhere lower than this.
    pub fn floor(&self, candidate: &Candidate, objectives: &[Objective]) -> Vec<f64> {
        let decides = self.policy_of(candidate).decides;
        self.bound.floor(&self.system, candidate, decides, objectives)
    }

    pub(crate) fn policy_of(&self, candidate: &Candidate) -> &SpacePolicy {
        let known = self.policies.iter().find(|policy| policy.text == candidate.policy);
        known.unwrap_or(&self.policies[0])
    }

    /// Whether the cores can keep up: with fixed tasks each at its point, else all of them together
    /// at their highest.
    pub(crate) fn keeps_up(&self, candidate: &Candidate) -> bool {
        let fixed = self.policy_of(candidate).decides == Decides::Nothing;
        self.bound.keeps_up(&self.system, candidate, fixed)
    }

    /// Visits the candidates of a frame rate in a fixed order, each as it is made.
    pub(crate) fn each(
        &self,
        rate_millihz: u64,
        visit: &mut dyn FnMut(Candidate) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for policy in &self.policies {
            for count in &self.checked.core_counts {
                for available in subsets(&policy.symmetry, *count) {
                    distribute(self, policy, &available, rate_millihz, &mut |mapping, ties| {
                        let candidate = Candidate {
                            rate_millihz,
                            policy: policy.text.clone(),
                            available: available.clone(),
                            mapping: mapping.to_vec(),
                            points: self.highest(&available),
                            slots: self.system.channels.iter().map(|c| c.slots).collect(),
                            ways: self.system.channels.iter().map(|c| c.way).collect(),
                        };
                        self.each_point(policy, candidate, ties, visit)
                    })?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The highest point of each core that is available.
    pub(crate) fn highest(&self, available: &[bool]) -> Vec<u32> {
        let last = |of: &Vec<u32>| of.last().copied().unwrap_or(0);
        let points = self.checked.points.iter().zip(available);
        points.map(|(of, on)| if *on { last(of) } else { 0 }).collect()
    }

    /// Every choice of points, then of slots. A core that is tied with the one before it in its
    /// class has no lower point than that one.
    fn each_point(
        &self,
        policy: &SpacePolicy,
        mut candidate: Candidate,
        ties: &[Option<usize>],
        visit: &mut dyn FnMut(Candidate) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let highest_only = self.checked.auto || !policy.keeps_points();
        let cores = if highest_only { Vec::new() } else { candidate.cores() };
        self.choose_point(&mut candidate, &cores, ties, visit)
    }

    fn choose_point(
        &self,
        candidate: &mut Candidate,
        cores: &[usize],
        ties: &[Option<usize>],
        visit: &mut dyn FnMut(Candidate) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((core, rest)) = cores.split_first() else {
            if !self.keeps_up(candidate) {
                return ControlFlow::Continue(());
            }
            return self.choose_slots(candidate, 0, visit);
        };
        let least = ties[*core].map_or(0, |before| candidate.points[before]);
        for point in self.checked.points[*core].iter().filter(|point| **point >= least) {
            candidate.points[*core] = *point;
            let fixed = self.policy_of(candidate).decides == Decides::Nothing;
            if fixed && self.bound.load(&self.system, candidate, *core) > 1.0 + ROUNDING {
                continue;
            }
            self.choose_point(candidate, rest, ties, visit)?;
        }
        ControlFlow::Continue(())
    }

    fn choose_slots(
        &self,
        candidate: &mut Candidate,
        choice: usize,
        visit: &mut dyn FnMut(Candidate) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((channels, numbers)) = self.checked.slots.get(choice) else {
            return self.choose_way(candidate, 0, visit);
        };
        for number in numbers {
            for channel in channels {
                candidate.slots[*channel] = *number;
            }
            self.choose_slots(candidate, choice + 1, visit)?;
        }
        ControlFlow::Continue(())
    }

    fn choose_way(
        &self,
        candidate: &mut Candidate,
        choice: usize,
        visit: &mut dyn FnMut(Candidate) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((channels, ways)) = self.checked.ways.get(choice) else {
            return match self.ways_fit(candidate) {
                true => visit(candidate.clone()),
                false => ControlFlow::Continue(()),
            };
        };
        for way in ways {
            channels.iter().for_each(|channel| candidate.ways[*channel] = *way);
            self.choose_way(candidate, choice + 1, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Whether each batch has as many slots, and internal memory room for all that lies there.
    pub(crate) fn ways_fit(&self, candidate: &Candidate) -> bool {
        let all = self.system.channels.iter().zip(candidate.ways.iter().zip(&candidate.slots));
        let mut internal = 0;
        for (channel, (way, slots)) in all {
            if way.notify.check(*slots).is_err() {
                return false;
            }
            internal += if way.internal { channel.bytes_each * u64::from(*slots) } else { 0 };
        }
        let there = self.system.internal_core.is_none_or(|core| candidate.available[core]);
        internal <= if there { self.system.internal_bytes } else { 0 }
    }

    fn overloaded(&self, rate_millihz: u64) -> Problem {
        let message = if rate_millihz == 0 {
            "there is nothing to explore: no candidate keeps up".to_owned()
        } else {
            let rate = whimbrel_text::thousandths(rate_millihz);
            format!(
                "there is nothing to explore at {rate} frames per second: no candidate keeps up"
            )
        };
        let help = "every mapping to these numbers of cores leaves a task without a core, or \
                    overloads one even at its highest frequency: allow more cores, or lower rates";
        Problem::new(message).help(help)
    }
}

/// Every way to have `count` cores available that differs from the others: so many of each class.
fn subsets(symmetry: &Symmetry, count: usize) -> Vec<Vec<bool>> {
    let cores = symmetry.cores.iter().map(Vec::len).sum();
    let fits =
        |classes: &[Vec<usize>], available: &Vec<bool>| *symmetry.classes(available) == *classes;
    let alone: Vec<Vec<usize>> = (0..cores).map(|core| vec![core]).collect();
    let mut all = of_classes(&symmetry.cores, count);
    all.retain(|available| fits(&symmetry.cores, available));
    if alone != symmetry.cores {
        let more = of_classes(&alone, count);
        all.extend(more.into_iter().filter(|available| fits(&alone, available)));
    }
    all
}

/// So many of each class, those that are available first.
fn of_classes(classes: &[Vec<usize>], count: usize) -> Vec<Vec<bool>> {
    let cores = classes.iter().map(Vec::len).sum();
    let mut all = vec![(vec![false; cores], count)];
    for (position, class) in classes.iter().enumerate() {
        let after: usize = classes[position + 1..].iter().map(Vec::len).sum();
        let mut longer = Vec::new();
        for (available, left) in &all {
            for take in (left.saturating_sub(after)..=class.len().min(*left)).rev() {
                let mut next = available.clone();
                class[..take].iter().for_each(|core| next[*core] = true);
                longer.push((next, left - take));
            }
        }
        all = longer;
    }
    all.into_iter().map(|(available, _)| available).collect()
}
