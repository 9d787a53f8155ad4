// SPDX-License-Identifier: Apache-2.0
//! Applications that make no sense, and what a person is told.

use crate::common::{RADIO, build, errors, radio_with};
use insta::assert_snapshot;
use whimbrel_model::{Source, check_cores};

#[test]
fn an_unknown_key_is_an_error_that_names_the_line_and_the_key_that_was_meant() {
    assert_snapshot!(errors(&radio_with("priority", "prioritty"), &[]));
}

#[test]
fn every_wrong_value_is_told_at_once() {
    let text = radio_with("stack = \"32KiB\"", "stack = \"32kb\"\nheap = true");
    assert_snapshot!(errors(&text.replace("priority = 4", "priority = 32"), &[]));
}

#[test]
fn more_shared_memory_than_a_pool_may_have_is_refused() {
    let said = errors(&radio_with("memory = \"128KiB\"", "shared = \"2GiB\""), &[]);
    assert!(said.contains("shared") && said.contains("at most \"1GiB\""), "{said}");
    assert!(build(&radio_with("memory = \"128KiB\"", "shared = \"1GiB\""), &[]).is_ok());
}

#[test]
fn a_number_out_of_range_is_told_the_range() {
    let cases = [
        ("memory = \"128KiB\"", "memory = \"65GiB\"", "at most \"64GiB\""),
        ("stack = \"32KiB\"", "heap = \"255GiB\"", "at most \"64GiB\""),
        ("stack = \"32KiB\"", "heap = \"1000GiB\"", "at most \"64GiB\""),
        ("count = 2", "count = 1.5", "`count` of [[task]] must be a whole number from 1 to 4096"),
        ("priority = 4", "priority = 4.5", "must be a whole number from 0 to 31"),
        ("priority = 4", "nice = 20", "`nice` of [[task]] must be a whole number from -20 to 19"),
        ("priority = 4", "nice = -21", "must be a whole number from -20 to 19"),
        ("priority = 4", "nice = 0.5", "must be a whole number from -20 to 19"),
        ("priority = 4", "nice = \"low\"", "must be a whole number from -20 to 19"),
        ("slots = 7", "slots = 7\ninitial = 5e9", "a whole number from 0 to 4294967295"),
        ("slots = 7", "slots = 40000", "must be a whole number from 1 to 32768"),
        ("slot_bytes = 416", "slot_bytes = 99999999999999999999", "number from 1 to 1073741824"),
        ("slots = 7", "slots = 7\ndoorbell = 5", "\"interrupt\", \"polling:20ms\" or"),
    ];
    for (from, to, expected) in cases {
        let said = errors(&radio_with(from, to), &[]);
        assert!(said.contains(expected), "{to}: {said}");
    }
}

