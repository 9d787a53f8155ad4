// SPDX-License-Identifier: Apache-2.0
//! Migration modes and checkpoint images: what the plan says of them, and what makes no sense.

use crate::common::{RADIO, build, errors, radio_with, shown, told};
use insta::assert_snapshot;
use whimbrel_model::{App, Mode, Moves, OnCrash};

const BPF: &str = "entry = \"band_pass\"";

fn bpf_with(keys: &str) -> String {
    radio_with(BPF, &format!("{BPF}\n{keys}"))
}

fn modes(app: &App) -> Vec<Mode> {
    app.tasks.iter().map(|task| task.mode).collect()
}

#[test]
fn a_task_moves_by_hand_off_and_keeps_no_image_unless_its_table_says_so() {
    let app = build(RADIO, &[]).unwrap();
    assert!(app.tasks.iter().all(|t| t.mode == Mode::Handoff && t.checkpoint_every == 0));

    let app = build(&bpf_with("mode = \"replicate\"\ncheckpoint_every = 3"), &[]).unwrap();
    assert_eq!(modes(&app)[..3], [Mode::Handoff, Mode::Replicate, Mode::Replicate]);
    assert_eq!((app.tasks[1].checkpoint_every, app.tasks[1].on_crash), (3, OnCrash::Replay));
}

#[test]
fn what_a_task_keeps_and_how_it_moves_is_in_the_plan() {
    let bpf = |keys: &str| {
        let plan = crate::common::plan_of(&bpf_with(keys));
        let task = plan.tasks.into_iter().find(|task| task.name == "bpf" && task.index == 0);
        let task = task.unwrap();
        (task.mode, task.checkpoint_every, task.replay)
    };
    let recreated = bpf("mode = \"recreate\"\nrestart = true\ncheckpoint_every = 7");
    assert_eq!(recreated, (Mode::Recreate, 7, true));
    let skipping = bpf("checkpoint_every = 100\non_crash = \"skip\"");
    assert_eq!(skipping, (Mode::Handoff, 100, false));
    assert_eq!(bpf("checkpoint_every = 0"), (Mode::Handoff, 0, false));
}

#[test]
fn each_rule_about_modes_and_images_has_its_own_refusal() {
    let cases = [
        (
            "mode = \"teleport\"",
            "`mode` of [[task]] must be \"handoff\", \"replicate\", \"recreate\" or \"reenter\"",
        ),
        ("mode = \"recreate\"", "`bpf` cannot be recreated"),
        ("mode = \"reenter\"", "`bpf` cannot be re-entered"),
        (
            "mode = \"reenter\"\nrestart = true\ncheckpoint_every = 2",
            "`bpf` is re-entered, and keeps images",
        ),
        ("mode = \"reenter\"\nmigratable = false", "`bpf` has a mode to move in, but may not"),
        ("mode = \"replicate\"\nmigratable = false", "`bpf` has a mode to move in, but may not"),
        ("move = \"anywhere\"", "`move` of [[task]] must be \"checkpoints\" or \"waits\""),
        ("move = \"waits\"\nmigratable = false", "`bpf` moves where it waits, but may not move"),
        (
            "move = \"waits\"\nmode = \"recreate\"\nrestart = true",
            "`bpf` cannot be recreated where it waits",
        ),
        (
            "move = \"waits\"\nmode = \"reenter\"\nrestart = true",
            "`bpf` cannot be re-entered where it waits",
        ),
        ("on_crash = \"skip\"", "`bpf` has `on_crash`, but no images to restart from"),
        (
            "checkpoint_every = 0\non_crash = \"skip\"",
            "`bpf` has `on_crash`, but no images to restart from",
        ),
        ("checkpoint_every = 2\non_crash = \"stop\"", "`on_crash` of [[task]] must be \"replay\""),
        ("checkpoint_every = -1", "`checkpoint_every` of [[task]] must be a whole number"),
        ("checkpoint_every = 14", "`lpf_bpf_0` cannot keep the messages of 14 checkpoints"),
    ];
    for (keys, expected) in cases {
        let said = errors(&bpf_with(keys), &[]).replace(['\n', '│'], " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{keys}: {said}");
    }
    let reentered = "mode = \"reenter\"\nrestart = true\ncheckpoint_every = 0";
    for keys in ["mode = \"handoff\"\nmigratable = false", "checkpoint_every = 13", reentered] {
        assert!(build(&bpf_with(keys), &[]).is_ok(), "{keys}");
    }
}

