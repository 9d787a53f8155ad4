// SPDX-License-Identifier: Apache-2.0
//! The targets of libFuzzer in Rust (`tests/fuzz/README.md`), in one program: the name by which it
//! is started is the target's. `main` is libFuzzer's, and a panic ends it.

#![no_main]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;
use std::sync::OnceLock;

mod process;
mod shared;
mod targets;

// What both ends of the control socket are made of, lines and the line to a board are the command's
// own: its source, without the rest of it.
#[path = "../../run/src/control/mod.rs"]
#[expect(unused_imports, reason = "what a run does with them")]
#[cfg_attr(not(test), expect(dead_code, reason = "what a run does with them"))]
mod control;
#[path = "../../run/src/board/link.rs"]
#[expect(dead_code, reason = "what a run does with them")]
mod link;
#[path = "../../run/src/protocol.rs"]
#[expect(dead_code, reason = "what a run does with them")]
mod protocol;

type Target = fn(&[u8]);

static TARGET: OnceLock<Target> = OnceLock::new();

/// Chooses the target.
///
/// # Safety
/// libFuzzer gives the words of its command line, of which there is one at least.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerInitialize(
    _: *mut c_int,
    words: *mut *mut *mut c_char,
) -> c_int {
    // SAFETY: libFuzzer's promise.
    let program = unsafe { CStr::from_ptr(**words) };
    let program = Path::new(OsStr::from_bytes(program.to_bytes()));
    let name = program.file_name().unwrap_or_default();
    let Some((_, target)) = targets::ALL.iter().find(|(of, _)| *of == name) else {
        let names: Vec<&str> = targets::ALL.iter().map(|(name, _)| *name).collect();
        eprintln!("{}: start it by the name of a target: {}", program.display(), names.join(", "));
        std::process::exit(2);
    };
    TARGET.get_or_init(|| *target);
    0
}

/// Calls the target.
///
/// # Safety
/// libFuzzer gives `bytes` bytes at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, bytes: usize) -> c_int {
    let data = if bytes == 0 {
        &[]
    } else {
        // SAFETY: libFuzzer's promise.
        unsafe { slice::from_raw_parts(data, bytes) }
    };
    TARGET.get().expect("libFuzzer calls LLVMFuzzerInitialize first")(data);
    0
}
