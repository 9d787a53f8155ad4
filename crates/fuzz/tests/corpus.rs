// SPDX-License-Identifier: Apache-2.0
//! Every target takes its corpus, and inputs near it (`tests/fuzz/README.md`).

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, panic, process, thread};

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use whimbrel_fuzz::{ALL, FOLDER, Target};

/// Of each input.
const MUTATIONS: u64 = 300;

/// An input takes a target milliseconds, and a busy machine longer.
const HANGS: Duration = Duration::from_secs(120);

/// What is taken now, and since when.
static TAKEN: Mutex<Option<(String, Instant)>> = Mutex::new(None);

/// Also of the threads of a target, where a panic ends nothing else.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn no_target_panics_on_its_corpus_or_near_it() {
    let corpora: Vec<_> = ALL.iter().map(|(name, target)| (name, target, inputs(name))).collect();
    for (name, _, files) in &corpora {
        assert!(!files.is_empty(), "{name} has no corpus");
    }
    thread::spawn(end_what_hangs);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| PANICS.lock().unwrap().push(info.to_string())));
    let faults: Vec<String> = corpora
        .iter()
        .filter_map(|(name, target, files)| {
            files.iter().find_map(|file| fault(name, **target, file))
        })
        .collect();
    panic::set_hook(hook);
    *TAKEN.lock().unwrap() = None;
    let _ = fs::remove_dir_all(FOLDER.as_path());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn end_what_hangs() {
    loop {
        thread::sleep(HANGS / 10);
        match &*TAKEN.lock().unwrap() {
            Some((what, since)) if since.elapsed() > HANGS => {
                eprintln!("{what} takes longer than {HANGS:?}");
                process::abort();
            }
            _ => (),
        }
    }
}

/// How a target panics on a file, or on the first of its mutations.
fn fault(name: &str, target: Target, file: &Path) -> Option<String> {
    let whole = fs::read(file).unwrap();
    (0..=MUTATIONS).find_map(|seed| {
        let bytes = if seed == 0 { whole.clone() } else { mutated(&whole, seed) };
        let what = format!("{name} on mutation {seed} of {}", file.display());
        *TAKEN.lock().unwrap() = Some((what, Instant::now()));
        let _ = panic::catch_unwind(|| target(&bytes));
        let said = std::mem::take(&mut *PANICS.lock().unwrap());
        if said.is_empty() {
            return None;
        }
        let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
        fs::write(&input, bytes).unwrap();
        Some(format!("{name} on {} (of {}): {}", input.display(), file.display(), said.join("; ")))
    })
}

/// A target's corpus, and what it begins with besides.
fn inputs(name: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let seeds = fs::read_to_string(root.join("tests/fuzz/seeds.txt")).unwrap();
    let besides = seeds.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let mut found = matching(&root, &format!("tests/fuzz/corpus/{name}/*"));
    found.extend(besides.flat_map(|pattern| matching(&root, pattern)));
    found
}

/// The files of a pattern, each part of which has one star at most.
fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for part in pattern.split('/') {
        found = match part.split_once('*') {
            None => {
                found.iter().map(|folder| folder.join(part)).filter(|path| path.exists()).collect()
            }
            Some((begin, end)) => found
                .iter()
                .filter_map(|folder| fs::read_dir(folder).ok())
                .flatten()
                .map(|entry| entry.unwrap().path())
                .filter(|path| {
                    let name = path.file_name().unwrap().to_str().unwrap();
                    name.starts_with(begin) && name.ends_with(end)
                })
                .collect(),
        };
    }
    found.sort();
    found
}

/// With up to four of its parts changed, left out or repeated.
fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut made = bytes.to_vec();
    for _ in 0..random.random_range(1..=4) {
        let begin = random.random_range(0..=made.len());
        let end = random.random_range(begin..=made.len().min(begin + 16));
        match random.random_range(0..4) {
            0 => drop(made.drain(begin..end)),
            1 => {
                let part = made[begin..end].to_vec();
                let at = random.random_range(0..=made.len());
                drop(made.splice(at..at, part));
            }
            2 => random.fill_bytes(&mut made[begin..end]),
            // A bit, which most often leaves text as text.
            _ => {
                if let Some(byte) = made.get_mut(begin) {
                    *byte ^= 1 << random.random_range(0..8);
                }
            }
        }
    }
    made
}
