// SPDX-License-Identifier: Apache-2.0
//! Boards as `boards/*/board.toml` describes them. See `docs/board-toml.md`.

mod fit;
mod guest;
mod keys;
mod linked;
mod need;
mod tables;

use toml::Spanned;

use crate::app::Mode;
use crate::problem::Problems;
use crate::reader::given;
use crate::schema::{self, parse, words};

pub use fit::check_stacks;
pub use guest::Guests;
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
    /// How it is started as a guest; `None`: it cannot be one.
    pub guest: Option<GuestStart>,
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

words! {
    /// Where the files are that an application reads on a board.
    #[derive(Default)]
    pub enum BoardFiles {
        /// On the host, which the board reaches by itself.
        #[default]
        Host = "host";
        /// In the image: those that parameters name when it is built.
        Linked = "linked";
    }
}

/// The memory of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The smallest stack of a task.
    pub stack_least: u64,
    /// The bits of a pointer: 32 or 64.
    pub pointer_bits: u32,
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

/// How a board is started as a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestStart {
    /// A program and its words, of which one has `{image}` in it.
    pub command: Vec<String>,
    /// The least version of the program, its numbers in order; empty: any.
    pub version_least: Vec<u32>,
}

/// What stands for the image in the words of a command, and for the folder of the board's file.
pub(crate) const IMAGE: &str = "{image}";
const FOLDER: &str = "{board}";

impl Board {
    /// The keys of a `board.toml`.
    pub const KEYS: schema::Table = keys::BoardFile::TABLE;

    /// Reads the text of a `board.toml`.
    ///
    /// # Errors
    /// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong
    /// type or out of range: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        parse::<keys::BoardFile>(source).map(Self::from)
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
        match &self.start {
            Start::Command(words) => filled(words, image, folder),
            Start::Device { .. } => Vec::new(),
        }
    }

    /// The same of a guest; none if it cannot be one.
    pub fn guest_command(&self, image: &str, folder: &str) -> Vec<String> {
        self.guest.as_ref().map_or_else(Vec::new, |guest| filled(&guest.command, image, folder))
    }
}

fn filled(words: &[String], image: &str, folder: &str) -> Vec<String> {
    words.iter().map(|word| word.replace(IMAGE, image).replace(FOLDER, folder)).collect()
}

impl From<keys::GuestTable> for GuestStart {
    fn from(table: keys::GuestTable) -> Self {
        let version = table.version_least.map_or_else(String::new, Spanned::into_inner);
        let numbers = version.split('.').filter_map(|number| number.parse().ok());
        Self { command: table.command.into_inner(), version_least: numbers.collect() }
    }
}

impl From<keys::BoardFile> for Board {
    fn from(file: keys::BoardFile) -> Self {
        let keys::BoardTable { name, cores, kind, modes, priorities, cmake, files, .. } =
            file.board.into_inner();
        let keys::StartTable { command, device, baud, silence_s, watchdog_ms, made_by, .. } =
            file.start.into_inner();
        let start = match (command, device) {
            (_, Some(device)) => Start::Device { path: device.into_inner(), baud },
            (command, None) => Start::Command(command.map(Spanned::into_inner).unwrap_or_default()),
        };
        let variant = |it: keys::VariantTable| Variant {
            name: it.name.into_inner(),
            settings: it.settings.into_inner(),
            tasks: it.tasks.map(Spanned::into_inner),
            shares: it.shares,
        };
        let memory = file.memory.into_inner();
        Self {
            name: name.into_inner(),
            cores: cores.into_inner(),
            kind,
            modes: modes.map_or_else(|| vec![Mode::Handoff], Spanned::into_inner),
            priorities,
            cmake: cmake.map(Spanned::into_inner),
            settings: Vec::new(),
            tasks: None,
            shares: false,
            variants: file.variants.into_iter().map(variant).collect(),
            files: given(&files),
            memory: Memory {
                stack_least: memory.stack_least.into_inner(),
                pointer_bits: memory.pointer_bits,
                stacks: memory.stacks.map(Spanned::into_inner),
                guard: given(&memory.guard),
                gvm: memory.gvm.into_inner(),
                private: given(&memory.private),
            },
            start,
            guest: file.guest.map(|guest| guest.into_inner().into()),
            silence_s,
            watchdog_ms: given(&watchdog_ms),
            made_by,
        }
    }
}