#[test]
fn more_tasks_than_gates_can_tell_apart_are_refused_where_they_are_too_many() {
    let tasks = |groups: usize| {
        let task = |group| format!("[[task]]\nname = \"t{group}\"\ncount = 4096\ncycles = 1\n");
        let tasks: String = (0..groups).map(task).collect();
        format!("[app]\nname = \"a\"\ncompute = \"model\"\n{tasks}")
    };
    assert_eq!(build(&tasks(31), &[]).unwrap().tasks.len(), 31 * 4096);
    let said = errors(&tasks(32), &[]);
    assert!(said.contains("more than 131071 tasks") && said.contains("\"t31\""), "{said}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let marked = Source::new("app.toml", format!("\u{feff}{RADIO}"));
    assert_eq!(marked.text(), RADIO);
}

#[test]
fn text_that_is_no_toml_is_shown_where_it_breaks() {
    assert_snapshot!(errors(&radio_with("name = \"lpf\"", "name = \"lpf"), &[]));
}

#[test]
fn a_file_without_its_tables_is_told_what_to_add() {
    assert_snapshot!(errors("[params]\n", &[]));
}

#[test]
fn a_loop_of_empty_channels_cannot_start() {
    let feedback =
        format!("{RADIO}\n[[channel]]\nfrom = \"sink.back\"\nto = \"lpf.back\"\nslot_bytes = 4\n");
    assert_snapshot!(errors(&feedback, &[]));
    assert!(build(&format!("{feedback}initial = 1\n"), &[]).is_ok());
}

#[test]
fn a_channel_from_a_task_to_itself_needs_a_message_to_start_with() {
    let echo =
        format!("{RADIO}\n[[channel]]\nfrom = \"sink.out\"\nto = \"sink.again\"\nslot_bytes = 4\n");
    assert!(errors(&echo, &[]).contains("the loop sink → sink blocks"));
    assert!(build(&format!("{echo}initial = 1\n"), &[]).is_ok());
}

#[test]
fn a_loop_through_a_mailbox_may_start() {
    let mailbox = format!(
        "{RADIO}\n[[mailbox]]\nfrom = [\"sink.back\"]\nto = \"lpf.back\"\nslot_bytes = 4\n"
    );
    assert!(build(&mailbox, &[]).is_ok());
}

#[test]
fn a_core_that_does_not_exist_is_shown_where_it_is_named() {
    let app = build(RADIO, &[]).unwrap();
    assert!(check_cores(&app, 2).is_ok());
    let problems = check_cores(&app, 1).unwrap_err();
    let problem = problems.first().unwrap();
    let label = &problem.labels[0];
    assert_eq!(&RADIO[label.offset()..label.offset() + label.len()], "1");
    assert_eq!(problem.message, "`bpf` starts on core 1, which does not exist");
}

#[test]
fn an_expression_without_a_value_is_shown_at_its_wrong_word() {
    assert_snapshot!(errors(&radio_with("sample_rate / 4", "sample_rat / 4"), &[]));
}

#[test]
fn counted_tasks_must_match() {
    assert_snapshot!(errors(&radio_with("name = \"sink\"", "name = \"sink\"\ncount = 3"), &[]));
}

#[test]
fn a_port_of_a_task_that_does_not_exist_is_refused() {
    assert_snapshot!(errors(&radio_with("\"bpf.in\"", "\"bfp.in\""), &[]));
}

#[test]
fn each_rule_between_keys_has_its_own_refusal() {
    let cases = [
        ("\"bpf.in\"", "\"bpf\"", "invalid port `bpf`"),
        ("to = \"bpf.in\"", "to = \"bpf.out\"", "`bpf.out` both sends and receives"),
        ("name = \"sink\"", "name = \"bpf\"", "two tasks are called `bpf`"),
        ("core = [0, 1]", "core = [0, 1, 0]", "`bpf` has 3 cores for 2 tasks"),
        ("periodic = true", "", "`lpf` has a deadline or an offset, but no period"),
        ("periodic = true", "periodic = true\nperiod_us = 5", "`lpf` has two periods"),
        ("frame_rate = \"sample_rate / 4 / 100\"", "", "the application has no frame rate"),
        (
            "periodic = true",
            "periodic = true\narrival = \"sporadic\"",
            "is sporadic, but has no `period_us`",
        ),
        ("periodic = true", "period_us = 5\narrival = \"sporadic\"", "has no `mean_gap_us`"),
        ("periodic = true", "periodic = true\nmean_gap_us = 5", "`lpf` has gaps, but is not"),
        ("periodic = true", "period_us = 5\njitter_us = 6", "jitter of `lpf` is longer than"),
        ("name = \"sink\"", "name = \"sink\"\njitter_us = 6", "`sink` has jitter, but no period"),
        (
            "periodic = true",
            "periodic = true\njitter_us = -1",
            "a time in microseconds, from 0 to 1e9",
        ),
        ("periodic = true", "periodic = true\narrival = \"often\"", "\"periodic\" or \"sporadic\""),
        ("\"sample_rate / 4 / 100\"", "0", "invalid frame rate of 0 per second"),
        ("slot_bytes = 416", "slot_bytes = 416.5", "`slot_bytes` of 416.5 cannot be"),
        ("slot_bytes = 416", "slot_bytes = 0", "`slot_bytes` of 0 cannot be"),
        ("slots = 7", "slots = 7\ninitial = 8", "8 messages do not fit 7 slots"),
        ("paths = [\"input\"]", "paths = [\"sample_rate\"]", "`paths` has `sample_rate`"),
        ("stereo = false", "stereo = 1979-05-27", "`stereo` has a value that no task can read"),
        ("stereo", "a-b", "a parameter's name must be"),
        ("to = \"sink.log\"", "to = \"bpf.note\"", "a mailbox has one receiver, but `bpf` is 2"),
    ];
    for (from, to, expected) in cases {
        let shown = errors(&radio_with(from, to), &[]).replace(['\n', '│'], " ");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(expected), "{to}: {shown}");
    }
}

