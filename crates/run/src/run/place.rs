// SPDX-License-Identifier: Apache-2.0
//! Where in its source a task failed, by the debug information of its module.

use std::env;
use std::path::{Path, PathBuf};

use addr2line::Loader;

use crate::protocol::Frame;

/// How many places are told: the innermost, and its callers.
const TOLD: usize = 4;
/// The libraries of the system: what they do is asked for by the application.
const SYSTEM: [&str; 10] = [
    "ld-linux",
    "libasan.so",
    "libc.so",
    "libgcc_s.so",
    "libgomp.so",
    "libm.so",
    "libpthread.so",
    "libstdc++.so",
    "libubsan.so",
    "linux-vdso",
];

/// What is known of where a fault happened, in words: `, in f (a.c:3), called by g (a.c:9)`; and
/// whether that has a line. `None`: nothing is known.
pub fn of(frames: &[Frame]) -> Option<(String, bool)> {
    let ours: Vec<&Frame> = frames.iter().filter(|frame| !is_system(&frame.file)).collect();
    let mut lines = Vec::new();
    let mut loaded: Option<(&Path, Loader)> = None;
    for frame in &ours {
        if loaded.as_ref().is_none_or(|(file, _)| *file != frame.file) {
            loaded = Loader::new(&frame.file).ok().map(|loader| (frame.file.as_path(), loader));
        }
        if let Some((_, loader)) = &loaded {
            lines.extend(in_source(loader, frame));
        }
        if lines.len() >= TOLD {
            break;
        }
    }
    lines.dedup();
    if !lines.is_empty() {
        lines.truncate(TOLD);
        return Some((format!(", in {}", lines.join(", called by ")), true));
    }
    let first = ours.first()?;
    let symbol = Loader::new(&first.file).ok();
    let symbol = symbol.as_ref().and_then(|loader| loader.find_symbol(first.offset));
    let symbol = symbol.unwrap_or(&first.function);
    let name = first.file.file_name().unwrap_or_default().to_string_lossy();
    let place = format!("at offset {:#x} of {name}", first.offset);
    Some(match symbol {
        "" => (format!(", {place}"), false),
        function => (format!(", in `{function}` {place}"), false),
    })
}

fn is_system(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    SYSTEM.iter().any(|system| name.starts_with(system))
}

/// The functions at a place, the innermost first if others are compiled into one, with their lines;
/// none without debug information.
fn in_source(loader: &Loader, frame: &Frame) -> Vec<String> {
    let mut told = Vec::new();
    let Ok(mut frames) = loader.find_frames(frame.offset) else { return told };
    while let Ok(Some(inner)) = frames.next() {
        let Some(location) = inner.location else { continue };
        let (Some(file), Some(line)) = (location.file, location.line) else { continue };
        let name = inner.function.as_ref().and_then(|name| name.demangle().ok());
        let name = name.map_or_else(|| frame.function.clone(), |name| name.into_owned());
        // Of a task that is recreated: its kernel calls it.
        if name == "kernel_task_start" {
            break;
        }
        told.push(format!("`{name}` ({}:{line})", from_here(file).display()));
    }
    told
}

/// A path as one would type it in this folder.
fn from_here(file: &str) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    let file = Path::new(file);
    file.strip_prefix(here).or_else(|_| file.strip_prefix(".")).unwrap_or(file).to_owned()
}
