// SPDX-License-Identifier: Apache-2.0
//! Recorded runs in the formats of trace viewers; `docs/record-and-view.md` says what each shows.
//!
//! Times in traces begin with the run: 0 is its start.

mod btf;
mod names;
mod perfetto;
mod proto;
mod replay_state;
mod vcd;

use std::io::{self, Write};

use crate::{Error, Event, Kind, Oddities, Recorded};
use btf::Btf;
use names::Names;
use perfetto::Perfetto;
use replay_state::{ReplayState, Transition};
use vcd::Vcd;

/// After how many events progress is told.
const PROGRESS: u64 = 1 << 16;

/// A format that a trace can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Perfetto's protobuf, for ui.perfetto.dev.
    Perfetto,
    /// Value Change Dump, for `GTKWave` and other viewers of waveforms.
    Vcd,
    /// Best Trace Format 2.2, for Trace Compass and tools of the automotive industry.
    Btf,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Perfetto, Self::Vcd, Self::Btf];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Perfetto => "perfetto",
            Self::Vcd => "vcd",
            Self::Btf => "btf",
        }
    }

    /// What names of its files end with, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Perfetto => "pftrace",
            Self::Vcd => "vcd",
            Self::Btf => "btf",
        }
    }
}

/// Why a trace could not be written whole.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run cannot be read.
    #[error(transparent)]
    Read(#[from] Error),
    /// The trace cannot be written.
    #[error("the trace cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// What a trace shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Events that were understood.
    pub events: u64,
    /// Stretches for which a task ran.
    pub slices: u64,
    /// Migrations from where a task was parked to where it ran again.
    pub arrows: u64,
    /// Deadlines missed.
    pub misses: u64,
    /// What was left out or put right.
    pub oddities: Oddities,
}

/// A format being written.
trait Writer {
    /// Writes what comes before the first event.
    fn begin(&mut self) -> io::Result<()>;
    /// Writes an event, which means that much.
    fn event(&mut self, event: &Event, step: &Transition) -> io::Result<()>;
    /// Writes what comes after the last event, and leaves nothing in a buffer.
    fn end(&mut self, time_ns: u64) -> io::Result<()>;
}

/// Writes a run in a format, reading it once (twice if it has no summary, for want of names).
/// `progress` is told from time to time how many records were read, of [`Recorded::records`].
///
/// # Errors
/// The run cannot be read, or the trace not be written.
pub fn export(
    run: &Recorded,
    format: Format,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<Exported, ExportError> {
    let names = Names::of(run)?;
    let mut writer: Box<dyn Writer + '_> = match format {
        Format::Perfetto => Box::new(Perfetto::new(&names, out)),
        Format::Vcd => Box::new(Vcd::new(&names, out)?),
        Format::Btf => Box::new(Btf::new(&names, run.summary.as_ref(), out)),
    };
    writer.begin()?;
    events(run, &names, writer.as_mut(), progress)
}

fn events(
    run: &Recorded,
    names: &Names,
    writer: &mut dyn Writer,
    progress: &mut dyn FnMut(u64),
) -> Result<Exported, ExportError> {
    let start_ns = run.start_ns();
    let mut story = ReplayState::new(names);
    let mut exported = Exported::default();
    let mut nameless = 0;
    let mut last_ns = 0;
    let mut merged = run.merged();

    for event in merged.by_ref() {
        let Some(mut event) = names.locate(&event?) else {
            nameless += 1;
            continue;
        };
        event.time_ns = event.time_ns.saturating_sub(start_ns);
        last_ns = event.time_ns;
        if let Some(pause) = story.unrecorded(&event) {
            let step = story.step(&pause);
            writer.event(&pause, &step)?;
        }
        let step = story.step(&event);
        writer.event(&event, &step)?;
        exported.events += 1;
        exported.slices += u64::from(step.started.is_some());
        exported.arrows += u64::from(step.arrives.is_some());
        exported.misses += u64::from(event.kind == Kind::Miss);
        if exported.events % PROGRESS == 0 {
            progress(exported.events);
        }
    }
    let end_ns = run.summary.as_ref().map_or(0, |summary| summary.time_ns);
    writer.end(end_ns.max(last_ns))?;
    exported.oddities = merged.oddities();
    exported.oddities.damaged += nameless;
    Ok(exported)
}
