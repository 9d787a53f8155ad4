// SPDX-License-Identifier: Apache-2.0
//! What shells propose: asked as their scripts ask, and by keys on a real terminal.

use std::fs::{self, File};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::common::screen::Screen;
use crate::common::{PATIENCE, Place, STREAM, text};

/// A name that a terminal would obey, and one that a shell would.
const HOSTILE: [&str; 2] = ["test-\u{1b}]0;owned\u{7}", "test-$(touch evil)"];
const SIGSTOP: i32 = 19;
const SIGCONT: i32 = 18;

/// The files and the words that are proposed for the last of these words; nothing else is said.
fn proposed(place: &Place, shell: &str, words: &[&str]) -> (String, Vec<String>) {
    let index = (words.len() - 1).to_string();
    let output = place.output(&[&["--complete", shell, &index], words].concat());
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)), "{words:?}");
    let said = text(&output.stdout);
    let mut lines = said.lines();
    let files = lines.next().unwrap().to_owned();
    let word = |line: &str| line.split('\t').next().unwrap().to_owned();
    (files, lines.map(word).collect())
}

/// The same once all of these are among them: a look-up may last too long on a busy machine.
fn wait_for_words(place: &Place, words: &[&str], wanted: &[&str]) -> Vec<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let (_, found) = proposed(place, "zsh", words);
        if wanted.iter().all(|wanted| found.iter().any(|found| found == wanted)) {
            return found;
        }
        assert!(Instant::now() < end, "{words:?}: {found:?}");
    }
}

/// The folder of a run that lives for as long as this file is open.
fn living_folder(place: &Place, name: &str) -> File {
    let path = place.runs().join(name);
    fs::create_dir(&path).unwrap();
    let folder = File::open(path).unwrap();
    flock(&folder, FlockOperation::LockExclusive).unwrap();
    folder
}

#[test]
fn words_of_the_command_line_are_proposed() {
    let place = Place::new();
    let is = |shell, words: &[&str], files: &str, wanted: &[&str]| {
        let (of_these, found) = proposed(&place, shell, words);
        assert_eq!(of_these, files, "{words:?}: {found:?}");
        assert_eq!(found, wanted, "{words:?}");
    };
    let applications = ".toml .json .xml .graphml .dot .gv .tgff .amxmi .pftrace";
    is("zsh", &["whimbrel", "mig"], "", &["migrate"]);
    is("zsh", &["whimbrel", "sim", ""], applications, &[]);
    is("zsh", &["whimbrel", "sim", "--core"], "", &["--core-count"]);
    is("zsh", &["whimbrel", "trace", ""], "/", &[]);
    is("zsh", &["whimbrel", "trace", "--format", "v"], "", &["vcd"]);
    is("zsh", &["whimbrel", "graph", "-o", ""], "files", &[]);
    is("zsh", &["whimbrel", "schema", "pl"], "", &["platform"]);
    is("zsh", &["whimbrel", "policy", "gone-1", "no"], "", &["none"]);
    is("zsh", &["whimbrel", "occupy", "--", "gr"], "commands", &[]);
    is("zsh", &["whimbrel", "occupy", "--", "cat", "gr"], "files", &[]);
    is("zsh", &["whimbrel", "run", "--platform", "mp"], ".toml", &["mpsoc3"]);
    is("zsh", &["whimbrel", "run", "--platform=mp"], ".toml", &["--platform=mpsoc3"]);
    is("zsh", &["whimbrel", "run", "--board", "virt"], ".toml", &["virt_a64"]);
    is("zsh", &["whimbrel", "sim", "--policy", "ba"], "", &["balance"]);
    // Bash breaks words, and replaces the last part.
    is("bash", &["whimbrel", "run", "--platform", "=", "mp"], ".toml", &["mpsoc3"]);
    is("bash", &["whimbrel", "trace", "--format", "="], "", &["perfetto", "vcd", "btf"]);
    is("bash", &["whimbrel", "sim", "--move", "a", "=", "1", "--policy", "ba"], "", &["balance"]);
    // What is shown only if nothing else fits has a former name, and a word that does not exist
    // nothing.
    is("zsh", &["whimbrel", "fly"], "", &[]);
    is("zsh", &["whimbrel", "ps", "--zzz"], "", &[]);
}

#[test]
fn runs_and_what_is_in_them_are_proposed() {
    let place = Place::new();
    assert_eq!(proposed(&place, "zsh", &["whimbrel", "top", ""]).1, [""; 0]);
    let app = place.app(STREAM);
    let _run = place.start(&[app.to_str().unwrap(), "--cores", "0,0"]);
    for verb in ["migrate", "policy", "frame-rate", "channel", "restart", "top"] {
        assert_eq!(wait_for_words(&place, &["whimbrel", verb, ""], &["test-1"]), ["test-1"]);
    }
    let head = ["whimbrel", "migrate", "test-1"];
    let tasks = wait_for_words(&place, &[&head[..], &[""]].concat(), &["worker"]);
    assert_eq!(tasks, ["source", "worker", "sink"]);
    assert_eq!(wait_for_words(&place, &[&head[..], &["worker", ""]].concat(), &["1"]), ["0", "1"]);
    let channels = ["whimbrel", "channel", "test-1", ""];
    assert_eq!(wait_for_words(&place, &channels, &["worker_sink"]).len(), 2);
}

