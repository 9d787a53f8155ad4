// SPDX-License-Identifier: Apache-2.0
//! The targets of libFuzzer in Rust (`tests/fuzz/README.md`), in one program: the name by which it
//! is started is the target's. `main` is libFuzzer's, and a panic ends it.

#![no_main]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;
use std::sync::OnceLock;

use whimbrel_fuzz::{ALL, Target};

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
    let Some((_, target)) = ALL.iter().find(|(of, _)| *of == name) else {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
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
