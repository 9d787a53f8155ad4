// SPDX-License-Identifier: Apache-2.0
//! What is the same but for names is explored once, and nothing else is left out.

use std::collections::BTreeSet;

use crate::common::{core, space, system};
use proptest::prelude::*;
use whimbrel_explore::{Candidate, Choices, PointChoice, SlotChoice, Space, System};
use whimbrel_model::Pin;

fn all(space: &Space) -> Vec<Candidate> {
    let (candidates, complete) = space.collect(space.rates()[0], 1_000_000);
    assert!(complete);
    candidates
}

fn high() -> Choices {
    Choices { points: PointChoice::High, ..Choices::default() }
}

/// Distinct tasks that take next to nothing.
fn distinct(n: usize) -> Vec<(&'static str, u32, u64)> {
    ["a", "b", "c", "d", "e", "f", "g"][..n].iter().map(|name| (*name, 1, 1)).collect()
}

#[test]
fn distinct_tasks_on_equal_cores_are_as_many_as_stirling_numbers_say() {
    // S(6, 1) + S(6, 2) + S(6, 3) = 1 + 31 + 90
    let system = system(&distinct(6), vec![core(0, &[1000]); 3]);
    assert_eq!(all(&space(&system, &high())).len(), 122);
    for (cores, stirling) in [(1, 1), (2, 31), (3, 90)] {
        let choices = Choices { cores: vec![cores], ..high() };
        assert_eq!(all(&space(&system, &choices)).len(), stirling);
    }
}

#[test]
fn alike_tasks_on_equal_cores_are_as_many_as_there_are_partitions() {
    // The partitions of 7 into at most 4 parts, with a task at either end: by Burnside's lemma.
    let lone = system(&[("w", 7, 1)], vec![core(0, &[1000]); 4]);
    assert_eq!(all(&space(&lone, &high())).len(), 11);
    let joined = system(&[("s", 1, 1), ("w", 3, 1), ("t", 1, 1)], vec![core(0, &[1000]); 3]);
    assert_eq!(all(&space(&joined, &high())).len(), burnside(&joined, &[vec![1, 2, 3]], 3));
}

/// Orbits of all mappings under exchange of all cores, and of the tasks within each class:
/// `(1 / |G|) Σ |Fix(g)|`.
fn burnside(system: &System, classes: &[Vec<usize>], cores: usize) -> usize {
    let tasks = system.tasks.len();
    let of_tasks = group(tasks, classes);
    let of_cores = group(cores, &[(0..cores).collect()]);
    let mappings = mappings(tasks, cores);
    let mut fixed = 0;
    for by_task in &of_tasks {
        for by_core in &of_cores {
            let moved = |m: &Vec<usize>| -> Vec<usize> {
                (0..tasks).map(|task| by_core[m[by_task[task]]]).collect()
            };
            fixed += mappings.iter().filter(|m| moved(m) == **m).count();
        }
    }
    assert_eq!(fixed % (of_tasks.len() * of_cores.len()), 0);
    fixed / (of_tasks.len() * of_cores.len())
}

fn mappings(tasks: usize, cores: usize) -> Vec<Vec<usize>> {
    (0..tasks).fold(vec![Vec::new()], |all, _| {
        let with = |m: Vec<usize>| (0..cores).map(move |core| [&m[..], &[core]].concat());
        all.into_iter().flat_map(with).collect()
    })
}

/// Every permutation of 0 to n − 1 that keeps each class.
fn group(n: usize, classes: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let identity: Vec<usize> = (0..n).collect();
    classes.iter().fold(vec![identity], |all, class| {
        let orders = permutations(class);
        let with = |permutation: Vec<usize>| {
            orders.clone().into_iter().map(move |order| {
                let mut next = permutation.clone();
                class.iter().zip(order).for_each(|(at, to)| next[*at] = to);
                next
            })
        };
        all.into_iter().flat_map(with).collect()
    })
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let rest = [&of[..at], &of[at + 1..]].concat();
        permutations(&rest).into_iter().map(move |tail| [&[of[at]], &tail[..]].concat())
    };
    (0..of.len()).flat_map(first).collect()
}

