// SPDX-License-Identifier: Apache-2.0
//! One run from its plan to its end: a loop over what the helper says, what users ask, and time.
//!
//! Threads only read and pass on; everything is decided here, in one place and in one order.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use whimbrel_model::Command;

use super::callbacks::Callbacks;
use super::events::Streams;
use super::helper::{Helper, Input, Leave};
use super::requests::{Requests, Waiter};
use super::results::{Results, Stop};
use super::stalls;
use super::view::View;
use super::watchdog::{Due, Watchdog};
use super::watchers::{Watchers, portrait};

use crate::board::link::Watch;
use crate::control::{Ask, Reply, Request};
use crate::load::{MOVE_TIMEOUT_MS, Schedule};
use crate::process::Process;
use crate::protocol::{CoreDied, CoreRestarted, ErrorKind, HelperError, Line, Migrated, Started};
use crate::signals;

/// How long channels may take to drain after a stop.
const DRAIN: Duration = Duration::from_secs(5);
/// How often a companion is asked whether the run is to go on.
const LOOK: Duration = Duration::from_millis(100);
/// Times as long as an answer with totals took, nobody asks for the next one.
const RESTS: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The helper lays the system out.
    Starting,
    /// Since this moment.
    Running(Instant),
    /// Channels drain until this moment.
    Draining(Instant),
    /// Kernels are being ended, or the helper leaves.
    Leaving(Leave),
    /// The helper has gone.
    Over,
}

/// The end that its user or `--duration` asks for.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// When, after the start; `None`: when its user says so.
    pub after: Option<Duration>,
    /// Whether the run is over then; else its channels drain.
    pub at_once: bool,
}

/// What a run begins with.
#[derive(Debug, Default)]
pub struct Opening {
    /// What is told first: the plan, or to a board, what it needs beside its own.
    pub line: String,
    /// How long the other end may be silent; `None`: its death is noticed otherwise.
    pub silence: Option<Duration>,
    /// Where event streams go that come as lines.
    pub streams: Option<Streams>,
}

/// What a run does when.
pub struct Timing {
    /// The moves that it makes by itself.
    pub schedule: Schedule,
    /// When it is to end.
    pub ending: Ending,
    /// At which frame rate it begins.
    pub frame_rate: Option<f64>,
}

/// A run in progress.
pub struct Session<'a> {
    helper: Helper,
    inputs: Receiver<Input>,
    schedule: Schedule,
    ending: Ending,
    frame_rate: Option<f64>,
    view: View<'a>,
    callbacks: Option<&'a mut dyn Callbacks>,
    /// When it is asked next.
    next_look: Instant,
    /// Told of the helper's processes: at the start, and when one of them is another.
    on_start: Box<dyn FnMut(&Started) + 'a>,
    phase: Phase,
    next_status: Instant,
    requests: Requests,
    watchers: Watchers,
    kernels: Vec<Option<Process>>,
    watchdog: Option<Watchdog>,
    opening: Opening,
    /// Since when totals for the view have been asked for, and have not come.
    viewing: Option<Instant>,
    results: Results,
}

impl<'a> Session<'a> {
    /// Takes over a helper that was just started.
    pub fn new(
        helper: Helper,
        inputs: Receiver<Input>,
        Timing { schedule, ending, frame_rate }: Timing,
        view: View<'a>,
        on_start: impl FnMut(&Started) + 'a,
    ) -> Self {
        Self {
            helper,
            inputs,
            schedule,
            ending,
            frame_rate,
            view,
            callbacks: None,
            next_look: Instant::now(),
            on_start: Box::new(on_start),
            phase: Phase::Starting,
            next_status: Instant::now(),
            requests: Requests::default(),
            watchers: Watchers::default(),
            kernels: Vec::new(),
            watchdog: None,
            opening: Opening::default(),
            viewing: None,
            results: Results::default(),
        }
    }

    /// Has a program come along.
    pub fn with(self, callbacks: &'a mut dyn Callbacks) -> Self {
        Self { callbacks: Some(callbacks), ..self }
    }

