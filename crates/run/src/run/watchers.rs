// SPDX-License-Identifier: Apache-2.0
//! Other terminals that watch a run. They never slow it: what they are told goes into a queue of
//! limited length, and who lets that run full is watched for no longer.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use whimbrel_model::App;

use super::results::{Results, Stop};
use crate::control::{Ask, Ended, Reply, RunDescription};
use crate::protocol::Status;

/// The intervals that a client may ask for.
const INTERVALS_MS: (u64, u64) = (100, 5000);
/// How much of what has happened is told to who comes later.
const PAST: usize = 100;
/// How long the last words may take to reach everybody.
const FAREWELL: Duration = Duration::from_secs(2);

/// Everybody who watches.
#[derive(Debug, Default)]
pub struct Watchers(Vec<Watcher>);

#[derive(Debug)]
struct Watcher {
    reply: SyncSender<Reply>,
    gone: Receiver<Infallible>,
    interval: Duration,
    due: Instant,
    /// Totals have been asked for, and have not come yet.
    waits: bool,
}

impl Watchers {
    /// Takes another one, who is told what the run is and what has happened lately.
    pub fn add(&mut self, interval_ms: u64, ask: Ask, portrait: RunDescription, results: &Results) {
        let interval = Duration::from_millis(interval_ms.clamp(INTERVALS_MS.0, INTERVALS_MS.1));
        let due = Instant::now();
        let watcher = Watcher { reply: ask.reply, gone: ask.gone, interval, due, waits: false };
        let first = Reply::Watching(Box::new(portrait));
        if std::iter::once(first).chain(past(results)).all(|reply| watcher.tell(reply)) {
            self.0.push(watcher);
        }
    }

    /// When totals are due next.
    pub fn next(&self) -> Option<Instant> {
        self.0.iter().filter(|watcher| !watcher.waits).map(|watcher| watcher.due).min()
    }

    /// Whether somebody's totals are due; they are to be asked for then.
    pub fn want_totals(&mut self, now: Instant) -> bool {
        let mut any = false;
        for watcher in self.0.iter_mut().filter(|watcher| !watcher.waits && watcher.due <= now) {
            watcher.due = now + watcher.interval;
            watcher.waits = true;
            any = true;
        }
        any
    }

    /// Totals have come.
    pub fn totals(&mut self, status: &Status) {
        self.0.retain_mut(|watcher| {
            !std::mem::take(&mut watcher.waits)
                || watcher.tell(Reply::Status(Box::new(status.clone())))
        });
    }

    /// Something has happened.
    pub fn tell(&mut self, reply: &Reply) {
        self.0.retain(|watcher| watcher.tell(reply.clone()));
    }

    /// The run is over: says so, and stays until everybody has been told or does not listen.
    pub fn finish(&mut self, results: &Results) {
        if self.0.is_empty() {
            return;
        }
        self.tell(&Reply::Ended(Box::new(ended(results))));
        let end = Instant::now() + FAREWELL;
        for Watcher { reply, gone, .. } in self.0.drain(..) {
            drop(reply);
            // The only thing that can come is that the peer's thread is over.
            let _ = gone.recv_timeout(end.saturating_duration_since(Instant::now()));
        }
    }
}

impl Watcher {
    /// False if it has gone or does not read.
    fn tell(&self, reply: Reply) -> bool {
        self.reply.try_send(reply).is_ok()
    }
}

/// All of a run that does not change.
pub fn portrait(app: &App, frame_rate: Option<f64>, results: &Results) -> RunDescription {
    let started = results.started.as_ref();
    let task = |task: &whimbrel_model::Task| (app.label(&task.name, task.index), task.migratable);
    RunDescription {
        app: app.name.clone(),
        frame_rate,
        start_ns: started.map_or(0, |started| started.start_ns),
        kernels: started.map(|started| started.kernels.clone()).unwrap_or_default(),
        tasks: app.tasks.iter().map(task).collect(),
        sinks: app.sinks(),
    }
}

/// The latest of each kind.
fn past(results: &Results) -> impl Iterator<Item = Reply> {
    let Results { migrations, deaths, advice, .. } = results;
    fn last<T>(all: &[T]) -> &[T] {
        &all[all.len().saturating_sub(PAST)..]
    }
    let migrations = last(migrations).iter().cloned().map(Reply::Migration);
    let deaths = last(deaths).iter().cloned().map(Reply::CoreDied);
    migrations.chain(deaths).chain(last(advice).iter().cloned().map(Reply::Advice))
}

