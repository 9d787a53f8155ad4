// SPDX-License-Identifier: Apache-2.0
//! What chosen threads did, step by step.

use std::collections::BTreeMap;

use whimbrel_trace::linux::{Event, Tid, What};

use whimbrel_model::Problem;

/// A step of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadStep {
    /// It had a processor for so many nanoseconds, all pieces together.
    Run(u64),
    /// It waited for something else than one of the others, which came so long after the last that
    /// did, or after the start.
    Clock(u64),
    /// It waited until this one woke it.
    Take(Tid),
    /// It woke this one.
    Give(Tid),
}

/// See the module.
#[derive(Debug)]
pub(super) struct RecordedThreads {
    /// From the first event to the last.
    pub length_ns: u64,
    pub threads: Vec<Thread>,
}

/// One of the threads.
#[derive(Debug)]
pub(super) struct Thread {
    pub tid: Tid,
    pub steps: Vec<ThreadStep>,
    /// When the last of its [`ThreadStep::Clock`] was, after the start.
    pub clock_ns: u64,
    /// Who of the rest woke it, and how often.
    pub woken_by: BTreeMap<Tid, u64>,
    /// The kernel's, at its first run.
    pub priority: Option<i32>,
    /// How long it ran on each processor.
    ran: BTreeMap<u32, u64>,
    state: State,
    /// It ran so long since the last step.
    run_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not yet seen.
    Unknown,
    Waits,
    Ready,
    Runs {
        since: u64,
        cpu: u32,
    },
}

impl RecordedThreads {
    /// The threads in a window of the trace, counted from its first event.
    pub fn of(
        events: &[Event],
        tids: impl Iterator<Item = Tid>,
        window_ns: (u64, u64),
    ) -> Result<Self, Problem> {
        let first = events.first().map_or(0, |event| event.time_ns);
        let (from, to) = (first.saturating_add(window_ns.0), first.saturating_add(window_ns.1));
        let events = &events[events.partition_point(|event| event.time_ns < from)..];
        let events = &events[..events.partition_point(|event| event.time_ns <= to)];
        let (Some(start), Some(end)) = (events.first(), events.last()) else {
            let problem = Problem::new("nothing happens in this window of the trace");
            return Err(
                problem.help("choose another, counted from the first event: `--window 1s..3s`")
            );
        };
        let (start, end) = (start.time_ns, end.time_ns);
        let mut threads: BTreeMap<Tid, Thread> = tids.map(|tid| (tid, Thread::new(tid))).collect();
        for event in events {
            let now = event.time_ns - start;
            match event.what {
                What::Switch { from, waits, to, priority } => {
                    if let Some(thread) = threads.get_mut(&from) {
                        thread.leaves(now, event.cpu, waits);
                    }
                    if let Some(thread) = threads.get_mut(&to) {
                        thread.enters(now, event.cpu, priority);
                    }
                }
                What::Wake { by, thread } => wake(&mut threads, by, thread, now, event.cpu),
            }
        }
        for thread in threads.values_mut() {
            thread.pause(end - start);
            thread.tell_run();
        }
        let idle = threads.values().find(|thread| thread.steps.is_empty()).map(|idle| idle.tid);
        if let Some(tid) = idle {
            let problem = Problem::new(format!("the thread {tid} does nothing in this window"));
            return Err(problem.help("leave it out of `--threads`, or take a longer `--window`"));
        }
        Ok(Self { length_ns: end - start, threads: threads.into_values().collect() })
    }
}

/// One that does not wait yet goes on by itself, and was woken for nothing.
fn wake(threads: &mut BTreeMap<Tid, Thread>, by: Option<Tid>, woken: Tid, now: u64, cpu: u32) {
    let waits = |thread: &Thread| matches!(thread.state, State::Waits | State::Unknown);
    if !threads.get(&woken).is_some_and(waits) {
        return;
    }
    let by = by.filter(|by| *by != 0 && *by != woken);
    let mut source = None;
    if let Some(waker) = by.and_then(|by| threads.get_mut(&by)) {
        if waker.gives(now, cpu, woken) {
            source = by;
        }
    }
    let Some(thread) = threads.get_mut(&woken) else { return };
    match (source, by) {
        (Some(by), _) => thread.steps.push(ThreadStep::Take(by)),
        (None, by) => {
            thread.clock(now);
            if let Some(by) = by {
                *thread.woken_by.entry(by).or_default() += 1;
            }
        }
    }
    thread.state = State::Ready;
}

impl Thread {
    fn new(tid: Tid) -> Self {
        Self {
            tid,
            steps: Vec::new(),
            clock_ns: 0,
            woken_by: BTreeMap::new(),
            priority: None,
            ran: BTreeMap::new(),
            state: State::Unknown,
            run_ns: 0,
        }
    }

    /// The processor that it ran on for the longest time.
    pub fn processor(&self) -> Option<u32> {
        self.ran
            .iter()
            .max_by_key(|(cpu, ns)| (**ns, std::cmp::Reverse(**cpu)))
            .map(|(cpu, _)| *cpu)
    }

    fn clock(&mut self, now: u64) {
        let after = now - self.clock_ns;
        if after > 0 {
            self.steps.push(ThreadStep::Clock(after));
        }
        self.clock_ns = now;
    }

    /// Counts its run up to now, if it runs.
    fn pause(&mut self, now: u64) {
        if let State::Runs { since, cpu } = self.state {
            self.run_ns += now - since;
            *self.ran.entry(cpu).or_default() += now - since;
            self.state = State::Runs { since: now, cpu };
        }
    }

