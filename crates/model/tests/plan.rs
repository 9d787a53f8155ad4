// SPDX-License-Identifier: Apache-2.0
//! What the helper is told about an application.

use crate::common::{RADIO, build, radio_with};
use insta::assert_snapshot;
use whimbrel_model::{
    ContextTransport, Core, Frequency, Moving, Pacing, Plan, PlanOptions, PlanTask, Point,
    TableRow, plan,
};

fn options(pacing: Pacing) -> PlanOptions {
    PlanOptions {
        spin_ns: Some(20_000),
        spin_adapts: true,
        offer_ns: 100_000_000,
        pacing,
        journal: "/tmp/run dir/frequencies".into(),
        ..PlanOptions::plain(vec![2, 5], "/my apps/radio.so")
    }
}

fn of(text: &str, pacing: Pacing) -> Plan {
    plan(&build(text, &[]).unwrap(), &options(pacing))
}

#[test]
fn a_plan_lays_out_every_core_parameter_channel_task_and_port() {
    let plan = of(RADIO, Pacing::Application);
    assert_snapshot!(serde_json::to_string_pretty(&plan).unwrap());
}

#[test]
fn the_plan_says_how_much_memory_the_tasks_share() {
    let text = radio_with("memory = \"128KiB\"", "shared = \"2MiB\"");
    assert_eq!(of(&text, Pacing::Application).shared_bytes, 2_097_152);
}

#[test]
fn the_plan_says_where_to_record_and_to_poll_for_ever() {
    let app = build(RADIO, &[]).unwrap();
    let options = PlanOptions {
        spin_ns: None,
        record: Some("/tmp/a b".into()),
        ..options(Pacing::Application)
    };
    let plan = plan(&app, &options);
    assert_eq!((plan.spin_ns, plan.record.as_deref()), (None, Some("/tmp/a b")));
}

#[test]
fn the_plan_names_the_points_of_each_core_and_how_they_are_set() {
    let app = build(RADIO, &[]).unwrap();
    let points = [1, 2]
        .map(|n| Point { hz: n * 100, active_uw: 7, idle_uw: 3, ..Point::default() })
        .to_vec();
    let cores = vec![
        Core { points: points.clone(), start: 1 },
        Core { points: points[..1].into(), start: 0 },
    ];
    let frequency = Frequency::Cpufreq;
    let options = PlanOptions { cores, frequency, ..options(Pacing::Application) };
    let plan = plan(&app, &options);
    assert_eq!((&plan.cores[0].points, plan.cores[0].start), (&points, 1));
    assert_eq!((&plan.cores[1].points[..], plan.cores[1].start), (&points[..1], 0));
    assert_eq!(plan.frequency, Frequency::Cpufreq);
    assert_eq!(plan.journal.as_deref(), Some("/tmp/run dir/frequencies"));
}

fn times(task: &PlanTask) -> (u64, u64, u64, bool) {
    assert_eq!((task.checkpoint_every, task.replay), (0, false));
    (task.period_ns, task.deadline_ns, task.offset_ns, task.follows_rate)
}

#[test]
fn without_pacing_no_task_has_a_period() {
    for task in of(RADIO, Pacing::Fast).tasks {
        assert_eq!(times(&task), (0, 0, 0, false), "{}", task.name);
    }
}

#[test]
fn a_frame_rate_of_the_run_replaces_that_of_the_application_but_no_period_of_its_own() {
    let rate = Pacing::Rate(50.0);
    let of_frame = times(&of(RADIO, rate).tasks[0]);
    assert_eq!(of_frame, (20_000_000, 20_000_000, 40_000_000, true));

    let own = radio_with("periodic = true", "period_us = 1.5\ndeadline_frames = 2");
    assert_eq!(times(&of(&own, rate).tasks[0]), (1500, 3000, 3000, false));
}

#[test]
fn a_setting_replaces_a_parameter_of_its_kind_and_what_depends_on_it() {
    let settings =
        [("sample_rate", "480000"), ("gains", "2,3"), ("stereo", "true"), ("input", "x.cu8")];
    let app = build(RADIO, &settings).unwrap();
    assert_eq!(app.frame_rate, Some(1200.0));
    let plan = plan(&app, &options(Pacing::Application));
    for (key, text, numbers) in [
        ("sample_rate", "480000", &[480_000.0][..]),
        ("gains", "[2, 3]", &[2.0, 3.0]),
        ("stereo", "true", &[1.0]),
        ("input", "/home/x.cu8", &[]),
    ] {
        let param = plan.params.iter().find(|param| param.key == key).unwrap();
        assert_eq!((param.text.as_str(), &param.numbers[..]), (text, numbers));
    }
}

#[test]
fn standard_input_and_addresses_are_no_files_of_a_folder() {
    for given in ["-", "rtl_tcp://127.0.0.1:1234"] {
        let app = build(RADIO, &[("input", given)]).unwrap();
        let input = app.params.iter().find(|param| param.key == "input").unwrap();
        assert_eq!(input.text, given);
        assert_eq!(app.reads_stdin(), given == "-");
    }
}

#[test]
fn names_of_channels_stay_unique_and_short_enough() {
    let long = "a_task_with_a_name_of_29_chars";
    let text = RADIO.replace("lpf", long);
    let plan = of(&text, Pacing::Fast);
    let mut names: Vec<&str> = plan.channels.iter().map(|c| c.name.as_str()).collect();
    assert!(names.iter().all(|name| name.len() <= 31), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 5);
}

#[test]
fn the_sink_is_what_receives_and_sends_to_no_channel() {
    let app = build(RADIO, &[]).unwrap();
    let name = |channel: usize| app.channels[channel].name.as_str();
    let sinks: Vec<Vec<&str>> =
        app.sinks().into_iter().map(|into| into.into_iter().map(name).collect()).collect();
    assert_eq!(sinks, [["bpf_sink_0", "bpf_sink_1"]]);
}

#[test]
fn who_decides_on_moves_is_told_with_the_frame_rate_in_thousandths() {
    let moving = Moving {
        program: Some("/my apps/radio.task".into()),
        transport: Some(ContextTransport::Buffer),
        agents_ns: 100_000_000,
        coordinator: 1,
        policy: Some("table:limit=7".parse().unwrap()),
        rows: vec![TableRow { rate_millihz: 450_000, points: vec![0, 2], cores: vec![0, 1, 1] }],
    };
    let of_rate = |rate: f64, moving: &Moving| {
        let options = PlanOptions { moving: moving.clone(), ..options(Pacing::Rate(rate)) };
        plan(&build(RADIO, &[]).unwrap(), &options)
    };
    let plan = of_rate(33.333_3, &moving);
    assert_eq!(plan.rate_millihz, 33_333);
    assert_eq!(plan.program.as_deref(), Some("/my apps/radio.task"));
    assert_eq!(plan.transport, Some(ContextTransport::Buffer));
    assert_eq!((plan.agents_ns, plan.coordinator), (100_000_000, 1));
    assert_eq!(plan.policy, moving.policy);
    assert_eq!(plan.rows, moving.rows);
    let line = plan.line();
    assert!(line.contains(r#""policy":{"name":"table","params":["limit=7"]}"#), "{line}");
    assert!(line.contains(r#"{"rate_millihz":450000,"points":[0,2],"cores":[0,1,1]}"#), "{line}");
    assert_eq!(of_rate(1e9, &moving).rate_millihz, 4_294_967_295);
    // Without agents nobody decides by it.
    assert_eq!(of_rate(50.0, &Moving::default()).rate_millihz, 0);
}
