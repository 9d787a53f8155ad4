// SPDX-License-Identifier: Apache-2.0
//! Every error has one shape: a line that says what failed, and one that says what to do.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::screen::Screen;
use crate::common::{Place, STREAM, root, text};

/// What a help line may begin with.
const IMPERATIVES: &str = "add allow bind build calibrate call change check choose close complete \
    connect correct count create define delete end explore export free give include install keep \
    leave let lock look lower make map measure mend mkdir mount move name nest omit plug put \
    raise record remove rename repeat replace report restore resume return run save say see set \
    shorten signal start steer stop take try unlock unpack use wait write";

/// What begins with a part that is an imperative itself; and of warnings, what does not.
const ALSO: [&str; 3] = ["", "its", "expect"];

fn is_imperative(help: &str) -> bool {
    let word = help.split(|sign: char| !sign.is_ascii_alphabetic()).next().unwrap();
    IMPERATIVES.split_whitespace().any(|known| known == word)
}

/// What standard error says, without what the application itself prints.
fn check(words: &str, said: &str) {
    let lines: Vec<&str> = said.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("  × "));
    assert!(first.is_some(), "{words}: {said}");
    let help = lines.iter().rev().find_map(|line| line.strip_prefix("  help: "));
    assert!(help.is_some_and(is_imperative), "{words}: {said}");
    for odd in ["panicked", "RUST_BACKTRACE", "Os {", "Error {", "Some(", "None", "error: "] {
        assert!(!said.contains(odd), "{words}: {said}");
    }
}

#[test]
fn whatever_is_wrong_is_told_in_one_shape() {
    let place = Place::new();
    let app = place.app(STREAM);
    fs::rename(&app, place.path("a.toml")).unwrap();
    fs::create_dir(place.path("dir")).unwrap();
    fs::write(place.path("empty"), "").unwrap();
    fs::write(place.path("empty.json"), "").unwrap();
    fs::write(place.path("bad.toml"), b"a = \"\xff\"\n").unwrap();
    fs::write(place.path("not.xml"), "<a>").unwrap();
    fs::write(place.path("not.dot"), "graph {").unwrap();
    fs::write(place.path("full"), "x").unwrap();
    let cases = "
        fly | run | sim | migrate | migrate x | migrate gone-1 a 0 | migrate gone-1 a.b 0
        migrate gone-1 a x | policy gone-1 static | frame-rate gone-1 40 | frame-rate gone-1 x
        channel gone-1 a batch=none | restart gone-1 0 | top | top gone-1 | top --once | schema
        schema fly | plan a.toml | plan a.toml --board nowhere | graph nowhere | graph dir
        graph empty | graph bad.toml | graph a.toml -o dir | graph a.toml -o nowhere/x.dot
        graph /dev/zero | import nowhere.json | import empty | import empty.json | import not.xml
        import not.dot | import a.toml | import dir | trace nowhere | trace dir | trace empty
        trace dir --format fly | report | report dir | report nowhere | run dir | run a.toml a.toml
        run a.toml --cores x | run a.toml --cores 60000 | run a.toml --cores 1-0
        run a.toml --platform nowhere | run a.toml --platform dir/ | run a.toml --platform bad.toml
        run a.toml --board nowhere | run a.toml --board ./empty.toml | run a.toml --frequency fly
        run a.toml --record empty | run a.toml --record nowhere/rec | run a.toml --spin x
        run a.toml --map fly=0 | run a.toml --map source=x | run a.toml --move fly=0@1s
        run a.toml --move source=0 | run a.toml --shuttle source=0@1s | run a.toml --set x
        run a.toml --set fly=1 | run a.toml --duration 5 | run a.toml --duration 0s
        run a.toml --frame-rate 0 | run a.toml --fast --frame-rate 1 | run a.toml --policy fly
        run a.toml --quiet=1 | run a.toml --zzz | run a.toml --record | run a.toml --restart=x
        sim a.toml --platform nowhere | sim a.toml --platform mpso3 | sim a.toml --core-count 0
        sim a.toml --core-count 0,1 | sim a.toml --seed x | sim a.toml --seed -1
        sim a.toml --policy fly | sim a.toml --policy balance:x=1 | sim a.toml --policy table
        sim a.toml --policy table --table empty | sim a.toml --resume nowhere
        sim a.toml --resume empty | sim a.toml --save dir@1s | sim a.toml --save nowhere/x@1s
        sim a.toml --save x | sim a.toml --max-time 500days | sim a.toml --record empty
        sim a.toml --frame-rate-change x | sim a.toml --agent-period 0s | sim a.toml --compute fly
        explore | explore a.toml --core-counts 9 | explore a.toml --policies fly
        explore a.toml --objectives fly | explore a.toml --frame-rates 0 | explore a.toml --slots x
        explore a.toml --resume dir | calibrate --rows empty | calibrate --app nowhere
        calibrate --cores x | bench fly | occupy | occupy --cpu x -- true
        occupy --cpu 60000 -- true | occupy --pid 0 | occupy --pid 99999999 | occupy release 77
        occupy adjust 77 | occupy adjust 77 --soft | occupy adjust 77 --nice 99
        occupy noise --cpu 60000 | occupy noise --duration 1us | occupy --fifo 0 -- true
        occupy --report=x.svg -- true | occupy --shield fly -- true | occupy fly
    ";
    for words in cases.split(['|', '\n']).map(str::trim).filter(|words| !words.is_empty()) {
        let args: Vec<&str> = words.split(' ').collect();
        let mut command = place.command(&args);
        command.env("WHIMBREL_OCCUPY_STATE", place.path("journal"));
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        check(words, &said);
    }
}

