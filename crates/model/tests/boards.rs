// SPDX-License-Identifier: Apache-2.0
//! Boards, whether applications fit them, and their plans as C.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{RADIO, build, plan_of, radio_with, root, shown, told};
use insta::assert_snapshot;
use whimbrel_model::{
    AT_MOST, Board, BoardFiles, Mode, Plan, PolicyName, Start, TableRow, check_stacks, hash,
    linked, tables,
};

const BOARD: &str = r#"
[board]
name = "small"
cores = 2
modes = ["handoff", "replicate"]

[memory]
stack_least = "1KiB"
stacks = "256KiB"
guard = "4KiB"
gvm = "4MiB"
private = "64KiB"

[start]
device = "/dev/ttyUSB0"
"#;

fn with(from: &str, to: &str) -> String {
    assert!(BOARD.contains(from), "{from}");
    BOARD.replacen(from, to, 1)
}

fn errors(text: &str) -> String {
    shown("board.toml", text, Board::parse(text).expect_err("this must be refused"))
}

/// What the board says of an application that does not fit it.
fn misfit(app: &str) -> String {
    let board = Board::parse(BOARD).unwrap();
    let built = build(app, &[]).unwrap();
    let checked = board.check(&built).and_then(|()| board.check_memory(&built, &plan_of(app)));
    shown("app.toml", app, checked.expect_err("it must not fit"))
}

// ---- Boards -------------------------------------------------------------------------------------

#[test]
fn every_board_of_the_project_has_the_name_of_its_folder() {
    let mut read = 0;
    for folder in fs::read_dir(root().join("boards")).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("board.toml")) else { continue };
        let board = Board::parse(&text).unwrap();
        assert_eq!(folder.file_name().unwrap().to_str().unwrap(), board.name);
        read += 1;
    }
    assert!(read > 0);
}

#[test]
fn a_board_has_what_is_not_said() {
    let text = with("modes = [\"handoff\", \"replicate\"]", "");
    let board = Board::parse(&text.replace("stacks = \"256KiB\"\n", "")).unwrap();
    assert_eq!((board.modes, board.kind.as_str()), (vec![Mode::Handoff], "host"));
    assert_eq!((board.memory.stacks, board.silence_s, board.cmake), (None, 10, None));
    assert_eq!(board.watchdog_ms, 0);
    assert_eq!(board.start, Start::Device { path: "/dev/ttyUSB0".into(), baud: 115_200 });
    assert_eq!(board.files, BoardFiles::Host);
}

#[test]
fn files_of_a_board_are_on_the_host_or_linked_in() {
    let board = Board::parse(&with("cores = 2", "cores = 2\nfiles = \"linked\"")).unwrap();
    assert_eq!(board.files, BoardFiles::Linked);
    let wrong = errors(&with("cores = 2", "cores = 2\nfiles = \"disk\""));
    assert!(wrong.contains("\"host\" or \"linked\""), "{wrong}");
}

#[test]
fn files_that_are_linked_in_become_data_with_their_paths() {
    assert_eq!(linked(&[]), "");
    let c = linked(&[("/a \"b\"".into(), vec![0, 255, 7]), ("empty".into(), Vec::new())]);
    assert!(c.contains("file_0[3] = {\n    0, 255, 7,\n};"), "{c}");
    assert!(c.contains("file_1[1] = {\n    0,\n};"), "{c}");
    assert!(c.contains("{ \"/a \\\"b\\\"\", file_0, 3 },\n    { \"empty\", file_1, 0 },"), "{c}");
    assert!(c.ends_with("const size_t wb_board_n_files = 2;\n"), "{c}");
}

#[test]
fn a_command_is_told_the_image_and_the_folder() {
    let command = "command = [\"{board}/emulate\", \"-k={image}\"]";
    let board = Board::parse(&with("device = \"/dev/ttyUSB0\"", command)).unwrap();
    assert_eq!(board.command("/a b", "/c d"), ["/c d/emulate", "-k=/a b"]);
}

