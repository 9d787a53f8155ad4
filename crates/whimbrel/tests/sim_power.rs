// SPDX-License-Identifier: Apache-2.0
//! Power, energy and heat of simulated runs, as they are shown and kept.

use std::fs;

use crate::common::{Place, text};
use serde_json::Value;

/// One task that never rests for two seconds.
const BUSY: &str = r#"
[app]
name = "busy"

[[task]]
name = "task"
cycles = 1_000_000
firings = 2000
"#;

/// A core of 1 W, or of 0.25 W when it is idle, on a block above a sink, without leakage.
const CHIP: &str = r#"
[platform]
name = "chip"

[[core]]
count = 2

[[core.point]]
mhz = 1000
active_mw = 1000
idle_mw = 250

[thermal]
ambient_c = 20
thickness_mm = 0.5
conductivity_w_per_m_k = 100
capacity_j_per_m3_k = 1.75e6
sink_k_per_w = 2
sink_j_per_k = 0.01
step_ms = 1
source = "made up"

[[block]]
name = "left"
core = 0
x_mm = 0
y_mm = 0
width_mm = 2
height_mm = 2

[[block]]
name = "right"
core = 1
x_mm = 2
y_mm = 0
width_mm = 2
height_mm = 2
"#;

fn simulated(args: &[&str]) -> (Place, String) {
    let place = Place::new();
    fs::write(place.path("app.toml"), BUSY).unwrap();
    fs::write(place.path("chip.toml"), CHIP).unwrap();
    let mut all = vec!["sim", "app.toml", "--platform", "./chip.toml", "--quiet"];
    all.extend(args);
    let output = place.output(&all);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (place, text(&output.stdout))
}

#[test]
fn constant_power_leads_to_the_temperatures_of_the_closed_form() {
    let (_place, json) = simulated(&["--json"]);
    let summary: Value = serde_json::from_str(&json).unwrap();
    let floorplan = &summary["floorplan"];
    // 1.25 K/W down from each block, 20 K/W across, 2 K/W of the sink.
    let (p, q) = (1.0, 0.25);
    let mean = 20.0 + (p + q) * 2.0 + (p + q) / 2.0 * 1.25;
    let half = (p - q) / (1.0 / 1.25 + 2.0 / 20.0) / 2.0;

    for (block, expected) in [(0, mean + half), (1, mean - half)] {
        let celsius = floorplan["blocks"][block]["temperature_mc"].as_f64().unwrap() / 1e3;
        assert!((celsius - expected).abs() < 2e-3, "{celsius} is not {expected}");
    }
    assert_eq!(floorplan["blocks"][0]["name"], "left");
    assert_eq!(floorplan["ambient_mc"], 20_000);
    assert_eq!(floorplan["sink_mc"], 22_500);
}

#[test]
fn tables_show_simulated_energy_and_mean_power() {
    let (_place, shown) = simulated(&[]);
    let expected = "energy 2.50 J (1.25 W on average), simulated; of it 2.50 J (1.25 W) of cores";
    assert!(shown.contains(expected), "{shown}");
    let core = shown.lines().find(|line| line.contains("2.00 J")).unwrap();
    assert!(core.contains("23.7"), "{core}");
}