#[test]
fn a_setting_can_neither_add_a_parameter_nor_change_its_kind() {
    assert_snapshot!(errors(RADIO, &[("sample_rat", "1"), ("gains", "loud"), ("stereo", "1")]));
}

#[test]
fn a_doorbell_that_makes_no_sense_is_refused_at_its_line() {
    for (key, value, expected) in [
        ("doorbell", "polling:0ms", "the time must not be zero"),
        ("doorbell", "polling", "needs the time between two looks"),
        ("doorbell", "adaptive", "needs the longest delay of a message"),
        ("doorbell", "ring", "invalid doorbell `ring`"),
        ("batch", "8:5ms", "does not fit 7 slots"),
        ("batch", "4", "MESSAGES:DEADLINE"),
        ("batch", "4:5ms\"\ndoorbell = \"polling:1ms", "a batch requires an interrupt"),
    ] {
        let said =
            errors(&radio_with("slots = 7", &format!("slots = 7\n{key} = \"{value}\"")), &[]);
        assert!(said.contains(expected) && said.contains(&format!("{key} =")), "{value}: {said}");
    }
}

#[test]
fn a_doorbell_is_told_to_the_helper_and_the_default_is_not() {
    let notifies = |keys: &str| {
        let app = build(&radio_with("slots = 7", &format!("slots = 7\n{keys}")), &[]).unwrap();
        serde_json::to_value(&app.channels).unwrap()
    };
    let plain = notifies("doorbell = \"interrupt\"");
    assert!(plain.as_array().unwrap().iter().all(|channel| channel.get("doorbell").is_none()));
    let adaptive = notifies("doorbell = \"adaptive:1500us\"");
    let of = |value: &serde_json::Value| {
        let told = value.as_array().unwrap().iter().find(|one| one.get("within_us").is_some());
        told.cloned().unwrap()
    };
    assert_eq!(of(&adaptive)["doorbell"], "adaptive");
    assert_eq!(of(&adaptive)["within_us"], 1500);
    let batch = notifies("batch = \"4:20ms\"");
    assert_eq!((&of(&batch)["batch"], &of(&batch)["within_us"]), (&4.into(), &20_000.into()));
}

#[test]
fn internal_memory_is_a_channels_own_and_has_a_size() {
    let internal = |slots: u32| {
        let keys = format!("slots = {slots}\nmemory = \"internal\"");
        build(&radio_with("slots = 7", &keys), &[]).unwrap()
    };
    let bytes = 7 * 448; // 416 of the message and 16 of marks, in whole lines
    let app = internal(7);
    let of_one = app.channels.iter().filter(|channel| channel.internal).count() as u64 * bytes;
    assert!(app.check_internal("it", Some(of_one)).is_ok());
    let full = app.check_internal("it", Some(of_one - 1)).unwrap_err();
    assert!(full.to_string().contains("do not fit"), "{full}");
    let none = app.check_internal("it", None).unwrap_err();
    assert!(none.to_string().contains("it has no internal memory"), "{none}");
    let external = build(RADIO, &[]).unwrap();
    assert!(external.check_internal("it", None).is_ok());
    let said = errors(&radio_with("slots = 7", "slots = 7\nmemory = \"fast\""), &[]);
    assert!(said.contains("`memory` of [[channel]] must be \"external\" or"), "{said}");
}