#[test]
fn wrong_keys_and_values_of_a_board_are_told_at_once() {
    let text = with("cores = 2", "cores = 0\nmodes_ = []").replace("\"4MiB\"", "\"4Mb\"");
    assert_snapshot!(errors(&text.replace("\"replicate\"", "\"copy\"")));
}

#[test]
fn a_board_has_at_most_32_cores() {
    assert_eq!(Board::parse(&with("cores = 2", "cores = 32")).unwrap().cores, 32);
    let wrong = errors(&with("cores = 2", "cores = 33"));
    assert!(wrong.contains("`cores` of [board] must be a whole number from 1 to 32"), "{wrong}");
}

#[test]
fn a_board_has_one_line() {
    let device = "device = \"/dev/ttyUSB0\"";
    for (to, expected) in [
        ("", "[start] says of no line to the board"),
        ("command = [\"a\", \"{image}\"]\ndevice = \"b\"", "[start] has two lines"),
        ("command = [\"{image}\"]", "`command` of [start] must be an array of texts: a program"),
        ("command = [\"a\", \"image\"]", "words of which one has {image} in it"),
        (
            "device = \"a\"\nbaud = 0",
            "must be a whole number of bits per second, from 1 to 4000000",
        ),
    ] {
        let said = errors(&with(device, to));
        assert!(said.contains(expected), "{to}: {said}");
    }
}

#[test]
fn a_variant_of_a_board_has_settings_and_room_of_its_own() {
    let variant = "[[variant]]\nname = \"hard\"\nsettings = [\"A=b\"]\ntasks = 2\n\n[memory]";
    let board = Board::parse(&with("[memory]", variant)).unwrap();
    assert_eq!((board.tasks, board.settings.len(), board.variant("soft")), (None, 0, None));
    let hard = board.variant("hard").unwrap();
    assert_eq!((hard.name.as_str(), hard.tasks), ("small:hard", Some(2)));
    assert_eq!(hard.settings, ["A=b"]);
}

#[test]
fn a_task_of_several_cores_fits_a_board_whose_cores_share_tasks() {
    let app = build(&radio_with("priority = 4", "priority = 4\ncores = [0, 1]"), &[]).unwrap();
    for (shares, fits) in [("", false), ("shares = true\n", true)] {
        let variant = format!("[[variant]]\nname = \"hard\"\nsettings = []\n{shares}\n[memory]");
        let board = Board::parse(&with("[memory]", &variant)).unwrap().variant("hard").unwrap();
        let said = board.check(&app).err().map(|problems| told(&problems));
        assert_eq!(said.is_none(), fits, "{said:?}");
        assert!(said.is_none_or(|said| said.contains("`bpf` has several cores")));
    }
}

#[test]
fn a_variant_without_settings_or_with_no_room_is_refused() {
    let variant = "[[variant]]\nname = \"hard\"\ntasks = 0\n\n[memory]";
    assert_snapshot!(errors(&with("[memory]", variant)));
}

// ---- What fits ----------------------------------------------------------------------------------

#[test]
fn the_first_task_that_a_board_has_no_room_for_is_told() {
    let variant = "[[variant]]\nname = \"hard\"\nsettings = []\ntasks = 2\n\n[memory]";
    let board = Board::parse(&with("[memory]", variant)).unwrap().variant("hard").unwrap();
    let problems = board.check(&build(RADIO, &[]).unwrap()).expect_err("it must not fit");
    assert_snapshot!(shown("app.toml", RADIO, problems));
}

#[test]
fn stacks_that_are_too_large_are_told_with_their_sum_by_task() {
    assert_snapshot!(misfit(&radio_with("stack = \"32KiB\"", "stack = \"96KiB\"")));
}

