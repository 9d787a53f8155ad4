// SPDX-License-Identifier: Apache-2.0
//! Boards as `boards/*/board.toml` describes them. See `docs/boards.md`.

mod fit;
mod linked;
mod need;
mod tables;

use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use crate::app::{HOST_KIND, Mode};
use crate::problem::{Problem, Problems, Span};
use crate::reader::{
    self, Node, Reader, boolean, bytes, document, each, filled, list, name, subtable,
    tables as subtables, text, within, word,
};

pub use fit::check_stacks;
pub use linked::linked;
pub use need::AT_MOST;
pub use tables::{hash, tables};

/// A board: its cores, the memory that it has for an application, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: String,
    /// How many cores it has.
    pub cores: u32,
    /// Their kind.
    pub kind: String,
    /// How tasks can move there.
    pub modes: Vec<Mode>,
    /// How many priorities of tasks its kernels tell apart, from 0.
    pub priorities: u32,
    /// The folder of the CMakeLists.txt that makes its images; `None`: it has none.
    pub cmake: Option<String>,
    /// What CMake is told besides.
    pub settings: Vec<String>,
    /// How many tasks it has room for; `None`: any number.
    pub tasks: Option<u32>,
    /// Whether several of its cores may share a task.
    pub shares: bool,
    /// What `--board NAME:VARIANT` may ask for.
    pub variants: Vec<Variant>,
    /// Where its files are.
    pub files: BoardFiles,
    /// What an application has to fit.
    pub memory: Memory,
    /// How it is started.
    pub start: Start,
    /// How many seconds it may be silent.
    pub silence_s: u32,
    /// For how many milliseconds a core may take no interrupt of its timer before it counts as
    /// dead; 0: as its launcher has it.
    pub watchdog_ms: u32,
    /// What makes or installs the program that starts it.
    pub made_by: String,
}

/// A board whose image is built in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What CMake is told for it.
    pub settings: Vec<String>,
    /// How many tasks it has room for; `None`: any number.
    pub tasks: Option<u32>,
    /// Whether several of its cores may share a task.
    pub shares: bool,
}

/// Where the files are that an application reads on a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoardFiles {
    /// On the host, which the board reaches by itself.
    #[default]
    Host,
    /// In the image: those that parameters name when it is built.
    Linked,
}

/// The memory of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The smallest stack of a task.
    pub stack_least: u64,
    /// For the stacks of tasks, all of them; `None`: they are in globally visible memory.
    pub stacks: Option<u64>,
    /// What each stack takes besides, for a guard.
    pub guard: u64,
    /// Globally visible memory, for everything else.
    pub gvm: u64,
    /// Private memory of each core, for the tasks that are replicated.
    pub private: u64,
}

/// How a board is started, and where its serial line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// By a command whose descriptor 3 is the line; one of its words has `{image}` in it.
    Command(Vec<String>),
    /// It is at a serial device.
    Device {
        /// The device's file.
        path: String,
        /// Bits per second.
        baud: u32,
    },
}

/// What stands for the image in the words of a command, and for the folder of the board's file.
pub(crate) const IMAGE: &str = "{image}";
const FOLDER: &str = "{board}";

impl Board {
    /// Reads the text of a `board.toml`.
    ///
    /// # Errors
    /// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong
    /// type or out of range: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        let document = document(source)?;
        let mut problems = Vec::new();
        match read(&document, &mut problems) {
            Some(board) if problems.is_empty() => Ok(board),
            _ => Err(problems),
        }
    }

    /// This board as one of its variants; `None`: it has none of this name.
    pub fn variant(&self, wanted: &str) -> Option<Self> {
        let Variant { name, settings, tasks, shares } =
            self.variants.iter().find(|variant| variant.name == wanted)?;
        Some(Self {
            name: format!("{}:{name}", self.name),
            settings: settings.clone(),
            tasks: *tasks,
            shares: *shares,
            ..self.clone()
        })
    }

    /// The words of its command for an image, where its file is in `folder`; none if it is at a
    /// device.
    pub fn command(&self, image: &str, folder: &str) -> Vec<String> {
        let word = |word: &String| word.replace(IMAGE, image).replace(FOLDER, folder);
        match &self.start {
            Start::Command(words) => words.iter().map(word).collect(),
            Start::Device { .. } => Vec::new(),
        }
    }
}

fn read(document: &DeTable<'_>, problems: &mut Vec<Problem>) -> Option<Board> {
    let mut top = Reader::new("the file", document, 0..0, problems);
    let head = top.required("board", "the table with the board's name", subtable);
    let memory = top.required("memory", "the table with its memory", subtable);
    let start = top.required("start", "the table that says how it is started", subtable);
    let variants = top.optional("variant", "[[variant]] tables", subtables);
    top.finish(());
    let head = head.and_then(|table| read_head(table.get_ref(), table.span(), problems));
    let memory = memory.and_then(|table| read_memory(table.get_ref(), table.span(), problems));
    let start = start.and_then(|table| read_start(table.get_ref(), table.span(), problems));
    let variants = each(variants, |table, place| read_variant(table, place, problems));
    let Head { name, cores, kind, modes, priorities, cmake, files } = head?;
    let Starting { start, silence_s, watchdog_ms, made_by } = start?;
    Some(Board {
        name,
        cores,
        kind,
        modes,
        priorities,
        cmake,
        settings: Vec::new(),
        tasks: None,
        shares: false,
        variants,
        files,
        memory: memory?,
        start,
        silence_s,
        watchdog_ms,
        made_by,
    })
}

/// What `[board]` says.
struct Head {
    name: String,
    cores: u32,
    kind: String,
    modes: Vec<Mode>,
    priorities: u32,
    cmake: Option<String>,
    files: BoardFiles,
}

