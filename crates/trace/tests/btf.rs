// SPDX-License-Identifier: Apache-2.0
//! Best Trace Format, held to the grammar of its specification, version 2.2.0: columns, kinds of
//! source, and the charts of states of processes and cores.

use std::collections::BTreeMap;

use crate::common::{Folder, SLICES, anything, made_up, trace};
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
    assert_eq!((checked.slices.len() + checked.cores.len()) as u64, exported.slices);
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
        "200,Core_0,0,T,src,0,wait",
        "300,Core_0,0,T,dsp.0,0,preempt",
        "350,Core_1,0,T,dsp.0,0,resume",
        "500,Core_0,0,T,src,0,release",
        "1500,Core_0,0,T,src,0,preempt",
        "1500,Core_1,0,T,src,0,resume",
        "1600,Core_1,0,T,src,0,terminate",
    ] {
        assert!(text.lines().any(|written| written == line), "{line} is not in\n{text}");
    }
}

proptest! {
    #[test]
    fn whatever_was_recorded_the_grammar_holds(run in anything()) {
        check(&run.folder());
    }
}
