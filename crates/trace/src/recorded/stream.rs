// SPDX-License-Identifier: Apache-2.0
//! The event stream of one core, and those of all cores as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Error;
use super::event::{Event, Kind, RECORD, Unread};

/// The size of a stream's header, in bytes.
const HEADER: usize = 32;
const MAGIC: &[u8; 8] = b"WBEVENTS";
const VERSION: u32 = 1;
/// Records read at a time: 24 KiB, so that a thousand cores take 24 MiB.
const CHUNK: usize = 1024;

/// What was strange in event streams, and therefore left out or put right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Records of a kind that is not known: skipped.
    pub unknown: u64,
    /// Records that are of another core or of an impossible task or channel: skipped.
    pub damaged: u64,
    /// Records that went back in time: given the time of the one before.
    pub late: u64,
    /// Streams that end within their header or a record, as those of a killed run may. What has
    /// nothing in it does not count (see [`Recorded::empty`](crate::Recorded::empty)).
    pub cut: u64,
}

impl Oddities {
    /// Whether everything was as it should be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, other: &Self) {
        self.unknown += other.unknown;
        self.damaged += other.damaged;
        self.late += other.late;
        self.cut += other.cut;
    }
}

/// The file of one core.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Where it is.
    pub path: PathBuf,
    /// The core.
    pub core: u32,
    /// Its size in bytes.
    pub bytes: u64,
    /// The start of the run, in nanoseconds on its clock; `None`: cut off.
    pub start_ns: Option<u64>,
}

impl Stream {
    /// Checks the header of the stream of `core`. One that is cut off there has no events.
    pub fn open(path: PathBuf, core: u32) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.clone(), source };
        let file = File::open(&path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let mut header = [0; HEADER];
        let read = fill(&file, &mut header, 0).map_err(unreadable)?;
        let start_ns = check(&header[..read], core)
            .map_err(|why| Error::Stream { path: path.clone(), why })?;
        Ok(Self { path, core, bytes, start_ns })
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.bytes.saturating_sub(HEADER as u64) / RECORD as u64
    }
}

/// Checks a header, which may be cut off, and gives the start of the run.
fn check(header: &[u8], core: u32) -> Result<Option<u64>, String> {
    let magic = &header[..header.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err("it does not begin with `WBEVENTS`".into());
    }
    let Ok(header) = <&[u8; HEADER]>::try_from(header) else { return Ok(None) };
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    match (word(8), word(12), word(16)) {
        (VERSION, size, of) if size as usize == RECORD && of == core => {
            Ok(Some(u64::from(word(24)) | u64::from(word(28)) << 32))
        }
        (VERSION, size, of) if size as usize == RECORD => {
            Err(format!("it says that it is of core {of}"))
        }
        (VERSION, size, _) => Err(format!("its records have {size} bytes instead of {RECORD}")),
        (version, ..) => Err(format!("its version is {version}, and only {VERSION} is known")),
    }
}

/// Reads until the buffer is full or the file ends; gives how much was read.
fn fill(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The events of one core, in the order of their times.
///
/// A kernel that switches from one task to the next records that the next runs, and then, at the
/// same time, why the other does not. Here it is the other way round: a task pauses before the next
/// one runs.
///
/// The file is open only while a piece of it is read, so a run of thousands of cores does not need
/// thousands of descriptors. After an error the stream is over.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    core: u32,
    /// Where in the file the next piece begins.
    offset: u64,
    buffer: Vec<u8>,
    /// What of the buffer has been given.
    given: usize,
    last_ns: u64,
    over: bool,
    /// What comes next, if it was read already.
    ahead: Option<Result<Event, Error>>,
    oddities: Oddities,
}

impl Events {
    pub(super) fn new(stream: &Stream) -> Self {
        let headless = stream.bytes < HEADER as u64;
        let cut = u64::from(headless && stream.bytes > 0);
        Self {
            path: stream.path.clone(),
            core: stream.core,
            offset: HEADER as u64,
            buffer: Vec::new(),
            given: 0,
            last_ns: 0,
            over: headless,
            ahead: None,
            oddities: Oddities { cut, ..Oddities::default() },
        }
    }

    /// What was strange so far.
    #[must_use]
    pub fn oddities(&self) -> Oddities {
        self.oddities
    }