    fn tell_run(&mut self) {
        if self.run_ns > 0 {
            self.steps.push(ThreadStep::Run(std::mem::take(&mut self.run_ns)));
        }
    }

    /// Who is first seen at work has been so from the start.
    fn was_running(&mut self, cpu: u32) {
        if self.state == State::Unknown {
            self.state = State::Runs { since: 0, cpu };
        }
    }

    fn leaves(&mut self, now: u64, cpu: u32, waits: bool) {
        self.was_running(cpu);
        self.pause(now);
        self.state = State::Ready;
        if waits {
            self.tell_run();
            self.state = State::Waits;
        }
    }

    fn enters(&mut self, now: u64, cpu: u32, priority: i32) {
        // Nobody was seen to wake it.
        if matches!(self.state, State::Waits | State::Unknown) {
            self.clock(now);
        }
        self.priority.get_or_insert(priority);
        self.state = State::Runs { since: now, cpu };
    }

    /// Wakes another in the middle of a run; false: it does not run.
    fn gives(&mut self, now: u64, cpu: u32, to: Tid) -> bool {
        self.was_running(cpu);
        let runs = matches!(self.state, State::Runs { .. });
        if runs {
            self.pause(now);
            self.tell_run();
            self.steps.push(ThreadStep::Give(to));
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(time_ns: u64, cpu: u32, from: Tid, waits: bool, to: Tid) -> Event {
        Event { time_ns, cpu, what: What::Switch { from, waits, to, priority: 120 } }
    }

    fn wake(time_ns: u64, cpu: u32, by: Option<Tid>, thread: Tid) -> Event {
        Event { time_ns, cpu, what: What::Wake { by, thread } }
    }

    fn steps(events: &[Event], tids: &[Tid]) -> Vec<Vec<ThreadStep>> {
        let story = RecordedThreads::of(events, tids.iter().copied(), (0, u64::MAX)).unwrap();
        story.threads.into_iter().map(|thread| thread.steps).collect()
    }

    #[test]
    fn a_wake_splits_the_run_of_who_does_it() {
        let events = [
            wake(100, 0, None, 1),
            switch(110, 0, 0, false, 1),
            wake(130, 0, Some(1), 2),
            switch(135, 1, 0, false, 2),
            switch(150, 0, 1, true, 0),
            switch(175, 1, 2, true, 0),
        ];
        let told = steps(&events, &[1, 2]);
        assert_eq!(told[0], [ThreadStep::Run(20), ThreadStep::Give(2), ThreadStep::Run(20)]);
        assert_eq!(told[1], [ThreadStep::Take(1), ThreadStep::Run(40)]);
        // Alone it is woken by time.
        assert_eq!(steps(&events, &[2])[0], [ThreadStep::Clock(30), ThreadStep::Run(40)]);
    }

    #[test]
    fn a_waker_that_runs_when_the_window_begins_gives_from_its_run() {
        let events = [
            switch(100, 0, 0, false, 1),
            switch(120, 1, 9, true, 0),
            wake(130, 0, Some(1), 2),
            switch(135, 1, 0, false, 2),
            switch(150, 0, 1, true, 0),
            switch(175, 1, 2, true, 0),
        ];
        let story = RecordedThreads::of(&events, [1, 2].into_iter(), (20, u64::MAX)).unwrap();
        let [first, second] = story.threads.as_slice() else { panic!("{story:?}") };
        assert_eq!(first.steps, [ThreadStep::Run(10), ThreadStep::Give(2), ThreadStep::Run(20)]);
        assert_eq!(second.steps, [ThreadStep::Take(1), ThreadStep::Run(40)]);
        assert!(second.woken_by.is_empty() && first.processor() == Some(0), "{story:?}");
    }

    #[test]
    fn what_runs_in_its_way_is_no_part_of_a_run() {
        let events = [
            switch(100, 0, 0, false, 1),
            switch(120, 0, 1, false, 9),
            switch(150, 0, 9, true, 1),
            switch(160, 0, 1, true, 0),
            wake(200, 0, None, 1),
            switch(210, 0, 0, false, 1),
            switch(220, 0, 1, true, 0),
        ];
        let told = steps(&events, &[1]);
        assert_eq!(told[0], [ThreadStep::Run(30), ThreadStep::Clock(100), ThreadStep::Run(10)]);
    }

    #[test]
    fn who_is_woken_before_it_waits_was_woken_for_nothing() {
        let events = [
            switch(100, 0, 0, false, 1),
            switch(100, 1, 0, false, 2),
            wake(105, 1, Some(2), 1),
            switch(110, 0, 1, false, 1),
            switch(120, 0, 1, true, 0),
            switch(130, 1, 2, true, 0),
        ];
        assert_eq!(steps(&events, &[1, 2]), [vec![ThreadStep::Run(20)], vec![ThreadStep::Run(30)]]);
    }

    #[test]
    fn a_window_in_which_a_thread_does_nothing_is_refused() {
        let events = [switch(100, 0, 0, false, 1), switch(200, 0, 1, true, 0)];
        let told = RecordedThreads::of(&events, [1, 2].into_iter(), (0, u64::MAX)).unwrap_err();
        assert!(told.to_string().contains("the thread 2 does nothing"), "{told}");
        let told = RecordedThreads::of(&events, [1].into_iter(), (200, 300)).unwrap_err();
        assert!(told.to_string().contains("nothing happens in this window"), "{told}");
    }
}
