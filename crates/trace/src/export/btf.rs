// SPDX-License-Identifier: Apache-2.0
//! Best Trace Format, after its technical specification, version 2.2.0 (Vector Informatik, 2020).
//!
//! Each line is an event: time, source and its instance, type, target and its instance, event, and
//! for signals and frequencies a note. Each job of a task is an instance. It is activated when it
//! first runs and terminated when the job ends. In between it waits where it blocks, and is
//! preempted where it gives its core up or is parked for a migration, after which it resumes on
//! another core. Version 2.2.0 has no event for migrations.
//!
//! Recordings do not say where jobs end. That of a periodic task does when it waits for a time, or
//! has missed its deadline. Another task has ended a firing when it has received from each of its
//! channels and, if it sends at all, has sent; it then asks for the next message or has it already.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

use super::names::Names;
use super::{Transition, Writer};
use crate::{Awaited, Event, Kind, Summary};

/// Why a task does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was not activated yet, or has terminated.
    Terminated,
    Preempted,
    Waiting,
}

#[derive(Debug, Clone)]
struct Process {
    /// When it last stopped.
    state: State,
    /// The core that it runs on.
    runs_on: Option<u32>,
    /// How often it was activated before.
    instance: u64,
    /// Whether its jobs have a period; `None`: that is not known.
    periodic: Option<bool>,
    /// What it receives from, as far as that was seen, and whether that was a whole firing.
    inputs: BTreeSet<u32>,
    known: bool,
    /// Whether it ever sent.
    sends: bool,
    /// What this instance has received from, and whether it has sent.
    received: BTreeSet<u32>,
    sent: bool,
}

impl Process {
    /// Whether this instance has done all that a firing does.
    fn is_done(&self) -> bool {
        self.periodic != Some(true)
            && self.known
            && self.received == self.inputs
            && self.sent == self.sends
    }

    /// Whether the instance ends where the task blocks.
    fn ends_at(&self, event: &Event) -> bool {
        match Awaited::of(event) {
            None => self.periodic != Some(false) && event.object == 0,
            Some(Awaited::Channel(n)) => {
                self.periodic != Some(true) && self.received.contains(&n) && self.sent == self.sends
            }
            Some(_) => false,
        }
    }

    /// The next instance.
    fn advance(&mut self) {
        self.instance += 1;
        self.known |= !self.received.is_empty();
        self.received.clear();
        self.sent = false;
    }
}

/// A trace being written.
pub struct Btf<'a> {
    names: &'a Names,
    processes: Vec<Process>,
    tasks: Vec<String>,
    channels: Vec<String>,
    /// The messages in each channel, those that its receiver left there when it waited for another,
    /// and the task that receives them.
    depths: Vec<u32>,
    held: Vec<u32>,
    receivers: Vec<Option<usize>>,
    out: BufWriter<&'a mut dyn Write>,
}

impl<'a> Btf<'a> {
    pub fn new(names: &'a Names, summary: Option<&Summary>, out: &'a mut dyn Write) -> Self {
        let process = |task: usize| Process {
            state: State::Terminated,
            runs_on: None,
            instance: 0,
            periodic: summary.and_then(|all| Some(all.raw["tasks"][task]["jobs"].as_u64()? > 0)),
            inputs: BTreeSet::new(),
            known: false,
            sends: false,
            received: BTreeSet::new(),
            sent: false,
        };
        Self {
            names,
            processes: (0..names.tasks.len()).map(process).collect(),
            tasks: names.tasks.iter().map(|name| field(name)).collect(),
            channels: names.channels.iter().map(|name| field(name)).collect(),
            depths: vec![0; names.channels.len()],
            held: vec![0; names.channels.len()],
            receivers: vec![None; names.channels.len()],
            out: BufWriter::with_capacity(1 << 16, out),
        }
    }

    /// A line whose source is a core.
    fn process(&mut self, time_ns: u64, core: u32, task: usize, what: &str) -> io::Result<()> {
        let (name, instance) = (&self.tasks[task], self.processes[task].instance);
        writeln!(self.out, "{time_ns},Core_{core},0,T,{name},{instance},{what}")
    }

    fn stop(&mut self, event: &Event, task: usize) -> io::Result<()> {
        if let Some(Awaited::Channel(n)) = Awaited::of(event) {
            if self.processes[task].inputs.contains(&n) {
                self.held[n as usize] = self.depths[n as usize];
            }
        }
        let (state, what) = match event.kind {
            Kind::End => (State::Terminated, "terminate"),
            Kind::Block if self.processes[task].ends_at(event) => (State::Terminated, "terminate"),
            Kind::Block => (State::Waiting, "wait"),
            _ => (State::Preempted, "preempt"),
        };
        self.process(event.time_ns, event.core, task, what)?;
        let process = &mut self.processes[task];
        (process.state, process.runs_on) = (state, None);
        if state == State::Terminated {
            process.advance();
        }
        Ok(())
    }

    fn activate(&mut self, time_ns: u64, core: u32, task: usize) -> io::Result<()> {
        let (name, n) = (&self.tasks[task], self.processes[task].instance);
        let from = format!("Stimulus_{name}");
        writeln!(self.out, "{time_ns},{from},{n},STI,{from},{n},trigger")?;
        writeln!(self.out, "{time_ns},{from},{n},T,{name},{n},activate")?;
        self.process(time_ns, core, task, "start")
    }

    fn start(&mut self, event: &Event, task: usize) -> io::Result<()> {
        let (time_ns, core) = (event.time_ns, event.core);
        self.processes[task].runs_on = Some(core);
        match self.processes[task].state {
            State::Terminated => self.activate(time_ns, core, task),
            State::Waiting => {
                self.process(time_ns, core, task, "release")?;
                self.process(time_ns, core, task, "resume")
            }
            State::Preempted => {
                self.process(time_ns, core, task, "resume")?;
                self.fire_again(time_ns, task)
            }
        }
    }

    /// The next instance of a task that runs on, if this one is done and its messages are there.
    fn fire_again(&mut self, time_ns: u64, task: usize) -> io::Result<()> {
        let process = &self.processes[task];
        let is_there = |input: &u32| self.depths[*input as usize] > self.held[*input as usize];
        let there = process.inputs.iter().all(is_there);
        if process.is_done() && there { self.renew(time_ns, task) } else { Ok(()) }
    }

    /// The next instance of a task that runs on.
    fn renew(&mut self, time_ns: u64, task: usize) -> io::Result<()> {
        let Some(core) = self.processes[task].runs_on else { return Ok(()) };
        self.process(time_ns, core, task, "terminate")?;
        self.processes[task].advance();
        self.activate(time_ns, core, task)
    }

    /// A message that was sent or received. Its sender or its receiver may go on with another job.
    fn message(&mut self, event: &Event) -> io::Result<()> {
        let (task, channel) = (event.task as usize, event.object as usize);
        self.depths[channel] = event.value;
        if event.kind == Kind::Send {
            self.signal(event, "write")?;
            (self.processes[task].sends, self.processes[task].sent) = (true, true);
            let receiver = self.receivers[channel];
            return receiver.map_or(Ok(()), |task| self.fire_again(event.time_ns, task));
        }
        self.signal(event, "read")?;
        self.receivers[channel] = Some(task);
        let process = &mut self.processes[task];
        process.inputs.insert(event.object);
        process.known |= !process.received.insert(event.object);
        self.fire_again(event.time_ns, task)
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
            Kind::Send | Kind::Receive => self.message(event),
            Kind::Miss if self.processes[event.task as usize].periodic == Some(true) => {
                self.renew(event.time_ns, event.task as usize)
            }
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
