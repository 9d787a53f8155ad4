// SPDX-License-Identifier: Apache-2.0
//! Boards as guests: their keys, what a plan says of them, and which tasks may be where.

use crate::common::{RADIO, build, errors, radio_with, shown, told};
use whimbrel_model::{
    App, Board, CoreName, Guests, Mode, Plan, PlanOptions, Problems, TableRow, hash, plan, tables,
};

const DESK: &str = r#"
[board]
name = "desk"
cores = 4
priorities = 8

[memory]
stack_least = "32KiB"
gvm = "4MiB"

[start]
device = "/dev/ttyUSB0"

[guest]
command = ["{board}/qemu", "-smp", "4", "-kernel={image}"]
version_least = "7.10"
"#;

/// The cores of a run: two of this machine, and cores 0 and 3 of the desk.
fn guests() -> Guests {
    Guests { boards: vec![Board::parse(DESK).unwrap()], of_core: vec![0, 0, 1, 1] }
}

fn app(text: &str) -> App {
    build(text, &[]).unwrap()
}

/// The plan of an application on these cores.
fn planned(app: &App) -> Plan {
    let guests = guests();
    let options = PlanOptions {
        guests: guests.planned(),
        guest_of: guests.of_core,
        ..PlanOptions::plain(vec![0, 1, 0, 3], "/radio.so")
    };
    plan(app, &options)
}

fn check(text: &str) -> Result<(), Problems> {
    guests().check(&app(text), &[], &[])
}

/// The radio with keys of `bpf`, of which the second starts on core 1.
fn bpf_with(keys: &str) -> String {
    radio_with("core = [0, 1]", &format!("core = [0, 1]\n{keys}"))
}

// ---- Their keys ---------------------------------------------------------------------------------

#[test]
fn a_board_is_a_guest_if_its_file_says_how_it_is_started_as_one() {
    let board = Board::parse(DESK).unwrap();
    let words = ["/b/qemu", "-smp", "4", "-kernel=/i"];
    assert_eq!(board.guest_command("/i", "/b"), words);
    assert_eq!(board.guest.unwrap().version_least, [7, 10]);

    let (without, _) = DESK.split_once("[guest]").unwrap();
    let board = Board::parse(without).unwrap();
    assert_eq!((board.guest_command("/i", "/b"), board.guest), (Vec::new(), None));
}

#[test]
fn a_guest_is_started_by_a_command_with_its_image() {
    for (from, to, expected) in [
        ("{image}", "image", "`command` of [guest] must be an array of texts"),
        ("command", "device", "[guest] has no `command`"),
        ("\"7.10\"", "\"v7\"", "`version_least` of [guest] must be a version, for example \"7.2\""),
    ] {
        let (head, guest) = DESK.split_once("[guest]").unwrap();
        let text = format!("{head}[guest]{}", guest.replacen(from, to, 1));
        let said = shown("board.toml", &text, Board::parse(&text).expect_err(to));
        assert!(said.contains(expected), "{said}");
    }
}

// ---- Cores of app.toml --------------------------------------------------------------------------

/// The radio on these cores.
fn on(cores: &str) -> String {
    radio_with("paths = ", &format!("cores = {cores}\npaths = "))
}

