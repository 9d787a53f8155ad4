// SPDX-License-Identifier: Apache-2.0
//! The platform's file.

use std::fmt::Write;

use super::busy::Busy;
use super::fit::{Entry, Fitted, Sleep};
use super::machine::Machine;
use super::steady::Disturbed;
use super::work::Firing;

/// For how long kernels poll before they sleep, in the runs that a platform describes.
const SPIN_NS: f64 = 20e3;
const LINE_BYTES: f64 = 64.0;
/// How the second line of a file begins.
pub(super) const WRITTEN: &str = "# Written by `whimbrel calibrate`";
/// Less is not told.
const LEAST_PART: f64 = 1e-6;
const LEAST_NS: f64 = 1e-3;

/// A number without digits that nobody measured: so many decimals, and no zeros at the end.
fn digits(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Microseconds, to the picosecond.
fn us(ns: f64) -> String {
    digits(ns / 1e3, 6)
}

/// Nanoseconds of a processor at `hz`, in cycles.
#[expect(clippy::cast_precision_loss, reason = "a frequency is far below 2^53")]
fn cycles(ns: f64, hz: u64) -> f64 {
    ns * hz as f64 / 1e9
}

/// What firings of an application take.
#[derive(Debug, Clone, Copy)]
pub struct Firings<'f> {
    /// By task.
    pub of_tasks: &'f [Firing],
    /// Those that take longer than usual.
    pub disturbed: Disturbed,
}

/// The text of a platform `name`; `during` is what others took while it was measured, if it was.
pub fn text(
    name: &str,
    machine: &Machine,
    during: Option<&Busy>,
    fitted: &Fitted,
    Firings { of_tasks, disturbed }: Firings<'_>,
) -> String {
    let mut out = head(name, machine, during, fitted, disturbed);
    for entry in &fitted.costs {
        out.push_str(&cost(entry, machine.hz));
    }
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "[doorbell]\nkind = \"interrupt\"\nlatency_us = {}\nsource = \"whimbrel bench channel: \
         channel.64B.spin without the switch and the bytes, an equal part of seven steps\"\n\n",
        us(fitted.doorbell_ns)
    );
    for firing in of_tasks {
        out.push_str(&firing_table(firing, machine.hz, fitted.miss_ns, disturbed));
    }
    out
}

fn head(
    name: &str,
    machine: &Machine,
    during: Option<&Busy>,
    fitted: &Fitted,
    disturbed: Disturbed,
) -> String {
    let Machine { model, hz, source, cores, cache_bytes } = machine;
    let processors = if *cores == 1 { "processor" } else { "processors" };
    #[expect(clippy::cast_precision_loss, reason = "a frequency is far below 2^53")]
    let mhz = digits(*hz as f64 / 1e6, 6);
    let model = model.replace(['"', '\\'], "'");
    let busy = during.filter(|during| during.busy);
    let busy = busy.map_or(String::new(), |busy| format!("# Meanwhile {}.\n", busy.words()));
    let kib = if *cache_bytes < 1024 { 1 << 10 } else { cache_bytes / 1024 };
    format!(
        "# SPDX-License-Identifier: Apache-2.0\n\
         {WRITTEN} from what it measured on {model}.\n\
         # Power is not known, so it is 0 and so are energies.\n\
         {busy}\
         [platform]\n\
         name = \"{name}\"\n\
         description = \"{cores} {processors} as measured: {model}\"\n\n\
         [[core]]\n\
         count = {cores}\n\
         kind = \"host\"\n\
         source = \"{source}\"\n\n\
         [[core.point]]\n\
         mhz = {mhz}\n\
         active_mw = 0  # not known\n\n\
         {}\
         [core.cache]\n\
         size = \"{kib}KiB\"\n\
         line_bytes = {LINE_BYTES}\n\
         miss_ns = {}\n\
         {}\
         source = \"Linux, all levels that hold data; whimbrel bench migration: memcpy of 64 KiB \
         with empty caches against warm ones\"\n\n",
        fitted.sleeps.iter().map(idle_state).collect::<String>(),
        digits(fitted.miss_ns, 3),
        besides(fitted.far_ns, disturbed),
    )
}

/// What the cache's table says of messages from another core, and of firings that take longer than
/// usual after a sleep.
pub(super) fn besides(far_ns: f64, Disturbed { part, mean_ns }: Disturbed) -> String {
    let mut out = String::new();
    if far_ns >= LEAST_NS {
        out = format!("far_ns = {}  # wake.64KiB.read\n", digits(far_ns, 3));
    }
    if part >= LEAST_PART {
        out += &format!(
            "disturbed = {}  # firings at their own rate of 1.5 times the median or longer\n\
             disturbed_us = {}  # the time of all beyond the median, divided among these\n",
            digits(part, 6),
            us(mean_ns)
        );
    }
    out
}

pub(super) fn idle_state(sleep: &Sleep) -> String {
    let Sleep { name, after_ns, exit_ns, ring_ns, switch_ns, refill_ns } = *sleep;
    let polls = if after_ns <= SPIN_NS { "  # whimbrel run --spin 20us" } else { "" };
    format!(
        "[[core.idle_state]]\n\
         name = \"sleep_{name}\"\n\
         power_mw = 0  # not known\n\
         after_us = {}{polls}\n\
         exit_us = {}\n\
         ring_us = {}\n\
         switch_us = {}\n\
         refill_us = {}\n\
         loses_cache = true\n\
         source = \"whimbrel bench wake: wake.{name}.notice without the ring and channel.64B.spin, \
         wake.{name}.ring and wake.{name}.firing against what follows them, wake.{name}.attach \
         from there until it runs without the switch; the effect of others on the caches during \
         the sleep is in the working sets below\"\n\n",
        us(after_ns),
        us(exit_ns),
        us(ring_ns),
        us(switch_ns),
        us(refill_ns),
    )
}

fn cost(entry: &Entry, hz: u64) -> String {
    let Entry { action, time, source } = entry;
    let mut out = format!("[costs.{action}]\n");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "time_us = {}", us(time.fixed_ns));
    if time.per_unit_ns > 0.0 {
        let _ = writeln!(out, "cycles_per_unit = {}", digits(cycles(time.per_unit_ns, hz), 6));
    }
    let _ = writeln!(out, "source = \"whimbrel bench: {source}\"\n");
    out
}

/// The table of what a firing takes on a processor at `hz`.
pub(super) fn firing_table(firing: &Firing, hz: u64, miss_ns: f64, disturbed: Disturbed) -> String {
    let Firing { app, task, warm_ns, cold_ns } = firing;
    let mut out = format!(
        "[[work]]\napp = \"{app}\"\ntask = \"{task}\"\ncycles = {}\n",
        digits(cycles(*warm_ns, hz).max(1.0), 0)
    );
    let lines = if miss_ns > 0.0 { (cold_ns - warm_ns) / miss_ns } else { 0.0 };
    // A task without misses is not disturbed.
    let lines = if disturbed.part < LEAST_PART { lines } else { lines.max(1.0) };
    if lines >= 1.0 {
        let _ = writeln!(out, "working_set = {}", digits(lines.floor() * LINE_BYTES, 0));
    }
    out.push_str(
        "source = \"whimbrel run --fast, busy time per firing without the costs that the simulator \
         adds; the working set is the additional time of a firing at the application's own \
         rate\"\n\n",
    );
    out
}