#[test]
fn surroundings_that_lack_something_are_told_in_the_same_shape() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    let hello = root().join("apps/hello/app.toml");
    let hello = hello.to_str().unwrap();
    let file = place.path("file");
    let file = file.to_str().unwrap();
    for (words, key, value) in [
        (&["ps"][..], "XDG_RUNTIME_DIR", "/nonexistent"),
        (&["ps"], "XDG_RUNTIME_DIR", file),
        (&["run", hello], "XDG_RUNTIME_DIR", file),
        (&["run", hello], "WHIMBREL_LIBEXEC", "/nonexistent"),
        (&["sim", hello], "WHIMBREL_LIBEXEC", "/nonexistent"),
        (&["bench"], "WHIMBREL_LIBEXEC", "/nonexistent"),
        (&["occupy", "status"], "WHIMBREL_OCCUPY_STATE", file),
        (&["explore", hello, "--scheduler", "tcp://a:1"], "WHIMBREL_PYTHON", "/nonexistent"),
    ] {
        let output = place.command(words).env(key, value).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?} {key}");
        check(&format!("{words:?} {key}"), &text(&output.stderr));
    }
    let mut homeless = place.command(&["sim", hello, "--platform", "host"]);
    let output = homeless.env_remove("HOME").env_remove("XDG_CONFIG_HOME").output().unwrap();
    check("no HOME", &text(&output.stderr));
}

#[test]
fn a_result_that_cannot_be_written_is_an_error_and_a_reader_that_has_gone_is_none() {
    let place = Place::new();
    for words in [&["ps"][..], &["schema", "app"], &["clean", "--json"], &["occupy", "status"]] {
        let mut command = place.command(words);
        command.env("WHIMBREL_OCCUPY_STATE", place.path("journal"));
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        check(&format!("{words:?}"), &text(&output.stderr));

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    }
}

#[test]
fn a_pipe_is_a_file_and_one_that_nothing_writes_to_is_an_error() {
    let place = Place::new();
    let app = place.app(STREAM);
    let contents = fs::read(&app).unwrap();
    let pipe = place.path("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let begun = Instant::now();
    let said = place.error(&["graph", "pipe.toml"]);
    assert!(said.contains("nothing writes to this pipe"), "{said}");
    assert!(begun.elapsed() >= Duration::from_secs(1), "a writer may begin later");
    check("pipe", &said);

    // As `whimbrel graph <(...)`: the writer is there, and slow or not.
    let mut command = place.command(&["graph", "/dev/stdin"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    child.stdin.take().unwrap().write_all(&contents).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(text(&output.stdout).contains("digraph"), "{}", text(&output.stdout));
}

#[test]
fn a_terminal_that_does_not_know_its_width_is_no_narrow_one() {
    let place = Place::new();
    let output = place.command(&["ps", "-h"]).env("COLUMNS", "0").output().unwrap();
    assert!(text(&output.stdout).lines().count() < 15, "{}", text(&output.stdout));
}

/// What a command shows on a terminal has colours, in these surroundings.
fn coloured(place: &Place, words: &[&str], shown: &str, changes: &[(&str, &str)]) -> bool {
    let command = place.command(words);
    let mut changed = Command::new("env");
    changed.args(["-u", "NO_COLOR", "-u", "CI"]);
    changed.args(changes.iter().map(|(key, value)| format!("{key}={value}")));
    changed.arg(command.get_program()).args(words);
    changed.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    changed.current_dir(place.path(""));
    let mut screen = Screen::open(&changed);
    screen.wait_for(shown);
    screen.finish();
    screen.has_colours()
}

#[test]
fn colours_obey_one_rule() {
    let place = Place::new();
    for (words, shown) in [(&["simm"][..], "write `sim`"), (&["graph", "nowhere"], "name the path")]
    {
        let with = |changes: &[(&str, &str)]| coloured(&place, words, shown, changes);
        assert!(with(&[]), "{words:?}");
        assert!(with(&[("NO_COLOR", "")]), "{words:?}");
        assert!(!with(&[("NO_COLOR", "1")]), "{words:?}");
        assert!(!with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), "{words:?}");
        assert!(!with(&[("CLICOLOR", "0")]), "{words:?}");
        assert!(!with(&[("TERM", "dumb")]), "{words:?}");
        assert!(with(&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")]), "{words:?}");
    }
    // Where there is no terminal; the help is on standard output, and clap's.
    for words in [&["simm"][..], &["graph", "nowhere"], &["ps", "--help"]] {
        let shown = |force: &str| {
            let mut command = place.command(words);
            command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", force);
            let output = command.output().unwrap();
            [output.stdout, output.stderr].concat().contains(&0x1b)
        };
        assert!(shown("1") && !shown(""), "{words:?}");
    }
}

#[test]
fn a_terminal_without_a_cursor_is_told_what_top_can_do() {
    let place = Place::new();
    let app = place.app(STREAM);
    let _run = place.start(&[app.to_str().unwrap(), "--cores", "0"]);
    let mut command = place.command(&["top"]);
    let mut screen = Screen::open(command.env("TERM", "dumb"));
    screen.wait_for("use `--once`");
    assert_eq!(screen.finish().code(), Some(2));
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn what_is_told_to_do_is_an_imperative_in_every_crate() {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
    }
    let mut told = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for part in text.split(".help(").skip(1) {
            let part = part.trim_start();
            let part = part.strip_prefix("format!(").map_or(part, str::trim_start);
            let Some(help) = part.strip_prefix('"') else { continue };
            let word = help.split(|sign: char| !sign.is_ascii_alphabetic()).next().unwrap();
            let known = is_imperative(help) || ALSO.contains(&word);
            assert!(known, "{}: {}", file.display(), help.lines().next().unwrap());
            told += 1;
        }
    }
    assert!(told > 200, "{told}");
}
