// SPDX-License-Identifier: Apache-2.0
//! Value Change Dump.
//!
//! Waveforms have no arrows: a migration shows as the name of a task that goes from one core's
//! signal to another's. Names of tasks are string variables, an extension of `GTKWave` to the
//! format of IEEE 1364.

use std::io::{self, BufWriter, Write};

use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, VarType};

use super::names::Names;
use super::{Transition, Writer};
use crate::{Event, Kind};

/// The width of numbers, in bits.
const WIDTH: u32 = 32;

/// The signals of a core.
#[derive(Debug, Clone, Copy)]
struct Core {
    running: IdCode,
    missed: IdCode,
    frequency: IdCode,
    power: IdCode,
    temperature: IdCode,
}

/// What a core does.
#[derive(Debug, Clone, Copy)]
enum Doing {
    Idle,
    Asleep,
    Task(u32),
}

/// A trace being written.
pub struct Vcd<'a> {
    names: &'a Names,
    positions: Vec<usize>,
    cores: Vec<Core>,
    channels: Vec<IdCode>,
    now_ns: u64,
    /// What cores, by position, do from now on: it is written when the time goes on, so that a
    /// switch is one change and not two.
    doing: Vec<Option<Doing>>,
    /// The cores of which `doing` says something.
    changed: Vec<usize>,
    out: vcd::Writer<BufWriter<&'a mut dyn Write>>,
}

impl<'a> Vcd<'a> {
    /// Writes the declarations, which make the identifiers.
    pub fn new(names: &'a Names, out: &'a mut dyn Write) -> io::Result<Self> {
        let mut out = vcd::Writer::new(BufWriter::with_capacity(1 << 16, out));
        out.timescale(1, TimescaleUnit::NS)?;
        out.add_module(&word(&names.app))?;
        let mut cores = Vec::with_capacity(names.cores.len());
        for core in &names.cores {
            out.add_module(&format!("core_{core}"))?;
            let mut number = |name: &str| out.add_var(VarType::Integer, WIDTH, name, None);
            let frequency = number("frequency_khz")?;
            let power = number("power_uw")?;
            let temperature = number("temperature_millidegrees")?;
            let running = out.add_var(VarType::String, 1, "running", None)?;
            let missed = out.add_var(VarType::Event, 1, "deadline_missed", None)?;
            out.upscope()?;
            cores.push(Core { running, missed, frequency, power, temperature });
        }
        out.add_module("channels")?;
        let add = |name: &String| out.add_var(VarType::Integer, WIDTH, &word(name), None);
        let channels = names.channels.iter().map(add).collect::<io::Result<_>>()?;
        out.upscope()?;
        out.upscope()?;
        out.enddefinitions()?;
        let positions = names.positions();
        let doing = vec![None; cores.len()];
        Ok(Self { names, positions, cores, channels, now_ns: 0, doing, changed: Vec::new(), out })
    }

    fn at(&mut self, time_ns: u64) -> io::Result<()> {
        if self.now_ns == time_ns {
            return Ok(());
        }
        for position in self.changed.drain(..) {
            let text = match self.doing[position].take() {
                None => continue,
                Some(Doing::Idle) => "idle",
                Some(Doing::Asleep) => "asleep",
                Some(Doing::Task(task)) => &word(self.names.task(task)),
            };
            self.out.change_string(self.cores[position].running, text)?;
        }
        self.now_ns = time_ns;
        self.out.timestamp(time_ns)
    }

    fn number(&mut self, id: IdCode, value: u32) -> io::Result<()> {
        // Leading zeros are left out: a shorter number is extended with them.
        let bits = (u32::BITS - value.leading_zeros()).max(1);
        let bit = |i: u32| if value >> i & 1 == 1 { Value::V1 } else { Value::V0 };
        self.out.change_vector(id, (0..bits).rev().map(bit))
    }

    fn change(&mut self, event: &Event, position: usize) -> io::Result<()> {
        let core = self.cores[position];
        match event.kind {
            Kind::Miss => self.out.change_scalar(core.missed, Value::V1),
            Kind::Frequency => self.number(core.frequency, event.value),
            Kind::Power => self.number(core.power, event.value),
            Kind::Temperature => self.number(core.temperature, event.value),
            Kind::Send | Kind::Receive => {
                self.number(self.channels[event.object as usize], event.value)
            }
            _ => Ok(()),
        }
    }
}

fn doing(event: &Event, step: &Transition) -> Option<Doing> {
    match event.kind {
        Kind::Sleep => Some(Doing::Asleep),
        Kind::Awake => Some(Doing::Idle),
        _ => step.started.map(Doing::Task).or(step.stopped.map(|_| Doing::Idle)),
    }
}

/// Whether the event changes another signal than `running`.
fn is_shown(kind: Kind) -> bool {
    use Kind::{Frequency, Miss, Power, Receive, Send, Temperature};
    matches!(kind, Frequency | Miss | Power | Receive | Send | Temperature)
}

/// A name as one word: blanks would end it.
fn word(name: &str) -> String {
    let word = name.replace(|c: char| c.is_whitespace() || c.is_control(), "_");
    if word.is_empty() { "_".into() } else { word }
}

impl Writer for Vcd<'_> {
    fn begin(&mut self) -> io::Result<()> {
        self.out.timestamp(0)?;
        self.out.begin(SimulationCommand::Dumpvars)?;
        for core in &self.cores {
            for unknown in [core.frequency, core.power, core.temperature] {
                self.out.change_vector(unknown, [Value::X])?;
            }
            self.out.change_string(core.running, "idle")?;
        }
        for channel in &self.channels {
            self.out.change_vector(*channel, [Value::X])?;
        }
        self.out.end()
    }

    fn event(&mut self, event: &Event, step: &Transition) -> io::Result<()> {
        let doing = doing(event, step);
        if doing.is_none() && !is_shown(event.kind) {
            return Ok(());
        }
        self.at(event.time_ns)?;
        let position = self.positions[event.core as usize];
        if let Some(doing) = doing {
            if self.doing[position].replace(doing).is_none() {
                self.changed.push(position);
            }
        }
        self.change(event, position)
    }

    fn end(&mut self, time_ns: u64) -> io::Result<()> {
        // One more moment, for what happens in the last one to be seen.
        self.at(time_ns.saturating_add(1))?;
        self.out.flush()
    }
}