    /// Tells what a run begins with, and stays until the helper and its kernels have gone.
    pub fn run(mut self, opening: Opening) -> Results {
        self.watchdog = opening.silence.map(|silence| Watchdog::new(silence, Instant::now()));
        self.send(&opening.line);
        self.opening = opening;
        while self.phase != Phase::Over {
            self.look(Instant::now());
            match self.wait() {
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => self.tick(Instant::now()),
                // Each thread that listens says Closed first: this cannot happen.
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.view.finish();
        self.watchers.finish(&self.results);
        self.results.exit = self.helper.reap().ok().flatten();
        self.results.complaints = self.helper.complaints();
        self.results.line = self.helper.line().map(Watch::counts);
        self.results.noise = self.helper.line().and_then(Watch::noise);
        for kernel in self.kernels.iter().flatten() {
            // They end with their helper; one that did not would keep its processor busy for ever.
            if !kernel.wait(Duration::from_millis(200)) {
                let _ = kernel.kill();
            }
        }
        self.results
    }

    fn wait(&self) -> Result<Input, RecvTimeoutError> {
        let look = self.callbacks.as_ref().map(|_| self.next_look);
        let due = match self.next_due().into_iter().chain(look).min() {
            Some(due) => due,
            None => return self.inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        // An input that is there is taken even when time has run out, so that a flood of them
        // cannot hold up the clock for more than one.
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(RecvTimeoutError::Timeout) } else { self.inputs.recv_timeout(left) }
    }

    fn next_due(&self) -> Option<Instant> {
        let running = match self.phase {
            Phase::Starting => return self.watchdog.as_ref().map(Watchdog::next),
            Phase::Over => return None,
            Phase::Draining(until) => return Some(until),
            Phase::Leaving(leave) => return Some(leave.due()),
            Phase::Running(since) => since,
        };
        let times = [
            self.ending.after.map(|after| running + after),
            self.schedule.next().map(|due| running + due),
            self.view.interval().filter(|_| self.viewing.is_none()).map(|_| self.next_status),
            self.watchers.next(),
            self.watchdog.as_ref().map(Watchdog::next),
        ];
        times.into_iter().flatten().min()
    }

    /// Asks the companion whether the run is to go on, and the helper how far it is.
    fn look(&mut self, now: Instant) {
        let Some(callbacks) = self.callbacks.as_mut().filter(|_| self.next_look <= now) else {
            return;
        };
        self.next_look = now + LOOK;
        let (goes_on, watches) = (callbacks.goes_on(), callbacks.watches());
        if !goes_on {
            self.results.stop = Some(Stop::User);
            self.end_by_force();
        } else if watches && self.viewing.is_none() && matches!(self.phase, Phase::Running(_)) {
            self.tell(&Command::Status {});
            self.viewing = Some(now);
        }
    }

    /// Has the callbacks decide in the place of a policy.
    fn decide(&mut self, snapshot: &serde_json::Value) {
        let Some(callbacks) = &mut self.callbacks else {
            let text = "its policy `asked` asks a program, and none has started this run";
            self.fail(ErrorKind::Policy, text.into());
            return;
        };
        match callbacks.decide(snapshot) {
            Some(decision) => self.tell(&Command::Decision(decision)),
            None => {
                self.results.stop = Some(Stop::User);
                self.end_by_force();
            }
        }
    }

    fn tick(&mut self, now: Instant) {
        match self.phase {
            Phase::Starting => self.watch(now),
            Phase::Running(since) => self.tick_running(now, since),
            Phase::Draining(until) if until <= now => self.end_by_force(),
            Phase::Draining(_) | Phase::Over => {}
            Phase::Leaving(ref mut leave) => {
                if self.helper.stays(leave) {
                    self.results.stayed = self.results.end.is_none();
                    self.helper.kill();
                    self.phase = Phase::Over;
                }
            }
        }
    }

    fn tick_running(&mut self, now: Instant, since: Instant) {
        let time = now.saturating_duration_since(since);
        for due in self.schedule.take(time) {
            let (task, core) = (due.task.clone(), due.core);
            let command = self.requests.migrate(task, core, MOVE_TIMEOUT_MS, Waiter::Schedule(due));
            self.tell(&command);
        }
        let due = |_: &Duration| self.next_status <= now && self.viewing.is_none();
        if let Some(interval) = self.view.interval().filter(due) {
            self.tell(&Command::Status {});
            self.viewing = Some(now);
            self.next_status = now + interval;
        }
        if self.watchers.want_totals(now) {
            self.tell(&Command::Status {});
        }
        if self.ending.after.is_some_and(|after| after <= time) {
            self.stop(Stop::Duration);
        }
        if matches!(self.phase, Phase::Running(_)) {
            self.watch(now);
        }
    }

    /// Asks a board that runs whether it is still there.
    fn watch(&mut self, now: Instant) {
        let Some(watchdog) = &mut self.watchdog else { return };
        match (watchdog.look(now), self.phase) {
            // Until a board answers, its line is opened again and again.
            (Due::Nothing, _) | (Due::Ask, Phase::Starting) => {}
            (Due::Ask, _) => self.tell(&Command::Status {}),
            (Due::Silent, _) => {
                self.results.silent = Some(watchdog.silence());
                self.helper.kill();
                self.phase = Phase::Over;
            }
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Line(line) => {
                if let Some(watchdog) = &mut self.watchdog {
                    watchdog.hears(Instant::now());
                }
                if let Phase::Leaving(leave) = &mut self.phase {
                    leave.hears(Instant::now());
                }
                self.take_line(*line);
            }
            Input::Garbled { why, line } => {
                self.results.garbled.get_or_insert(format!("{why}: {line}"));
                self.end_by_force();
            }
            Input::Closed => self.phase = Phase::Over,
            Input::Signal => {
                match self.phase {
                    Phase::Running(_) => self.stop(Stop::User),
                    _ => {
                        self.results.stop = Some(Stop::User);
                        self.end_by_force();
                    }
                }
                if let Phase::Leaving(leave) = &mut self.phase {
                    leave.hurry(Instant::now());
                }
            }
            Input::Suspend => self.suspend(),
            Input::Ask(ask) => self.take_ask(ask),
        }
    }

    /// Stops the helper, its kernels and this process until the user continues it. For the run no
    /// time passes.
    fn suspend(&mut self) {
        if !signals::may_stop() {
            return;
        }
        let kernels = self.kernels.iter().flatten().copied();
        for process in kernels.chain(self.helper.process()) {
            process.signal_group(Signal::STOP);
        }
        let stopped = Instant::now();
        signals::stop();
        // It continues the others, once it has put off their jobs.
        self.helper.go_on();
        let paused = stopped.elapsed();
        match &mut self.phase {
            Phase::Running(at) | Phase::Draining(at) => *at += paused,
            Phase::Leaving(leave) => leave.put_off(paused),
            Phase::Starting | Phase::Over => {}
        }
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.hears(Instant::now());
        }
    }

    /// A board whose answer takes long is left alone for longer: it is to do something else.
    fn rest_after_view(&mut self) {
        let Some(asked) = self.viewing.take() else { return };
        let now = Instant::now();
        self.next_status = self.next_status.max(now + (now - asked) * RESTS);
    }

    fn take_line(&mut self, line: Line) {
        match line {
            Line::Started(started) => self.start(started),
            Line::Status(status) => {
                let status = status.with_stalls();
                self.requests.answer_totals(&status);
                self.watchers.totals(&status);
                self.view.status(&status);
                if let Some(callbacks) = &mut self.callbacks {
                    callbacks.totals(&status);
                }
                self.rest_after_view();
                self.results.latest = Some(status);
            }
            Line::Migration(migration) => {
                self.view.migration(&migration);
                self.watchers.tell(&Reply::Migration(migration.clone()));
                self.results.migration(migration);
            }
            Line::Migrated(migrated) => self.answer_move(migrated),
            Line::Set(set) => self.requests.answer_set(set),
            Line::CoreDied(death) => self.died(death),
            Line::CoreRestarted(restarted) => self.runs_again(&restarted),
            Line::Advice(advice) => {
                self.watchers.tell(&Reply::Advice(advice.clone()));
                self.results.advice(advice);
            }
            Line::Decide(snapshot) => self.decide(&snapshot),
            Line::Events(events) => {
                let taken = self.opening.streams.as_mut().map(|streams| streams.take(&events));
                if let Some(Err(text)) = taken {
                    self.fail(ErrorKind::Record, text);
                }
            }
            Line::Simulated(simulated) => self.results.simulated = Some(simulated),
            Line::Stalled(stalled) if stalled.at_end => self.results.stalled.push(stalled),
            Line::Stalled(stalled) => {
                self.view.say(&stalls::notice(self.view.app(), &stalled));
            }
            Line::Error(error) => {
                self.results.errors.push(error);
                // A board at a device has refused the run, and waits for the next one.
                if self.phase == Phase::Starting && !self.helper.leaves() {
                    self.phase = Phase::Over;
                }
            }
            Line::End(end) => {
                self.results.end = Some(end);
                self.helper.hang_up();
                self.phase = if self.helper.leaves() {
                    Phase::Leaving(self.helper.leave())
                } else {
                    Phase::Over
                };
            }
        }
    }

    fn answer_move(&mut self, migrated: Migrated) {
        if let Some(entry) = self.requests.scheduled(&migrated.id) {
            self.schedule.answered(entry);
        }
        if let Some(said) = self.requests.answer_move(migrated) {
            self.view.say(&said);
        }
    }

    fn died(&mut self, death: CoreDied) {
        self.view.death(&death);
        self.watchers.tell(&Reply::CoreDied(death.clone()));
        self.results.deaths.push(death);
    }

    fn runs_again(&mut self, restarted: &CoreRestarted) {
        self.view.say(&format!("the kernel of {}", restarted.words()));
        self.watchers.tell(&Reply::CoreRestarted(restarted.clone()));
        self.results.restarted(restarted);
        if let Some(started) = &self.results.started {
            self.kernels = started.processes();
            (self.on_start)(started);
        }
    }

    /// Ends the run for something that went wrong here, once.
    fn fail(&mut self, kind: ErrorKind, text: String) {
        if self.results.errors.iter().any(|error| error.kind == kind) {
            return;
        }
        self.results.errors.push(HelperError::new(kind, text));
        self.end_by_force();
    }

    fn start(&mut self, started: Started) {
        let now = Instant::now();
        self.kernels = started.processes();
        (self.on_start)(&started);
        self.view.started(&started);
        self.results.started = Some(started);
        if self.phase == Phase::Starting {
            self.phase = Phase::Running(now);
            self.next_status = now + self.view.interval().unwrap_or_default();
        }
    }

    /// Lets channels drain, or ends at once what would not end by itself.
    fn stop(&mut self, why: Stop) {
        self.results.stop = Some(why);
        if self.ending.at_once {
            self.phase = Phase::Leaving(self.helper.leave());
            self.tell(&Command::Kill {});
        } else {
            self.phase = Phase::Draining(Instant::now() + DRAIN);
            self.tell(&Command::Stop {});
        }
    }

    fn end_by_force(&mut self) {
        match self.phase {
            Phase::Leaving(_) => {
                self.results.stayed = self.results.end.is_none();
                self.helper.kill();
            }
            Phase::Starting => self.helper.kill(),
            Phase::Over => {}
            Phase::Running(_) | Phase::Draining(_) => {
                self.results.forced = true;
                self.phase = Phase::Leaving(self.helper.leave());
                self.tell(&Command::Kill {});
            }
        }
    }

    fn take_ask(&mut self, ask: Ask) {
        if !matches!(self.phase, Phase::Running(_) | Phase::Draining(_)) {
            let why = "the run is starting or ending: try again";
            // Whoever asked may have gone.
            let _ = ask.reply.try_send(Reply::Refused(why.into()));
            return;
        }
        if let Request::Watch { interval_ms } = ask.request {
            let portrait = portrait(self.view.app(), self.frame_rate, &self.results);
            self.watchers.add(interval_ms, ask, portrait, &self.results);
            return;
        }
        let command = self.requests.ask(ask.request, ask.reply);
        self.tell(&command);
    }

    fn tell(&mut self, command: &Command) {
        self.send(&command.line());
    }

    /// A helper that takes no line is stuck or has gone: either way its end is what comes next.
    fn send(&mut self, line: &str) {
        if self.helper.tell(line).is_err() {
            self.helper.kill();
        }
    }
}
