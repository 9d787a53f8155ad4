// SPDX-License-Identifier: Apache-2.0
//! Where `trace` and `report` write: a file appears whole, and nothing else of the user's changes.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown, lchown, symlink};
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

/// Another user, and a folder that all may write, as `/tmp`: what he has put there first.
struct Shared {
    place: Place,
    precious: String,
}

const OTHER: u32 = 65_534;

impl Shared {
    /// `None`, and a word of it, where nothing can be given to another user.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root gives files to another user");
            return None;
        }
        let place = recorded();
        fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::create_dir(place.path("mine")).unwrap();
        fs::write(place.path("mine/precious"), "precious").unwrap();
        let precious = place.path("mine/precious").display().to_string();
        Some(Self { place, precious })
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.place.path(name)).unwrap();
        lchown(self.place.path(name), Some(OTHER), None).unwrap();
    }

    fn refused(&self, args: &[&str], why: &str) {
        let said = self.place.error(args);
        assert!(said.contains(why) && said.contains(&OTHER.to_string()), "{args:?}: {said}");
        let precious = fs::read_to_string(&self.precious).unwrap();
        assert_eq!(precious, "precious", "{args:?}");
        assert_eq!(fs::read_dir(self.place.path("mine")).unwrap().count(), 1, "{args:?}");
    }
}

const SCRIPT: &str = "[app]\nname = \"a\"\n[[task]]\nname = \"t\"\nscript = [{ run = 2000000 }]\n";

#[test]
fn what_another_user_made_first_where_all_may_is_neither_followed_nor_overwritten() {
    let Some(shared) = Shared::new() else { return };
    let place = &shared.place;
    fs::write(place.path("app.toml"), SCRIPT).unwrap();
    shared.link("out/link", &shared.precious);
    shared.link("out/new", "../mine/new");
    shared.link("out/folder", "../mine");
    fs::write(place.path("out/file"), "his").unwrap();
    chown(place.path("out/file"), Some(OTHER), None).unwrap();
    let graph = ["graph", "app.toml", "-o"];
    let verbs = [VERBS[0], VERBS[1], &graph];
    for verb in verbs {
        for link in ["out/link", "out/new", "out/folder/precious", "out/folder/new"] {
            shared.refused(&[verb, &[link]].concat(), "is a link of user");
        }
        shared.refused(&[verb, &["out/file"]].concat(), "belongs to user");
    }
    // What is one's own may be written there as before, over a link and over a file.
    symlink("own", place.path("out/mine")).unwrap();
    for _ in 0..2 {
        write(place, VERBS[1], "out/mine");
        write(place, VERBS[1], "out/own");
    }
    assert_eq!(fs::read_to_string(place.path("out/file")).unwrap(), "his");
}

#[test]
fn a_run_is_neither_recorded_nor_saved_where_another_user_can_change_it() {
    let Some(place) = Shared::new() else { return };
    let real = Place::new();
    fs::write(place.place.path("app.toml"), SCRIPT).unwrap();
    let app = place.place.path("app.toml").display().to_string();
    let at = |name: &str| place.place.path(name).display().to_string();
    place.link("out/link", &place.precious);
    place.link("out/folder", "../mine");
    fs::create_dir(place.place.path("out/his")).unwrap();
    chown(place.place.path("out/his"), Some(OTHER), None).unwrap();
    fs::create_dir(place.place.path("out/open")).unwrap();
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(place.place.path("out/open"), open).unwrap();

    let sim = ["sim", &app, "--compute", "model", "--platform", "mpsoc3", "--quiet"];
    for (name, why) in [
        ("out/link", "is a link of user 65534"),
        ("out/folder", "is a link of user 65534"),
        ("out/folder/run", "is a link of user 65534"),
        ("out/his", "belongs to user 65534"),
        ("out/open", "may be written by others (mode 777)"),
    ] {
        let said = real.error(&[&sim[..], &["--record", &at(name)]].concat());
        assert!(said.contains(why), "{name}: {said}");
    }
    for name in ["out/link", "out/folder/state"] {
        let said = real.error(&[&sim[..], &["--save", &(at(name) + "@100us")]].concat());
        assert!(said.contains("is a link of user 65534"), "{name}: {said}");
    }
    assert_eq!(fs::read_to_string(&place.precious).unwrap(), "precious");
    assert_eq!(fs::read_dir(place.place.path("mine")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(place.place.path("out/his")).unwrap().count(), 0);

    let (run, state) = (at("out/run"), at("out/state"));
    let saved = state.clone() + "@100us";
    let output = real.output(&[&sim[..], &["--record", &run, "--save", &saved]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&run), mode(&state)], [0o700, 0o600]);
    assert!(place.place.path("out/run/core-0.events").exists());
}

/// An explicit title, a notify, colours that hide, a line that reads backwards.
const EVIL: &str = "e\u{1b}]0;t\u{7}\u{9b}8m\u{202e}v";

fn obeyed(said: &str) -> Option<char> {
    said.chars().find(|sign| {
        sign.is_control() && !matches!(sign, '\n' | '\t') || matches!(sign, '\u{202e}')
    })
}

#[test]
fn what_a_file_holds_reaches_no_terminal_as_more_than_text() {
    let place = recorded();
    let evil = SCRIPT.replace("{ run = 2000000 }", &format!("\"{EVIL} 1ms\""));
    fs::write(place.path("app.toml"), evil).unwrap();
    let name = format!("{EVIL}.toml");
    fs::copy(place.path("app.toml"), place.path(&name)).unwrap();
    for file in ["app.toml", &name, &format!("no{EVIL}")] {
        let output = place.output(&["graph", file]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(obeyed(&said), None, "{said:?}");
        assert!(said.contains("e?]0;t?·8m\u{fffd}v"), "{said}");
    }
}
