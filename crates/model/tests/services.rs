// SPDX-License-Identifier: Apache-2.0
//! Services: how they are laid out, and what is refused.

use crate::common::{RADIO, build, errors};
use whimbrel_model::Direction::{In, Out};
use whimbrel_model::{Doorbell, NotifyPolicy};

const SERVICE: &str = r#"
[[service]]
name = "codec"
task = "sink"
callers = ["lpf", "bpf"]
request_bytes = "100 * 4"
answer_bytes = 160
calls = 3
"#;

fn with(from: &str, to: &str) -> String {
    assert!(SERVICE.contains(from), "{from}");
    format!("{RADIO}{}", SERVICE.replace(from, to))
}

#[test]
fn a_service_becomes_a_mailbox_and_a_channel_back_to_each_caller() {
    let app = build(&format!("{RADIO}{SERVICE}"), &[]).unwrap();
    let first = app.channels.iter().position(|channel| channel.name == "codec").unwrap();
    let channels: Vec<_> = app.channels[first..]
        .iter()
        .map(|c| (c.name.as_str(), c.slots, c.slot_bytes, c.mailbox, c.answers))
        .collect();
    assert_eq!(
        channels,
        [
            ("codec", 9, 432, true, false),
            ("codec_lpf", 4, 192, false, true),
            ("codec_bpf_0", 4, 192, false, true),
            ("codec_bpf_1", 4, 192, false, true),
        ]
    );
    let ports: Vec<_> = app
        .ports
        .iter()
        .filter(|port| port.name == "codec")
        .map(|p| (p.channel - first, app.tasks[p.task].name.as_str(), p.direction, p.index))
        .collect();
    assert_eq!(
        ports,
        [
            (0, "lpf", Out, 0),
            (0, "bpf", Out, 0),
            (0, "bpf", Out, 0),
            (0, "sink", In, 0),
            (1, "sink", Out, 1),
            (1, "lpf", In, 1),
            (2, "sink", Out, 2),
            (2, "bpf", In, 1),
            (3, "sink", Out, 3),
            (3, "bpf", In, 1),
        ]
    );
}

#[test]
fn a_service_has_a_doorbell_for_requests_and_one_for_answers() {
    let text = with("calls = 3", "answer_doorbell = \"polling:5ms\"");
    let app = build(&text, &[]).unwrap();
    let notify = |name: &str| app.channels.iter().find(|c| c.name == name).unwrap().notify;
    assert_eq!(notify("codec"), NotifyPolicy::default());
    for name in ["codec_lpf", "codec_bpf_0", "codec_bpf_1"] {
        assert_eq!((notify(name).doorbell, notify(name).within_us), (Doorbell::Polling, 5000));
    }
    let text = with("calls = 3", "request_doorbell = \"adaptive:1ms\"");
    let app = build(&text, &[]).unwrap();
    let found = app.channels.iter().find(|c| c.name == "codec").unwrap();
    assert_eq!((found.notify.doorbell, found.notify.within_us), (Doorbell::Adaptive, 1000));
}

#[test]
fn requests_and_answers_of_a_service_may_lie_in_internal_memory() {
    for (key, ours, other) in
        [("request_memory", "codec", "codec_lpf"), ("answer_memory", "codec_lpf", "codec")]
    {
        let app = build(&with("calls = 3", &format!("{key} = \"internal\"")), &[]).unwrap();
        let internal = |name: &str| app.channels.iter().find(|c| c.name == name).unwrap().internal;
        assert!(internal(ours) && !internal(other), "{key}");
    }
}

#[test]
fn a_service_is_no_part_of_what_flows_through_the_tasks() {
    let plain = build(RADIO, &[]).unwrap();
    let app = build(&format!("{RADIO}{SERVICE}"), &[]).unwrap();
    assert_eq!(app.sinks(), plain.sinks());
    // Nor a loop that could not start: the caller sends to the service, too.
    let answered = with("callers = [\"lpf\", \"bpf\"]", "callers = [\"bpf\"]");
    assert!(build(&answered, &[]).is_ok());
}

#[test]
fn what_a_service_cannot_be_is_told_at_its_place() {
    let cases = [
        ("task = \"sink\"", "task = \"snk\"", "no task is called `snk`"),
        ("\"lpf\", \"bpf\"", "\"lpf\", \"bfp\"", "write `bpf`"),
        ("task = \"sink\"", "task = \"bpf\"", "a service is one task, but `bpf` is 2"),
        ("\"lpf\", \"bpf\"", "\"sink\"", "`sink` would wait for itself"),
        ("\"lpf\", \"bpf\"", "\"lpf\", \"lpf\"", "`lpf` calls `codec` twice"),
        ("\"lpf\", \"bpf\"", "", "an array of names of tasks"),
        ("name = \"codec\"", "name = \"log\"", "`sink.log` is a port already"),
        ("calls = 3", "calls = 33", "from 1 to 32"),
        ("calls = 3", "calls = 0", "from 1 to 32"),
        ("answer_bytes = 160", "answer_bytes = 0", "`answer_bytes` of 0 cannot be"),
        ("answer_bytes = 160", "answer_bytes = 1.5", "`answer_bytes` of 1.5 cannot be"),
        ("\"100 * 4\"", "\"hundred * 4\"", "`request_bytes` has no value"),
        ("\"100 * 4\"", "1073741824", "a whole number from 1 to 1073741792"),
        ("answer_bytes = 160\n", "", "`answer_bytes`"),
        ("calls = 3", "cals = 3", "`cals`"),
        (
            "calls = 3",
            "request_doorbell = \"polling:0ms\"",
            "`request_doorbell`: the time must not be zero",
        ),
        ("calls = 3", "answer_memory = \"near\"", "\"external\" or \"internal\""),
        (
            "calls = 3",
            "answer_doorbell = \"adaptive\"",
            "`answer_doorbell`: adaptive needs the longest delay",
        ),
    ];
    for (from, to, expected) in cases {
        let said = errors(&with(from, to), &[]);
        assert!(said.contains(expected), "{to}: {said}");
    }
}

#[test]
fn more_calls_than_a_mailbox_can_tell_apart_are_refused() {
    let many = RADIO.replace("count = 2\ncore = [0, 1]", "count = 4096");
    let text = format!("{many}{}", SERVICE.replace("calls = 3", "calls = 8"));
    let said = errors(&text, &[]);
    assert!(said.contains("`codec` has 4097 callers with 8 calls each"), "{said}");
}

#[test]
fn synthetic_tasks_have_no_services() {
    let text = "[app]\nname = \"a\"\n[[task]]\nname = \"x\"\ncycles = 1\n\
                [[task]]\nname = \"y\"\ncycles = 1\n[[service]]\nname = \"s\"\ntask = \"x\"\n\
                callers = [\"y\"]\nrequest_bytes = 4\nanswer_bytes = 4\n";
    assert!(errors(text, &[]).contains("synthetic tasks have no services"));
}
