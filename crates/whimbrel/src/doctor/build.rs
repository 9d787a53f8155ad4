// SPDX-License-Identifier: Apache-2.0
//! What it takes to build and test the project here, beside what runs it.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use super::Finding;

/// Something to build or test with, what it is for, and the Debian package it comes in.
struct Tool {
    what: &'static str,
    programs: Programs,
    advice: &'static str,
}

enum Programs {
    All(&'static [&'static str]),
    Any(&'static [&'static str]),
}

use Programs::{All, Any};

const TOOLS: &[Tool] = &[
    Tool {
        what: "C compiler",
        programs: All(&["gcc", "make"]),
        advice: "builds the kernels and the modules: apt install gcc make",
    },
    Tool {
        what: "clang-format",
        programs: All(&["clang-format"]),
        advice: "checks the layout of C in `make lint`: apt install clang-format",
    },
    Tool {
        what: "AArch64 compiler",
        programs: All(&["aarch64-linux-gnu-gcc"]),
        advice: "builds the AArch64 kernels: apt install gcc-aarch64-linux-gnu",
    },
    Tool {
        what: "AArch64 emulator",
        programs: Any(&["qemu-aarch64", "qemu-aarch64-static"]),
        advice: "runs their conformance suite: apt install qemu-user",
    },
    Tool {
        what: "GNU Radio",
        programs: All(&["gnuradio-config-info"]),
        advice: "is a peer of `bench --peers`: apt install gnuradio",
    },
    Tool {
        what: "Rust",
        programs: All(&["cargo"]),
        advice: "builds this command and a peer of `bench --peers`: apt install cargo, or rustup",
    },
];

/// Whether each tool is there. None is needed to run what is already built.
pub fn findings() -> Vec<Finding> {
    TOOLS.iter().map(|tool| look(tool, &env::var_os("PATH").unwrap_or_default())).collect()
}

fn look(tool: &Tool, path: &OsStr) -> Finding {
    let find = |name: &&str| find_program(name, path);
    let found: Option<Vec<PathBuf>> = match tool.programs {
        All(names) => names.iter().map(find).collect(),
        Any(names) => names.iter().find_map(find).map(|one| vec![one]),
    };
    match found.as_deref() {
        Some([first, ..]) => Finding::ok(tool.what, first.display().to_string()),
        _ => Finding::missing(tool.what, "not found", tool.advice),
    }
}

/// The file that a shell starts by a name.
pub fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_there_when_all_its_programs_are() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = &TOOLS[0];
        let verdict = || look(compiler, folder.path().as_os_str()).advice.is_empty();
        std::fs::write(folder.path().join("gcc"), "").unwrap();
        assert!(!verdict());
        std::fs::write(folder.path().join("make"), "").unwrap();
        assert!(verdict());
    }

    #[test]
    fn an_emulator_may_have_either_name() {
        let folder = tempfile::tempdir().unwrap();
        let emulator = TOOLS.iter().find(|tool| tool.what == "AArch64 emulator").unwrap();
        std::fs::write(folder.path().join("qemu-aarch64-static"), "").unwrap();
        assert!(look(emulator, folder.path().as_os_str()).advice.is_empty());
    }
}
