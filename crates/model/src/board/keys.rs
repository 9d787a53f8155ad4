// SPDX-License-Identifier: Apache-2.0
//! The keys of board.toml. `make keys` lists them in `docs/board-toml.md`.

use super::{BoardFiles, IMAGE};
use crate::app::Mode;
use crate::problem::Problem;
use crate::schema::Shape::{self, List, Size, Table, Tables, Text, Truth, Whole, Words};
use crate::schema::{FILLED, LINE, NAME, Noted, table};

const SIZE: Shape = Size(1, 1 << 40);
const COMMAND: &str = "an array of texts: a program, and words of which one has {image} in it";
const MODES: &str = "an array of \"handoff\", \"replicate\", \"recreate\" and \"reenter\"";
const SOME: Shape = Text("a word", FILLED, ".");

table! {
    /// A board.
    pub(super) struct BoardFile {
        /// Its cores, and how images for it are made.
        board = {} => board: must BoardTable,
            Table("the table with the board's name", &BoardTable::TABLE);
        /// Its memory.
        memory = {} => memory: must MemoryTable,
            Table("the table with its memory", &MemoryTable::TABLE);
        /// How it is started: by a command, or it is at a device.
        start = {} => start: must StartTable,
            Table("the table that says how it is started", &StartTable::TABLE);
        /// How it is started as a guest: `--cores 0,desk:0`.
        guest = {} => guest: optional GuestTable,
            Table("the table that says how it is started as a guest", &GuestTable::TABLE),
            otherwise "it cannot be one";
        /// A board whose image is built with other settings: `--board desk:quick`.
        variant = [] => variants: or Vec<VariantTable>,
            Tables("[[variant]] tables", &VariantTable::TABLE);
    }
}

table! {
    /// Its cores, and how images for it are made.
    pub(super) struct BoardTable {
        /// The board's name.
        name = "desk" => name: must String, NAME;
        /// One line about the board.
        description = "the board on my desk" => description: or String, LINE, otherwise "none";
        /// The number of its cores: at most `CORES` of `launcher/board/host.c`.
        cores = 4 => cores: must u32, Whole("", 1, 32);
        /// The kind of its cores, as `cycles` of app.toml names it.
        kind = "a9" => kind: or String, NAME, default "host";
        /// How its tasks can move.
        modes = ["handoff"] => modes: optional Vec<Mode>,
            List(MODES, &Words(Mode::WORDS), 0),
            otherwise "[\"handoff\"]";
        /// The number of priorities that its kernels distinguish, from 0.
        priorities = 30 => priorities: or u32, Whole("", 1, 32), default 32;
        /// Where files are: on the host, or linked into the image as data.
        files = "host" => files: optional BoardFiles, Words(BoardFiles::WORDS), default "host";
        /// The folder of its CMakeLists.txt, from this one.
        cmake = "." => cmake: optional String,
            Text("a folder, from the one of this file", FILLED, "."),
            otherwise "images come by --image";
    }
}

table! {
    /// Its memory.
    pub(super) struct MemoryTable {
        /// The smallest stack of a task.
        stack_least = "1KiB" => stack_least: must u64, SIZE;
        /// The bits of a pointer, 32 or 64: what the middleware's structures take follows.
        pointer_bits = 64 => pointer_bits: or u32, Whole("", 32, 64), default 32;
        /// Memory for the stacks of all tasks.
        stacks = "1MiB" => stacks: optional u64, SIZE, otherwise "they are in `gvm`";
        /// Memory that each stack takes in addition, for a guard; a stack takes a multiple of it.
        guard = "4KiB" => guard: optional u64, SIZE, default 0;
        /// Globally visible memory: channels, heaps, images, what is shared.
        gvm = "16MiB" => gvm: must u64, SIZE;
        /// Memory of each core, for tasks that are replicated.
        private = "1MiB" => private: optional u64, SIZE, default 0;
    }
}