fn ended(results: &Results) -> Ended {
    let Results { errors, deaths, end, stop, forced, .. } = results;
    let failed = |how: String| (false, how);
    let harm = deaths.iter().find(|death| death.is_harm());
    let (ok, how) = match (errors.first(), harm, end) {
        (Some(error), _, _) if error.task.is_empty() => failed(format!("failed: {}", error.text)),
        (Some(error), _, _) => failed(format!("failed in {}: {}", error.task, error.text)),
        (None, _, None) if *stop != Some(Stop::User) => failed("its helper was killed".into()),
        (None, Some(death), _) => failed(format!("ended, core {} was killed", death.core)),
        (None, None, _) if *forced => (*stop == Some(Stop::User), "was ended by force".into()),
        _ => match stop {
            Some(Stop::User) => (true, "stopped by its user".into()),
            Some(Stop::Duration) => (true, "ended after its time".into()),
            None => (true, "finished".into()),
        },
    };
    Ended { ok, how, status: results.totals().cloned() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::control::Request;
    use crate::protocol::Advice;

    fn ask(interval_ms: u64, backlog: usize) -> (Ask, Receiver<Reply>) {
        let (reply, replies) = mpsc::sync_channel(backlog);
        let (_, gone) = mpsc::channel();
        (Ask { request: Request::Watch { interval_ms }, reply, gone }, replies)
    }

    fn advice() -> Advice {
        Advice { time_ns: 1, policy: "mine".into(), core: 0, text: "it moved task 7".into() }
    }

    #[test]
    fn totals_come_at_the_interval_of_each_and_not_before_the_last_ones_have() {
        let mut watchers = Watchers::default();
        let (quick, quick_replies) = ask(0, 9);
        let (slow, slow_replies) = ask(1_000_000, 9);
        watchers.add(0, quick, RunDescription::default(), &Results::default());
        watchers.add(1_000_000, slow, RunDescription::default(), &Results::default());
        assert!(matches!(quick_replies.recv(), Ok(Reply::Watching(_))));
        assert!(matches!(slow_replies.recv(), Ok(Reply::Watching(_))));

        let now = Instant::now();
        assert!(watchers.want_totals(now));
        assert!(!watchers.want_totals(now + Duration::from_secs(10)), "none have come");
        assert_eq!(watchers.next(), None);
        watchers.totals(&Status::default());
        assert_eq!(watchers.next(), Some(now + Duration::from_millis(100)));
        assert!(watchers.want_totals(now + Duration::from_millis(100)));
        watchers.totals(&Status::default());
        assert_eq!((quick_replies.try_iter().count(), slow_replies.try_iter().count()), (2, 1));
    }

    #[test]
    fn one_who_comes_later_hears_what_has_happened() {
        let mut watchers = Watchers::default();
        let (late, replies) = ask(100, 9);
        let results = Results { advice: vec![advice()], ..Results::default() };
        watchers.add(100, late, RunDescription::default(), &results);
        assert!(matches!(replies.try_iter().last(), Some(Reply::Advice(_))));
    }

    #[test]
    fn one_whose_queue_is_full_is_dropped_and_the_others_are_not() {
        let mut watchers = Watchers::default();
        let (deaf, _deaf_replies) = ask(100, 1);
        let (other, other_replies) = ask(100, 9);
        watchers.add(100, deaf, RunDescription::default(), &Results::default());
        watchers.add(100, other, RunDescription::default(), &Results::default());
        watchers.tell(&Reply::Advice(advice()));
        assert_eq!(watchers.0.len(), 1);
        watchers.finish(&Results::default());
        assert!(matches!(other_replies.try_iter().last(), Some(Reply::Ended(_))));
    }

    #[test]
    fn how_a_run_ended_is_said_in_words() {
        let end = || {
            Some(crate::protocol::End {
                status: Status::default(),
                dropped_events: 0,
                dropped_migrations: 0,
                ok: true,
                latency_ns: None,
                responses: Vec::new(),
            })
        };
        let how = |results: Results| {
            let ended = ended(&results);
            (ended.ok, ended.how)
        };
        let done = || Results { end: end(), ..Results::default() };
        assert_eq!(how(done()), (true, "finished".into()));
        assert_eq!(how(Results::default()), (false, "its helper was killed".into()));
        let stop = Some(Stop::User);
        assert_eq!(how(Results { stop, ..done() }), (true, "stopped by its user".into()));
        let stop = Some(Stop::Duration);
        assert_eq!(how(Results { stop, ..done() }), (true, "ended after its time".into()));
        let forced = Results { stop, forced: true, ..done() };
        assert_eq!(how(forced), (false, "was ended by force".into()));
    }
}
