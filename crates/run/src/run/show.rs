// SPDX-License-Identifier: Apache-2.0
//! The result of a run as tables.

use std::fmt::Write;

use whimbrel_model::{App, NotifyPolicy};

use super::moves;
use super::summary::{CoreSummary, Summary};
use super::throughput::{GraphSummary, TaskSummary};
use crate::board::link::Counts;
use crate::output::{Column, columns, kib, percent, time};
use crate::protocol::{ChannelStatus, DeliveryStats, Response, ScriptStatus, TaskStatus};

/// Everything, with the headline also below the tables, where a terminal has scrolled to.
pub fn tables(app: &App, summary: &Summary) -> String {
    let headline = headline(app, summary);
    let mut out = headline.clone();
    let of_tasks = [tasks(app, summary), responses(app, summary), scripts(app, summary)];
    let parts = [cores(summary), islands(summary), power(summary)].into_iter().chain(of_tasks);
    let parts: Vec<String> = parts.chain([channels(summary)]).collect();
    for part in parts.iter().chain(&moves::tables(app, summary)).filter(|part| !part.is_empty()) {
        out.push('\n');
        out.push_str(part);
    }
    out + "\n" + &headline
}

/// What a person wants to know first.
pub fn headline(app: &App, summary: &Summary) -> String {
    let ended = match summary.ended {
        "finished" => "finished",
        "stopped" => "stopped by its user",
        "duration" => "ended after its time",
        "forced" => "was forced to end",
        _ => "failed",
    };
    let Summary { deadline_misses, time_ns, .. } = summary;
    let mut line = format!("{} {ended} after {}\n", app.name, time(*time_ns));
    let moved = summary.tasks.iter().map(|task| task.totals.migrations).sum::<u64>();
    let refused = summary.tasks.iter().map(|task| task.totals.refused).sum::<u64>();

    line += &throughput(summary);
    // Writing to a String cannot fail.
    let _ = write!(line, "{deadline_misses} deadline misses, {moved} migrations");
    if refused > 0 {
        let _ = write!(line, " ({refused} refused)");
    }
    if summary.dropped_events > 0 {
        let _ = write!(line, ", {} events not recorded", summary.dropped_events);
    }
    if let Some(counts) = summary.line.filter(|counts| *counts != Counts::default()) {
        let (to, from) = (counts.repeated_to_board, counts.repeated_from_board);
        let _ =
            write!(line, ", pieces sent again over the line: {to} to the board, {from} from it");
    }
    line.push('\n');
    line + &moves::decider(summary)
}

/// Frames and, where these are not the same, iterations.
fn throughput(summary: &Summary) -> String {
    let mut text = String::new();
    if let (Some(frames), Some(per_s)) = (summary.frames, summary.frames_per_s) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{frames} frames ({per_s:.1}/s), ");
    }
    for GraphSummary { repetitions, iterations, iterations_per_s, .. } in &summary.graphs {
        if summary.frames.is_none() || repetitions.iter().any(|count| *count != 1) {
            let _ = write!(text, "{iterations} iterations ({iterations_per_s:.1}/s), ");
        }
    }
    text
}

fn cores(summary: &Summary) -> String {
    let all = &summary.cores;
    columns(&[
        Column::of("core", all, |core| core.totals.core.to_string()),
        Column::of(">cpu", all, CoreSummary::place),
        Column::of(">load", all, |core| percent(core.load)),
        Column::of(">busy", all, |core| time(core.totals.busy_ns)),
        Column::of(">polling", all, |core| time(core.totals.all_polling_ns())),
        Column::of(">switches", all, |core| core.totals.switches.to_string()),
        Column::of(">sleeps", all, |core| core.totals.sleeps.to_string()),
        Column::of("state", all, |core| core.totals.state.clone()),
    ])
}

/// Where there are several.
fn islands(summary: &Summary) -> String {
    let simulation = summary.options.simulation.as_ref();
    let islands = simulation.and_then(|simulation| simulation.islands.iter().max());
    islands.map_or_else(String::new, |islands| {
        format!("{islands} islands: a longer run simulates them on several processors\n")
    })
}

