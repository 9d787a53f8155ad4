// SPDX-License-Identifier: Apache-2.0
//! Choices that do not fit, each with what is wrong and what to do about it.

use crate::common::{SECOND_NS, core, system};
use whimbrel_explore::{Choices, PointChoice, SlotChoice, Space, System};
use whimbrel_model::Pin;

fn radio() -> System {
    let groups = [("lpf", 1, 40), ("bpf", 3, 20), ("sum", 1, 20)];
    system(&groups, vec![core(0, &[100, 200]), core(0, &[100, 200]), core(1, &[150])])
}

fn refused(system: &System, choices: &Choices) -> (String, String) {
    let problems = Space::new(system.clone(), choices, SECOND_NS).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    (problems[0].message.clone(), problems[0].help.clone().unwrap_or_default())
}

fn pin(task: &str, index: Option<u32>, core: usize) -> Choices {
    Choices { pins: vec![Pin { task: task.into(), index, core }], ..Choices::default() }
}

#[test]
fn more_cores_than_the_platform_has_or_none_at_all_are_refused() {
    for bad in [0, 4] {
        let (message, help) =
            refused(&radio(), &Choices { cores: vec![1, bad], ..Choices::default() });
        assert_eq!(message, format!("--core-counts: {bad} cores cannot be used"));
        assert_eq!(help, "name at most the 3 of the platform platform");
    }
}

#[test]
fn a_rate_of_zero_no_rate_at_all_and_rates_without_effect_are_refused() {
    let rates = Choices { rates_millihz: vec![500, 0], ..Choices::default() };
    assert_eq!(refused(&radio(), &rates).0, "--frame-rates: a frame rate must be more than 0");
    let free = System { rate_millihz: 0, ..radio() };
    let (message, help) = refused(&free, &Choices::default());
    assert_eq!(message, "the application has no frame rate");
    assert!(help.contains("--frame-rates"));
    let mut own = radio();
    own.tasks.iter_mut().for_each(|t| t.firing = whimbrel_explore::Firing::PerSecond(1.0));
    let rates = Choices { rates_millihz: vec![500], ..Choices::default() };
    assert!(refused(&own, &rates).0.starts_with("--frame-rates has no effect"));
}

#[test]
fn a_point_that_no_core_has_and_a_core_without_a_point_are_refused() {
    let points =
        |hz: &[u64]| Choices { points: PointChoice::Hz(hz.to_vec()), ..Choices::default() };
    let (message, help) = refused(&radio(), &points(&[100_000_000, 133_000_000, 150_000_000]));
    assert_eq!(message, "--points: no core has a point of 133 MHz");
    assert_eq!(help, "name points that it has: 100, 150, 200 MHz");
    let (message, _) = refused(&radio(), &points(&[100_000_000]));
    assert_eq!(message, "core 2 has no operating point to begin at");
}

#[test]
fn slots_for_no_channel_twice_or_too_few_are_refused() {
    let with = |all: &[(Option<&str>, &[u32])]| {
        let choice = |(channel, slots): &(Option<&str>, &[u32])| SlotChoice {
            channel: channel.map(str::to_owned),
            slots: slots.to_vec(),
        };
        Choices { slots: all.iter().map(choice).collect(), ..Choices::default() }
    };
    let (message, help) = refused(&radio(), &with(&[(Some("mixer"), &[4])]));
    assert_eq!(message, "--slots: there is no channel `mixer`");
    assert!(help.contains("lpf_bpf_0, lpf_bpf_1"), "{help}");
    assert_eq!(refused(&radio(), &with(&[(Some("lfp_bpf_0"), &[4])])).1, "write `lpf_bpf_0`");
    let twice = with(&[(Some("lpf_bpf"), &[4]), (Some("lpf_bpf_1"), &[8])]);
    assert_eq!(refused(&radio(), &twice).0, "--slots: the channel `lpf_bpf_1` is named twice");
    assert_eq!(
        refused(&radio(), &with(&[(None, &[])])).0,
        "--slots: there is nothing to choose from"
    );
    let mut kept = radio();
    kept.channels[2].least = 11;
    let (message, help) = refused(&kept, &with(&[(None, &[14, 4])]));
    assert_eq!(message, "--slots: 4 slots are too few for `lpf_bpf_2`");
    assert_eq!(help, "write at least 11");
}

