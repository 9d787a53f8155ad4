// SPDX-License-Identifier: Apache-2.0
//! Where `trace` and `report` write: a file appears whole, and nothing else of the user's changes.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Place, kill, text};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Both, up to the name of what they write.
const VERBS: [&[&str]; 2] = [
    &["trace", "recorded", "--format", "btf", "--quiet", "-o"],
    &["report", "recorded", "--quiet", "-o"],
];

/// A place with the stream of one core on which nothing happens. Nothing here starts a helper.
fn recorded() -> Place {
    let place = Place::with_helpers(std::env::temp_dir());
    fs::create_dir_all(place.path("recorded")).unwrap();
    let words = [1_u32, 24, 0, 0, 0, 0].map(u32::to_le_bytes);
    let stream = [&b"WBEVENTS"[..], words.as_flattened()].concat();
    fs::write(place.path("recorded/core-0.events"), stream).unwrap();
    fs::create_dir(place.path("out")).unwrap();
    place
}

fn write(place: &Place, verb: &[&str], name: &str) {
    let output = place.output(&[verb, &[name]].concat());
    assert!(output.status.success(), "{verb:?}: {}", text(&output.stderr));
}

/// What a verb writes to standard output.
fn expected(place: &Place, verb: &[&str]) -> Vec<u8> {
    place.output(&[verb, &["-"]].concat()).stdout
}

#[test]
fn a_link_is_followed_and_stays() {
    for verb in VERBS {
        let place = recorded();
        symlink("../far", place.path("out/near")).unwrap();
        symlink("nothing yet", place.path("out/new")).unwrap();
        fs::write(place.path("far"), "old").unwrap();
        for (link, file) in [("out/near", "far"), ("out/new", "out/nothing yet")] {
            write(&place, verb, link);
            assert!(place.path(link).is_symlink(), "{verb:?}: {link} stays a link");
            assert!(fs::read(place.path(file)).unwrap() == expected(&place, verb), "{verb:?}");
        }
    }
}

#[test]
fn files_of_other_names_stay_as_they_are() {
    for verb in VERBS {
        let place = recorded();
        for name in ["out/x", "out/x.new", "out/x.part"] {
            fs::write(place.path(name), "mine").unwrap();
        }
        write(&place, verb, "out/x");
        for name in ["out/x.new", "out/x.part"] {
            assert_eq!(fs::read_to_string(place.path(name)).unwrap(), "mine", "{verb:?}: {name}");
        }
        assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 3);
    }
}

#[test]
fn a_pipe_is_written_to_and_stays() {
    for verb in VERBS {
        let place = recorded();
        let pipe = place.path("out/pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        symlink("pipe", place.path("out/link")).unwrap();
        for name in ["out/pipe", "out/link"] {
            let path = pipe.clone();
            let reader = thread::spawn(move || fs::read(path).unwrap());
            write(&place, verb, name);
            assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "{verb:?}");
            assert!(place.path("out/link").is_symlink(), "{verb:?}");
            assert!(reader.join().unwrap() == expected(&place, verb), "{verb:?}");
        }
    }
}

#[test]
fn a_new_file_may_be_read_by_others_as_the_umask_says() {
    for verb in VERBS {
        let place = recorded();
        File::create(place.path("out/other")).unwrap();
        write(&place, verb, "out/x");
        let [x, other] = ["out/x", "out/other"]
            .map(|name| fs::metadata(place.path(name)).unwrap().permissions().mode());
        assert_eq!(x, other, "{verb:?}");
    }
}

#[test]
fn a_disk_that_is_full_leaves_what_was_there() {
    for verb in VERBS {
        let place = recorded();
        fs::write(place.path("out/x"), "old").unwrap();
        let whimbrel = place.command(&[verb, &["out/x"]].concat());
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
        limited.arg(whimbrel.get_program()).args(whimbrel.get_args());
        let output = limited.current_dir(place.path("")).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {said}");
        assert!(said.contains("out/x") && said.contains("File too large"), "{verb:?}: {said}");
        assert_eq!(fs::read_to_string(place.path("out/x")).unwrap(), "old");
        assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1, "{verb:?}");
    }
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let place = recorded();
    let pipe = place.path("out/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let whimbrel = place.command(&[VERBS[0], &["out/pipe"]].concat());
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(whimbrel.get_program());
    let mut child = ignoring.args(whimbrel.get_args()).current_dir(place.path("")).spawn().unwrap();
    // It waits for somebody to read the pipe.
    let end = Instant::now() + PATIENCE;
    let is_there = || fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count() > 1;
    while !is_there() {
        assert!(Instant::now() < end, "it does not listen to signals");
        thread::sleep(Duration::from_millis(2));
    }
    kill(u64::from(child.id()), 1);
    assert!(fs::read(&pipe).unwrap() == expected(&place, VERBS[0]));
    assert!(child.wait().unwrap().success());
}

/// Waits until a process has a file open in this folder, which may have no name.
fn wait_until_it_writes(child: &Child, folder: &Path) {
    let end = Instant::now() + PATIENCE;
    let open = || {
        let fds = fs::read_dir(format!("/proc/{}/fd", child.id())).ok()?;
        let mut files = fds.filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
        files.any(|file| file.starts_with(folder)).then_some(())
    };
    while open().is_none() {
        assert!(Instant::now() < end, "nothing is written");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_trace_that_is_interrupted_leaves_nothing_behind() {
    let place = recorded();
    // Zeros are events of no kind: they are read for minutes, and take no room.
    let stream = File::options().write(true).open(place.path("recorded/core-0.events")).unwrap();
    stream.set_len(32 + 24 * (1 << 32)).unwrap();
    let out = place.path("out").canonicalize().unwrap();
    for old in [false, true] {
        for signal in [2, 15, 1] {
            if old {
                fs::write(out.join("x"), "old").unwrap();
            }
            let mut command = place.command(&[VERBS[0], &["out/x"]].concat());
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            wait_until_it_writes(&child, &out);
            kill(u64::from(child.id()), signal);
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(fs::read_dir(&out).unwrap().count(), usize::from(old), "signal {signal}");
        }
    }
    assert_eq!(fs::read_to_string(out.join("x")).unwrap(), "old");
}
