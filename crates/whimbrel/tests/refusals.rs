// SPDX-License-Identifier: Apache-2.0
//! Bad input: one clear error that says what to do, exit status 2, and nothing left behind.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::common::{Place, STREAM, root, text};
use insta::assert_snapshot;

/// What `run` says of an application with these tables.
fn run(place: &Place, tables: &str, args: &[&str]) -> String {
    let app = place.app(tables);
    let args = [&["run", app.to_str().unwrap(), "--quiet", "--duration", "5s"], args].concat();
    let said = place.error(&args);
    let runs = fs::read_dir(place.runs()).map_or(0, Iterator::count);
    assert_eq!(runs, 0, "a run directory is left");
    // Which line of a function fails, and who calls it, is up to the compiler.
    let shown = |line: &str| match line.split_once(", in `") {
        Some((what, _)) => format!("{what}, in …\n"),
        None => line.trim_end().to_owned() + "\n",
    };
    said.lines().map(shown).collect()
}

fn radio(place: &Place, args: &[&str]) -> String {
    let app = root().join("apps/fm_radio/app.toml");
    let out = place.path("out.wav");
    let out = format!("output={}", out.display());
    let head = ["run", app.to_str().unwrap(), "--quiet", "--set", &out];
    place.error(&[&head, args].concat())
}

#[test]
fn an_unknown_key_is_shown_with_its_line() {
    let place = Place::new();
    assert_snapshot!(run(&place, &STREAM.replace("restart", "restrat"), &[]));
}

#[test]
fn an_application_that_does_not_exist_is_named() {
    assert_snapshot!(Place::new().error(&["run", "nowhere/app.toml"]));
}

#[test]
fn an_iq_file_that_is_missing_is_shown_at_its_parameter() {
    let said = radio(&Place::new(), &["--set", "input=missing.cu8"]);
    assert!(said.contains("missing.cu8"), "{said}");
    assert!(said.contains("this parameter"), "{said}");
    assert!(said.contains("--set input="), "{said}");
}

#[test]
fn a_file_that_is_no_iq_recording_is_an_error() {
    let place = Place::new();
    fs::write(place.path("music.mp3"), [0; 9600]).unwrap();
    let said = radio(&place, &["--set", "input=music.mp3"]);
    assert!(said.contains("music.mp3") && said.contains("set format to cu8"), "{said}");
}

#[test]
fn a_loop_that_cannot_start_is_refused() {
    let back = "[[channel]]\nfrom = \"sink.out\"\nto = \"source.in\"\nslot_bytes = 8\n";
    assert_snapshot!(run(&Place::new(), &(STREAM.to_owned() + back), &[]));
}

#[test]
fn a_core_that_does_not_exist_is_refused() {
    let place = Place::new();
    let tables = STREAM.replace("name = \"sink\"", "name = \"sink\"\ncore = 1");
    assert_snapshot!(run(&place, &tables, &["--cores", "0"]));
}

#[test]
fn a_processor_that_does_not_exist_is_refused() {
    let said = run(&Place::new(), STREAM, &["--cores", "60000"]);
    assert!(said.contains("processor 60000 cannot be used"), "{said}");
    assert!(said.contains("this process may use: 0"), "{said}");
}

#[test]
fn a_function_that_the_module_does_not_have_is_shown_at_its_entry() {
    let tables = STREAM.replace("name = \"worker\"", "name = \"worker\"\nentry = \"wroker\"");
    assert_snapshot!(run(&Place::new(), &tables, &[]));
}

#[test]
fn a_module_that_does_not_exist_is_shown_with_where_it_was_looked_for() {
    let place = Place::new();
    let app = place.app(STREAM);
    let text = fs::read_to_string(&app).unwrap().replace("tasks.so", "taks.so");
    fs::write(&app, text).unwrap();
    let said = place.error(&["run", app.to_str().unwrap()]);
    assert!(said.contains("does not exist") && said.contains("make build"), "{said}");
}

#[test]
fn a_module_that_is_no_module_is_refused() {
    let place = Place::new();
    let app = place.app(STREAM);
    let text = fs::read_to_string(&app).unwrap();
    let module = root().join("build/test-apps/tasks.so");
    fs::write(&app, text.replace(module.to_str().unwrap(), "app.toml")).unwrap();
    let said = place.error(&["run", app.to_str().unwrap()]);
    assert!(said.contains("the module cannot be loaded"), "{said}");
}

#[test]
fn a_task_too_big_for_its_stack_is_named_with_its_stack() {
    let tables = "[[task]]\nname = \"deep\"\nstack = \"16KiB\"\n";
    assert_snapshot!(run(&Place::new(), tables, &["--cores", "0"]));
}

#[test]
fn a_task_that_touches_foreign_memory_is_named() {
    let said = run(&Place::new(), "[[task]]\nname = \"wild\"\n", &["--cores", "0"]);
    assert!(said.contains("`wild` failed on core 0"), "{said}");
    assert!(said.contains("this task"), "{said}");
}

