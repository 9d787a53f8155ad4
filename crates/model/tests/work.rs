// SPDX-License-Identifier: Apache-2.0
//! What tasks compute: how it is told to the helper, and what makes no sense.

use crate::common::{RADIO, build, errors, plan_of, radio_with};
use insta::assert_snapshot;
use whimbrel_model::{App, Compute, PlanOptions, PlanWork, Problems, check_kinds, from_word, plan};

/// A cycle-true synthetic application: a source that cuts frames in two, two workers, a sink.
const SYNTHETIC: &str = r#"
[app]
name = "cut"

[params]
load = 1000

[[task]]
name = "source"
cycles = "load / 3"
firings = 10

[[task]]
name = "worker"
count = 2
core = [0, 1]
cycles = { host = "load * 2 + 5", dsp = 200 }
distribution = "normal"
spread = 0.25
working_set = "16KiB"
traffic = 4096

[[task]]
name = "sink"
cycles = 1
distribution = "exponential"

[[channel]]
from = "source.out"
to = "worker.in"
slot_bytes = 8
produce = 2

[[channel]]
from = "worker.out"
to = "sink.in"
slots = 3
slot_bytes = 8
consume = 2
"#;

fn synthetic_with(from: &str, to: &str) -> String {
    assert!(SYNTHETIC.contains(from), "{from}");
    SYNTHETIC.replacen(from, to, 1)
}

fn options(kinds: &[&str]) -> PlanOptions {
    PlanOptions {
        pacing: whimbrel_model::Pacing::Fast,
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        seed: 7,
        ..PlanOptions::plain(vec![4, 5, 6], "/synthetic.so")
    }
}

#[test]
fn the_work_of_a_task_is_told_for_each_kind_of_core_of_the_run() {
    let plan = plan(&build(SYNTHETIC, &[]).unwrap(), &options(&["dsp", "host", "dsp"]));
    let cores: Vec<_> = plan.cores.iter().map(|core| (core.cpu, core.kind)).collect();
    assert_eq!(cores, [(4, 0), (5, 1), (6, 0)]);
    assert!(plan.models_compute && plan.seed == 7);
    let works: Vec<_> = plan.tasks.iter().map(|task| task.work.clone().unwrap()).collect();
    let work = |distribution: &str, spread_ppm, (working_bytes, traffic_bytes), firings, cycles| {
        let distribution = from_word(distribution).unwrap();
        PlanWork { distribution, spread_ppm, working_bytes, traffic_bytes, firings, cycles }
    };
    let worker = work("normal", 250_000, (16384, 4096), 0, vec![200, 2005]);
    assert_eq!(
        works,
        [
            work("constant", 0, (0, 0), 10, vec![333]),
            worker.clone(),
            worker,
            work("exponential", 0, (0, 0), 0, vec![1]),
        ]
    );
}

fn cycles(settings: &[(&str, &str)], kinds: &[&str], task: usize) -> Vec<u64> {
    let plan = plan(&build(SYNTHETIC, settings).unwrap(), &options(kinds));
    plan.tasks[task].work.clone().unwrap().cycles
}

#[test]
fn a_kind_that_is_not_listed_has_no_cycles() {
    assert_eq!(cycles(&[], &["arm9", "host"], 1), [0, 2005]);
}

#[test]
fn cycles_go_by_the_parameters_in_force() {
    assert_eq!(cycles(&[("load", "30")], &[], 0), [10]);
    assert_eq!(cycles(&[("load", "30")], &[], 1), [65]);
}

#[test]
fn a_rate_is_told_with_its_port() {
    let plan = plan(&build(SYNTHETIC, &[]).unwrap(), &options(&[]));
    let line = plan.line();
    for port in [
        r#"{"task":0,"direction":"out","name":"out","channel":0,"rate":2}"#,
        r#"{"task":1,"direction":"in","name":"in","channel":0,"rate":1}"#,
        r#"{"task":0,"direction":"out","name":"out","index":1,"channel":1,"rate":2}"#,
        r#"{"task":2,"direction":"in","name":"in","channel":1,"rate":1}"#,
    ] {
        assert!(line.contains(port), "{port} in {line}");
    }
    assert_eq!(plan.channels[1].name, "source_worker_1");
}

