// SPDX-License-Identifier: Apache-2.0
//! Platforms that make sense, and what a person is told about those that do not.

use std::fs;

use crate::common::root;
use insta::assert_snapshot;
use miette::{GraphicalReportHandler, GraphicalTheme};
use whimbrel_model::{Platform, Point, Source};

const PLATFORM: &str = r#"
[platform]
name = "board"

[[core]]
count = 2
start_mhz = 100

[[core.point]]
mhz = 100
active_mw = 84.0
idle_mw = 10

[[core.point]]
mhz = 320.5
active_mw = 268.8

[[core]]
idle = "off"

[[core.point]]
mhz = 1000
active_mw = 2000
idle_mw = 100
"#;

fn errors(from: &str, to: &str) -> String {
    assert!(PLATFORM.contains(from), "{from}");
    let text = PLATFORM.replacen(from, to, 1);
    let problems = Platform::parse(&text).expect_err("this must be refused");
    let source = Source::new("board.toml", text);
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let mut out = String::new();
    for problem in problems {
        handler.render_report(&mut out, source.report(problem).as_ref()).unwrap();
    }
    out
}

#[test]
fn cores_of_a_count_are_alike_and_idle_power_is_that_of_activity_unless_it_is_given() {
    let board = Platform::parse(PLATFORM).unwrap();
    assert_eq!((board.name.as_str(), board.cores.len()), ("board", 3));
    assert_eq!(board.cores[0], board.cores[1]);
    let points = [
        Point { hz: 100_000_000, active_uw: 84_000, idle_uw: 10_000, ..Point::default() },
        Point { hz: 320_500_000, active_uw: 268_800, idle_uw: 268_800, ..Point::default() },
    ];
    assert_eq!(board.cores[0].points, points);
    assert_eq!((board.cores[0].start, board.cores[2].start), (0, 0));
}

#[test]
fn a_core_that_is_shut_down_when_idle_consumes_nothing_then() {
    assert_eq!(Platform::parse(PLATFORM).unwrap().cores[2].points[0].idle_uw, 0);
}

#[test]
fn a_core_begins_at_its_highest_frequency_unless_it_is_told() {
    let text = PLATFORM.replace("start_mhz = 100\n", "");
    assert_eq!(Platform::parse(&text).unwrap().cores[0].start, 1);
}

#[test]
fn an_unknown_key_is_shown_with_its_line() {
    assert_snapshot!(errors("active_mw = 84.0", "active_mw = 84.0\nidle_wm = 3"));
}

#[test]
fn values_out_of_range_are_told_at_once() {
    let wrong = "count = 0\nidle = \"sometimes\"";
    assert_snapshot!(errors("count = 2", wrong));
}

#[test]
fn points_must_rise() {
    assert_snapshot!(errors("mhz = 320.5", "mhz = 100"));
}

#[test]
fn points_more_than_a_thousandfold_apart_cannot_be_emulated() {
    let text = errors("mhz = 320.5", "mhz = 200000");
    assert!(text.contains("exceeds a thousand times the lowest"), "{text}");
}

#[test]
fn a_core_begins_at_one_of_its_points() {
    assert_snapshot!(errors("start_mhz = 100", "start_mhz = 99"));
}

#[test]
fn a_core_has_a_point() {
    let text = errors("[[core]]\ncount = 2", "[[core]]\npoint = []\n\n[[core]]\ncount = 2");
    assert!(text.contains("`point` of [[core]] must be one [[core.point]]"), "{text}");
}

#[test]
fn every_platform_of_the_project_has_the_name_of_its_file() {
    let mut read = 0;
    for file in fs::read_dir(root().join("platforms")).unwrap() {
        let path = file.unwrap().path();
        let platform = Platform::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(path.file_stem().unwrap().to_str().unwrap(), platform.name);
        read += 1;
    }
    assert!(read > 1);
}

#[test]
fn mpsoc3_has_the_power_that_the_paper_gives_for_both_ends_and_the_knee() {
    let text = fs::read_to_string(root().join("platforms/mpsoc3.toml")).unwrap();
    let cores = Platform::parse(&text).unwrap().cores;
    let power = |mhz: u64| {
        cores[0].points.iter().find(|point| point.hz == mhz * 1_000_000).unwrap().active_uw
    };
    assert_eq!(cores.len(), 3);
    assert_eq!([power(100), power(320), power(500)], [84_000, 268_800, 1_000_000]);
}

#[test]
fn a_point_says_what_of_its_power_leaks_and_how_that_follows_temperature() {
    let of = |name: &str| {
        let text = fs::read_to_string(root().join(format!("platforms/{name}.toml"))).unwrap();
        let point = Platform::parse(&text).unwrap().cores[0].points[0];
        (point.static_uw, point.reference_mk, point.slope_mk)
    };
    assert_eq!(of("ca9x4"), (20_000, 308_150, 50_000));
    assert_eq!(of("mpsoc3"), (0, 0, 0));
}
