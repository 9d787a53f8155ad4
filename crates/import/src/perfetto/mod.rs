// SPDX-License-Identifier: Apache-2.0
//! Threads of Linux as Perfetto recorded them: tasks whose scripts repeat what they did, again and
//! again. A thread that one of the others woke waits for it; what woke it otherwise, a timer or a
//! device or a thread that is left out, does so at the moment at which it did.

mod chosen;
mod threads;

use std::collections::BTreeMap;

use whimbrel_trace::linux::{self, Tid};

use super::Options;
use super::draft::{Draft, Event, Task};
use super::names::{Names, plain};
use super::notes::Notes;
use super::rtapp::Policy;
use threads::{RecordedThreads, Thread, ThreadStep};
use whimbrel_model::Cycles;
use whimbrel_model::Problem;

/// Steps of all threads: more are no workload that anybody reads.
const STEPS_MAX: usize = 1 << 16;
/// The one timer of a task, which goes on from where it was.
const CLOCK: &str = "clock";

/// Reads a whole file.
pub(super) fn read(
    stem: &str,
    bytes: &[u8],
    options: &Options,
    notes: &mut Notes,
) -> Option<Draft> {
    let recording = linux::read(bytes).map_err(|damage| {
        let problem = Problem::new(format!("this is not a Perfetto trace: {damage}"));
        notes.refuse(
            problem.help("record a trace of Linux's scheduler, for example with `tracebox`"),
        );
    });
    let recording = recording.ok()?;
    if let Some(at) = recording.cut {
        let last = recording.events.last().map_or(0, |event| event.time_ns);
        let first = recording.events.first().map_or(0, |event| event.time_ns);
        let ms = (last - first) / 1_000_000;
        let message =
            format!("the trace ends in the middle of the packet at byte {at}: {ms} ms are read");
        let help = "take a --window before the end: not every processor has all of its events";
        notes.warn(Problem::new(message).help(help));
    }
    let threads = chosen::threads(&recording, &options.threads, notes)?;
    if recording.lost {
        notes.warn(Problem::new("the recorder lost events: runs may be longer than they were"));
    }
    let story = RecordedThreads::of(&recording.events, threads.keys().copied(), options.window_ns)
        .map_err(|problem| notes.refuse(problem))
        .ok()?;
    let steps = story.threads.iter().map(|thread| thread.steps.len()).sum::<usize>();
    if steps > STEPS_MAX {
        let problem =
            Problem::new(format!("the threads have {steps} steps, of {STEPS_MAX} at most"));
        notes
            .refuse(problem.help("choose fewer `--threads`, or a window of the trace: `--window`"));
        return None;
    }
    told_of_others(&story, &recording.names, notes);
    Some(Maker::new(&story, &threads, options.hz).draft(plain(stem)))
}

/// Reports the other threads that woke these, so that the user can choose them as well.
fn told_of_others(story: &RecordedThreads, names: &BTreeMap<Tid, Vec<String>>, notes: &mut Notes) {
    for thread in &story.threads {
        let mut others: Vec<(&Tid, &u64)> = thread.woken_by.iter().collect();
        others.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        let name = |tid: &Tid| names.get(tid).and_then(|names| names.last()).map(String::as_str);
        let shown: Vec<String> = others
            .iter()
            .take(3)
            .map(|(tid, times)| format!("{} ({tid}, {times} times)", name(tid).unwrap_or("?")))
            .collect();
        if !shown.is_empty() {
            let who = name(&thread.tid).unwrap_or("?");
            let message = format!("`{who}` was woken by threads that are left out: ");
            let warning = Problem::new(message + &shown.join(", "));
            notes.warn(warning.help("add them to `--threads`, or a timer wakes it"));
        }
    }
}

struct Maker<'a> {
    story: &'a RecordedThreads,
    hz: u64,
    /// The task's name of each thread.
    names: BTreeMap<Tid, String>,
    /// Of who wakes and who is woken.
    semaphores: BTreeMap<(Tid, Tid), String>,
    /// The core of each processor that any of them ran on.
    cores: BTreeMap<u32, u32>,
}

impl<'a> Maker<'a> {
    fn new(story: &'a RecordedThreads, threads: &BTreeMap<Tid, String>, hz: u64) -> Self {
        let mut free = Names::default();
        let names: BTreeMap<Tid, String> =
            threads.iter().map(|(tid, name)| (*tid, free.unique(name))).collect();
        let mut free = Names::default();
        let mut semaphores = BTreeMap::new();
        for thread in &story.threads {
            for step in &thread.steps {
                if let ThreadStep::Take(by) = step {
                    semaphores.entry((*by, thread.tid)).or_insert_with(|| {
                        free.unique(&format!("{}_{}", names[by], names[&thread.tid]))
                    });
                }
            }
        }
        let used: Vec<u32> = story.threads.iter().filter_map(Thread::processor).collect();
        let mut cores: BTreeMap<u32, u32> = used.into_iter().map(|cpu| (cpu, 0)).collect();
        cores.values_mut().zip(0..).for_each(|(core, number)| *core = number);
        Self { story, hz, names, semaphores, cores }
    }

    fn draft(&self, name: String) -> Draft {
        Draft {
            name,
            source: "Made from a trace of Linux: its threads do again what they did.".into(),
            tasks: self.story.threads.iter().map(|thread| self.task(thread)).collect(),
            semaphores: self.semaphores.values().map(|name| (name.clone(), 0)).collect(),
            ..Draft::default()
        }
    }

    fn task(&self, thread: &Thread) -> Task {
        let mut body: Vec<Event> =
            thread.steps.iter().map(|step| self.event(thread.tid, *step)).collect();
        let rest = self.story.length_ns - thread.clock_ns;
        let waits_for_others = thread.steps.iter().any(|step| matches!(step, ThreadStep::Take(_)));
        if rest > 0 && (thread.clock_ns > 0 || !waits_for_others) {
            body.push(clock(rest));
        }
        Task {
            name: self.names[&thread.tid].clone(),
            count: 1,
            core: thread.processor().map(|cpu| self.cores[&cpu]),
            priority: thread.priority.map(|kernels| urgency(kernels).0),
            nice: thread.priority.and_then(|kernels| urgency(kernels).1),
            script: vec![Event::forever(body)],
            ..Task::default()
        }
    }

    fn event(&self, thread: Tid, step: ThreadStep) -> Event {
        match step {
            ThreadStep::Run(ns) => {
                let cycles = u128::from(ns) * u128::from(self.hz) / 1_000_000_000;
                Event::Run(Cycles::Every(u64::try_from(cycles).unwrap_or(u64::MAX).max(1)))
            }
            ThreadStep::Clock(ns) => clock(ns),
            ThreadStep::Take(by) => Event::Take(self.semaphores[&(by, thread)].clone()),
            ThreadStep::Give(to) => Event::Give(self.semaphores[&(thread, to)].clone()),
        }
    }
}

/// A moment so long after the last one, however long the task ran since.
fn clock(ns: u64) -> Event {
    Event::Timer { ns, name: Some(CLOCK.into()), absolute: true }
}

/// Priority and nice by the kernel's priority, as rt-app's threads have theirs.
fn urgency(kernels: i32) -> (u32, Option<i32>) {
    let (policy, given) = match kernels {
        ..0 => (Policy::Deadline, None),
        0..100 => (Policy::RealTime, Some((99 - kernels).into())),
        _ => (Policy::Other, Some((kernels - 120).into())),
    };
    (policy.priority(given), policy.nice(given))
}