/// A source of messages of 8 bytes and a sink of them, with other functions.
fn pair(source: &str, sink: &str, slot_bytes: u32) -> String {
    format!(
        "[[task]]\nname = \"source\"\nentry = \"{source}\"\n\
         [[task]]\nname = \"sink\"\nentry = \"{sink}\"\n\
         [[channel]]\nfrom = \"source.out\"\nto = \"sink.in\"\nslot_bytes = {slot_bytes}\n"
    )
}

#[test]
fn slots_of_another_size_than_the_messages_are_told_with_both_sizes_and_the_key() {
    assert_snapshot!(run(&Place::new(), &pair("large_source", "sink", 8), &["--cores", "0"]));
}

#[test]
fn the_end_that_is_wrong_is_the_one_that_is_told() {
    let place = Place::new();
    let cases = [
        ("source", "large_sink", 8, "`sink` cannot use a port: it receives messages of 256 bytes"),
        ("large_source", "sink", 512, "`source` cannot use a port: it sends messages of 256 bytes"),
        ("room_source", "stubborn", 8, "it sends messages of up to 256 bytes by its port `out`"),
    ];
    for (source, sink, slot_bytes, expected) in cases {
        // The wrong one runs first, the other has no time to complain.
        let tables = pair(source, sink, slot_bytes).replace(
            if source == "source" { "name = \"sink\"" } else { "name = \"source\"" },
            if source == "source" {
                "name = \"sink\"\npriority = 9"
            } else {
                "name = \"source\"\npriority = 9"
            },
        );
        let said = run(&place, &tables, &["--cores", "0"]);
        let words: Vec<&str> = said.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(expected), "{said}");
    }
}

