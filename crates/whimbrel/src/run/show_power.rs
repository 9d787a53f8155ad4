// SPDX-License-Identifier: Apache-2.0
//! Frequency, energy and temperature of each core, for people.

use super::summary::{CoreSummary, Summary};
use crate::output::{lines_of, percent, table};

/// The table, where the frequencies or temperatures of cores are known, and the total.
pub fn power(summary: &Summary) -> String {
    let known = |core: &CoreSummary| core.mean_hz.is_some() || core.totals.temperature_mc.is_some();
    let mut text = String::new();
    if summary.cores.iter().any(known) {
        text = cores(summary);
    }
    text + &total(summary)
}

fn cores(summary: &Summary) -> String {
    let mut table = table(&["core", ">mean MHz", ">energy", ">°C", "time at MHz (of it in tasks)"]);
    let of_cores = matches!(summary.energy.source.as_str(), "platform" | "simulation");
    for core in &summary.cores {
        let energy_uj = core.totals.energy_uj;
        table.add_row([
            core.totals.core.to_string(),
            core.mean_hz.map_or_else(|| "-".into(), |hz| format!("{:.0}", hz / 1e6)),
            if of_cores { joules(energy_uj) } else { "-".into() },
            core.totals.temperature_mc.map_or_else(|| "-".into(), degrees),
            residency(core),
        ]);
    }
    lines_of(&table)
}

fn total(summary: &Summary) -> String {
    let energy = &summary.energy;
    let (of_cores, of_machine) = (joules(energy.cores_uj), joules(energy.machine_uj));
    let mut text = String::new();
    match energy.source.as_str() {
        "simulation" => {
            let mean = |uj: u64| watts(uj, summary.time_ns);
            return format!(
                "energy {of_machine} ({} in the mean), simulated; of it {of_cores} ({}) of cores\n",
                mean(energy.machine_uj),
                mean(energy.cores_uj),
            );
        }
        "platform" => text = format!("energy {of_cores}, estimated from the platform's power\n"),
        "powercap" => {}
        _ => return text,
    }
    if energy.machine_uj > 0 {
        text.push_str(&format!("energy {of_machine}, measured: the whole machine, by powercap\n"));
    }
    text
}

/// `100: 25 % (20 %)` for each point at which the core was.
#[expect(clippy::cast_precision_loss, reason = "shown as whole per cent")]
fn residency(core: &CoreSummary) -> String {
    let points = &core.totals.points;
    let all: u64 = points.iter().map(|point| point.active_ns + point.idle_ns).sum();
    let part = |ns: u64| percent(ns as f64 / all.max(1) as f64);
    let been = points.iter().filter(|point| point.active_ns + point.idle_ns > 0);
    let parts = been.map(|point| {
        let time = part(point.active_ns + point.idle_ns);
        format!("{}: {time} ({})", point.hz / 1_000_000, part(point.active_ns))
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn joules(uj: u64) -> String {
    let joules = uj as f64 / 1e6;
    if joules < 1.0 { format!("{:.1} mJ", joules * 1e3) } else { format!("{joules:.2} J") }
}

/// The mean power of so much energy in so much time.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn watts(uj: u64, ns: u64) -> String {
    let watts = uj as f64 * 1e3 / ns.max(1) as f64;
    if watts < 1.0 { format!("{:.1} mW", watts * 1e3) } else { format!("{watts:.2} W") }
}

fn degrees(mc: i32) -> String {
    format!("{:.1}", f64::from(mc) / 1e3)
}
