// SPDX-License-Identifier: Apache-2.0
//! Best Trace Format, after its technical specification, version 2.2.0 (Vector Informatik, 2020).
//!
//! Each line is an event: time, source and its instance, type, target and its instance, event, and
//! for signals and frequencies a note. A task is activated when it first runs and terminated when
//! it ends; in between it waits where it blocks, and is preempted where it gives its core up or is
//! parked for a migration, after which it resumes on another core. Version 2.2.0 has no event of
//! its own for migrations.

use std::io::{self, BufWriter, Write};

use super::names::Names;
use super::{Transition, Writer};
use crate::{Event, Kind};

/// Why a task does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was not activated yet, or has terminated.
    Terminated,
    Preempted,
    Waiting,
}

#[derive(Debug, Clone, Copy)]
struct Process {
    /// When it last stopped.
    state: State,
    /// How often it was activated before: a task that is started again is another instance.
    instance: u64,
}

/// A trace being written.
pub struct Btf<'a> {
    names: &'a Names,
    processes: Vec<Process>,
    tasks: Vec<String>,
    channels: Vec<String>,
    out: BufWriter<&'a mut dyn Write>,
}

impl<'a> Btf<'a> {
    pub fn new(names: &'a Names, out: &'a mut dyn Write) -> Self {
        let fresh = Process { state: State::Terminated, instance: 0 };
        Self {
            names,
            processes: vec![fresh; names.tasks.len()],
            tasks: names.tasks.iter().map(|name| field(name)).collect(),
            channels: names.channels.iter().map(|name| field(name)).collect(),
            out: BufWriter::with_capacity(1 << 16, out),
        }
    }

    /// A line whose source is a core.
    fn process(&mut self, time_ns: u64, core: u32, task: usize, what: &str) -> io::Result<()> {
        let (name, instance) = (&self.tasks[task], self.processes[task].instance);
        writeln!(self.out, "{time_ns},Core_{core},0,T,{name},{instance},{what}")
    }

    fn stop(&mut self, event: &Event, task: usize) -> io::Result<()> {
        let (state, what) = match event.kind {
            Kind::End => (State::Terminated, "terminate"),
            Kind::Block => (State::Waiting, "wait"),
            _ => (State::Preempted, "preempt"),
        };
        self.process(event.time_ns, event.core, task, what)?;
        self.processes[task].state = state;
        self.processes[task].instance += u64::from(state == State::Terminated);
        Ok(())
    }

    fn start(&mut self, event: &Event, task: usize) -> io::Result<()> {
        let time_ns = event.time_ns;
        match self.processes[task].state {
            State::Terminated => {
                let (name, instance) = (&self.tasks[task], self.processes[task].instance);
                let (from, n) = (format!("Stimulus_{name}"), instance);
                writeln!(self.out, "{time_ns},{from},{n},STI,{from},{n},trigger")?;
                writeln!(self.out, "{time_ns},{from},{n},T,{name},{n},activate")?;
                self.process(time_ns, event.core, task, "start")?;
            }
            State::Waiting => {
                self.process(time_ns, event.core, task, "release")?;
                self.process(time_ns, event.core, task, "resume")?;
            }
            State::Preempted => self.process(time_ns, event.core, task, "resume")?,
        }
        Ok(())
    }

    fn signal(&mut self, event: &Event, what: &str) -> io::Result<()> {
        let task = event.task as usize;
        let (name, instance) = (&self.tasks[task], self.processes[task].instance);
        let (channel, depth) = (&self.channels[event.object as usize], event.value);
        writeln!(self.out, "{},{name},{instance},SIG,{channel},0,{what},{depth}", event.time_ns)
    }
}

/// A name as one field: a comma would end it, and a hash begin a comment.
fn field(name: &str) -> String {
    name.replace(|c: char| c == ',' || c == '#' || c.is_control(), "_")
}

impl Writer for Btf<'_> {
    fn begin(&mut self) -> io::Result<()> {
        writeln!(self.out, "#version 2.2.0")?;
        writeln!(self.out, "#creator whimbrel {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(self.out, "#inputFile {}", field(&self.names.app))?;
        writeln!(self.out, "#timeScale ns")
    }

    fn event(&mut self, event: &Event, step: &Transition) -> io::Result<()> {
        if let Some(task) = step.stopped {
            self.stop(event, task as usize)?;
        }
        if let Some(task) = step.started {
            self.start(event, task as usize)?;
        }
        match event.kind {
            Kind::Send => self.signal(event, "write"),
            Kind::Receive => self.signal(event, "read"),
            Kind::Frequency => {
                let (time_ns, core) = (event.time_ns, event.core);
                let hz = u64::from(event.value) * 1000;
                writeln!(self.out, "{time_ns},Core_{core},0,C,Core_{core},0,set_frequence,{hz}")
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, _time_ns: u64) -> io::Result<()> {
        self.out.flush()
    }
}
