// SPDX-License-Identifier: Apache-2.0
//! What the tests of this crate share: an application to start from, and how errors look.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

pub mod board;

use std::path::{Path, PathBuf};

use miette::{GraphicalReportHandler, GraphicalTheme};
use whimbrel_model::{App, Manifest, Plan, PlanOptions, Problem, Problems, Setting, Source, plan};

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An FM radio in small: one source, a split, a join, a mailbox.
pub const RADIO: &str = r#"
[app]
name = "radio"
module = "radio.so"
frame_rate = "sample_rate / 4 / 100"
memory = "128KiB"
paths = ["input"]

[params]
input = "data/in.cu8"
sample_rate = 240000
gains = [1, 0.5]
stereo = false

[[task]]
name = "lpf"
periodic = true
offset_frames = 2

[[task]]
name = "bpf"
entry = "band_pass"
count = 2
core = [0, 1]
priority = 4
stack = "32KiB"

[[task]]
name = "sink"
migratable = false

[[channel]]
from = "lpf.out"
to = "bpf.in"
slot_bytes = "100 * 4 + 16"

[[channel]]
from = "bpf.out"
to = "sink.in"
slots = 7
slot_bytes = 416

[[mailbox]]
from = ["bpf.log", "lpf.log"]
to = "sink.log"
slots = 64
slot_bytes = 128
"#;

/// Parses and builds, with `--set KEY=VALUE` for each pair.
pub fn build(text: &str, settings: &[(&str, &str)]) -> Result<App, Problems> {
    let settings: Vec<Setting> =
        settings.iter().map(|(k, v)| Setting { key: (*k).into(), value: (*v).into() }).collect();
    App::build(&Manifest::parse(text)?, &settings, Path::new("/apps/radio"), Path::new("/home"))
}

/// The plan of an application on two cores, without options.
pub fn plan_of(text: &str) -> Plan {
    plan(&build(text, &[]).unwrap(), &PlanOptions::plain(vec![0, 1], "/radio.so"))
}

/// The errors of an application as a person sees them, without colours.
pub fn errors(text: &str, settings: &[(&str, &str)]) -> String {
    shown("app.toml", text, build(text, settings).expect_err("this must be refused"))
}

/// Problems or warnings of a file as a person sees them, without colours.
pub fn shown(name: &str, text: &str, all: impl IntoIterator<Item = Problem>) -> String {
    let source = Source::new(name, text);
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let mut out = String::new();

    for problem in all {
        handler.render_report(&mut out, source.report(problem).as_ref()).unwrap();
    }
    out
}

/// Problems without their places.
pub fn told(problems: &Problems) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The radio with one text of it replaced by another, which must be there.
pub fn radio_with(from: &str, to: &str) -> String {
    assert!(RADIO.contains(from), "{from}");
    RADIO.replacen(from, to, 1)
}