fn read_head(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Head> {
    let mut reader = Reader::new("[board]", table, place, problems);
    let priorities = |n: &Node<'_>| within(n, 1, PRIORITIES);
    let name = reader.must("name", NAME, name).into_inner();
    reader.optional("description", DESCRIPTION, text);
    let head = Head {
        name,
        cores: reader.must("cores", CORES, |n| within(n, 1, CORES_MOST)).into_inner(),
        kind: reader.or("kind", NAME, reader::name, HOST_KIND.to_owned()),
        modes: reader
            .optional("modes", MODES, |n| list(n, word::<Mode>))
            .map_or_else(|| vec![Mode::Handoff], |modes| words(modes.into_inner())),
        priorities: reader.or("priorities", "a whole number from 1 to 32", priorities, PRIORITIES),
        cmake: reader
            .optional("cmake", "a folder, from the one of this file", filled)
            .map(Spanned::into_inner),
        files: reader.or("files", "\"host\" or \"linked\"", word, BoardFiles::default()),
    };
    reader.finish(head)
}

fn read_variant(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Variant> {
    let mut reader = Reader::new("[[variant]]", table, place, problems);
    let name = reader.must("name", NAME, name).into_inner();
    reader.optional("description", DESCRIPTION, text);
    let variant = Variant {
        name,
        settings: words(reader.must("settings", SETTINGS, |n| list(n, filled)).into_inner()),
        tasks: reader.optional("tasks", TASKS, |n| within(n, 1, 4095)).map(Spanned::into_inner),
        shares: reader.or("shares", "true or false", boolean, false),
    };
    reader.finish(variant)
}

fn words<T>(list: Vec<Spanned<T>>) -> Vec<T> {
    list.into_iter().map(Spanned::into_inner).collect()
}

fn read_memory(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Memory> {
    let mut reader = Reader::new("[memory]", table, place, problems);
    let memory = Memory {
        stack_least: reader.must("stack_least", SIZE, size).into_inner(),
        stacks: reader.optional("stacks", SIZE, size).map(Spanned::into_inner),
        guard: reader.or("guard", SIZE, size, 0),
        gvm: reader.must("gvm", SIZE, size).into_inner(),
        private: reader.or("private", SIZE, size, 0),
    };
    reader.finish(memory)
}

/// What `[start]` says.
struct Starting {
    start: Start,
    silence_s: u32,
    watchdog_ms: u32,
    made_by: String,
}

fn read_start(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Starting> {
    let mut reader = Reader::new("[start]", table, place.clone(), problems);
    let command =
        reader.optional("command", COMMAND, |n| list(n, filled).filter(|words| has_image(words)));
    let device = reader.optional("device", "a path, as \"/dev/ttyUSB0\"", filled);
    let baud = reader.or("baud", "bits per second, as 115200", |n| within(n, 1, 4_000_000), BAUD);
    let silence_s = reader.or("silence_s", SECONDS, |n| within(n, 1, 3600), SILENCE_S);
    let watchdog_ms = reader.or("watchdog_ms", MILLISECONDS, |n| within(n, 10, 60_000), 0);
    let made_by = reader.or("made_by", "a command, as \"make setup\"", filled, MADE_BY.to_owned());
    let read = reader.finish(());
    let refuse = |problems: &mut Vec<Problem>, message: &str, help: &str| {
        problems.push(Problem::new(message).at(place.clone(), "this one").help(help));
    };
    let start = match (command, device) {
        (Some(command), None) => Start::Command(words(command.into_inner())),
        (None, Some(device)) => Start::Device { path: device.into_inner(), baud },
        (Some(_), Some(_)) => {
            refuse(problems, "[start] has two lines", "keep `command` or `device`, not both");
            return None;
        }
        (None, None) => {
            if !["command", "device"].iter().any(|key| table.contains_key(*key)) {
                let help = "add `command`, which starts it, or `device`, its serial line";
                refuse(problems, "[start] says of no line to the board", help);
            }
            return None;
        }
    };
    read.map(|()| Starting { start, silence_s, watchdog_ms, made_by })
}

fn size(node: &Node<'_>) -> Option<u64> {
    bytes(node).filter(|size| (1..=1 << 40).contains(size))
}

/// The image is told by the command, and the program is named.
fn has_image(words: &[Spanned<String>]) -> bool {
    words.iter().skip(1).any(|word| word.get_ref().contains(IMAGE))
}

/// How many cores a board may have: `CORES` of `launcher/board/host.c`.
const CORES_MOST: u32 = 32;
/// How many priorities a board's kernels tell apart that does not say: those of app.toml.
const PRIORITIES: u32 = 32;
/// How long a board may be silent that does not say.
const SILENCE_S: u32 = 10;
/// What makes or installs the program of a command that does not say.
const MADE_BY: &str = "make setup";
/// The speed of a line that does not say.
const BAUD: u32 = 115_200;

const NAME: &str = "1 to 31 letters, digits and _";
/// For people alone.
const DESCRIPTION: &str = "one line of text";
const CORES: &str = "a whole number from 1 to 32";
const TASKS: &str = "a whole number from 1 to 4095";
const SETTINGS: &str = "an array of texts, as \"NAME=value\"";
const SECONDS: &str = "a whole number of seconds from 1 to 3600";
const MILLISECONDS: &str = "milliseconds, from 10 to 60000";
const MODES: &str = "an array of \"handoff\", \"replicate\" and \"recreate\"";
const SIZE: &str = "a size as \"64KiB\" or a number of bytes, from 1 to \"1024GiB\"";
const COMMAND: &str = "an array of texts: a program, and words of which one has {image} in it";