#[test]
fn a_run_that_does_not_answer_keeps_no_prompt_waiting() {
    let place = Place::new();
    let app = place.app(STREAM);
    let run = place.start(&[app.to_str().unwrap(), "--cores", "0"]);
    run.signal(SIGSTOP);
    // A request alone waits for 5 s. On a busy machine each attempt may last.
    let end = Instant::now() + PATIENCE;
    loop {
        let asked = Instant::now();
        assert_eq!(proposed(&place, "zsh", &["whimbrel", "migrate", "test-1", ""]).1, [""; 0]);
        if asked.elapsed() < Duration::from_secs(2) {
            break;
        }
        assert!(Instant::now() < end, "it waits");
    }
    run.signal(SIGCONT);
}

#[test]
fn a_name_that_is_more_than_a_name_is_not_proposed() {
    let place = Place::new();
    assert!(place.output(&["ps"]).status.success());
    let _living: Vec<File> =
        HOSTILE.into_iter().chain(["test-7"]).map(|name| living_folder(&place, name)).collect();
    let listed = text(&place.output(&["ps"]).stdout);
    assert!(listed.contains("touch evil"), "{listed}");
    assert_eq!(wait_for_words(&place, &["whimbrel", "top", ""], &["test-7"]), ["test-7"]);
}

#[test]
fn nothing_is_said_where_nothing_can_be_looked_up() {
    let nowhere = tempfile::tempdir().unwrap();
    let place = Place::with_helpers(nowhere.path().join("bin"));
    let file = place.path("file");
    fs::write(&file, "").unwrap();
    for words in [&["top", ""][..], &["run", "--platform", ""], &["run", "--board", ""]] {
        let index = words.len().to_string();
        let words = [&["--complete", "fish", &index, "whimbrel"], words].concat();
        let output = place.command(&words).env("XDG_RUNTIME_DIR", &file).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout).lines().count(), 1);
    }
    for odd in [&["--complete"][..], &["--complete", "bash"], &["--complete", "bash", "x", "y"]] {
        let output = place.output(odd);
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

/// A shell with the completions that are installed, and how it is made to load them.
struct Shell {
    program: &'static str,
    arguments: &'static [&'static str],
    load: &'static str,
}

const SHELLS: [Shell; 3] = [
    Shell {
        program: "bash",
        arguments: &["--noprofile", "--norc", "-i"],
        load: "source share/bash-completion/completions/whimbrel",
    },
    Shell {
        program: "zsh",
        arguments: &["-f", "-i"],
        load: "fpath=($PWD/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D",
    },
    Shell {
        program: "fish",
        arguments: &["--no-config", "--interactive"],
        load: "source share/fish/vendor_completions.d/whimbrel.fish",
    },
];

/// Types words and the key, on an empty line, until the shell has completed them.
fn complete(shell: &Screen, typed: &str, wanted: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        shell.press(&format!("\u{15}{typed}\t"));
        for _ in 0..40 {
            if shell.shows(wanted) {
                // The line as it is is what the next one replaces.
                shell.press("\u{15}");
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert!(Instant::now() < end, "{typed}: `{wanted}` does not appear:\n{}", shell.text());
    }
}

#[test]
fn a_key_completes_what_is_typed_and_runs_nothing() {
    let place = Place::new();
    let app = place.app(STREAM);
    let _run = place.start(&[app.to_str().unwrap(), "--cores", "0,0"]);
    assert!(place.output(&["--write-pages", "."]).status.success());
    let folder = "my $(touch evil) folder";
    fs::create_dir(place.path(folder)).unwrap();
    fs::write(place.path(folder).join("player.toml"), "").unwrap();
    fs::write(place.path(folder).join("player.txt"), "").unwrap();

    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_whimbrel")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for Shell { program, arguments, load } in &SHELLS {
        let there = Command::new(program).arg("--version").output();
        if there.is_err() && *program != "bash" {
            eprintln!("skipped: {program} is not installed");
            continue;
        }
        let mut command = Command::new(program);
        command.envs(place.command(&[]).get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.args(*arguments).env("PATH", &path).env("HOME", place.path(""));
        command.current_dir(place.path(""));
        let mut shell = Screen::open(&command);
        shell.press(&format!("{load}; echo loa''ded\n"));
        shell.wait_for("loaded");
        complete(&shell, "whimbrel rest", "whimbrel restart ");
        complete(&shell, "whimbrel migrate te", "migrate test-1");
        complete(&shell, "whimbrel migrate test-1 wor", "test-1 worker");
        complete(&shell, "whimbrel sim --platform mps", "--platform mpsoc3");
        complete(&shell, "whimbrel sim --platform=mps", "--platform=mpsoc3");
        complete(&shell, "whimbrel sim --agent-p", "--agent-period");
        // A file that is none of an application is not proposed, and no part of a name is obeyed.
        complete(&shell, "whimbrel graph my\t", "player.toml");
        shell.press("whimbrel graph my\t\t\n");
        shell.wait_for("is empty");
        assert!(!place.path("evil").exists(), "{}", shell.text());
        shell.press("exit\n");
        shell.finish();
    }
}
