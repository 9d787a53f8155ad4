// SPDX-License-Identifier: Apache-2.0
//! A platform to start from, and how its mistakes are looked at.

use whimbrel_model::Platform;

/// A platform with every table there is.
pub const BOARD: &str = r#"
[platform]
name = "board"

[[core]]
count = 2
kind = "arm"

[[core.point]]
mhz = 100
volts = 1.0
active_mw = 84
idle_mw = 20
static_mw = 8

[[core.point]]
mhz = 300
volts = 1.2
active_mw = 400
idle_mw = 90
static_mw = 12

[core.transition]
time_us = 50
energy_uj = 2.5
source = "ours"

[[core.idle_state]]
name = "wfi"
power_mw = 10
enter_us = 1
exit_us = 2
source = "ours"

[[core.idle_state]]
name = "off"
power_mw = 0
enter_us = 10
exit_us = 100
after_us = 500
source = "ours"

[core.leakage]
reference_c = 25
slope_c = 40
source = "ours"

[core.cache]
size = "16KiB"
line_bytes = 32
miss_ns = 60
source = "ours"

[[core]]
kind = "dsp"
idle = "off"
scheduling = "preemptive"
slice_us = 1000

[[core.point]]
mhz = 600
active_mw = 500

[costs.send]
cycles = 100
cycles_per_unit = 0.25
source = "ours"

[costs.decide]
time_us = 3
source = "ours"

[costs.load]
cycles_per_unit = 2
source = "ours"

[costs.interrupt]
cycles = 60
source = "ours"

[[memory]]
name = "local"
kind = "private"
size = "64KiB"
latency_ns = 5
mb_per_s = 400
source = "ours"

[[memory]]
name = "pad"
kind = "scratchpad"
core = 2
size = "2KiB"
latency_ns = 1
mb_per_s = 1000
source = "ours"

[[memory]]
name = "ddr"
kind = "shared"
size = "64MiB"
latency_ns = 60
mb_per_s = 200
source = "ours"

[bus]
arbitration = "tdma"
mhz = 100
width_bytes = 4
setup_cycles = 2
burst_bytes = 32
pj_per_byte = 15
source = "ours"

[doorbell]
kind = "polling"
latency_us = 0.5
interval_us = 1000
source = "ours"

[doorbell.send]
cycles = 200
source = "ours"

[thermal]
ambient_c = 25
thickness_mm = 0.5
conductivity_w_per_m_k = 100
capacity_j_per_m3_k = 1.75e6
sink_k_per_w = 10
sink_j_per_k = 1
step_ms = 10
source = "ours"

[[block]]
name = "arm"
core = 0
x_mm = 0
y_mm = 0
width_mm = 2
height_mm = 1.5
columns = 2

[[block]]
name = "dsp"
core = 2
x_mm = 4
y_mm = 0
width_mm = 3
height_mm = 3

[[work]]
app = "radio"
task = "bpf"
cycles = 12000
source = "ours"
"#;

/// A mesh instead of the bus of the board.
pub const MESH: &str = r#"
[mesh]
columns = 3
rows = 2
mhz = 1000
width_bytes = 8
hop_cycles = 3
source = "ours"

[doorbell]
"#;

/// A text with each first of the pairs replaced by its second; it must be there.
pub fn with(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

/// The board with its mesh.
pub fn on_a_mesh() -> String {
    let (before, rest) = BOARD.split_once("[bus]").unwrap();
    let (_, after) = rest.split_once("[doorbell]\n").unwrap();
    format!("{before}{MESH}{after}")
}

/// A text is refused for one reason: its message, with what stands at the first place it shows.
#[track_caller]
pub fn refused(text: &str, message: &str, shown: &str) {
    let problems: Vec<_> = Platform::parse(text).expect_err(message).into_iter().collect();
    let [problem] = &problems[..] else { panic!("{problems:#?}") };
    assert!(problem.message.contains(message), "{}", problem.message);
    let place = &text[problem.labels[0].offset()..];
    assert!(place.starts_with(shown), "{place}");
}
