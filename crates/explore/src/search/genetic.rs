// SPDX-License-Identifier: Apache-2.0
//! The search for spaces that are too large to be run through: NSGA-II.
//!
//! K. Deb, A. Pratap, S. Agarwal, T. Meyarivan: "A fast and elitist multiobjective genetic
//! algorithm: NSGA-II", IEEE Transactions on Evolutionary Computation 6(2), 2002: parents by
//! tournaments of rank and crowding distance, survivors by the same order among parents and
//! children.
//!
//! It is our own because crates for it take vectors of numbers for candidates, and run the
//! evaluation themselves: they would run candidates that are the same but for names or overloaded,
//! and could neither use what is known already nor be ended and gone on with. Here a child is made
//! canonical, made again if it cannot keep up, and run once.

use std::collections::HashSet;

use rand::Rng;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::Options;
use super::band::Band;
use super::runner::Runner;
use crate::candidate::Candidate;
use crate::pareto::dominates;
use crate::space::Space;

/// Candidates in a generation.
const POPULATION: usize = 64;
/// How often a child that cannot be is made anew.
const ATTEMPTS: usize = 64;
/// It ends after so many generations that brought nothing new to the front.
const PATIENCE: usize = 40;
/// One part in so many of what makes a candidate is changed at random.
const MUTATION: f64 = 0.1;

/// Searches one frame rate.
pub(super) fn search(
    space: &Space,
    options: &Options,
    rate_millihz: u64,
    runner: &mut Runner<'_>,
) -> Result<(), String> {
    let rng = ChaCha8Rng::seed_from_u64(options.seed ^ rate_millihz.rotate_left(32));
    let mut breeder = Breeder { space, rate_millihz, rng, seen: HashSet::new() };
    let mut population: Vec<Ranked> = Vec::new();
    let mut children: Vec<Candidate> = breeder.first();
    let mut best: Vec<Vec<f64>> = Vec::new();
    let mut idle = 0;
    let mut pool = Band::new(POPULATION);

    while !children.is_empty() && idle < PATIENCE {
        let go_on = runner.run(&children)?;
        if space.checked.auto {
            // Descents have brought others than the children, and better ones: all stay.
            children = runner.take_tried();
        } else {
            pool = Band::new(POPULATION);
            pool.extend(population.into_iter().map(|ranked| (ranked.candidate, ranked.point)));
        }
        let new = children.into_iter().map(|child| (runner.point(&child), child));
        pool.extend(new.filter_map(|(point, child)| Some((child, point?))));
        runner.settle()?;
        population = survivors(pool.members().collect());
        let front = first_front(&population);
        idle = if front == best { idle + 1 } else { 0 };
        best = front;
        if !go_on || population.is_empty() {
            break;
        }
        children = breeder.children(&population);
    }
    Ok(())
}

/// A candidate and its objectives.
type Placed<'p> = (&'p Candidate, &'p Vec<f64>);

/// A candidate among others.
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Ranked {
    candidate: Candidate,
    point: Vec<f64>,
    /// 0: on the front; 1: on it without those; and so on.
    rank: usize,
    /// How far its neighbours on its front are; more is better.
    crowding: f64,
}

fn first_front(population: &[Ranked]) -> Vec<Vec<f64>> {
    let front = population.iter().filter(|ranked| ranked.rank == 0);
    let mut points: Vec<Vec<f64>> = front.map(|ranked| ranked.point.clone()).collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    points
}

/// The best of a pool, by rank and then by crowding.
fn survivors(mut pool: Vec<Placed<'_>>) -> Vec<Ranked> {
    let mut ranked = Vec::new();
    let mut rank = 0;
    while !pool.is_empty() && ranked.len() < POPULATION {
        let dominated = |point: &[f64]| pool.iter().any(|(_, other)| dominates(other, point));
        let (rest, front): (Vec<_>, Vec<_>) =
            pool.iter().copied().partition(|(_, point)| dominated(point));
        let distances = crowding(&front);
        let mut front: Vec<_> = front.into_iter().zip(distances).collect();
        // Ties by candidate, so that nothing depends on the order in which they came.
        front.sort_by(|((a, _), of_a), ((b, _), of_b)| of_b.total_cmp(of_a).then_with(|| a.cmp(b)));
        front.truncate(POPULATION - ranked.len());
        ranked.extend(front.into_iter().map(|((candidate, point), crowding)| Ranked {
            candidate: candidate.clone(),
            point: point.clone(),
            rank,
            crowding,
        }));
        pool = rest;
        rank += 1;
    }
    ranked
}