#[test]
fn memory_that_does_not_suffice_is_told_with_its_sum_by_task_and_channel() {
    let text = radio_with("slots = 7\nslot_bytes = 416", "slots = 4000\nslot_bytes = 416");
    assert_snapshot!(misfit(&text.replace("memory = \"128KiB\"", "memory = \"3MiB\"")));
}

#[test]
fn memory_of_the_application_that_does_not_suffice_is_shown_at_its_line() {
    let said = misfit(&RADIO.replace("memory = \"128KiB\"", "memory = \"9MiB\""));
    assert!(said.contains("memory = \"9MiB\"") && said.contains("memory of [app]"), "{said}");
    let shared = RADIO.replace("memory = \"128KiB\"", "shared = \"9MiB\"");
    assert!(misfit(&shared).contains("shared = \"9MiB\""), "{}", misfit(&shared));
}

#[test]
fn a_script_that_does_not_fit_a_board_is_told_with_its_size() {
    let task = "[app]\nname = \"long\"\n[[task]]\nname = \"a\"\nstack = \"16KiB\"\nscript = [";
    let said = misfit(&format!("{task}{}]\n", "{ run = 1 },\n".repeat(200_000)));
    assert!(said.contains("`long` needs") && said.contains("script of a 13."), "{said}");
}

#[test]
fn private_memory_that_does_not_suffice_is_told() {
    let text = RADIO
        .replace("stack = \"32KiB\"", "stack = \"16KiB\"\nheap = \"1MiB\"\nmode = \"replicate\"");
    let said = misfit(&text);
    assert!(said.contains("`radio` needs 2.0 MiB of private memory on each core"), "{said}");
    assert!(
        said.contains("the board small has 64 KiB") && said.contains("2 bpf 2.0 MiB"),
        "{said}"
    );
}

#[test]
fn what_fits_a_board_is_taken() {
    let board = Board::parse(BOARD).unwrap();
    let app = build(RADIO, &[]).unwrap();
    assert_eq!(board.check(&app), Ok(()));
    assert_eq!(board.check_memory(&app, &plan_of(RADIO)), Ok(()));
}

#[test]
fn what_is_kept_of_each_task_and_what_is_recorded_count() {
    let text = |tasks: u32| {
        format!(
            "[app]\nname = \"many\"\n[[task]]\nname = \"a\"\ncount = {tasks}\nheap = \"1KiB\"\n\
             stack = \"2KiB\"\ncycles = 1\n"
        )
    };
    let board = Board::parse(BOARD).unwrap();
    let fits = |tasks: u32, record: bool| {
        let text = text(tasks);
        let mut plan = plan_of(&text);
        plan.record = record.then(String::new);
        board.check_memory(&build(&text, &[]).unwrap(), &plan).map_err(|problems| told(&problems))
    };
    assert_eq!(fits(55, false), Ok(()));
    let said = fits(80, false).unwrap_err();
    assert!(said.contains("`many` needs 4."), "{said}");
    let said = fits(55, true).unwrap_err();
    assert!(said.contains("`many` needs 4."), "{said}");
}

#[test]
fn the_sizes_that_memory_is_counted_with_are_those_that_the_boards_compiler_asserts() {
    let text = fs::read_to_string(root().join("launcher/plan/sizes.c")).unwrap();
    let asserted: Vec<(String, u64)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("AT_MOST(")?.strip_suffix(");")?.split_once(", "))
        .map(|(name, bytes)| (name.to_owned(), bytes.parse().unwrap()))
        .collect();
    let counted: Vec<_> = AT_MOST.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    assert_eq!(asserted, counted);
}

#[test]
fn a_mode_that_the_board_does_not_have_is_refused() {
    let text = radio_with("stack = \"32KiB\"", "mode = \"recreate\"\nrestart = true");
    let said = misfit(&text);
    assert!(
        said.contains("`bpf` moves by recreate, which the board small does not have"),
        "{said}"
    );
    assert!(said.contains("handoff or replicate"), "{said}");
}

