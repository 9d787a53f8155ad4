// SPDX-License-Identifier: Apache-2.0
//! What the helper is told about an application.

mod common;

use common::{RADIO, build, radio_with};
use insta::assert_snapshot;
use whimbrel_model::{Core, Frequency, Moving, Pacing, PlanOptions, Point, plan};

fn options(pacing: Pacing) -> PlanOptions {
    PlanOptions {
        cpus: vec![2, 5],
        module: "/my apps/radio.so".into(),
        spin_ns: Some(20_000),
        offer_ns: 100_000_000,
        record: None,
        pacing,
        moving: Moving::default(),
        cores: Vec::new(),
        frequency: Frequency::None,
        kinds: Vec::new(),
        seed: 0,
        journal: "/tmp/run dir/frequencies".into(),
    }
}

fn lines_of(text: &str, pacing: Pacing, first_word: &str) -> Vec<String> {
    let plan = plan(&build(text, &[]).unwrap(), &options(pacing));
    let prefix = format!("{first_word} ");
    plan.lines().filter(|line| line.starts_with(&prefix)).map(str::to_owned).collect()
}

#[test]
fn a_plan_lays_out_every_core_parameter_channel_task_and_port() {
    assert_snapshot!(plan(&build(RADIO, &[]).unwrap(), &options(Pacing::Application)));
}

#[test]
fn the_plan_says_how_much_memory_the_tasks_share() {
    let text = radio_with("memory = \"128KiB\"", "shared = \"2MiB\"");
    assert_eq!(lines_of(&text, Pacing::Application, "shared"), ["shared 2097152"]);
}

#[test]
fn the_plan_says_where_to_record_and_to_poll_for_ever() {
    let app = build(RADIO, &[]).unwrap();
    let options = PlanOptions {
        spin_ns: None,
        record: Some("/tmp/a b".into()),
        ..options(Pacing::Application)
    };
    let text = plan(&app, &options);
    assert!(text.contains("\nspin forever\n"));
    assert!(text.contains("\nrecord /tmp/a%20b\n"));
}

#[test]
fn the_plan_names_the_points_of_each_core_and_how_they_are_set() {
    let app = build(RADIO, &[]).unwrap();
    let points = [1, 2].map(|n| Point { hz: n * 100, active_uw: 7, idle_uw: 3 }).to_vec();
    let cores = vec![
        Core { points: points.clone(), start: 1 },
        Core { points: points[..1].into(), start: 0 },
    ];
    let frequency = Frequency::Cpufreq;
    let options = PlanOptions { cores, frequency, ..options(Pacing::Application) };
    let text = plan(&app, &options);
    assert!(text.contains(
        "\npoint 0 100 7 3\npoint 0 200 7 3 start\npoint 1 100 7 3 start\n\
         frequency cpufreq\njournal /tmp/run%20dir/frequencies\n"
    ));
}

#[test]
fn without_pacing_no_task_has_a_period() {
    for line in lines_of(RADIO, Pacing::Fast, "task") {
        assert!(line.ends_with(" period 0 deadline 0 offset 0 frame 0 image 0 replay 0"), "{line}");
    }
}

#[test]
fn a_frame_rate_of_the_run_replaces_that_of_the_application_but_no_period_of_its_own() {
    let rate = Pacing::Rate(50.0);
    let of_frame = &lines_of(RADIO, rate, "task")[0];
    assert!(
        of_frame.ends_with(
            " period 20000000 deadline 20000000 offset 40000000 frame 1 image 0 replay 0"
        ),
        "{of_frame}"
    );

    let own = radio_with("periodic = true", "period_us = 1.5\ndeadline_frames = 2");
    let of_own = &lines_of(&own, rate, "task")[0];
    assert!(
        of_own.ends_with(" period 1500 deadline 3000 offset 3000 frame 0 image 0 replay 0"),
        "{of_own}"
    );
}

#[test]
fn a_setting_replaces_a_parameter_of_its_kind_and_what_depends_on_it() {
    let settings =
        [("sample_rate", "480000"), ("gains", "2,3"), ("stereo", "true"), ("input", "x.cu8")];
    let app = build(RADIO, &settings).unwrap();
    assert_eq!(app.frame_rate, Some(1200.0));
    let text = plan(&app, &options(Pacing::Application));
    for line in [
        "param sample_rate 480000 480000",
        "param gains [2,%203] 2 3",
        "param stereo true 1",
        "param input /home/x.cu8",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
}

#[test]
fn names_of_channels_stay_unique_and_short_enough() {
    let long = "a_task_with_a_name_of_29_chars";
    let text = RADIO.replace("lpf", long);
    let names = lines_of(&text, Pacing::Fast, "channel");
    let mut names: Vec<&str> = names.iter().map(|l| l.split(' ').nth(1).unwrap()).collect();
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
fn who_decides_on_moves_stands_between_the_tasks_and_their_ports() {
    let moving = Moving { coordinator: 1, agents_ns: 5, ..Moving::default() };
    let options = PlanOptions { moving, ..options(Pacing::Rate(50.0)) };
    let text = plan(&build(RADIO, &[]).unwrap(), &options);
    let first_words: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    let at = first_words.iter().position(|word| *word == "coordinator").unwrap();
    assert_eq!(first_words[at - 1..=at + 3], ["task", "coordinator", "agents", "rate", "port"]);
    assert!(text.contains("\nrate 50000\n"));
}
