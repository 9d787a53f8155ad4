// SPDX-License-Identifier: Apache-2.0
//! `whimbrel new`: what it makes, and that it makes nothing where it fails.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::{Place, root, text};

/// It starts nothing, but its root is that of the helpers.
fn place() -> Place {
    Place::with_helpers(root().join("bin"))
}

/// The names of a folder.
fn names(place: &Place, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_new_application_is_read_and_drawn_and_says_what_to_type_next() {
    for (language, tasks) in [("c", "tasks.c"), ("c++", "tasks.cc")] {
        let place = place();
        let output = place.output(&["new", "radio", "--lang", language]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[1], "  make -C radio");
        let run = "whimbrel run radio --shuttle filter=1,0@200ms";
        assert!(lines[2].starts_with("  /") && lines[2].contains(run), "{said}");
        assert_eq!(lines[3], "  make -C radio test");
        let all = [".clangd", ".gitignore", "Makefile", "README.md", "app.toml", tasks, "test.sh"];
        assert_eq!(names(&place, "radio"), all);
        assert_eq!(names(&place, ""), ["radio"]);
        // Its folder is named where a file of it is.
        let drawn = text(&place.output(&["graph", "radio"]).stdout);
        assert!(drawn.starts_with("digraph \"radio\" {"), "{drawn}");
        assert!(drawn == text(&place.output(&["graph", "radio/app.toml"]).stdout));
    }
}

#[test]
fn the_command_is_named_as_the_shell_finds_it() {
    let place = place();
    let command = Path::new(env!("CARGO_BIN_EXE_whimbrel")).canonicalize().unwrap();
    let command = command.to_str().unwrap();
    fs::create_dir_all(place.path("bin")).unwrap();
    symlink(command, place.path("bin/whimbrel")).unwrap();
    symlink("/bin/true", place.path("whimbrel")).unwrap();
    for (folder, wanted) in [("bin", "whimbrel"), ("", command)] {
        let name = format!("radio{}", wanted.len());
        let output = place.command(&["new", &name]).env("PATH", place.path(folder)).output();
        assert!(output.unwrap().status.success());
        let makefile = fs::read_to_string(place.path(&name).join("Makefile")).unwrap();
        assert!(makefile.contains(&format!("\nWHIMBREL ?= {wanted}\n")), "{makefile}");
    }
}

#[test]
fn a_name_that_is_none_is_refused_and_nothing_is_made() {
    let place = place();
    let long = "x".repeat(300);
    let signs =
        [OsStr::from_bytes(b"radio\xff"), OsStr::new("ra\x1b[31mdio"), OsStr::new("ra\ndio")];
    let words = ["", ".", "..", "my radio", "-x", "2radio", "int", "fn", "rädio", "/", &long];
    for bad in words.map(OsStr::new).into_iter().chain(signs) {
        let output = place.command(&["new", "--"]).arg(bad).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{bad:?}: {said}");
        assert!(said.starts_with("  × invalid name `"), "{bad:?}: {said}");
        assert!(said.contains("\n  help: write "), "{bad:?}: {said}");
        assert!(!said.contains('\x1b'), "{said}");
    }
    assert!(names(&place, "").is_empty());
}

#[test]
fn what_is_there_already_stays_as_it_is() {
    let place = place();
    fs::create_dir_all(place.path("full/inner")).unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    fs::write(place.path("file"), "text").unwrap();
    symlink("nowhere", place.path("link")).unwrap();
    for name in ["full", "empty", "file", "link", "empty/"] {
        let said = place.error(&["new", name]);
        assert!(said.starts_with(&format!("  × {name} exists already\n  help: write")), "{said}");
    }
    assert_eq!(names(&place, "full"), ["inner"]);
    assert!(names(&place, "empty").is_empty());
    assert_eq!(fs::read_to_string(place.path("file")).unwrap(), "text");
    assert_eq!(fs::read_link(place.path("link")).unwrap().to_str(), Some("nowhere"));
}

#[test]
fn a_folder_that_cannot_be_made_or_filled_leaves_nothing() {
    let place = place();
    let said = place.error(&["new", "a/b/radio"]);
    assert_eq!(said, "  × the folder a/b does not exist\n  help: make it first: mkdir -p a/b\n");
    let said = place.error(&["new", "/proc/radio"]);
    assert!(said.starts_with("  × the folder /proc/radio cannot be made: "), "{said}");
    assert!(said.contains("\n  help: name a place that you may write to"), "{said}");

    // The first file fits, a later one does not, as on a disk that becomes full.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" new radio";
    let ours = place.command(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", limited]).arg(ours.get_program()).current_dir(place.path(""));
    command.envs(ours.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("  × the files of radio cannot be written: "), "{said}");
    assert!(names(&place, "").is_empty());
}

#[test]
fn a_compiler_that_is_missing_is_a_warning_with_its_package() {
    let place = place();
    fs::create_dir(place.path("tools")).unwrap();
    let made = |name: &str, options: &[&str], missing: &str, package: &str| {
        let words = [&["new", name], options].concat();
        let output = place.command(&words).env("PATH", place.path("tools")).output().unwrap();
        assert!(output.status.success());
        let said = text(&output.stderr);
        assert_eq!(said.contains("the application cannot be built"), !missing.is_empty(), "{said}");
        assert!(said.contains(missing) && said.contains(package), "{said}");
        assert!(place.path(name).join("Makefile").is_file());
    };
    made("a", &[], "not found: make, cc\n", "apt install gcc make");
    fs::write(place.path("tools/make"), "").unwrap();
    made("b", &["--lang", "c++"], "not found: g++\n", "apt install g++ make");
    fs::write(place.path("tools/cc"), "").unwrap();
    made("c", &[], "", "");
}

#[test]
fn the_readme_names_the_board_and_an_unknown_one_is_answered_with_all() {
    let place = place();
    for (name, options, board) in [
        ("a", &[][..], "vexpress_a9"),
        ("b", &["--board", "virt_a64"], "virt_a64"),
        ("c", &["--board", "rv32_soc:hardware"], "rv32_soc:hardware"),
    ] {
        assert!(place.output(&[&["new", name], options].concat()).status.success());
        let readme = fs::read_to_string(place.path(name).join("README.md")).unwrap();
        assert!(readme.contains(&format!(" run . --board {board} --shuttle")), "{readme}");
    }
    let said = place.error(&["new", "d", "--board", "desk"]);
    let names = "realview_pbx_a9, rv32_soc, sabrelite, vexpress_a9, virt_a64, zynq_7000";
    assert!(said.contains(&format!("name one of {names}, or the path")), "{said}");
    let said = place.error(&["new", "d", "--board", "virt_a64", "--lang", "c++"]);
    assert!(said.ends_with("help: leave out --board, or use --lang c\n"), "{said}");
    assert!(!place.path("d").exists());
}

#[test]
fn a_place_of_whimbrel_that_make_cannot_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let helpers = folder.path().join("with spaces/bin");
    fs::create_dir_all(&helpers).unwrap();
    let place = Place::with_helpers(helpers);
    let said = place.error(&["new", "radio"]);
    assert!(
        said.contains("a Makefile cannot contain the path") && said.contains("help: "),
        "{said}"
    );
    assert!(!place.path("radio").exists());
}

#[test]
fn the_rules_that_a_makefile_includes_are_where_they_are_said_to_be() {
    let output = place().output(&["new", "--module-mk"]);
    let rules = root().join("apps/module.mk");
    assert_eq!(text(&output.stdout), format!("{}\n", rules.display()));
    let said = place().error(&["new", "--module-mk", "radio"]);
    assert!(said.contains("cannot be used with"), "{said}");
}
