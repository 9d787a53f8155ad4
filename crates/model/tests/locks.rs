// SPDX-License-Identifier: Apache-2.0
//! Which orders of locks are refused: those by which tasks can block each other, and no others.

use std::collections::HashSet;
use std::fmt::Write;

use crate::common::{build, errors};

const MUTEXES: usize = 4;

/// A task's name, how many there are of it, and what each does: `+2` locks mutex 2, `-2` gives it
/// back.
type Tasks<'t> = [(&'t str, usize, Vec<i8>)];

fn text(tasks: &Tasks<'_>) -> String {
    let mut text = "[app]\nname = \"locks\"\n".to_owned();
    for mutex in 1..=MUTEXES {
        writeln!(text, "[[mutex]]\nname = \"m{mutex}\"").unwrap();
    }
    for (name, count, steps) in tasks {
        write!(text, "[[task]]\nname = \"{name}\"\ncount = {count}\nscript = [").unwrap();
        for step in steps {
            let verb = if *step > 0 { "lock" } else { "unlock" };
            write!(text, "{{ {verb} = \"m{}\" }}, ", step.abs()).unwrap();
        }
        text.push_str("{ run = 1 }]\n");
    }
    text
}

/// Whether the tasks can come to where some are left and none goes on, by all interleavings.
fn blocks(tasks: &Tasks<'_>) -> bool {
    let all: Vec<&Vec<i8>> =
        tasks.iter().flat_map(|(_, count, steps)| std::iter::repeat_n(steps, *count)).collect();
    let mut seen = HashSet::from([vec![0; all.len()]]);
    let mut todo = vec![vec![0; all.len()]];
    while let Some(at) = todo.pop() {
        let taken = |mutex: i8| {
            let holds = |steps: &&[i8]| steps.iter().filter(|step| step.abs() == mutex).count() % 2;
            all.iter().zip(&at).any(|(steps, at)| holds(&&steps[..*at]) == 1)
        };
        let (mut left, mut moves) = (0, 0);
        for task in 0..all.len() {
            let Some(step) = all[task].get(at[task]) else { continue };
            left += 1;
            if *step < 0 || !taken(*step) {
                moves += 1;
                let mut next = at.clone();
                next[task] += 1;
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        if left > 0 && moves == 0 {
            return true;
        }
    }
    false
}

fn is_refused(tasks: &Tasks<'_>) -> bool {
    let refused = build(&text(tasks), &[]).is_err();
    let said = if refused { errors(&text(tasks), &[]) } else { String::new() };
    assert!(!refused || said.contains("are locked in different orders"), "{said}");
    refused
}

fn check(tasks: &Tasks<'_>, can_block: bool) {
    assert_eq!((is_refused(tasks), blocks(tasks)), (can_block, can_block), "{tasks:?}");
}

#[test]
fn a_task_that_stands_twice_in_a_cycle_cannot_block_alone_and_two_of_its_name_can() {
    // 1 → 2 and 3 → 1 by `a`, 2 → 3 by `b`.
    let a = vec![1, 2, -2, -1, 3, 1, -1, -3];
    let b = vec![2, 3, -3, -2];
    check(&[("a", 1, a.clone()), ("b", 1, b.clone())], false);
    check(&[("a", 2, a.clone()), ("b", 1, b.clone())], true);
    check(&[("a", 1, a.clone()), ("b", 1, b.clone()), ("c", 1, vec![3, 1, -1, -3])], true);
}

#[test]
fn a_longer_cycle_is_found_beside_a_shorter_one_that_cannot_block() {
    // 1 → 2 → 1 only by `a`; 1 → 2 → 3 → 1 by all.
    let a = vec![1, 2, -2, -1, 2, 1, -1, -2];
    let (b, c) = (vec![2, 3, -3, -2], vec![3, 1, -1, -3]);
    check(&[("a", 1, a.clone()), ("b", 1, b.clone())], false);
    check(&[("a", 1, a), ("b", 1, b), ("c", 1, c)], true);
}

#[test]
fn two_of_three_that_hold_another_mutex_keep_all_three_apart() {
    let under_4 = |steps: [i8; 4]| [&[4], &steps[..], &[-4]].concat();
    let (one, two, three) = ([1, 2, -2, -1], [2, 3, -3, -2], [3, 1, -1, -3]);
    let of = |a: Vec<i8>, b: Vec<i8>| [("a", 1, a), ("b", 1, b), ("c", 1, three.to_vec())];
    check(&of(one.to_vec(), two.to_vec()), true);
    check(&of(under_4(one), two.to_vec()), true);
    check(&of(under_4(one), under_4(two)), false);
}

/// Draws numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    /// Locks and gives back; in the end all is given back.
    fn steps(&mut self) -> Vec<i8> {
        let (mut steps, mut held): (Vec<i8>, Vec<i8>) = (Vec::new(), Vec::new());
        for _ in 0..2 + self.below(5) {
            let mutex = 1 + self.below(MUTEXES as u64) as i8;
            match held.iter().position(|other| *other == mutex) {
                Some(at) => {
                    held.remove(at);
                    steps.push(-mutex);
                }
                None => {
                    held.push(mutex);
                    steps.push(mutex);
                }
            }
        }
        steps.extend(held.iter().rev().map(|mutex| -mutex));
        steps
    }
}

#[test]
fn random_locks_are_refused_if_and_only_if_they_can_block() {
    let (mut random, mut refused) = (Random(1), 0);
    for case in 0..600 {
        let mut draw = |name| (name, 1 + (random.below(5) == 0) as usize, random.steps());
        let tasks = [draw("a"), draw("b"), draw("c")];
        let can_block = blocks(&tasks);
        assert_eq!(is_refused(&tasks), can_block, "case {case}: {tasks:?}");
        refused += usize::from(can_block);
    }
    assert!((120..480).contains(&refused), "{refused}");
}