#[test]
fn an_application_without_work_says_nothing_of_it() {
    let plan = plan_of(RADIO);
    assert!(!plan.models_compute && plan.seed == 0);
    assert!(plan.tasks.iter().all(|task| task.work.is_none()));
}

#[test]
fn a_synthetic_application_runs_in_the_module_for_them() {
    let app = build(SYNTHETIC, &[]).unwrap();
    assert_eq!((app.module.get_ref().as_str(), app.synthetic), ("synthetic.so", true));
    assert!(app.tasks.iter().all(|task| task.entry.get_ref() == "synthetic"));
    assert_eq!(app.compute, Compute::Model);
}

#[test]
fn each_rule_of_work_has_its_own_refusal() {
    let cases = [
        ("cycles = 1\n", "cycles = 0\n", "a firing of `sink` cannot take 0 cycles"),
        ("cycles = 1\n", "cycles = -3\n", "a firing of `sink` cannot take -3 cycles"),
        ("cycles = 1\n", "cycles = 1e15\n", "cannot take 1000000000000000 cycles"),
        ("dsp = 200", "dsp = 0", "a firing of `worker` cannot take 0 cycles"),
        ("dsp = 200", "dsp = \"lod\"", "is not the name of a numeric parameter"),
        ("{ host = \"load * 2 + 5\", dsp = 200 }", "{}", "`cycles` of [[task]] must be"),
        ("\"normal\"", "\"gauss\"", "`distribution` of [[task]] must be"),
        ("spread = 0.25", "", "`worker` is normal, but has no spread"),
        ("spread = 0.25", "spread = 0.34", "a firing of `worker` could take less than 0 cycles"),
        ("spread = 0.25", "spread = -0.1", "`spread` of [[task]] must be"),
        ("\"exponential\"", "\"exponential\"\nspread = 0.1", "`sink` has a spread, but is"),
        ("distribution = \"normal\"\n", "", "`worker` has a spread, but is constant"),
        ("cycles = 1\n", "", "`sink` has no cycles that this could be said of"),
        ("cycles = \"load / 3\"\nfirings = 10\n", "", "`source` has no cycles, but only takes"),
        ("traffic = 4096", "traffic = \"4kb\"", "`traffic` of [[task]] must be"),
        ("firings = 10", "firings = 0", "`firings` of [[task]] must be a whole number from 1"),
        ("firings = 10", "firings = 1e3", "must be a whole number from 1 to 2^64 - 1"),
        ("firings = 10", "firings = 99999999999999999999", "a whole number from 1 to 2^64 - 1"),
        ("cycles = 1\n", "cycles = 99999999999999999999\n", "cannot take 100000000000000000000"),
        ("traffic = 4096", "traffic = \"1025GiB\"", "a number of bytes, at most \"1024GiB\""),
        ("cycles = 1\n", "cycles = 1\nfirings = 3\n", "`sink` receives messages, and ends"),
        ("cycles = 1\n", "cycles = 1\nentry = \"f\"\n", "`sink` has a function, but the"),
        ("name = \"cut\"", "name = \"cut\"\ncompute = \"real\"", "there is nothing to compute"),
        ("name = \"cut\"", "name = \"cut\"\ncompute = \"no\"", "`compute` of [app] must be"),
        ("produce = 2", "produce = 0", "`produce` of [[channel]] must be"),
        ("consume = 2", "consume = 40000", "`consume` of [[channel]] must be"),
        ("consume = 2", "claim = \"end\"", "`claim` of [[channel]] must be \"send\" or \"start\""),
        ("[[channel]]\nfrom = \"source.out\"", "[[mailbox]]\nfrom = [\"source.out\"]", "produce"),
    ];
    for (from, to, expected) in cases {
        let shown = errors(&synthetic_with(from, to), &[]).replace(['\n', '│'], " ");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(expected), "{to}: {shown}");
    }
}