    fn refill(&mut self) -> io::Result<()> {
        self.buffer.resize(CHUNK * RECORD, 0);
        let read = fill(&File::open(&self.path)?, &mut self.buffer, self.offset)?;
        self.offset += read as u64;
        self.buffer.truncate(read);
        self.given = 0;
        Ok(())
    }

    fn record(&mut self) -> Result<Option<[u8; RECORD]>, Error> {
        if self.given == self.buffer.len() && !self.over {
            self.refill().map_err(|source| Error::Read { path: self.path.clone(), source })?;
        }
        let Some(record) = self.buffer[self.given..].first_chunk::<RECORD>() else {
            self.oddities.cut += u64::from(self.given < self.buffer.len());
            return Ok(None);
        };
        self.given += RECORD;
        Ok(Some(*record))
    }

    fn understood(&mut self, record: &[u8; RECORD]) -> Option<Event> {
        match Event::from_record(record, self.core) {
            Ok(mut event) => {
                self.oddities.late += u64::from(event.time_ns < self.last_ns);
                event.time_ns = event.time_ns.max(self.last_ns);
                self.last_ns = event.time_ns;
                Some(event)
            }
            Err(Unread::Unknown) => {
                self.oddities.unknown += 1;
                None
            }
            Err(Unread::Damaged) => {
                self.oddities.damaged += 1;
                None
            }
        }
    }

    /// The next event as it was recorded.
    fn recorded(&mut self) -> Option<Result<Event, Error>> {
        while !self.over {
            match self.record() {
                Ok(Some(record)) => {
                    if let Some(event) = self.understood(&record) {
                        return Some(Ok(event));
                    }
                }
                Ok(None) => self.over = true,
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl Iterator for Events {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.ahead.take().or_else(|| self.recorded())?;
        let Ok(Event { kind: Kind::Run, time_ns, task, .. }) = first else { return Some(first) };
        match self.recorded() {
            Some(Ok(next))
                if next.time_ns == time_ns && next.task != task && next.kind.is_a_pause() =>
            {
                self.ahead = Some(first);
                Some(Ok(next))
            }
            other => {
                self.ahead = other;
                Some(first)
            }
        }
    }
}

/// The events of all cores in the order of their times; those of one time in the order of cores.
///
/// After an error it is over.
#[derive(Debug)]
pub struct Merged {
    streams: Vec<Events>,
    /// The next event of each stream that has one.
    heads: BinaryHeap<Reverse<Head>>,
    failed: Option<Error>,
}

/// Of those of one time the order is that of the streams: two of one stream are never here.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    time_ns: u64,
    stream: usize,
    event: Event,
}

impl Head {
    fn new(event: Event, stream: usize) -> Reverse<Self> {
        Reverse(Self { time_ns: event.time_ns, stream, event })
    }
}

impl Merged {
    /// Merges streams, which are in the order of their cores.
    pub(super) fn new(streams: Vec<Events>) -> Self {
        let mut merged =
            Self { heads: BinaryHeap::with_capacity(streams.len()), streams, failed: None };
        for stream in 0..merged.streams.len() {
            match merged.streams[stream].next() {
                Some(Ok(event)) => merged.heads.push(Head::new(event, stream)),
                Some(Err(error)) => merged.failed = Some(error),
                None => {}
            }
        }
        merged
    }

    /// What was strange so far, in all streams.
    #[must_use]
    pub fn oddities(&self) -> Oddities {
        let mut all = Oddities::default();
        self.streams.iter().for_each(|events| all.add(&events.oddities));
        all
    }
}

impl Iterator for Merged {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.heads.clear();
            return Some(Err(error));
        }
        let mut first = self.heads.peek_mut()?;
        let Head { event, stream, .. } = first.0;
        match self.streams[stream].next() {
            Some(Ok(next)) => *first = Head::new(next, stream),
            ended => {
                PeekMut::pop(first);
                self.failed = ended.and_then(Result::err);
            }
        }
        Some(Ok(event))
    }
}

/// The core of a file's name, `core-N.events`, N without leading zeros and of at most 16 bits.
pub fn core_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let core: u16 = name.strip_prefix("core-")?.strip_suffix(".events")?.parse().ok()?;
    (name == format!("core-{core}.events")).then_some(core.into())
}