#[test]
fn a_priority_that_the_kernels_of_the_board_do_not_have_is_refused() {
    let board = Board::parse(&with("cores = 2", "cores = 2\npriorities = 8")).unwrap();
    let app = |task: &str| format!("[app]\nname = \"a\"\n[[task]]\nname = \"t\"\n{task}\n");
    let check = |text: &str| board.check(&build(text, &[]).unwrap());
    let fits = app("priority = 7\nscript = [{ priority = 0 }]");
    assert_eq!(check(&fits), Ok(()));
    let task = app("priority = 8\ncycles = 5");
    let said = shown("app.toml", &task, check(&task).unwrap_err());
    assert!(said.contains("`t` is more urgent than the board small knows"), "{said}");
    assert!(said.contains("a priority from 0 to 7"), "{said}");
    let event = app("priority = 1\nscript = [{ priority = 8 }]");
    let said = shown("app.toml", &event, check(&event).unwrap_err());
    assert!(said.contains("`t` (line 6, priority) is more urgent"), "{said}");
}

#[test]
fn a_stack_may_be_as_small_as_the_kernels_take_it() {
    let text = radio_with("stack = \"32KiB\"", "stack = \"2KiB\"");
    let app = build(&text, &[]).unwrap();
    assert_eq!(check_stacks(&app, 2 << 10), Ok(()));
    let said = shown("app.toml", &text, check_stacks(&app, 16 << 10).unwrap_err());
    assert_eq!(said.matches("too small").count(), 1, "{said}");
    assert!(said.contains("`bpf`") && said.contains("at least 16 KiB"), "{said}");
}

// ---- Plans as C ---------------------------------------------------------------------------------

/// A plan that has everything that a plan can have.
fn full() -> Plan {
    let work = "cycles = 70\ndistribution = \"normal\"\nspread = 0.1\n\
                working_set = \"2KiB\"\nheap = \"8KiB\"\nrestart = true\ncheckpoint_every = 3";
    let text =
        radio_with("stack = \"32KiB\"", work).replace("gains = [1, 0.5]", "gains = [1e-7, 0.1]");
    let mut plan = plan_of(&text.replace("data/in.cu8", "a \\\"b\\\" ?? \u{fc}"));
    plan.policy = Some(PolicyName { name: "mine".into(), settings: vec!["margin=10".into()] });
    plan.rows =
        vec![TableRow { rate_millihz: 1 << 40, points: vec![0, 0], cores: vec![0, 1, 0, 1] }];
    plan
}

fn as_c(plan: &Plan) -> String {
    tables(plan, "radio", "0123456789abcdef")
}

/// Looks whether C is free of mistakes and warnings.
fn compile(c: &str) {
    let mut compiler = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"])
        .args(["-fsyntax-only", "-x", "c", "-", "-I"])
        .arg(root().join("launcher/plan"))
        .arg("-I")
        .arg(root().join("middleware/include"))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    compiler.stdin.take().unwrap().write_all(c.as_bytes()).unwrap();
    let ended = compiler.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}\n{c}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn a_plan_becomes_tables_of_constants() {
    let c = as_c(&full());
    assert_snapshot!(c);
    compile(&c);
}

#[test]
fn a_plan_without_channels_parameters_or_a_policy_compiles_as_well() {
    let text = "[app]\nname = \"a\"\nmodule = \"a.so\"\n[[task]]\nname = \"alone\"\n";
    compile(&as_c(&plan_of(text)));
}

#[test]
fn the_name_of_a_plan_is_that_of_its_tables_and_not_of_a_run() {
    let name = |plan: &Plan| hash(plan, str::to_owned);
    let plan = full();
    let of_a_run = Plan {
        module: "/elsewhere.so".into(),
        record: Some("/tmp".into()),
        policy: None,
        params: Vec::new(),
        ..plan.clone()
    };
    assert_eq!(name(&plan), name(&of_a_run));
    let mut other = plan.clone();
    other.tasks[0].stack_bytes += 1;
    assert_ne!(name(&plan), name(&other));
}