/// Mapping and points, with the point 0 for a core without a task.
type Plain = (Vec<usize>, Vec<u32>);

/// Orbits by applying the whole group to everything there is.
fn orbits(
    tasks: usize,
    points: &[u32],
    classes: &[Vec<usize>],
    core_classes: &[Vec<usize>],
) -> usize {
    let cores = points.len();
    let (of_tasks, of_cores) = (group(tasks, classes), group(cores, core_classes));
    let mut seen: BTreeSet<Plain> = BTreeSet::new();
    let mut orbits = 0;
    for mapping in mappings(tasks, cores) {
        for chosen in choices(points, &mapping) {
            if seen.contains(&(mapping.clone(), chosen.clone())) {
                continue;
            }
            orbits += 1;
            for by_core in &of_cores {
                for by_task in &of_tasks {
                    let moved = (0..tasks).map(|task| by_core[mapping[by_task[task]]]).collect();
                    let mut at = vec![0; cores];
                    by_core.iter().zip(&chosen).for_each(|(to, point)| at[*to] = *point);
                    seen.insert((moved, at));
                }
            }
        }
    }
    orbits
}

fn choices(points: &[u32], mapping: &[usize]) -> Vec<Vec<u32>> {
    (0..points.len()).fold(vec![Vec::new()], |all, core| {
        let n = if mapping.contains(&core) { points[core] } else { 1 };
        let with = |c: Vec<u32>| (0..n).map(move |point| [&c[..], &[point]].concat());
        all.into_iter().flat_map(with).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn there_is_one_candidate_for_each_orbit_of_mappings_and_points(
        counts in proptest::collection::vec(1u32..4, 1..4),
        two in 0usize..3,
        one in 1usize..3,
        points in 1usize..4,
    ) {
        let names = ["a", "b", "c"];
        let groups: Vec<_> =
            counts.iter().zip(names).map(|(count, name)| (name, *count, 1)).collect();
        let tasks: usize = counts.iter().map(|count| *count as usize).sum();
        prop_assume!(tasks <= 5);
        let mhz: Vec<u64> = (1..=points as u64).map(|n| n * 1000).collect();
        let slow = vec![core(0, &mhz); one];
        let fast = vec![core(one, &[5000]); two];
        let cores = [slow, fast].concat();
        let of_points: Vec<u32> = cores.iter().map(|core| core.points.len() as u32).collect();
        let core_classes = [(0..one).collect(), (one..one + two).collect()];
        // Many to many is connected each to each: still alike.
        let mut next = 0;
        let classes: Vec<Vec<usize>> = counts.iter().map(|count| {
            let class = (next..next + *count as usize).collect();
            next += *count as usize;
            class
        }).collect();
        let mut system = system(&groups, cores);
        for task in &mut system.tasks {
            for wire in &mut task.wires {
                // As one entry of an app.toml would have it: a mailbox that all share.
                wire.peers.clear();
            }
        }
        let found = all(&space(&system, &Choices::default()));
        let plain: BTreeSet<Plain> = found.iter().map(|c| {
            (c.mapping.iter().map(|core| *core as usize).collect(), c.points.clone())
        }).collect();
        prop_assert_eq!(plain.len(), found.len());
        prop_assert_eq!(found.len(), orbits(tasks, &of_points, &classes, &core_classes));
    }
}

#[test]
fn the_least_of_an_orbit_is_what_any_of_it_becomes() {
    let system = system(&[("a", 1, 1), ("w", 3, 1)], vec![core(0, &[1000, 2000]); 3]);
    let space = space(&system, &Choices::default());
    let symmetry = space.symmetry("static").unwrap();
    for candidate in all(&space) {
        for by_core in permutations(&[0, 1, 2]) {
            let mut other = candidate.clone();
            for (core, to) in by_core.iter().enumerate() {
                other.points[*to] = candidate.points[core];
                other.available[*to] = candidate.available[core];
            }
            for (task, core) in candidate.mapping.iter().enumerate() {
                other.mapping[task] = by_core[*core as usize] as u32;
            }
            other.mapping.swap(1, 3);
            symmetry.canonicalise(&mut other);
            assert_eq!(other, candidate);
        }
    }
}

#[test]
fn a_pin_tells_its_core_and_its_task_from_the_others() {
    let system = system(&[("w", 3, 1)], vec![core(0, &[1000]); 3]);
    assert_eq!(all(&space(&system, &high())).len(), 3);
    let pin = Pin { task: "w".into(), index: Some(1), core: 2 };
    let found = all(&space(&system, &Choices { pins: vec![pin], ..high() }));
    assert!(found.iter().all(|candidate| candidate.mapping[1] == 2));
    // Of two alike tasks, and two cores alike beside the third: 2+0+0, 1+1+0, 1+0+1, 0+0+2.
    assert_eq!(found.len(), 4);
}

#[test]
fn under_a_policy_the_core_of_the_coordinator_is_like_no_other() {
    let system = system(&[("a", 1, 1)], vec![core(0, &[1000]); 3]);
    let of = |policy: &str| {
        let policies = vec![policy.parse().unwrap()];
        all(&space(&system, &Choices { policies, cores: vec![2], ..high() }))
    };
    // Two cores, of which the task takes both: there is no such mapping without a policy.
    let refused =
        Space::new(system.clone(), &Choices { cores: vec![2], ..high() }, crate::common::SECOND_NS);
    assert!(refused.unwrap_err()[0].message.contains("nothing to explore"));
    // Cores {0, 1} with the task on either, or {1, 2}, where the coordinator is on core 1.
    assert_eq!(of("balance").len(), 4);
}

#[test]
fn under_a_policy_that_sees_places_no_core_is_like_another() {
    let of = |policy: &str, cores: usize, has_floorplan: bool| {
        let plain = system(&[("a", 1, 1)], vec![core(0, &[1000]); cores]);
        let policies = vec![policy.parse().unwrap()];
        let choices = Choices { policies, cores: vec![cores], ..high() };
        all(&space(&System { has_floorplan, ..plain }, &choices)).len()
    };
    // Temperatures, on a floorplan; the ring of cores, where some are not next to all others.
    assert_eq!((of("thermal", 4, true), of("thermal", 4, false)), (4, 2));
    assert_eq!((of("leakage", 4, true), of("leakage", 4, false)), (4, 2));
    assert_eq!((of("gossip", 5, true), of("gossip", 6, true)), (2, 6));
    assert_eq!((of("balance", 6, true), of("balance", 6, false)), (2, 2));
}

#[test]
fn what_a_policy_sets_is_not_chosen_and_what_it_keeps_is() {
    let system = system(&[("a", 1, 1)], vec![core(0, &[1000, 2000, 3000])]);
    let of = |policy: &str| {
        let policies = vec![policy.parse().unwrap()];
        all(&space(&system, &Choices { policies, ..Choices::default() })).len()
    };
    assert_eq!((of("static"), of("balance"), of("consolidate")), (3, 3, 1));
}

#[test]
fn slots_multiply_and_tell_tasks_apart_only_where_their_channels_differ() {
    let system = system(&[("s", 1, 1), ("w", 2, 1)], vec![core(0, &[1000]); 2]);
    let with = |slots| all(&space(&system, &Choices { slots, ..high() })).len();
    let of = |channel: Option<&str>| SlotChoice {
        channel: channel.map(str::to_owned),
        slots: vec![4, 8],
    };
    // s alone, with one w, with both; and all on one core: 1 + (s|ww) + (sw|w) = 3 mappings.
    assert_eq!(with(vec![]), 3);
    assert_eq!(with(vec![of(None)]), 6);
    assert_eq!(with(vec![of(Some("s_w"))]), 6);
    // The second worker differs from the first: sw|w and its mirror image are two.
    assert_eq!(with(vec![of(Some("s_w_1"))]), 8);
}

#[test]
fn what_overloads_a_core_is_no_candidate() {
    // Three tasks of 600 MHz on cores of 1000: no two fit.
    let system = system(&[("w", 3, 600)], vec![core(0, &[500, 700, 1000]); 4]);
    let found = all(&space(&system, &Choices::default()));
    assert!(found.iter().all(|c| c.cores().len() == 3 && c.points[..3].iter().all(|p| *p > 0)));
    // Multisets of 2 points on 3 cores.
    assert_eq!(found.len(), 4);
}
