// SPDX-License-Identifier: Apache-2.0
//! Best Trace Format, held to the grammar of its specification, version 2.2.0: columns, kinds of
//! source, and the charts of states of processes and cores.

use std::collections::BTreeMap;

use crate::common::{Folder, SLICES, about, anything, made_up, of, trace};
use proptest::prelude::*;
use whimbrel_trace::Format;

/// The states of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    Running,
    Ready,
    Waiting,
    Terminated,
}

/// Where an event leads, from where it is allowed.
fn next(state: Option<State>, event: &str) -> Option<State> {
    use State::{Active, Ready, Running, Terminated, Waiting};
    match (state, event) {
        (None, "activate") => Some(Active),
        (Some(Active), "start") | (Some(Ready), "resume") => Some(Running),
        (Some(Running), "preempt") | (Some(Waiting), "release") => Some(Ready),
        (Some(Running), "wait") => Some(Waiting),
        (Some(Running), "terminate") => Some(Terminated),
        _ => None,
    }
}

#[derive(Default)]
struct Checked {
    /// By name and instance.
    processes: BTreeMap<(String, u64), State>,
    stimuli: Vec<(String, u64)>,
    /// What each core runs, and since when.
    cores: BTreeMap<String, ((String, u64), u64)>,
    slices: Vec<(String, String, u64, u64)>,
    lines: Vec<String>,
    last_ns: u64,
}

impl Checked {
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.by_ref().take(4).collect();
        assert_eq!(head[0], "#version 2.2.0");
        assert!(head[1].starts_with("#creator ") && head[2].starts_with("#inputFile "));
        assert_eq!(head[3], "#timeScale ns");
        let mut checked = Self::default();
        for line in lines {
            checked.line(line);
        }
        checked
    }

    fn line(&mut self, line: &str) {
        let fields: Vec<&str> = line.split(',').collect();
        let (fields, note) = fields.split_at(7.min(fields.len()));
        let &[time, source, from, kind, target, to, event] = fields else {
            panic!("`{line}` has too few columns")
        };
        let time_ns: u64 = time.parse().unwrap();
        assert!(time_ns >= self.last_ns, "`{line}` goes back in time");
        self.last_ns = time_ns;
        let (from, to) = (from.parse::<u64>().unwrap(), to.parse::<u64>().unwrap());
        let number = || note.concat().parse::<u64>().unwrap();
        match (kind, event) {
            ("STI", "trigger") => {
                assert_eq!((source, from, note.len()), (target, to, 0), "{line}");
                self.stimuli.push((target.into(), to));
            }
            ("T", _) => {
                assert!(note.is_empty());
                self.process(time_ns, (source, from), (target.into(), to), event);
            }
            ("SIG", "read" | "write") => {
                self.lines.push(format!("{time_ns} {target} {event} {}", number()));
            }
            ("C", "set_frequence") => {
                assert_eq!((source, from), (target, to));
                self.lines.push(format!("{time_ns} {target} {event} {}", number()));
            }
            _ => panic!("`{line}` is of no known kind"),
        }
    }

    fn process(&mut self, time_ns: u64, source: (&str, u64), task: (String, u64), event: &str) {
        if event == "activate" {
            assert_eq!(self.stimuli.last(), Some(&(source.0.to_owned(), source.1)));
        } else {
            assert!(source.0.starts_with("Core_") && source.1 == 0, "{source:?} is no core");
        }
        let from = self.processes.get(&task).copied();
        let to = next(from, event).unwrap_or_else(|| panic!("{task:?}: {event} from {from:?}"));
        if to == State::Running {
            assert!(self.cores.values().all(|(other, _)| *other != task), "it runs twice");
            let busy = self.cores.insert(source.0.into(), (task.clone(), time_ns));
            assert!(busy.is_none(), "{source:?} runs {busy:?}");
        } else if from == Some(State::Running) {
            let (ran, since_ns) = self.cores.remove(source.0).expect("the core runs something");
            assert_eq!(ran, task);
            self.slices.push((source.0.into(), task.0.clone(), since_ns, time_ns));
        }
        self.processes.insert(task, to);
    }
}

fn check(folder: &Folder) -> Checked {
    let (bytes, exported) = trace(folder, Format::Btf);
    let checked = Checked::of(&String::from_utf8(bytes).unwrap());
    // A stretch for which a task runs may have several of its jobs.
    assert!((checked.slices.len() + checked.cores.len()) as u64 >= exported.slices);
    checked
}

#[test]
fn processes_run_where_and_when_tasks_did() {
    let mut slices = check(&made_up()).slices;
    slices.sort_by_key(|(.., from, _)| *from);
    let wanted =
        SLICES.map(|(core, task, from, to)| (format!("Core_{core}"), task.to_owned(), from, to));
    assert_eq!(slices, wanted);
}

#[test]
fn depths_are_signals_and_frequencies_are_in_hertz() {
    assert_eq!(
        check(&made_up()).lines,
        ["0 Core_0 set_frequence 200000000", "150 link write 1", "250 link read 0",]
    );
}

