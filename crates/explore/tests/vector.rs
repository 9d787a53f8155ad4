// SPDX-License-Identifier: Apache-2.0
//! Every candidate is a position for each variable of its space.

use crate::common::{core, space, system};
use whimbrel_explore::{Choices, SlotChoice, Variable};

#[test]
fn every_candidate_of_a_space_is_made_of_its_positions() {
    let cores = vec![core(0, &[50, 100]), core(0, &[50, 100]), core(1, &[200])];
    let system = system(&[("a", 1, 5), ("b", 2, 10)], cores);
    let slots = vec![SlotChoice { channel: None, slots: vec![2, 4] }];
    let policies = vec!["static".parse().unwrap(), "balance".parse().unwrap()];
    let choices = Choices { slots, policies, ..Choices::default() };
    let space = space(&system, &choices);
    let (all, _) = space.collect(1000, 100_000);
    assert!(all.len() > 100);
    for candidate in all {
        let positions = space.positions(&candidate);
        assert_eq!(space.candidate(&positions), Ok(candidate));
    }
}

#[test]
fn variables_have_the_names_of_columns_and_all_values() {
    let system = system(&[("a", 1, 5), ("b", 2, 10)], vec![core(0, &[50, 100]), core(1, &[200])]);
    let space = space(&system, &Choices::default());
    let text = |of: &Variable| format!("{} {}", of.name, serde_json::json!(of.values));
    let texts: Vec<String> = space.variables().iter().map(text).collect();
    let expected = [
        "rate [1.0]",
        "policy [\"static\"]",
        "mapping.a [0,1]",
        "mapping.b.0 [0,1]",
        "mapping.b.1 [0,1]",
        "points.0 [50.0,100.0]",
        "points.1 [200.0]",
        "available.0 [true]",
        "available.1 [true]",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn positions_beyond_the_values_are_refused() {
    let system = system(&[("a", 1, 5)], vec![core(0, &[100]); 2]);
    let space = space(&system, &Choices::default());
    let fine = vec![0; space.variables().len()];
    assert!(space.candidate(&fine).is_ok());
    let mut beyond = fine.clone();
    beyond[2] = 2;
    for wrong in [&fine[1..], &beyond] {
        let problem = space.candidate(wrong).unwrap_err();
        assert_eq!(problem.message, "the candidate does not fit its space");
    }
}