table! {
    /// How it is started: by a command, or it is at a device.
    pub(super) struct StartTable {
        /// A program and its words, of which one contains {image}; descriptor 3 is the serial line.
        command = ["qemu", "-kernel", "{image}"] => command: optional Vec<String>,
            List(COMMAND, &SOME, 1),
            otherwise "none";
        /// Instead of `command`: a board with its image in it, by its serial line.
        device = "/dev/ttyUSB0" => device: optional String,
            Text("a path, for example \"/dev/ttyUSB0\"", FILLED, "."), otherwise "none";
        /// Bits per second of the device.
        baud = 115200 => baud: or u32, Whole("bits per second", 1, 4_000_000), default 115200;
        /// The seconds for which the board may be silent.
        silence_s = 10 => silence_s: or u32, Whole("seconds", 1, 3600), default 10;
        /// The milliseconds without an interrupt of its timer after which a core counts as dead.
        watchdog_ms = 1000 => watchdog_ms: optional u32, Whole("milliseconds", 10, 60_000),
            otherwise "as its launcher has it";
        /// The command that makes or installs the program of `command`.
        made_by = "make setup" => made_by: or String,
            Text("a command, for example \"make setup\"", FILLED, "."), default "make setup";
        place place;
        places keys;
        check check_line;
    }
}

table! {
    /// How it is started as a guest: `--cores 0,desk:0`.
    pub(super) struct GuestTable {
        /// An emulator and its words, of which one contains {image}; more than one processor, or
        /// atomic operations are not atomic. The launcher adds the devices of a guest.
        command = ["qemu", "-smp", "4", "-kernel", "{image}"] => command: must Vec<String>,
            List(COMMAND, &SOME, 2);
        /// The least version of the emulator, as its --version says it.
        version_least = "7.2" => version_least: optional String,
            Text("a version, for example \"7.2\"", is_version, "^[0-9]+(\\.[0-9]+)*$"),
            otherwise "any";
        check check_command;
    }
}

table! {
    /// A board whose image is built with other settings.
    pub(super) struct VariantTable {
        /// The variant's name.
        name = "quick" => name: must String, NAME;
        /// One line about the variant.
        description = "the same without checks" => description: or String, LINE,
            otherwise "none";
        /// Settings of CMake, each as NAME=value.
        settings = ["CHECKS=off"] => settings: must Vec<String>,
            List("an array of texts, for example \"NAME=value\"", &SOME, 0);
        /// The number of tasks for which there is room.
        tasks = 16 => tasks: optional u32, Whole("", 1, 4095), otherwise "any number";
        /// Whether its cores can share tasks: `cores` of app.toml.
        shares = true => shares: or bool, Truth, default false;
    }
}

impl StartTable {
    fn check_line(&self, noted: &mut Noted<'_>) {
        let problems = &mut noted.problems;
        let mut refuse = |message: &str, help: &str| {
            problems.push(Problem::new(message).at(self.place.clone(), "this one").help(help));
        };
        match (&self.command, &self.device) {
            (Some(_), Some(_)) => {
                refuse("[start] has two lines", "keep `command` or `device`, not both");
            }
            (None, None)
                if !["command", "device"].iter().any(|key| self.keys.contains_key(*key)) =>
            {
                let help = "add `command`, which starts it, or `device`, its serial line";
                refuse("[start] says of no line to the board", help);
            }
            (Some(command), None) if !has_image(command.get_ref()) => {
                let message = format!("`command` of [start] must be {COMMAND}");
                problems.push(
                    Problem::new(message)
                        .help("name the program first, and the image by {image}")
                        .at(command.span(), "not this array"),
                );
            }
            _ => {}
        }
    }
}

impl GuestTable {
    fn check_command(&self, noted: &mut Noted<'_>) {
        if !has_image(self.command.get_ref()) {
            let message = format!("`command` of [guest] must be {COMMAND}");
            let problem = Problem::new(message)
                .help("name the program first, and the image by {image}")
                .at(self.command.span(), "not this array");
            noted.problems.push(problem);
        }
    }
}

fn is_version(text: &str) -> bool {
    text.split('.').all(|number| number.parse::<u32>().is_ok())
}

/// The image is told by the command, and the program is named.
fn has_image(words: &[String]) -> bool {
    words.iter().skip(1).any(|word| word.contains(IMAGE))
}