#[test]
fn what_needs_a_module_or_none_is_refused_with_the_other() {
    let mailbox = format!(
        "{SYNTHETIC}\n[[mailbox]]\nfrom = [\"sink.log\"]\nto = \"source.log\"\nslot_bytes = 8\n"
    );
    assert!(errors(&mailbox, &[]).contains("synthetic tasks have no mailboxes"));
    let rates = radio_with("slots = 7", "slots = 7\nproduce = 2");
    assert!(errors(&rates, &[]).contains("only synthetic tasks have rates"));
    let claims = radio_with("slots = 7", "slots = 7\nclaim = \"start\"");
    assert!(errors(&claims, &[]).contains("only synthetic tasks claim room by a rule"));
    assert!(build(&radio_with("slots = 7", "slots = 7\nclaim = \"send\""), &[]).is_err());
}

#[test]
fn room_that_no_firing_ever_finds_is_shown_at_its_channel() {
    let claimed = synthetic_with("slots = 3", "slots = 3\nclaim = \"start\"");
    let claims = |toml: &str| -> Vec<bool> {
        plan_of(toml).channels.iter().map(|channel| channel.claims_at_start).collect()
    };
    assert_eq!(claims(&claimed), [false, false, true, true]);
    assert_eq!(claims(SYNTHETIC), [false; 4]);
    let narrow = synthetic_with("slots = 3", "slots = 1\nclaim = \"start\"");
    let told = errors(&narrow, &[]);
    assert!(told.contains("blocks") && told.contains("has no room for a firing"), "{told}");
}

#[test]
fn computing_is_modelled_only_where_every_task_has_cycles() {
    let modelled = radio_with("name = \"radio\"", "name = \"radio\"\ncompute = \"model\"");
    assert_snapshot!(errors(&modelled.replace("\ncount = 2", "\ncount = 2\ncycles = 3"), &[]));
}

#[test]
fn a_run_may_model_what_the_file_computes_but_not_the_other_way_without_a_module() {
    let told = |set: Result<(), Problems>| crate::common::told(&set.unwrap_err());
    let mut radio: App = build(RADIO, &[]).unwrap();
    assert!(told(radio.set_compute(Compute::Model)).contains("`lpf` has no cycles"));
    let mut synthetic = build(SYNTHETIC, &[]).unwrap();
    assert!(told(synthetic.set_compute(Compute::Real)).contains("nothing to compute really"));
    assert!(synthetic.set_compute(Compute::Model).is_ok());
}

#[test]
fn a_mapping_to_a_kind_of_core_that_a_task_does_not_run_on_is_shown_at_its_core() {
    let app = build(SYNTHETIC, &[]).unwrap();
    let kinds = |all: &[&str]| all.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    assert!(check_kinds(&app, &kinds(&["dsp", "host"])).is_ok());
    assert!(check_kinds(&app, &[]).is_ok());
    let problems = check_kinds(&app, &kinds(&["host", "arm9"])).unwrap_err();
    assert_snapshot!(crate::common::shown("app.toml", SYNTHETIC, problems));
}

#[test]
fn rates_that_cannot_be_kept_up_are_shown_at_their_channel() {
    assert_snapshot!(errors(&diamond("produce = 2", "", ""), &[]));
    assert!(build(&diamond("produce = 2", "produce = 2", ""), &[]).is_ok());
    assert!(build(&diamond("produce = 2", "", "consume = 2"), &[]).is_err());
}