#[test]
fn an_application_lists_its_cores_as_numbers_and_as_the_option_does() {
    let desk = |core| CoreName::Guest { board: "desk:quick".into(), core };
    let cores = |text: &str| -> Vec<CoreName> {
        app(text).cores.iter().map(|core| core.get_ref().clone()).collect()
    };
    assert_eq!(cores(RADIO), []);
    let expected = [CoreName::Cpu(3), desk(0), desk(1), CoreName::Cpu(0), CoreName::Cpu(0)];
    assert_eq!(cores(&on(r#"[3, "desk:quick:0-1", "0,0"]"#)), expected);
}

#[test]
fn wrong_cores_of_an_application_are_told_at_their_place() {
    let array = "`cores` of [app] must be an array of processors and cores of boards";
    for (cores, place, expected) in [
        ("[0, \"desk\"]", "\"desk\"", "`cores` of [app]: `desk` is not a processor"),
        ("[0, \"desk:\"]", "\"desk:\"", "`cores` of [app]: invalid core of a board ``"),
        ("[0, \":1\"]", "\":1\"", "`cores` of [app]: `:1` names no board"),
        ("[0, \"2-1\"]", "\"2-1\"", "`cores` of [app]: 2-1 runs backwards"),
        ("[0, 65536]", "[0, 65536]", array),
        ("[-1]", "[-1]", array),
        ("[0.5]", "[0.5]", array),
        ("[]", "[]", array),
        ("2", "2", array),
        ("[\"0-4000\", \"0-99\"]", "\"0-99\"", "has more than 4095 cores"),
    ] {
        let text = on(cores);
        let problems = build(&text, &[]).expect_err(cores);
        assert_eq!(problems.len(), 1, "{cores}: {problems:?}");
        assert!(problems[0].message.contains(expected), "{cores}: {}", problems[0]);
        let label = &problems[0].labels[0];
        assert_eq!(&text[label.offset()..label.offset() + label.len()], place);
    }
    assert!(errors(&on("[0, \"desk\"]"), &[]).contains("cores of boards as \"BOARD:CORE\""));
}

// ---- What the plan says of them -----------------------------------------------------------------

#[test]
fn a_plan_says_of_each_core_whose_it_is() {
    let plan = planned(&app(RADIO));
    let cores: Vec<(u32, u32)> = plan.cores.iter().map(|core| (core.guest, core.cpu)).collect();
    assert_eq!(cores, [(0, 0), (0, 1), (1, 0), (1, 3)]);
    assert_eq!((plan.guests[0].name.as_str(), plan.guests[0].cores), ("desk", 4));

    let line = plan.line();
    assert!(line.contains(r#"{"cpu":3,"guest":1,"#), "{line}");
    assert!(line.contains(r#""guests":[{"name":"desk","command":[],"cores":4}]"#), "{line}");
    let alone = plan_without_guests();
    assert!(!alone.contains("guest") && !alone.contains("hash"), "{alone}");
}

fn plan_without_guests() -> String {
    plan(&app(RADIO), &PlanOptions::plain(vec![0, 1], "/radio.so")).line()
}

#[test]
fn a_plan_has_one_hash_wherever_its_images_and_its_folders_are() {
    let text = |line: &str| line.to_owned();
    let plan = planned(&app(RADIO));
    let here = hash(&plan, text);
    let mut there = plan.clone();
    there.guests[0].command = vec!["qemu".into(), "/run/1/image".into()];
    there.clients = Some("/run/1".into());
    there.hash = Some("5f0c".into());
    assert_eq!(hash(&there, text), here);
    there.cores[3].cpu = 2;
    assert_ne!(hash(&there, text), here);
}

#[test]
fn an_image_of_a_guest_has_all_tasks_and_only_the_functions_that_it_may_run() {
    let text = bpf_with("restart = true\nmode = \"reenter\"")
        .replace("name = \"sink\"", "name = \"sink\"\ncore = 2");
    let app = app(&text);
    let plan = planned(&app);
    let of_guest = tables(&guests().plan_of(1, &plan, &app, &[], &[]), "radio", "5f0c");
    let of_bpf = ".config.entry = whimbrel_entry_band_pass";
    for line in [of_bpf, ".config.entry = sink", "wb_task_entry sink;"] {
        assert!(of_guest.contains(line), "{of_guest}");
    }
    for line in [".config.name = \"lpf\"", ".entry = \"lpf\"", ".guest = 1"] {
        assert!(of_guest.contains(line), "{of_guest}");
    }
    for entry in ["lpf", "whimbrel_entry_lpf"] {
        assert!(!of_guest.contains(&format!(".config.entry = {entry}")), "{of_guest}");
        assert!(!of_guest.contains(&format!("wb_task_entry {entry}")), "{of_guest}");
    }
    assert!(tables(&plan, "radio", "5f0c").contains(".config.entry = lpf"));
}

#[test]
fn an_image_may_lack_the_functions_of_tasks_that_nothing_sends_there() {
    let text = bpf_with("restart = true\nmode = \"reenter\"");
    let app = app(&text);
    let bpf = app.find_task("bpf", 1).unwrap();
    let line = |plan: &Plan, moves: &[(usize, u32)]| {
        let of_guest = tables(&guests().plan_of(1, plan, &app, &[], moves), "radio", "5f0c");
        let mut lines = of_guest.lines().filter(|line| line.starts_with("wb_task_entry "));
        lines.find(|line| line.contains("band_pass")).unwrap().to_owned()
    };
    let mut plan = planned(&app);
    // By a second name, which a function of the C library has not.
    let perhaps = "wb_task_entry whimbrel_entry_band_pass __attribute__((weak));";
    assert_eq!(line(&plan, &[]), perhaps);
    assert_eq!(line(&plan, &[(bpf, 1)]), perhaps);
    assert_eq!(line(&plan, &[(bpf, 2)]), "wb_task_entry band_pass;");
    let mut cores = vec![0; app.tasks.len()];
    cores[bpf] = 3;
    plan.rows = vec![TableRow { rate_millihz: 0, points: Vec::new(), cores }];
    assert_eq!(line(&plan, &[]), "wb_task_entry band_pass;");
}

#[test]
fn a_guest_does_not_run_what_its_kind_of_core_is_not_for() {
    let keys = "restart = true\nmode = \"reenter\"\nkinds = [\"host\"]";
    let app = app(&bpf_with(keys));
    let bpf = app.tasks.iter().find(|task| task.name == "bpf").unwrap();
    let kinds = |guest: &str| ["host", "host", "a53", guest].map(str::to_owned);
    assert!(guests().runs(1, bpf, &kinds("host")));
    assert!(!guests().runs(1, bpf, &kinds("a53")));
}

#[test]
fn a_guest_runs_what_begins_again_after_a_death() {
    let runs = |keys: &str| {
        let app = app(&bpf_with(keys));
        let bpf = app.tasks.iter().find(|task| task.name == "bpf").unwrap();
        guests().runs(1, bpf, &[])
    };
    assert!(runs("restart = true"));
    for keys in ["", "restart = true\nmigratable = false", "restart = true\nmode = \"replicate\""] {
        assert!(!runs(keys), "{keys}");
    }
}

// ---- Which tasks may be where -------------------------------------------------------------------

#[test]
fn each_task_that_would_move_between_unlike_kernels_must_be_re_entered() {
    let shared = bpf_with("").replace("core = [0, 1]", "core = 0\ncores = [0, 2]");
    let said = shown("app.toml", &shared, check(&shared).unwrap_err());
    let said = said.replace(['\n', '│'], " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "`bpf` would move from this machine to the guest desk, and its mode is \
                    \"handoff\"";
    assert!(said.contains(expected), "{said}");
    assert!(said.contains("give it mode = \"reenter\""), "{said}");
    assert_eq!(said.matches(expected).count(), 1, "{said}");

    let alike = shared.replace("cores = [0, 2]", "cores = [0, 1]");
    check(&alike).unwrap();
}

#[test]
fn a_table_moves_only_tasks_that_are_re_entered_to_a_guest() {
    let row =
        |cores: [u32; 4]| TableRow { rate_millihz: 1, points: vec![0; 4], cores: cores.into() };
    let rows = [row([0, 0, 1, 0]), row([0, 2, 1, 0])];
    let text = bpf_with("restart = true");
    let told_of = |text: &str| guests().check(&app(text), &rows, &[]);
    assert!(told(&told_of(&text).unwrap_err()).starts_with("`bpf` would move from this machine"));
    told_of(&text.replace("restart = true", "restart = true\nmode = \"reenter\"")).unwrap();
    guests().check(&app(&text), &rows[..1], &[]).unwrap();
}

#[test]
fn a_move_from_a_guest_is_one_as_well() {
    let app = app(&bpf_with("").replace("core = [0, 1]", "core = 2"));
    let bpf = app.tasks.iter().find(|task| task.name == "bpf").unwrap();
    assert_eq!(guests().check_move(bpf, &[3, 2]), None);
    let problem = guests().check_move(bpf, &[3, 1]).unwrap();
    assert!(problem.message.contains("from the guest desk to this machine"), "{problem}");
}

#[test]
fn tasks_on_a_guest_fit_its_board() {
    let on_guest = |keys: &str| {
        let text = bpf_with(keys).replace("core = [0, 1]", "core = [0, 2]");
        check(&text).map_err(|problems| told(&problems))
    };
    on_guest("").unwrap();
    for (keys, expected) in [
        ("mode = \"replicate\"", "`bpf` starts on the guest desk, which does not have its mode"),
        ("restart = true\nmode = \"recreate\"", "which does not have its mode \"recreate\""),
    ] {
        assert!(on_guest(keys).unwrap_err().contains(expected), "{keys}");
    }
    let small = bpf_with("").replace("\"32KiB\"", "\"16KiB\"");
    check(&small).unwrap();
    let small = small.replace("core = [0, 1]", "core = [0, 2]");
    assert!(told(&check(&small).unwrap_err()).contains("the stack of `bpf` is too small"));
    let urgent = bpf_with("").replace("priority = 4", "priority = 8");
    check(&urgent).unwrap();
    let urgent = urgent.replace("core = [0, 1]", "core = [0, 2]");
    assert!(
        told(&check(&urgent).unwrap_err()).contains("`bpf` is more urgent than the board desk")
    );
}

#[test]
fn a_mode_by_re_entry_is_in_the_plan() {
    let app = app(&bpf_with("restart = true\nmode = \"reenter\""));
    let modes: Vec<Mode> = planned(&app).tasks.iter().map(|task| task.mode).collect();
    assert_eq!(modes, [Mode::Handoff, Mode::Reenter, Mode::Reenter, Mode::Handoff]);
}

#[test]
fn a_script_moves_a_task_to_a_guest_only_by_re_entry() {
    let of = |keys: &str, script: &str| {
        let task = format!("name = \"a\"\npriority = 4\n{keys}\nscript = [{script}]\n");
        format!("[app]\nname = \"s\"\n[[task]]\n{task}")
    };
    let moves = "{ migrate = 1 }, { run = 1 }, { migrate = 2 }";
    let said = told(&check(&of("", moves)).unwrap_err());
    assert!(said.contains("`a` would move from this machine to the guest desk"), "{said}");
    check(&of("mode = \"reenter\"\nrestart = true", moves)).unwrap();
    // It stays where it is, or moves to the first.
    check(&of("", "{ migrate = [1, 2] }")).unwrap();
}