/// For each point of a front the distance of its neighbours, summed over objectives of unit range;
/// infinite at the ends.
fn crowding(front: &[Placed<'_>]) -> Vec<f64> {
    let mut distances = vec![0.0; front.len()];
    let objectives = front.first().map_or(0, |(_, point)| point.len());
    for objective in 0..objectives {
        let value = |i: usize| front[i].1[objective];
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|a, b| {
            value(*a).total_cmp(&value(*b)).then_with(|| front[*a].0.cmp(front[*b].0))
        });
        let (first, last) = (order[0], order[order.len() - 1]);
        let range = value(last) - value(first);
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        if range > 0.0 && range.is_finite() {
            for three in order.windows(3) {
                distances[three[1]] += (value(three[2]) - value(three[0])) / range;
            }
        }
    }
    distances
}

struct Breeder<'s> {
    space: &'s Space,
    rate_millihz: u64,
    rng: ChaCha8Rng,
    /// The keys of everything that was ever made: nothing is run twice.
    seen: HashSet<u128>,
}

impl Breeder<'_> {
    /// Random candidates, and some that are known to be in the space.
    fn first(&mut self) -> Vec<Candidate> {
        let (mut made, _) = self.space.collect(self.rate_millihz, POPULATION / 4);
        self.seen.extend(made.iter().map(Candidate::key));
        for _ in 0..POPULATION * ATTEMPTS {
            if made.len() == POPULATION {
                break;
            }
            let random = self.random();
            made.extend(self.admit(random));
        }
        made
    }

    fn children(&mut self, parents: &[Ranked]) -> Vec<Candidate> {
        let mut made = Vec::new();
        for _ in 0..POPULATION * ATTEMPTS {
            if made.len() == POPULATION {
                break;
            }
            let (a, b) = (self.tournament(parents).clone(), self.tournament(parents).clone());
            let mut child = self.cross(&a, &b);
            self.mutate(&mut child);
            made.extend(self.admit(child));
        }
        made
    }

    fn tournament<'p>(&mut self, parents: &'p [Ranked]) -> &'p Candidate {
        let one = &parents[self.rng.random_range(0..parents.len())];
        let other = &parents[self.rng.random_range(0..parents.len())];
        let better = one.rank.cmp(&other.rank).then(other.crowding.total_cmp(&one.crowding));
        if better.is_le() { &one.candidate } else { &other.candidate }
    }

    /// Makes a candidate canonical; `None`: it is not in the space, or nothing new.
    fn admit(&mut self, mut candidate: Candidate) -> Option<Candidate> {
        let policy = self.space.policy_of(&candidate);
        let wanted = std::mem::take(&mut candidate.available);
        let used = |core: usize| candidate.mapping.iter().any(|on| *on as usize == core);
        let there = |core: usize| used(core) || (policy.fills() && wanted[core]);
        candidate.available = (0..wanted.len()).map(there).collect();
        let highest = self.space.highest(&candidate.available);
        let free = policy.keeps_points() && !self.space.checked.auto;
        for (core, highest) in highest.into_iter().enumerate() {
            let fits = self.space.checked.points[core].contains(&candidate.points[core]);
            if !(free && fits && candidate.available[core]) {
                candidate.points[core] = highest;
            }
        }
        policy.symmetry.canonicalise(&mut candidate);
        let cores = candidate.cores().len();
        let fits = self.space.checked.core_counts.contains(&cores)
            && self.space.keeps_up(&candidate)
            && self.space.ways_fit(&candidate)
            && self.seen.insert(candidate.key());
        fits.then_some(candidate)
    }

    fn random(&mut self) -> Candidate {
        let (space, rng) = (self.space, &mut self.rng);
        let counts = &space.checked.core_counts;
        let count = counts.choose(rng).copied().unwrap_or(1);
        let cores = space.system.cores.len();
        let mut available = vec![false; cores];
        for core in rand::seq::index::sample(rng, cores, count) {
            available[core] = true;
        }
        let mut candidate = Candidate {
            rate_millihz: self.rate_millihz,
            policy: space.policies[0].text.clone(),
            mapping: vec![0; space.system.tasks.len()],
            points: space.highest(&available),
            slots: space.system.channels.iter().map(|channel| channel.slots).collect(),
            ways: space.system.channels.iter().map(|channel| channel.way).collect(),
            available,
        };
        self.change(&mut candidate, 1.0);
        candidate
    }

    /// Each part from one of the parents.
    fn cross(&mut self, a: &Candidate, b: &Candidate) -> Candidate {
        let mut child = a.clone();
        let rng = &mut self.rng;
        if rng.random() {
            child.policy.clone_from(&b.policy);
        }
        let mix = |to: &mut u32, from: &u32, rng: &mut ChaCha8Rng| {
            if rng.random() {
                *to = *from;
            }
        };
        child.mapping.iter_mut().zip(&b.mapping).for_each(|(to, from)| mix(to, from, rng));
        child.points.iter_mut().zip(&b.points).for_each(|(to, from)| mix(to, from, rng));
        for (channels, _) in &self.space.checked.slots {
            if rng.random() {
                channels.iter().for_each(|c| child.slots[*c] = b.slots[*c]);
            }
        }
        for (channels, _) in &self.space.checked.ways {
            if rng.random() {
                channels.iter().for_each(|c| child.ways[*c] = b.ways[*c]);
            }
        }
        for (to, from) in child.available.iter_mut().zip(&b.available) {
            *to |= *from;
        }
        child
    }

    /// Changes a part, and once in a while everything: a front may lie on islands.
    fn mutate(&mut self, candidate: &mut Candidate) {
        let tasks = candidate.mapping.len();
        if self.rng.random_bool(0.5) {
            let (a, b) = (self.rng.random_range(0..tasks), self.rng.random_range(0..tasks));
            let allowed = &self.space.checked.allowed;
            let (on_a, on_b) = (candidate.mapping[a], candidate.mapping[b]);
            if allowed[a][on_b as usize] && allowed[b][on_a as usize] {
                candidate.mapping.swap(a, b);
            }
        }
        self.change(candidate, MUTATION);
    }

    /// Chooses each part anew with this probability.
    fn change(&mut self, candidate: &mut Candidate, probability: f64) {
        let (space, rng) = (self.space, &mut self.rng);
        if rng.random_bool(probability) {
            if let Some(policy) = space.policies.choose(rng) {
                candidate.policy.clone_from(&policy.text);
            }
        }
        for (core, row) in candidate.mapping.iter_mut().zip(&space.checked.allowed) {
            let on = |core: &usize| row[*core] && candidate.available[*core];
            let mut choices: Vec<usize> = (0..row.len()).filter(on).collect();
            if choices.is_empty() || (probability < 1.0 && rng.random_bool(0.5)) {
                choices = (0..row.len()).filter(|core| row[*core]).collect();
            }
            if rng.random_bool(probability) || !row[*core as usize] {
                let chosen = choices.choose(rng).copied().unwrap_or(0);
                *core = u32::try_from(chosen).unwrap_or(u32::MAX);
            }
        }
        for (point, choices) in candidate.points.iter_mut().zip(&space.checked.points) {
            if rng.random_bool(probability) {
                *point = choices.choose(rng).copied().unwrap_or(0);
            }
        }
        for (channels, numbers) in &space.checked.slots {
            if rng.random_bool(probability) {
                let number = numbers.choose(rng).copied().unwrap_or(1);
                channels.iter().for_each(|channel| candidate.slots[*channel] = number);
            }
        }
        for (channels, ways) in &space.checked.ways {
            if rng.random_bool(probability) {
                let way = ways.choose(rng).copied().unwrap_or_default();
                channels.iter().for_each(|channel| candidate.ways[*channel] = way);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Objectives in the order in which candidates run. Where values are few, many are equal.
    fn points() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (1usize..4, 1u32..300).prop_flat_map(|(objectives, values)| {
            let value = prop_oneof![
                20 => (0..values).prop_map(f64::from),
                1 => Just(-0.0),
                1 => Just(f64::INFINITY)
            ];
            proptest::collection::vec(proptest::collection::vec(value, objectives), 0..1500)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_band_has_the_survivors_of_all_that_ran(
            points in points(),
            generation in 1usize..400,
            factor in any::<u32>(),
        ) {
            // An odd factor: no two have the same number.
            let number = |at: u32| Candidate::numbered(at.wrapping_mul(factor | 1));
            let ran: Vec<_> = (0..).map(number).zip(points).collect();
            let mut band = Band::new(POPULATION);
            for (at, new) in ran.chunks(generation).enumerate() {
                band.extend(new.iter().cloned());
                let so_far = &ran[..at * generation + new.len()];
                let expected = survivors(so_far.iter().map(|(c, point)| (c, point)).collect());
                prop_assert_eq!(survivors(band.members().collect()), expected);
            }
        }
    }

    #[test]
    fn a_band_is_small_where_many_candidates_are_equal_or_dominated() {
        let mut band = Band::new(POPULATION);
        for at in 0..10_000 {
            let value = f64::from(at % 100);
            band.extend([(Candidate::numbered(at), vec![value, value])]);
        }
        assert_eq!(band.members().count(), POPULATION + 1);
    }
}