/// Two ways from one task to another, with something to say of three of their channels.
fn diamond(upper: &str, upper_end: &str, lower_end: &str) -> String {
    let task = |name: &str| format!("[[task]]\nname = \"{name}\"\ncycles = 9\n\n");
    let channel = |from: &str, to: &str, rate: &str| {
        format!("[[channel]]\nfrom = \"{from}\"\nto = \"{to}\"\nslot_bytes = 8\n{rate}\n\n")
    };
    ["[app]\nname = \"diamond\"\n\n".to_owned()]
        .into_iter()
        .chain(["split", "up", "down", "join"].map(task))
        .chain([
            channel("split.up", "up.in", upper),
            channel("split.down", "down.in", ""),
            channel("up.out", "join.up", if upper_end.is_empty() { "" } else { "consume = 2" }),
            channel("down.out", "join.down", lower_end),
        ])
        .collect()
}

const LOOP: &str = r#"
[app]
name = "control"

[[task]]
name = "controller"
cycles = 100

[[task]]
name = "plant"
cycles = 100

[[channel]]
from = "controller.force"
to = "plant.force"
slot_bytes = 8

[[channel]]
from = "plant.state"
to = "controller.state"
slots = 4
slot_bytes = 8
produce = 2
consume = 2
initial = 1
"#;

#[test]
fn a_loop_with_too_few_messages_for_its_rates_blocks() {
    assert_snapshot!(errors(LOOP, &[]));
    assert!(build(&LOOP.replace("initial = 1", "initial = 2"), &[]).is_ok());
}

/// The join takes from the slow way first, the fast one has too few slots to wait for that, and
/// the split fills it first.
const FULL: &str = r#"
[app]
name = "full"

[[task]]
name = "split"
cycles = 100

[[task]]
name = "slow"
cycles = 100

[[task]]
name = "join"
cycles = 100

[[channel]]
from = "slow.out"
to = "join.slow"
slot_bytes = 8

[[channel]]
from = "split.fast"
to = "join.fast"
slots = 1
slot_bytes = 8
produce = 2
consume = 2

[[channel]]
from = "split.slow"
to = "slow.in"
slot_bytes = 8
"#;

#[test]
fn a_loop_of_full_and_empty_channels_says_which_is_which() {
    assert_snapshot!(errors(FULL, &[]));
    assert!(build(&FULL.replace("slots = 1", "slots = 2"), &[]).is_ok());
}

/// What many firings would wait for later is no part of it.
#[test]
fn a_loop_of_many_firings_names_each_task_once() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/synthetic/fork_join.toml");
    let text = std::fs::read_to_string(file).unwrap().replace("consume = 2", "consume = 255");
    let said = errors(&text, &[]);
    assert!(said.contains("the loop split → worker.1 → join → worker.0 → split blocks"), "{said}");
    assert!(said.contains("`split_worker_1` is full with 4: split waits"), "{said}");
    assert!(said.contains("`worker_join_0` is empty: join waits"), "{said}");
}

#[test]
fn a_task_that_waits_for_itself_is_a_loop_of_one() {
    let text = format!(
        "{SYNTHETIC}\n[[channel]]\nfrom = \"sink.old\"\nto = \"sink.new\"\nslot_bytes = 8\n"
    );
    assert!(errors(&text, &[]).contains("the loop sink → sink blocks"));
    assert!(build(&format!("{text}initial = 1\n"), &[]).is_ok());
}

#[test]
fn rates_without_an_end_in_sight_are_refused() {
    let channel = |n: u32| {
        format!(
            "\n[[task]]\nname = \"t{n}\"\ncycles = 1\n\n[[channel]]\nfrom = \"t{n}.out\"\n\
             to = \"t{}.in\"\nslot_bytes = 1\nproduce = {}\nconsume = {}\n",
            n + 1,
            32768 - n,
            32749 - n
        )
    };
    let tasks: String = (0..20).map(channel).collect();
    let text = format!("[app]\nname = \"far\"\n{tasks}\n[[task]]\nname = \"t20\"\ncycles = 1\n");
    assert!(errors(&text, &[]).contains("only after more than 1048576"));
}