#[test]
fn slots_that_are_larger_do_for_messages_in_place() {
    let place = Place::new();
    let tables = pair("room_source", "large_sink", 256);
    let app = place.app(&tables);
    let args = ["run", app.to_str().unwrap(), "--quiet", "--cores", "0", "--duration", "5s"];
    let output = place.output(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_port_that_the_application_does_not_have_is_told_with_those_that_it_has() {
    assert_snapshot!(run(&Place::new(), &pair("misnamed", "sink", 8), &["--cores", "0"]));
}

#[test]
fn a_port_error_of_a_simulation_is_the_same() {
    let place = Place::new();
    let app = place.app(&pair("misnamed", "sink", 8));
    let said = place.error(&["sim", app.to_str().unwrap(), "--quiet", "--platform", "mpsoc3"]);
    assert!(said.contains("it has no port `outt[2]`; its ports are `out`"), "{said}");
    assert!(said.contains("this task") && said.contains("help:"), "{said}");
}

#[test]
fn a_task_of_the_name_of_a_function_of_the_c_library_is_not_that_function() {
    for name in ["sync", "select"] {
        for verb in [&["run"][..], &["sim", "--platform", "mpsoc3"]] {
            let place = Place::new();
            let app = place.app(&format!("[[task]]\nname = \"{name}\"\ncycles = 1000\n"));
            let said = place.error(&[verb, &[app.to_str().unwrap(), "--quiet"]].concat());
            assert!(said.contains(&format!("the module has no function `{name}`")), "{said}");
        }
    }
}

#[test]
fn a_heap_that_is_full_is_told_with_its_size_and_the_key() {
    let tables = "[[task]]\nname = \"greedy\"\nheap = \"64KiB\"\n";
    assert_snapshot!(run(&Place::new(), tables, &["--cores", "0"]));
}

#[test]
fn a_heap_that_is_full_is_told_of_cpp_and_in_simulations() {
    let cpp = root().join("build/test-apps/cpp.so");
    let tasks = root().join("build/test-apps/tasks.so");
    let cases = [
        ("run", "greedy", &cpp, "operator new: its heap of 65536 bytes has no room for"),
        ("sim", "greedy", &cpp, "operator new: its heap of 65536 bytes has no room for"),
        ("run", "wordy", &cpp, "it gave up, after its heap of 65536 bytes had no room for"),
        ("sim", "greedy", &tasks, "after its heap of 65536 bytes had no room for 1048576 more"),
    ];
    for (verb, entry, module, expected) in cases {
        let place = Place::new();
        let tables = "[[task]]\nname = \"NAME\"\nheap = \"64KiB\"\ncycles = 1000\n";
        let app = place.app(&tables.replace("NAME", entry));
        let text = fs::read_to_string(&app).unwrap();
        fs::write(&app, text.replace(tasks.to_str().unwrap(), module.to_str().unwrap())).unwrap();
        let said = place.error(&[verb, app.to_str().unwrap(), "--quiet"]);
        let words: Vec<&str> = said.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(expected), "{said}");
        assert!(said.contains(&format!("raise `heap` of `{entry}`")), "{said}");
    }
}

#[test]
fn a_cpp_task_with_slots_of_another_size_is_told() {
    let place = Place::new();
    let tasks = root().join("build/test-apps/tasks.so");
    let cpp = root().join("build/test-apps/cpp.so");
    let app = place.app(&pair("sampler", "greedy", 8));
    let text = fs::read_to_string(&app).unwrap();
    fs::write(&app, text.replace(tasks.to_str().unwrap(), cpp.to_str().unwrap())).unwrap();
    let said = place.error(&["run", app.to_str().unwrap(), "--quiet", "--cores", "0"]);
    assert!(said.contains("set `slot_bytes = 32`"), "{said}");
}

#[test]
fn a_task_that_gives_up_says_why() {
    assert_snapshot!(run(&Place::new(), "[[task]]\nname = \"unhappy\"\n", &["--cores", "0"]));
}

#[test]
fn an_application_that_refuses_to_start_is_shown_at_the_parameter_it_names() {
    assert_snapshot!(run(&Place::new(), STREAM, &["--set", "refuse=set"]));
}

#[test]
fn tasks_that_all_wait_for_each_other_end_the_run() {
    let tables = "[[task]]\nname = \"a\"\nentry = \"mutual\"\n\
                  [[task]]\nname = \"b\"\nentry = \"mutual\"\n\
                  [[mailbox]]\nfrom = [\"a.out\"]\nto = \"b.in\"\nslot_bytes = 8\n\
                  [[mailbox]]\nfrom = [\"b.out\"]\nto = \"a.in\"\nslot_bytes = 8\n";
    let said = run(&Place::new(), tables, &[]);
    assert!(said.contains("every task waits for another"), "{said}");
}

#[test]
fn tasks_that_wait_for_a_mutex_and_a_semaphore_for_ever_end_the_run_and_are_named() {
    let tables = "[[task]]\nname = \"keeper\"\n[[task]]\nname = \"caller\"\ncore = 1\n";
    let said = run(&Place::new(), tables, &["--cores", "0,0"]);
    assert!(said.contains("keeper for a semaphore"), "{said}");
    assert!(said.contains("caller for a mutex of keeper"), "{said}");
}

#[test]
fn moves_of_tasks_or_to_cores_that_do_not_exist_are_refused() {
    let place = Place::new();
    let pinned = STREAM.replace("name = \"sink\"", "name = \"sink\"\nmigratable = false");
    let cases = [
        ("--move", "wroker=0@1s", "write `worker`"),
        ("--move", "bird=0@1s", "name one of its tasks: source, worker, sink"),
        ("--move", "worker=7@1s", "name one of cores 0 to 0"),
        ("--shuttle", "sink=0,0@1s", "migratable = false"),
    ];
    for (option, value, expected) in cases {
        let said = run(&place, &pinned, &["--cores", "0", option, value]);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_frame_rate_without_a_task_to_release_is_refused() {
    let said = run(&Place::new(), &STREAM.replace("periodic = true", ""), &["--frame-rate", "9"]);
    assert!(said.contains("--frame-rate has no effect"), "{said}");
}

#[test]
fn a_folder_with_files_is_not_recorded_into() {
    let place = Place::new();
    fs::create_dir(place.path("rec")).unwrap();
    fs::write(place.path("rec/mine"), "").unwrap();
    assert_snapshot!(run(&place, STREAM, &["--record", "rec"]));
}

#[test]
fn a_start_that_is_refused_leaves_no_recorded_run() {
    let place = Place::new();
    let said = run(&place, STREAM, &["--record", "rec", "--policy", "nope"]);
    assert!(said.contains("nope"), "{said}");
    assert!(!place.path("rec").exists(), "the folder is left");
    let synthetic = root().join("apps/synthetic/app.toml");
    fs::create_dir(place.path("mine")).unwrap();
    for folder in ["rec", "mine"] {
        let head = ["sim", synthetic.to_str().unwrap(), "--quiet", "--record", folder];
        for refused in [["--policy", "nope"], ["--resume", "nope"]] {
            assert!(place.error(&[&head[..], &refused].concat()).contains("nope"));
        }
    }
    assert!(!place.path("rec").exists(), "the folder is left");
    assert_eq!(fs::read_dir(place.path("mine")).unwrap().count(), 0, "files are left");
}

#[test]
fn a_folder_whose_path_is_not_utf8_is_refused_and_not_made() {
    let place = Place::new();
    let app = place.app(STREAM);
    let name = OsStr::from_bytes(b"rec\xff");
    let mut command = place.command(&["run", app.to_str().unwrap(), "--record"]);
    let output = command.arg(name).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("--record") && said.contains("is not UTF-8"), "{said}");
    assert!(!place.path("").join(name).exists(), "the folder is left");
}

#[test]
fn a_run_directory_that_others_may_use_is_not_trusted() {
    let place = Place::new();
    fs::create_dir(place.runs()).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(place.runs(), open).unwrap();
    for args in [&["ps"][..], &["clean"], &["migrate", "test-1", "a", "0"]] {
        let said = place.error(args);
        assert!(said.contains("cannot be trusted: others may use it"), "{said}");
    }
}
