// SPDX-License-Identifier: Apache-2.0
//! The plan: what a helper is told before it lays an application out and starts it.
//! See `docs/kernels-linux-protocol.md`.

mod moving;
mod work_lines;

use std::fmt::Write;

use crate::app::{App, Direction, OnCrash, Pacing, Period, Task};
use crate::platform::{Core, Frequency, Point};
pub(crate) use moving::millihz;
pub use moving::{Moving, NO_POLICY, PolicyName, Row};

/// What a plan says beyond the application itself.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// The processor of each core.
    pub cpus: Vec<u32>,
    /// Where the module was found.
    pub module: String,
    /// How long an idle kernel polls before it sleeps; `None`: for ever.
    pub spin_ns: Option<u64>,
    /// How long a target may take to attach a task.
    pub offer_ns: u64,
    /// An existing folder for the event streams.
    pub record: Option<String>,
    /// The frame rate.
    pub pacing: Pacing,
    /// Who decides on moves, and how what moves travels.
    pub moving: Moving,
    /// The operating points of each core; empty: they are not known.
    pub cores: Vec<Core>,
    /// The kind of each core, as `arm9`; missing ones are [`HOST_KIND`].
    pub kinds: Vec<String>,
    /// Where every draw of cycles begins.
    pub seed: u64,
    /// How they are set.
    pub frequency: Frequency,
    /// A file to note in what frequencies were before they were set.
    pub journal: String,
}

/// Writes the lines of a plan, from `whimbrel 1` to `start`.
pub fn plan(app: &App, options: &PlanOptions) -> String {
    let mut lines = Lines(String::from("whimbrel 1\n"));

    let kinds = work_lines::cores(options, &mut lines);
    lines.add(format_args!("module {}", escape(&options.module)));
    lines.add(format_args!("memory {}", app.memory_bytes));
    lines.add(format_args!("shared {}", app.shared_bytes));
    match options.spin_ns {
        Some(ns) => lines.add(format_args!("spin {ns}")),
        None => lines.add(format_args!("spin forever")),
    }
    lines.add(format_args!("offer {}", options.offer_ns));
    if let Some(folder) = &options.record {
        lines.add(format_args!("record {}", escape(folder)));
    }
    points(options, &mut lines);
    params(app, &mut lines);
    channels(app, &mut lines);
    for task in &app.tasks {
        lines.add(format_args!("{}", task_line(app, task, options.pacing)));
    }
    work_lines::works(app, options, &kinds, &mut lines);
    for line in options.moving.lines(options.pacing.frame_rate(app)) {
        lines.add(format_args!("{line}"));
    }
    ports(app, &mut lines);
    lines.add(format_args!("start"));
    lines.0
}

/// Writes `%XX` for every byte that would end a word or a line.
pub fn escape(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            ' ' | '%' | '\0'..='\x1f' | '\x7f' => {
                escaped.push('%');
                escaped.push_str(&format!("{:02X}", u32::from(c)));
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

pub(crate) struct Lines(String);

impl Lines {
    pub fn add(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

fn points(options: &PlanOptions, lines: &mut Lines) {
    for (number, core) in options.cores.iter().enumerate() {
        for (position, point) in core.points.iter().enumerate() {
            let Point { hz, active_uw, idle_uw } = point;
            let start = if position == core.start { " start" } else { "" };
            lines.add(format_args!("point {number} {hz} {active_uw} {idle_uw}{start}"));
        }
    }
    if options.frequency != Frequency::None {
        lines.add(format_args!("frequency {}", options.frequency.word()));
    }
    if options.frequency == Frequency::Cpufreq {
        lines.add(format_args!("journal {}", escape(&options.journal)));
    }
}

fn params(app: &App, lines: &mut Lines) {
    for param in &app.params {
        let numbers: String = param.numbers.iter().map(|number| format!(" {number}")).collect();
        lines.add(format_args!("param {} {}{numbers}", param.key, escape(&param.text)));
    }
}

fn channels(app: &App, lines: &mut Lines) {
    for channel in &app.channels {
        lines.add(format_args!(
            "channel {} slots {} bytes {} initial {} mailbox {}",
            channel.name,
            channel.slots,
            channel.slot_bytes,
            channel.initial,
            u8::from(channel.mailbox),
        ));
    }
}

fn task_line(app: &App, task: &Task, pacing: Pacing) -> String {
    let period = period_ns(app, task, pacing);
    format!(
        "task {} {} entry {} mode {} core {} priority {} stack {} heap {} migratable {} \
         restart {} period {} deadline {} offset {} frame {} image {} replay {}",
        task.name,
        task.index,
        task.entry.get_ref(),
        task.mode,
        task.core.get_ref(),
        task.priority,
        task.stack_bytes.get_ref(),
        task.heap_bytes,
        u8::from(task.migratable),
        u8::from(task.restart),
        whole_ns(period),
        whole_ns(period * task.deadline_frames),
        whole_ns(period * task.offset_frames),
        u8::from(task.period == Period::Frame && period > 0.0),
        task.checkpoint_every,
        u8::from(task.checkpoint_every > 0 && task.on_crash == OnCrash::Replay),
    )
}

fn period_ns(app: &App, task: &Task, pacing: Pacing) -> f64 {
    let rate = pacing.frame_rate(app);
    match task.period {
        _ if pacing == Pacing::Fast => 0.0,
        Period::None => 0.0,
        Period::Frame => rate.map_or(0.0, |rate| 1e9 / rate),
        Period::Own(ns) => ns,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "periods are positive, and a cast saturates"
)]
fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

fn ports(app: &App, lines: &mut Lines) {
    for port in &app.ports {
        let task = &app.tasks[port.task];
        let direction = match port.direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        let channel = &app.channels[port.channel].name;
        lines.add(format_args!(
            "port {} {} {direction} {} {} {channel}{}",
            task.name,
            task.index,
            port.name,
            port.index,
            if port.rate == 1 { String::new() } else { format!(" {}", port.rate) },
        ));
    }
}
