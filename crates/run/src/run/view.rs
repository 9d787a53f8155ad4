// SPDX-License-Identifier: Apache-2.0
//! What is shown while a run goes on: bars on a terminal, now and then a line elsewhere.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use whimbrel_model::App;

use super::stalls;

use crate::failure;
use crate::output::{percent, time, word};
use crate::protocol::{CoreDied, Migration, Started, Status};

/// How often each form is renewed.
const BARS_INTERVAL: Duration = Duration::from_millis(100);
const LINES_INTERVAL: Duration = Duration::from_secs(2);

/// The live view of a run, on standard error.
pub struct View<'a> {
    app: &'a App,
    form: Form,
    before: Status,
    last_migration: String,
}

enum Form {
    Quiet,
    Lines,
    Bars(Bars),
}

struct Bars {
    all: MultiProgress,
    frames: ProgressBar,
    cores: Vec<ProgressBar>,
    tasks: ProgressBar,
    migration: ProgressBar,
}

impl<'a> View<'a> {
    /// The form that suits standard error, or none.
    pub fn new(app: &'a App, quiet: bool) -> Self {
        let form = if quiet {
            Form::Quiet
        } else if std::io::stderr().is_terminal() {
            Form::Bars(Bars::new())
        } else {
            Form::Lines
        };
        Self { app, form, before: Status::default(), last_migration: String::new() }
    }

    /// The application that is shown.
    pub fn app(&self) -> &'a App {
        self.app
    }

    /// How often totals are wanted, if at all.
    pub fn interval(&self) -> Option<Duration> {
        match self.form {
            Form::Quiet => None,
            Form::Lines => Some(LINES_INTERVAL),
            Form::Bars(_) => Some(BARS_INTERVAL),
        }
    }

    /// The kernels run.
    pub fn started(&mut self, started: &Started) {
        self.before.time_ns = started.start_ns;
        if let Form::Bars(bars) = &mut self.form {
            bars.add_cores(started);
        }
    }

    /// New totals.
    pub fn status(&mut self, status: &Status) {
        let frames = self.frames_line(status);
        let loads = loads(&self.before, status);

        match &self.form {
            Form::Quiet => {}
            Form::Lines if status.time_ns == self.before.time_ns => {}
            Form::Lines => {
                let loads: Vec<String> = loads.iter().map(|load| percent(*load)).collect();
                let stalled = stalls::now(self.app, status);
                let stalled: String = stalled.iter().map(|said| format!(", {said}")).collect();
                failure::say(&format!("{frames}  load {}{stalled}", loads.join(" ")));
            }
            Form::Bars(bars) => {
                bars.frames.set_message(frames);
                for (bar, load) in bars.cores.iter().zip(loads) {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    bar.set_position((load * 100.0).round() as u64);
                }
                bars.tasks.set_message(word(&self.places(status)).into_owned());
                let stalled = stalls::now(self.app, status).join(", ");
                let last = if stalled.is_empty() { &self.last_migration } else { &stalled };
                bars.migration.set_message(word(last).into_owned());
            }
        }
        self.before = status.clone();
    }

    /// A migration has ended.
    pub fn migration(&mut self, migration: &Migration) {
        let Migration { source, target, status, .. } = migration;
        let task = self.app.label(&migration.task, migration.index);
        let outcome = if status == "ok" {
            time(migration.running_ns.saturating_sub(migration.parked_ns))
        } else {
            status.clone()
        };
        self.last_migration = format!("last move: {task} {source} → {target}, {outcome}");
    }

    /// A kernel was killed.
    pub fn death(&mut self, death: &CoreDied) {
        self.say(&format!("the kernel of {}", death.words()));
    }

    /// Says something without tearing the picture.
    pub fn say(&self, line: &str) {
        match &self.form {
            Form::Bars(bars) => bars.all.suspend(|| failure::say(line)),
            _ => failure::say(line),
        }
    }

    /// Takes the picture away.
    pub fn finish(&mut self) {
        if let Form::Bars(bars) = &self.form {
            // It fails only when the terminal has gone.
            let _ = bars.all.clear();
        }
    }

    fn frames_line(&self, status: &Status) -> String {
        let sinks = self.app.sinks();
        let (frames, unit) = done(&sinks, status);
        let misses: u64 = status.tasks.iter().map(|task| task.misses).sum();
        let start = self.before.time_ns.min(status.time_ns);
        let since = Duration::from_nanos(status.time_ns - start);
        let (before, _) = done(&sinks, &self.before);
        #[expect(clippy::cast_precision_loss, reason = "shown as a whole number")]
        let rate = frames.saturating_sub(before) as f64 / since.as_secs_f64().max(1e-9);
        format!("{frames} {unit} ({rate:.0}/s), {misses} deadline misses")
    }

    fn places(&self, status: &Status) -> String {
        let mut line = String::new();
        for core in &status.cores {
            let here = status.tasks.iter().filter(|task| task.core == core.core && !task.is_over());
            let names: Vec<String> =
                here.map(|task| self.app.label(&task.task, task.index)).collect();
            // Writing to a String cannot fail.
            let _ = write!(line, "core {}: {}   ", core.core, names.join(" "));
        }
        line
    }
}

impl Bars {
    fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let line = || {
            let style = ProgressStyle::with_template("{wide_msg}");
            ProgressBar::new_spinner().with_style(style.expect("the template is valid"))
        };
        let frames = all.add(line());
        let tasks = all.add(line());
        let migration = all.add(line());
        Self { all, frames, cores: Vec::new(), tasks, migration }
    }

    fn add_cores(&mut self, started: &Started) {
        let style = ProgressStyle::with_template("core {prefix} {bar:40} {pos:>3} %");
        let style = style.expect("the template is valid").progress_chars("██ ");
        for kernel in &started.kernels {
            let bar = ProgressBar::new(100).with_style(style.clone());
            let bar = self.all.insert_before(&self.tasks, bar);
            bar.set_prefix(kernel.core.to_string());
            self.cores.push(bar);
        }
    }
}

/// The frames that have left the application: messages received by each task that sends to no
/// channel. Of one that joins several channels (`sinks` has them all) each frame counts once.
pub fn received(sinks: &[Vec<usize>], status: &Status) -> u64 {
    let count = |channel: &usize| status.channels.get(*channel).map_or(0, |c| c.received);
    sinks.iter().map(|into| into.iter().map(count).max().unwrap_or(0)).sum()
}

/// What a run has done so far, and what that is: frames, or where none leaves the application,
/// firings of all tasks.
pub fn done(sinks: &[Vec<usize>], status: &Status) -> (u64, &'static str) {
    if sinks.is_empty() {
        return (status.tasks.iter().map(|task| task.firings).sum(), "firings");
    }
    (received(sinks, status), "frames")
}

/// The load of each core between two totals, from 0 to 1.
pub fn loads(before: &Status, now: &Status) -> Vec<f64> {
    let time = now.time_ns.saturating_sub(before.time_ns).max(1);
    let busy_before = |core: usize| before.cores.get(core).map_or(0, |core| core.busy_ns);
    let busy = now.cores.iter().enumerate();
    #[expect(clippy::cast_precision_loss, reason = "shown as a whole per cent")]
    let load = busy.map(|(i, core)| {
        (core.busy_ns.saturating_sub(busy_before(i)) as f64 / time as f64).clamp(0.0, 1.0)
    });
    load.collect()
}
