// SPDX-License-Identifier: Apache-2.0
//! Runs on this machine and on boards that are its guests: what is refused, what the helper is
//! told, and what is shown of them. The helper, the emulator and the build of an image are scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Place, STREAM, root, short_folder, text, write_script};
use serde_json::{Value, json};

/// A helper that keeps the plan with the image that it names, says these lines, and leaves.
const KEEPS: &str = r#"read -r line <&3
printf '%s' "$line" > plan
cp "$(dirname "$PWD")"/whimbrel/test-1/*.guest.elf image 2>/dev/null
cat lines >&3
exit 7"#;

/// An image is the tables of its plan.
const CMAKE: &str = r#"cmake_minimum_required(VERSION 3.16)
project(desk NONE)
if(NOT WHIMBREL_GUEST)
  message(FATAL_ERROR "it is no guest")
endif()
add_custom_target(image COMMAND ${CMAKE_COMMAND} -E copy ${WHIMBREL_APP_TABLES}
  ${CMAKE_BINARY_DIR}/${WHIMBREL_APP_NAME}.elf)
"#;

/// The worker moves to other kernels, and the others stay.
fn reentered() -> String {
    let once = STREAM.replace("restart = true\n", "");
    once.replace("name = \"worker\"", "name = \"worker\"\nmode = \"reenter\"\nrestart = true")
}

/// A folder with a helper, a board `desk`, and an emulator that says this of its version.
struct Desk {
    place: Place,
    /// `cores` of its applications, as TOML.
    cores: &'static str,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self::with("EMU version 7.2.15 (Debian 1:7.2)", "")
    }

    /// `keys`: more of its [board].
    fn with(version: &str, keys: &str) -> Self {
        let folder = short_folder();
        let helpers = folder.path().join("bin");
        fs::create_dir(&helpers).unwrap();
        write_script(&helpers.join("whimbrel-linux"), KEEPS);
        let board = folder.path().join("boards/desk");
        fs::create_dir_all(&board).unwrap();
        write_script(&board.join("emulator"), &format!("echo '{version}'"));
        fs::write(board.join("CMakeLists.txt"), CMAKE).unwrap();
        let toml = format!(
            "[board]\nname = \"desk\"\ncores = 4\ncmake = \".\"\n{keys}\n\
             [memory]\nstack_least = \"1KiB\"\ngvm = \"16MiB\"\n\
             [start]\ndevice = \"/dev/null\"\n\
             [guest]\ncommand = [\"{{board}}/emulator\", \"-smp\", \"4\", \"{{image}}\"]\n\
             version_least = \"7.2\"\n"
        );
        fs::write(board.join("board.toml"), toml).unwrap();
        let place = Place::with_helpers(helpers);
        fs::write(place.path("Makefile"), "sources:\n\t@echo -O2\n").unwrap();
        fs::write(place.path("lines"), "").unwrap();
        Self { place, cores: "", _folder: folder }
    }

    fn board(&self) -> std::path::PathBuf {
        self._folder.path().join("boards/desk")
    }

    /// The same with applications that have these `cores`.
    fn on(cores: &'static str) -> Self {
        Self { cores, ..Self::new() }
    }

    fn app(&self, tables: &str) -> PathBuf {
        let path = self.place.app(tables);
        if !self.cores.is_empty() {
            let text = fs::read_to_string(&path).unwrap();
            let cores = format!("[app]\ncores = {}\n", self.cores);
            fs::write(&path, text.replacen("[app]\n", &cores, 1)).unwrap();
        }
        path
    }

    fn output(&self, tables: &str, args: &[&str]) -> Output {
        let app = self.app(tables);
        self.place.output(&[&["run", app.to_str().unwrap(), "--quiet"], args].concat())
    }

    /// What `run` says of an application that is refused, in one line.
    fn error(&self, tables: &str, args: &[&str]) -> String {
        let output = self.output(tables, args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(!self.place.path("plan").exists(), "{said}");
        said.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What the helper is told of an application.
    fn plan(&self, tables: &str, args: &[&str]) -> Value {
        let said = text(&self.output(tables, args).stderr);
        assert!(said.contains("ended with status 7"), "{said}");
        let text = fs::read_to_string(self.place.path("plan")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["plan"].take()
    }
}

fn says(desk: &Desk, tables: &str, args: &[&str], all: &[&str]) {
    let said = desk.error(tables, args);
    for part in all {
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

// ---- What is refused ----------------------------------------------------------------------------

#[test]
fn each_core_of_a_board_that_cannot_be_had_is_an_error() {
    let desk = Desk::new();
    let cores = |list: &str, all: &[&str]| says(&desk, STREAM, &["--cores", list], all);
    cores("0,nowhere:0", &["no board is called `nowhere`", "name one of "]);
    cores("0,desk:4", &["--cores desk:4: the board desk has no core 4", "cores 0 to 3"]);
    cores("0,desk:1-2,desk:2", &["--cores desk:2: the core desk:2 is named twice"]);
    cores("desk:0,desk:1", &["all of these cores are of boards", "--board"]);
    cores("0,desk", &["`desk` is not a processor"]);
    let path = desk.board().join("board.toml");
    let same = format!("0,desk:0,{}:0", path.display());
    cores(&same, &["the core desk:0 is named twice"]);
    let many = ["0"; 32].join(",") + ",desk:0";
    cores(&many, &["33 cores", "at most 32"]);
}

#[test]
fn a_board_that_cannot_be_a_guest_is_refused() {
    let desk = Desk::new();
    let path = desk.board().join("board.toml");
    let toml = fs::read_to_string(&path).unwrap();
    fs::write(&path, toml.split_once("[guest]").unwrap().0).unwrap();
    let all = ["--cores desk:0: the board desk cannot be a guest", "no [guest]"];
    says(&desk, STREAM, &["--cores", "0,desk:0"], &all);
}

#[test]
fn only_a_run_on_this_machine_has_guests() {
    let desk = Desk::new();
    let board = ["--cores", "0,desk:0", "--board", "desk"];
    says(&desk, STREAM, &board, &["--cores cannot be used with --board"]);
    let app = desk.place.app(STREAM);
    let said = desk.place.error(&["sim", app.to_str().unwrap(), "--cores", "0,desk:0"]);
    assert!(said.contains("processors and boards are for `run`"), "{said}");
}

#[test]
fn a_core_of_a_guest_has_no_operating_points_no_coordinator_and_no_processor() {
    let desk = Desk::new();
    let run = |more: &[&str], all: &[&str]| {
        says(&desk, STREAM, &[&["--cores", "0,desk:3"], more].concat(), all);
    };
    run(
        &["--frequency", "cpufreq"],
        &["--frequency cpufreq: core 1 is desk:3, which has no operating points"],
    );
    run(&["--frequency", "emulate"], &["--frequency emulate: core 1 is desk:3"]);
    let core = "[[core]]\ncount = 2\n[[core.point]]\nmhz = 100\nactive_mw = 1\n";
    let platform = format!("[platform]\nname = \"two\"\n{core}");
    fs::write(desk.place.path("two.toml"), platform).unwrap();
    run(&["--platform", "./two.toml"], &["--platform two: core 1 is desk:3"]);
    run(&["--coordinator", "1"], &["--coordinator: core 1 is desk:3", "--coordinator 0"]);
    run(&["--exclusive"], &["--exclusive: core 1 is desk:3, whose emulator has no processor"]);
}

#[test]
fn a_task_moves_between_unlike_kernels_only_by_re_entry() {
    let desk = Desk::new();
    let cores = ["--cores", "0,0,desk:0"];
    let run = |tables: &str, more: &[&str], all: &[&str]| {
        says(&desk, tables, &[&cores[..], more].concat(), all);
    };
    let would = "`worker` would move from this machine to the guest desk, and its mode is";
    let help = "give it mode = \"reenter\"";
    run(STREAM, &["--move", "worker=2@1s"], &["--move: `worker` would move", help]);
    run(STREAM, &["--shuttle", "worker=1,2@1s"], &["--shuttle: `worker` would move", help]);
    run(STREAM, &["--map", "any"], &[" would move from this machine", help]);
    let row = "[[row]]\nframe_rate = 450\nmapping = { worker = 2 }\n";
    fs::write(desk.place.path("table.toml"), row).unwrap();
    run(STREAM, &["--table", "table.toml"], &[would, help]);
    run(
        &STREAM.replace("name = \"worker\"", "name = \"worker\"\ncore = 2"),
        &["--mode", "replicate"],
        &["`worker` starts on the guest desk, which does not have its mode \"replicate\""],
    );

    for more in [
        &["--move", "worker=1@1s"][..],
        &["--mode", "reenter", "--shuttle", "worker=1,2@1s"],
        &["--mode", "reenter", "--table", "table.toml"],
    ] {
        desk.plan(STREAM, &[&cores[..], more].concat());
        fs::remove_file(desk.place.path("plan")).unwrap();
    }
}

#[test]
fn an_emulator_that_is_missing_or_too_old_is_named() {
    let args = ["--cores", "0,desk:0"];
    let old = Desk::with("EMU version 7.1.2", "");
    says(
        &old,
        STREAM,
        &args,
        &["the guest desk needs", "emulator 7.2, and this one has version 7.1.2"],
    );
    let other = Desk::with("no emulator", "");
    says(&other, STREAM, &args, &["emulator --version` names none", "install 7.2 or later"]);
    let missing = Desk::new();
    fs::remove_file(missing.board().join("emulator")).unwrap();
    let all = ["the guest desk cannot be started", "install it with `make setup`"];
    says(&missing, STREAM, &args, &all);
}

#[test]
fn an_image_of_a_guest_that_cannot_be_built_is_an_error() {
    let desk = Desk::new();
    fs::write(desk.board().join("CMakeLists.txt"), "message(FATAL_ERROR \"no compiler\")").unwrap();
    let all = ["the image of `test` cannot be built", "no compiler"];
    says(&desk, STREAM, &["--cores", "0,desk:0"], &all);
    assert_eq!(fs::read_dir(desk.place.runs()).map_or(0, Iterator::count), 0);
}

#[test]
fn a_function_that_a_guest_needs_and_its_sources_lack_is_shown_at_its_entry() {
    let desk = Desk::new();
    let build = "message(FATAL_ERROR \"undefined reference to `worker'\")";
    fs::write(desk.board().join("CMakeLists.txt"), build).unwrap();
    let all = [
        "the application has no function `worker`",
        "that the Makefile names for boards, or change `entry`, or keep the task on this machine",
    ];
    says(&desk, STREAM, &["--cores", "0,desk:0"], &all);
}

// ---- What the helper is told --------------------------------------------------------------------

#[test]
fn the_helper_is_told_the_guests_whose_images_are_built() {
    let desk = Desk::new();
    let plan = desk.plan(&reentered(), &["--cores", "0,desk:1,desk:3"]);
    let cores: Vec<(&Value, &Value)> = plan["cores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|core| (&core["cpu"], &core["guest"]))
        .collect();
    let null = Value::Null;
    assert_eq!(cores, [(&json!(0), &null), (&json!(1), &json!(1)), (&json!(3), &json!(1))]);

    let guest = &plan["guests"][0];
    assert_eq!((&guest["name"], &guest["cores"]), (&json!("desk"), &json!(4)));
    let command: Vec<&str> =
        guest["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let emulator = desk.board().join("emulator");
    let image = desk.place.runs().join("test-1/1.guest.elf");
    assert_eq!(command, [emulator.to_str().unwrap(), "-smp", "4", image.to_str().unwrap()]);
    assert!(!image.exists(), "an image is left");
    assert!(desk._folder.path().join("build/boards/desk.guest/plan.c").is_file());
}

#[test]
fn the_image_of_a_guest_has_the_hash_of_the_plan_and_every_task() {
    let desk = Desk::new();
    let plan = desk.plan(&reentered(), &["--cores", "0,desk:1"]);
    let hash = plan["hash"].as_str().unwrap();
    assert_eq!(hash.len(), 16);
    let image = fs::read_to_string(built(&desk)).unwrap();
    assert!(image.contains(&format!("wb_board_plan_hash[] = \"{hash}\"")), "{image}");
    for task in ["source", "worker", "sink"] {
        assert!(image.contains(&format!(".config.name = \"{task}\"")), "{image}");
    }
    let entries = image.lines().filter(|line| line.contains(".config.entry = "));
    assert_eq!(entries.count(), 1, "{image}");
    assert!(image.contains(".config.entry = whimbrel_entry_worker"), "{image}");

    fs::remove_file(desk.place.path("plan")).unwrap();
    let again = desk.plan(&reentered(), &["--cores", "0,desk:1", "--set", "messages=3"]);
    assert_eq!(again["hash"], plan["hash"]);
    let other = desk.plan(&reentered(), &["--cores", "0,desk:2"]);
    assert_ne!(other["hash"], plan["hash"]);
}

fn built(desk: &Desk) -> std::path::PathBuf {
    desk._folder.path().join("build/boards/desk.guest/test.elf")
}

#[test]
fn a_board_is_a_guest_by_the_path_of_its_file_as_well() {
    let desk = Desk::new();
    let path = desk.board().join("board.toml");
    let list = format!("0,{}:0", path.display());
    assert_eq!(desk.plan(STREAM, &["--cores", &list])["guests"][0]["name"], "desk");
}

#[test]
fn cores_of_a_guest_are_of_the_kind_of_their_board_unless_the_command_says_another() {
    let desk = Desk::with("EMU version 10.0.0", "kind = \"a53\"");
    let kinds = |args: &[&str]| {
        let plan = desk.plan(STREAM, &[&["--cores", "0,desk:0,desk:1"], args].concat());
        let cores = plan["cores"].as_array().unwrap();
        cores.iter().map(|core| core["kind"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&[]), [0, 1, 1]);
    assert_eq!(kinds(&["--kinds", "host,big"]), [0, 1, 2]);
}

// ---- Cores of app.toml --------------------------------------------------------------------------

/// The processor of each core, and whose it is.
fn cores_of(plan: &Value) -> Vec<(u64, u64)> {
    let number = |core: &Value, key: &str| core[key].as_u64().unwrap_or_default();
    let cores = plan["cores"].as_array().unwrap().iter();
    cores.map(|core| (number(core, "cpu"), number(core, "guest"))).collect()
}

#[test]
fn cores_of_an_application_are_those_of_its_runs_unless_the_command_names_others() {
    let desk = Desk::on("[0, \"desk:1\", 0, \"desk:3\"]");
    assert_eq!(cores_of(&desk.plan(STREAM, &[])), [(0, 0), (1, 1), (0, 0), (3, 1)]);
    assert_eq!(cores_of(&desk.plan(STREAM, &["--cores", "0,0"])), [(0, 0), (0, 0)]);
}

#[test]
fn a_path_among_the_cores_of_an_application_is_relative_to_its_folder() {
    let desk = Desk::on("[0, \"here/board.toml:2\"]");
    std::os::unix::fs::symlink(desk.board(), desk.place.path("here")).unwrap();
    let app = desk.app(STREAM);
    let run = ["run", app.to_str().unwrap(), "--quiet"];
    let said = text(&desk.place.command(&run).current_dir("/").output().unwrap().stderr);
    let plan = fs::read_to_string(desk.place.path("plan")).unwrap_or_else(|_| panic!("{said}"));
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(cores_of(&plan["plan"]), [(0, 0), (2, 1)]);
}

#[test]
fn cores_of_an_application_that_cannot_be_had_are_told_with_their_line() {
    for (cores, place, expected) in [
        ("[0, 9999]", "this core", "`cores` of [app]: processor 9999 cannot be used"),
        ("[0, \"nowhere:0\"]", "this core", "no board is called `nowhere`"),
        ("[0, \"desk:4\"]", "this core", "`cores` of [app] desk:4: the board desk has no core 4"),
        ("[0, \"desk:1\", \"desk:1\"]", "this core", "the core desk:1 is named twice"),
        ("[0, \"desk\"]", "this core", "`desk` is not a processor"),
        ("[\"desk:0\"]", "from here on", "`cores` of [app]: all of these cores are of boards"),
    ] {
        let all = ["app.toml:2:", &format!("cores = {cores}"), place, expected];
        says(&Desk::on(cores), STREAM, &[], &all);
    }
    let beyond = STREAM.replace("name = \"worker\"", "name = \"worker\"\ncore = 1");
    let all = ["`worker` starts on core 1, which does not exist", "choose core 0, or list"];
    says(&Desk::on("[0]"), &beyond, &[], &all);
}

#[test]
fn cores_of_an_application_are_not_those_of_a_simulation_or_a_board() {
    let desk = Desk::on("[9999, \"nowhere:0\"]");
    let app = desk.app(STREAM);
    let app = app.to_str().unwrap();
    for words in [
        &["sim", app, "--platform", "mpsoc3"][..],
        &["run", app, "--board", "desk", "--image", "none"],
        &["graph", app],
    ] {
        let said = text(&desk.place.output(words).stderr);
        assert!(!said.contains("9999") && !said.contains("nowhere"), "{said}");
    }
}

// ---- What is shown of them ----------------------------------------------------------------------

/// What a helper says of a run on two cores, the second of them a guest's.
fn ended() -> String {
    let core = |core: u32| {
        json!({"core": core, "state": "up", "busy_ns": 500_000_000, "polling_ns": 0,
               "switches": 7, "sleeps": 3, "notes": 1, "hz": 0, "load_ppm": 0, "energy_uj": 0,
               "points": []})
    };
    let kernels = [
        json!({"core": 0, "cpu": 0, "pid": 0}),
        json!({"core": 1, "cpu": 3, "pid": 0, "guest": "desk"}),
    ];
    let started = json!({"started": {"pid": 1, "kernels": kernels, "gvm_bytes": 1, "start_ns": 0,
                                     "clock": "counter"}});
    let status = json!({"time_ns": 1_000_000_000, "live": 0, "cores": [core(0), core(1)],
                        "channels": [], "tasks": [], "policy": "", "coordinator": 0,
                        "rate_millihz": 0, "energy_source": "", "machine_energy_uj": 0});
    let end = json!({"end": {"status": status, "dropped_events": 0, "dropped_migrations": 0,
                             "ok": true}});
    format!("{started}\n{end}\n")
}

#[test]
fn a_result_names_the_cores_of_guests() {
    let desk = Desk::new();
    fs::write(desk.place.path("lines"), ended()).unwrap();
    let shown = desk.output(STREAM, &["--cores", "0,desk:3"]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let shown = text(&shown.stdout);
    let (_, table) = shown.split_once("core  ").unwrap();
    let line = |core: &str| table.lines().find(|line| line.starts_with(core)).unwrap().to_owned();
    assert!(line("0 ").contains(" 0  ") && !line("0 ").contains("desk"), "{shown}");
    assert!(line("1 ").contains(" desk:3  "), "{shown}");

    let summary = desk.output(STREAM, &["--cores", "0,desk:3", "--json"]);
    let summary: Value = serde_json::from_slice(&summary.stdout).unwrap();
    assert_eq!(summary["options"]["cpus"], json!([0, "desk:3"]));
    let of = |core: usize| (&summary["cores"][core]["cpu"], &summary["cores"][core]["guest"]);
    assert_eq!(of(0), (&json!(0), &Value::Null));
    assert_eq!(of(1), (&json!(3), &json!("desk")));
}

#[test]
fn a_guest_that_does_not_start_is_named() {
    let desk = Desk::new();
    let error = json!({"error": {"kind": "guest", "task": "", "index": 0, "core": 1,
                                 "key": "desk", "text": "it has not answered for 20 s"}});
    fs::write(desk.place.path("lines"), format!("{error}\n")).unwrap();
    let said = text(&desk.output(STREAM, &["--cores", "0,desk:3"]).stderr);
    let expected = "the guest desk failed to start: it has not answered for 20 s";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_board_of_the_project_that_can_be_a_guest_starts_several_processors() {
    for folder in fs::read_dir(root().join("boards")).unwrap() {
        let Ok(text) = fs::read_to_string(folder.unwrap().path().join("board.toml")) else {
            continue;
        };
        let Some((_, guest)) = text.split_once("[guest]") else { continue };
        let (_, smp) = guest.split_once("\"-smp\", \"").unwrap();
        let processors: u32 = smp.split('"').next().unwrap().parse().unwrap();
        assert!(processors > 1, "atomic operations of one processor are not atomic: {text}");
    }
    assert!(Path::new(&root().join("boards/virt_a64/board.toml")).is_file());
}