#[test]
fn a_task_moves_at_its_checkpoints_unless_its_table_says_that_it_does_where_it_waits() {
    let waits = |keys: &str| {
        let plan = crate::common::plan_of(&bpf_with(keys));
        plan.tasks.iter().map(|task| task.moves_at_waits).collect::<Vec<_>>()
    };
    assert!(!waits("").contains(&true) && !waits("move = \"checkpoints\"").contains(&true));
    let bpf = waits("move = \"waits\"").into_iter().filter(|waits| *waits).count();
    assert_eq!(bpf, 2);

    let text = bpf_with("move = \"waits\"").replace("[[task]]", "[[task]]\nrestart = true");
    let mut app = build(&text, &[]).unwrap();
    app.set_mode(Mode::Replicate).unwrap();
    assert!(app.tasks.iter().any(|task| task.moves == Moves::Waits));
    app.set_mode(Mode::Recreate).unwrap();
    app.set_moves(Moves::Waits);
    assert!(app.tasks.iter().all(|task| task.moves == Moves::Checkpoints));
    app.set_mode(Mode::Handoff).unwrap();
    app.set_moves(Moves::Waits);
    let moves = |task: &whimbrel_model::Task| (task.moves == Moves::Waits) == task.migratable;
    assert!(app.tasks.iter().all(moves));
}

#[test]
fn each_rule_about_the_cores_that_share_a_task_has_its_own_refusal() {
    let cases = [
        ("cores = [0, 1]\nmigratable = false", "`bpf` has several cores, but may not move"),
        ("cores = [0, 1]\nmode = \"replicate\"", "`bpf` has several cores, and a mode to move in"),
        ("cores = [2, 3]", "`bpf` starts on core 0, which is none of its cores"),
        ("cores = [0]", "`cores` of [[task]] must be an array of at least two whole numbers"),
        ("cores = [0, 32]", "`cores` of [[task]] must be an array of at least two whole numbers"),
    ];
    for (keys, expected) in cases {
        let said = errors(&bpf_with(keys), &[]).replace(['\n', '│'], " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{keys}: {said}");
    }
    let app = build(&bpf_with("cores = [0, 1]"), &[]).unwrap();
    let bpf = app.tasks.iter().find(|task| task.name == "bpf").unwrap();
    assert_eq!(bpf.shared_by, [0, 1]);
}

#[test]
fn an_image_that_is_too_rare_for_its_channel_says_what_to_change() {
    assert_snapshot!(errors(&bpf_with("checkpoint_every = 14"), &[]));
}

#[test]
fn each_channel_must_keep_what_came_since_the_image_but_no_mailbox() {
    let sink = |every: u32| {
        let keys = format!("migratable = false\ncheckpoint_every = {every}");
        build(&radio_with("migratable = false", &keys).replace("slots = 64", "slots = 2"), &[])
    };
    assert!(sink(6).is_ok());
    assert!(told(&sink(7).unwrap_err()).contains("`bpf_sink_0` cannot keep"));
}

#[test]
fn a_mode_of_the_run_holds_for_every_task_that_may_move() {
    let mut app = build(&bpf_with("mode = \"replicate\""), &[]).unwrap();
    app.set_mode(Mode::Handoff).unwrap();
    assert!(modes(&app).iter().all(|mode| *mode == Mode::Handoff));
    app.set_mode(Mode::Replicate).unwrap();
    // The last is the sink, which may not.
    assert_eq!(modes(&app)[2..], [Mode::Replicate, Mode::Handoff]);
}

#[test]
fn a_run_that_recreates_names_every_task_that_cannot_be() {
    let text = radio_with("name = \"lpf\"", "name = \"lpf\"\nrestart = true");
    let problems = build(&text, &[]).unwrap().set_mode(Mode::Recreate).unwrap_err();
    assert_snapshot!(shown("app.toml", &text, problems));

    let text = text.replace(BPF, &format!("{BPF}\nrestart = true"));
    let mut app = build(&text, &[]).unwrap();
    app.set_mode(Mode::Recreate).unwrap();
    assert_eq!(modes(&app)[..3], [Mode::Recreate; 3]);
}

#[test]
fn a_run_that_re_enters_names_every_task_that_cannot_be() {
    let set = |text: &str| {
        let mut app = build(text, &[]).unwrap();
        app.set_moves(Moves::Waits);
        app.set_mode(Mode::Reenter).map(|()| app)
    };
    let text = radio_with("name = \"lpf\"", "name = \"lpf\"\nrestart = true");
    assert!(told(&set(&text).unwrap_err()).starts_with("`bpf` cannot be re-entered"));

    let images = text.replace(BPF, &format!("{BPF}\nrestart = true\ncheckpoint_every = 2"));
    assert_eq!(told(&set(&images).unwrap_err()), "`bpf` is re-entered, and keeps images");

    let app = set(&text.replace(BPF, &format!("{BPF}\nrestart = true"))).unwrap();
    assert_eq!(modes(&app)[..3], [Mode::Reenter; 3]);
    assert!(app.tasks.iter().take(3).all(|task| task.moves == Moves::Checkpoints));
}