#[test]
fn a_task_that_blocks_waits_and_one_that_is_parked_is_preempted() {
    let (bytes, _) = trace(&made_up(), Format::Btf);
    let text = String::from_utf8(bytes).unwrap();
    for line in [
        "200,Core_0,0,T,src,0,terminate",
        "300,Core_0,0,T,dsp.0,0,preempt",
        "350,Core_1,0,T,dsp.0,0,resume",
        "500,Core_0,0,T,src,1,start",
        "1500,Core_0,0,T,src,1,preempt",
        "1500,Core_1,0,T,src,1,resume",
        "1600,Core_1,0,T,src,1,terminate",
    ] {
        assert!(text.lines().any(|written| written == line), "{line} is not in\n{text}");
    }
}

/// The lines of a run that are about this task, without the core.
fn jobs(folder: &Folder, task: &str) -> Vec<String> {
    let (bytes, _) = trace(folder, Format::Btf);
    let text = String::from_utf8(bytes).unwrap();
    let mine = text.lines().filter(|line| line.contains(&format!(",T,{task},")));
    mine.map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        [fields[0], fields[5], fields[6]].join(" ")
    })
    .collect()
}

#[test]
fn each_job_is_an_instance_also_of_a_task_that_does_not_stop_between_them() {
    use whimbrel_trace::Kind::{Block, Receive, Run, Send};
    const ON: u32 = 2 << 28;
    let folder = Folder::new();
    let mut events = vec![of(1000, 0, Run, 1)];
    // Two firings one after the other, and one that begins when its message is there.
    for (at, left) in [(1010, 2), (1030, 1), (1050, 0)] {
        events.push(about(at, 0, Send, 1, 1, 1));
        events.push(about(at + 5, 0, Receive, 1, 0, left));
    }
    events.extend([
        about(1060, 0, Send, 0, 0, 1),
        about(1070, 0, Send, 1, 1, 1),
        about(1075, 0, Receive, 1, 0, 0),
        // It waits for the next message, then for room while it fires.
        about(1080, 0, Block, 1, ON, 0),
        of(1100, 0, Run, 1),
        about(1110, 0, Block, 1, ON | 1, 0),
        of(1120, 0, Run, 1),
        about(1130, 0, Send, 1, 1, 1),
        about(1135, 0, Receive, 1, 0, 0),
        about(1140, 0, Block, 1, ON, 0),
    ]);
    folder.record(0, &events).sum_up(&[("src", 0), ("work", 0)], &[("in", 4), ("out", 4)]);
    check(&folder);
    assert_eq!(
        jobs(&folder, "work"),
        [
            "0 0 activate",
            "0 0 start",
            // That these were all its channels is seen when it receives again.
            "35 0 terminate",
            "35 1 activate",
            "35 1 start",
            "60 1 terminate",
            "60 2 activate",
            "60 2 start",
            "80 2 terminate",
            "100 3 activate",
            "100 3 start",
            "110 3 wait",
            "120 3 release",
            "120 3 resume",
            "140 3 terminate",
        ]
    );
}

#[test]
fn a_message_that_a_task_keeps_does_not_begin_its_next_job() {
    use whimbrel_trace::Kind::{Block, Receive, Run};
    let folder = Folder::new();
    let mut events = Vec::new();
    for at in [1000, 1100, 1200] {
        events.push(of(at, 0, Run, 0));
        // Of two messages it releases one, and waits until there are two again.
        events.push(about(at + 20, 0, Receive, 0, 0, 1));
        events.push(about(at + 30, 0, Block, 0, 2 << 28, 0));
    }
    folder.record(0, &events).sum_up(&[("filter", 0)], &[("in", 4)]);
    check(&folder);
    let each = |at: u64, n: u64| {
        [(at, "activate"), (at, "start"), (at + 30, "terminate")]
            .map(|(at, what)| format!("{at} {n} {what}"))
    };
    assert_eq!(jobs(&folder, "filter"), [each(0, 0), each(100, 1), each(200, 2)].concat());
}

#[test]
fn a_job_of_a_periodic_task_ends_where_it_waits_for_a_time_or_was_late() {
    use whimbrel_trace::Kind::{Block, Miss, Run};
    let folder = Folder::new();
    folder.record(
        0,
        &[
            of(1000, 0, Run, 0),
            of(1010, 0, Block, 0),
            of(1100, 0, Run, 0),
            about(1120, 0, Block, 0, 3 << 28, 0),
            of(1130, 0, Run, 0),
            about(1220, 0, Miss, 0, 0, 20),
            of(1230, 0, Block, 0),
        ],
    );
    folder.sum_up(&[("tick", 0)], &[]);
    let summary = folder.path().join("summary.json");
    let told = std::fs::read_to_string(&summary).unwrap();
    std::fs::write(&summary, told.replace("\"index\":0", "\"index\":0,\"jobs\":3")).unwrap();
    check(&folder);
    assert_eq!(
        jobs(&folder, "tick"),
        [
            "0 0 activate",
            "0 0 start",
            "10 0 terminate",
            "100 1 activate",
            "100 1 start",
            "120 1 wait",
            "130 1 release",
            "130 1 resume",
            "220 1 terminate",
            "220 2 activate",
            "220 2 start",
            "230 2 terminate",
        ]
    );
}

proptest! {
    #[test]
    fn whatever_was_recorded_the_grammar_holds(run in anything()) {
        check(&run.folder());
    }
}