/// The table, where the frequencies or temperatures of cores are known, and the total.
fn power(summary: &Summary) -> String {
    let known = |core: &CoreSummary| core.mean_hz.is_some() || core.totals.temperature_mc.is_some();
    let mut text = String::new();
    if summary.cores.iter().any(known) {
        text = frequencies(summary);
    }
    text + &energy(summary)
}

fn frequencies(summary: &Summary) -> String {
    let all = &summary.cores;
    let of_cores = matches!(summary.energy.source.as_str(), "platform" | "simulation");
    let energy = |uj: u64| if of_cores { joules(uj) } else { "-".into() };
    let mhz = |hz: f64| format!("{:.0}", hz / 1e6);
    columns(&[
        Column::of("core", all, |core| core.totals.core.to_string()),
        Column::of(">mean MHz", all, |core| core.mean_hz.map_or_else(|| "-".into(), mhz)),
        Column::of(">energy", all, |core| energy(core.totals.energy_uj)),
        Column::of(">°C", all, |core| core.totals.temperature_mc.map_or("-".into(), degrees)),
        Column::of("time at MHz (of it in tasks)", all, residency),
    ])
}

fn energy(summary: &Summary) -> String {
    let energy = &summary.energy;
    let (of_cores, of_machine) = (joules(energy.cores_uj), joules(energy.machine_uj));
    let mut text = String::new();
    match energy.source.as_str() {
        "simulation" => {
            let mean = |uj: u64| watts(uj, summary.time_ns);
            return format!(
                "energy {of_machine} ({} on average), simulated; of it {of_cores} ({}) of cores\n",
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

fn tasks(app: &App, summary: &Summary) -> String {
    let all: Vec<&TaskStatus> = summary.tasks.iter().map(|task| &task.totals).collect();
    let all = all.as_slice();
    let any = |what: fn(&&TaskStatus) -> bool| all.iter().any(what);
    let late = |t: &&TaskStatus| if t.misses > 0 { time(t.worst_late_ns) } else { "-".into() };
    columns(&[
        Column::of("task", all, |t| app.label(&t.task, t.index)),
        Column::of(">core", all, |t| t.core.to_string()),
        Column::of(">busy", all, |t| time(t.busy_ns)),
        Column::of(">jobs", all, |t| t.jobs.to_string()),
        Column::of(">misses", all, |t| t.misses.to_string()),
        Column::of(">latest", all, late),
        Column::of(">preempted", all, |t| t.preemptions.to_string())
            .when(any(|t| t.preemptions > 0)),
        Column::of(">moved", all, |t| t.migrations.to_string()),
        Column::of(">chosen", all, |t| t.chosen.to_string()).when(any(|t| t.chosen > 0)),
        Column::of("mode", all, |t| t.mode.clone()).when(any(|t| moves::is_special(&t.mode))),
        Column::of(">reserved", all, |t| kib(t.reserved_bytes)).when(moves::reserve_more(summary)),
        Column::of(">heap peak", all, |t| kib(t.heap_peak_bytes)),
        Column::of(">restarts", all, |t| t.restarts.to_string()).when(any(|t| t.restarts > 0)),
        Column::of(">images", all, |t| t.images.to_string()).when(any(|t| t.images > 0)),
        Column::of(">damaged", all, |t| t.damaged.to_string()).when(any(|t| t.damaged > 0)),
        Column::of(">replayed", all, |t| t.replayed.to_string()).when(any(|t| t.replayed > 0)),
        Column::of(">skipped", all, |t| t.skipped.to_string()).when(any(|t| t.skipped > 0)),
        Column::of("state", all, |t| t.state.clone()),
    ])
}

/// From when a task could until it had: of those of which any was measured.
fn responses(app: &App, summary: &Summary) -> String {
    let measured = |task: &TaskSummary| {
        let label = app.label(&task.totals.task, task.totals.index);
        task.response.clone().map(|response| (label, task.firings_per_s, response))
    };
    let all: Vec<(String, f64, Response)> = summary.tasks.iter().filter_map(measured).collect();
    columns(&[
        Column::of("response", &all, |(label, ..)| label.clone()),
        Column::of(">firings/s", &all, |(_, per_s, _)| format!("{per_s:.1}")),
        Column::of(">min", &all, |(.., response)| time(response.min_ns)),
        Column::of(">mean", &all, |(.., response)| time(response.mean_ns)),
        Column::of(">p50", &all, |(.., response)| time(response.p50_ns)),
        Column::of(">p99", &all, |(.., response)| time(response.p99_ns)),
        Column::of(">max", &all, |(.., response)| time(response.max_ns)),
        Column::of(">n", &all, |(.., response)| response.n.to_string()),
    ])
}

/// Of tasks with scripts: what their firings took.
fn scripts(app: &App, summary: &Summary) -> String {
    let scripted = |task: &TaskSummary| {
        let script = task.totals.script.clone().filter(|script| script.loops > 0);
        script.map(|script| (app.label(&task.totals.task, task.totals.index), script))
    };
    let all: Vec<(String, ScriptStatus)> = summary.tasks.iter().filter_map(scripted).collect();
    let us = |us: Option<f64>| us.map_or("-".into(), |us| format!("{us:.1} µs"));
    columns(&[
        Column::of("script", &all, |(label, _)| label.clone()),
        Column::of(">loops", &all, |(_, script)| script.loops.to_string()),
        Column::of(">period", &all, |(_, script)| us(script.period_us)),
        Column::of(">run", &all, |(_, script)| us(script.run_us)),
        Column::of(">slack", &all, |(_, script)| us(script.slack_us)),
        Column::of(">wake-up", &all, |(_, script)| us(script.wakeup_us)),
    ])
}

/// Of the channels whose receivers were told of messages in another way than by an interrupt each.
fn bells(summary: &Summary) -> String {
    let told = |channel: &&ChannelStatus| {
        channel.notify != NotifyPolicy::default() || channel.told.polls + channel.told.waits > 0
    };
    let all: Vec<&ChannelStatus> = summary.channels.iter().filter(told).collect();
    let known = |n: u64, ns: u64| if n > 0 { time(ns) } else { "-".into() };
    let expected = |channel: &ChannelStatus| match channel.told.mean_ns {
        0 => "-".into(),
        mean => format!("{} ± {}", time(mean), time(channel.told.spread_ns)),
    };
    let mean = |told: &DeliveryStats| told.late_ns.checked_div(told.noticed).unwrap_or(0);
    let table = columns(&[
        Column::of("channel", &all, |channel| channel.channel.clone()),
        Column::of("doorbell", &all, |channel| channel.notify.to_string()),
        Column::of(">waits", &all, |channel| channel.told.waits.to_string()),
        Column::of(">rings", &all, |channel| channel.told.rings.to_string()),
        Column::of(">polls", &all, |channel| channel.told.polls.to_string()),
        Column::of(">hits", &all, |channel| channel.told.hits.to_string()),
        Column::of(">expected", &all, |channel| expected(channel)),
        Column::of(">noticed after", &all, |c| known(c.told.noticed, mean(&c.told))),
        Column::of(">at most", &all, |c| known(c.told.noticed, c.told.worst_ns)),
        Column::of(">its kernel", &all, |c| known(c.told.noticed, c.told.kernel_ns)),
    ]);
    if table.is_empty() { table } else { format!("\n{table}") }
}

fn channels(summary: &Summary) -> String {
    let all = &summary.channels;
    #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    columns(&[
        Column::of("channel", all, |channel| channel.channel.clone()),
        Column::of(">slots", all, |channel| channel.slots.to_string()),
        Column::of(">high", all, |channel| channel.high.to_string()),
        Column::of(">low", all, |channel| channel.low.map_or("-".into(), |low| low.to_string())),
        Column::of(">left", all, |channel| channel.depth.to_string()),
        Column::of(">sent", all, |channel| channel.sent.to_string()),
        Column::of(">MB", all, |channel| megabytes(channel.bytes)),
    ]) + &bells(summary)
}