#[test]
fn policies_that_do_not_exist_or_cannot_be_explored_are_refused() {
    let with = |policy: &str| {
        let policies = vec![policy.parse().unwrap()];
        refused(&radio(), &Choices { policies, ..Choices::default() })
    };
    let (message, help) = with("balanse:a=1");
    assert_eq!(message, "--policies: there is no policy `balanse:a=1`");
    assert_eq!(help, "write `balance`");
    assert_eq!(with("table").0, "--policies: `table` cannot be explored");
    let (message, help) = with("none");
    assert_eq!(message, "--policies: there is no policy `none`");
    assert!(help.contains("consolidate"), "{help}");
}

#[test]
fn a_pin_of_no_task_to_no_core_or_to_a_core_it_does_not_run_on_is_refused() {
    let (message, help) = refused(&radio(), &pin("demodulator", None, 0));
    assert_eq!(message, "--pin: there is no task `demodulator`");
    assert_eq!(help, "name a task of app: bpf, lpf, sum");
    assert_eq!(refused(&radio(), &pin("bpf", Some(3), 0)).0, "--pin: there is no task `bpf.3`");
    let (message, help) = refused(&radio(), &pin("lpf", None, 3));
    assert_eq!(message, "--pin: core 3 does not exist");
    assert_eq!(help, "the platform platform has cores 0 to 2");

    let mut kinds = radio();
    kinds.tasks[2].cycles = Some(vec![1000, 1000, 0]);
    let (message, help) = refused(&kinds, &pin("bpf", None, 2));
    assert_eq!(message, "--pin: `bpf.1` cannot be on core 2");
    assert!(help.starts_with("it does not run on cores of this kind"), "{help}");

    let mut fixed = radio();
    fixed.tasks[0].migratable = false;
    let (message, help) = refused(&fixed, &pin("lpf", None, 1));
    assert_eq!(message, "--pin: `lpf` cannot be on core 1");
    assert_eq!(help, "it may not move, and starts on core 0");

    let mut twice = pin("lpf", None, 1);
    twice.pins.extend(pin("lpf", None, 0).pins);
    assert_eq!(refused(&radio(), &twice).1, "it is pinned to another core already");
}

#[test]
fn a_task_that_may_not_move_stays_on_a_core_that_exists() {
    let mut fixed = radio();
    (fixed.tasks[0].migratable, fixed.tasks[0].start) = (false, 7);
    let (message, _) = refused(&fixed, &Choices::default());
    assert_eq!(message, "`lpf` stays on core 7, which does not exist");
    let mut nowhere = radio();
    nowhere.tasks[4].cycles = Some(vec![0; 3]);
    assert_eq!(refused(&nowhere, &Choices::default()).0, "`sum` runs on no core");
}

#[test]
fn a_space_without_a_candidate_that_keeps_up_is_refused_with_its_rate() {
    // 120 MHz of work for each frame: three cores have 550 MHz.
    let rates = Choices { rates_millihz: vec![1000, 5500], ..Choices::default() };
    let (message, help) = refused(&radio(), &rates);
    assert!(
        message.starts_with("there is nothing to explore at 5.5 frames per second"),
        "{message}"
    );
    assert!(help.contains("allow more cores"), "{help}");
    let policies = vec!["spread".parse().unwrap()];
    let (message, _) = refused(&radio(), &Choices { policies, ..rates });
    assert!(message.starts_with("there is nothing to explore at 5.5"), "{message}");
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let choices = Choices {
        cores: vec![9],
        policies: vec!["none".parse().unwrap()],
        ..pin("nobody", None, 0)
    };
    assert_eq!(Space::new(radio(), &choices, SECOND_NS).unwrap_err().len(), 3);
}
