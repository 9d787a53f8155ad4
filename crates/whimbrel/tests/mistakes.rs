// SPDX-License-Identifier: Apache-2.0
//! What newcomers get wrong, each with the message that they meet: a cause, and a cure.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Place, STREAM, root, text};

/// A command line, what it is told first, and what it is told to do.
type Mistake = (&'static str, &'static str, &'static str);

/// Names: the nearest right one is the cure.
const NAMES: &[Mistake] = &[
    ("rnu a.toml", "`whimbrel` has no verb `rnu`", "write `run`"),
    ("simulate a.toml", "`whimbrel` has no verb `simulate`", "write `sim`"),
    ("lst runs", "`whimbrel` has no verb `lst`", "write `list`"),
    ("run a.toml --record-to x", "`whimbrel run` has no option `--record-to`", "write `--record`"),
    ("run a.toml --core 0,0", "`whimbrel run` has no option `--core`", "write `--cores`"),
    ("run a.toml --JSON", "`whimbrel run` has no option `--JSON`", "write `--json`"),
    ("sim a.toml --mod replicate", "`whimbrel sim` has no option `--mod`", "write `--mode`"),
    ("sim a.toml --mode handof", "invalid value `handof` for --mode", "write `handoff`"),
    ("sim a.toml --platform mpsoc", "no platform is called `mpsoc`", "write `mpsoc3`"),
    ("sim a.toml --platform SMP2", "no platform is called `SMP2`", "write `smp2`"),
    ("sim a.toml --platform none.toml", "none.toml cannot be read", "write `nine.toml`"),
    ("sim a.toml --policy balanced", "--policy balanced: there is no policy", "write `balance`"),
    ("sim a.toml --policy balance:setle_ms=1", "no parameter `setle_ms`", "write `settle_ms`"),
    ("run a.toml --board vexpress", "no board is called `vexpress`", "write `vexpress_a9`"),
    ("run a.toml --board rv32_soc:hard", "has no variant `hard`", "write `hardware`"),
    ("run a.toml --shuttle wroker=1,0@1s", "has no task `wroker`", "write `worker`"),
    ("run a.toml --move wroker=1@1s", "has no task `wroker`", "write `worker`"),
    ("run a.toml --map sorce=1", "has no task `sorce`", "write `source`"),
    ("run a.toml --set step=2", "has no parameter `step`", "write `step_ms`"),
    ("run a.toml --frequency emulated", "invalid value `emulated`", "write `emulate`"),
    ("sim a.toml --compute modell", "invalid value `modell` for --compute", "write `model`"),
    ("explore cycles.toml --policies balanse", "there is no policy `balanse`", "write `balance`"),
    ("explore a.toml --objectives energie", "invalid value `energie`", "write `energy`"),
    ("explore cycles.toml --pin wroker=0", "there is no task `wroker`", "write `worker`"),
    ("trace . --format perfeto", "invalid value `perfeto` for --format", "write `perfetto`"),
    ("schema application", "invalid value `application` for <FILE>", "write `app`"),
    ("bench migrations", "invalid value `migrations` for", "write `migration`"),
    ("list platform", "invalid value `platform` for <WHAT>", "write `platforms`"),
    ("run ap", "ap cannot be read", "write `app`"),
    ("run aps/one/app.toml", "aps/one/app.toml cannot be read", "write `apps/one/app.toml`"),
    ("run a.tml", "a.tml cannot be read", "write `a.toml`"),
    ("check a.toml --policy balanc", "there is no policy of this name", "write `balance`"),
    ("migrate test-2 worker 1", "no run is called `test-2`", "write `test-1`"),
    ("migrate test-1 wroker 1", "the run `test-1` has no task `wroker`", "write `worker`"),
    ("migrate test-1 worker 9", "the run `test-1` has no core 9", "name one of cores 0 to 1"),
    ("policy test-1 spred", "policy spred was refused", "write `spread`"),
    ("channel test-1 source_wroker batch=none", "no channel is called", "write `source_worker`"),
    ("top tset-1 --once", "no run is called `tset-1`", "write `test-1`"),
];

/// Keys and values of files; the files are below.
const KEYS: &[Mistake] = &[
    ("check cpu.toml", "[[task]] has no key `cpu`", "write `core`"),
    ("check prio.toml", "[[task]] has no key `prio`", "write `priority`"),
    ("check period.toml", "[[task]] has no key `period_ms`", "write `period_us`"),
    ("check restrat.toml", "[[task]] has no key `restrat`", "write `restart`"),
    ("check mode.toml", "`mode` of [[task]] must be", "write \"replicate\""),
    ("check priority.toml", "`priority` of [[task]] must be", "write a whole number from 0 to 31"),
    ("check port.toml", "no task is called `wroker`", "write `worker.in`"),
    ("check slots.toml", "[[channel]] has no key `capacity`", "write `slots`"),
    ("check size.toml", "[[channel]] has no `slot_bytes`", "add `slot_bytes`"),
    ("check table.toml", "the file has no key `tasks`", "write `task`"),
    ("check quote.toml", "this is not TOML", "correct the text there"),
    ("check core.toml", "core 7", "--cores"),
    ("sim a.toml --platform cores.toml", "[[core]] has no key `conut`", "write `count`"),
];

/// What an argument is instead of what it should be.
const ARGUMENTS: &[Mistake] = &[
    ("run", "`whimbrel run` needs <APP.toml>", "write whimbrel run"),
    ("run x.so", "x.so is a compiled program or module, not an app.toml", "name the path"),
    ("run apps/one/tasks.c", "apps/one/tasks.c is source code", "write `apps/one/app.toml`"),
    ("sim x.py", "x.py is a Python program, not an app.toml", "name the path"),
    ("check tasks.c", "tasks.c is source code, not an app.toml", "name the path"),
    ("graph bytes", "bytes is a binary file, not an app.toml", "name the path"),
    ("run empty.toml", "empty.toml is empty, not an app.toml", "name the path"),
    ("run nowhere.toml", "nowhere.toml cannot be read", "name the path of an app.toml"),
    ("run apps", "the folder apps has no app.toml", "name an application in it: one, two"),
    ("run hollow", "the folder hollow has no app.toml", "make one with `whimbrel new`"),
    ("run a.toml a.toml", "a.toml is an application by itself", "name it alone"),
    ("run a.toml --cores 60000", "processor 60000 cannot be used", "name only processors"),
    ("run a.toml --cores two", "invalid value `two` for --cores", "write"),
    ("run a.toml --duration 5", "invalid value `5` for --duration", "write 20us, 500ms or 10s"),
    ("run a.toml --set step_ms", "invalid value `step_ms` for --set", "write KEY=VALUE"),
    ("run a.toml --set step_ms=x", "`step_ms` is not `x`", "write a number"),
    ("run a.toml --move worker=1", "invalid value `worker=1` for --move", "write TASK=CORE@TIME"),
    ("run a.toml --move worker=x@1s", "`x` is not a core", "write TASK=CORE@TIME"),
    ("run a.toml --shuttle worker=1,0", "for --shuttle", "write TASK=CORE,CORE@TIME"),
    ("run a.toml --shuttle worker=0@1s", "--shuttle takes at least two cores", "write"),
    ("run a.toml --map round", "invalid mapping `round`", "write"),
    ("run a.toml --record hollow/x/y", "hollow/x/y", "correct the path, or make its folder first"),
    ("run a.toml --brief --json", "cannot be used with", "leave one of them out"),
    ("sim a.toml --fast --frame-rate 9", "--frame-rate has no effect with --fast", "leave one"),
    ("sim a.toml --core-count 9", "the platform mpsoc3 has 3 cores", "name a number from 1 to 3"),
    ("import a.toml", "a.toml is of no format that is known", "rename it: .json is rt-app's"),
    ("import nowhere.json", "nowhere.json cannot be read", "name a file of rt-app"),
    ("import half.json", "this is not JSON", "correct the text there"),
    ("graph a.toml -o nowhere/a.dot", "nowhere/a.dot", "make its folder first"),
    (
        "report apps",
        "apps is not the folder of a recorded run",
        "name folders that `whimbrel run --record` made",
    ),
    ("trace apps", "apps is not the folder of a recorded run", "name a folder that"),
    ("explore a.toml", "has no cycles", "add `cycles`"),
    ("frame-rate test-1 fast", "invalid value `fast`", "write 0.001 to 1e9 frames per second"),
    ("frame-rate test-1 0", "invalid value `0`", "write 0.001 to 1e9 frames per second"),
    ("restart test-1 9", "core 9", "see `whimbrel ps`"),
    ("occupy", "`whimbrel occupy` needs <COMMAND>", "see `whimbrel occupy --help`"),
    ("occupy release 77", "there is no occupation 77", "see `whimbrel occupy status`"),
    ("new app", "app exists already", "write another name"),
    ("new a/b", "the folder a does not exist", "make it first: mkdir -p a"),
    ("list tasks", "`whimbrel list` needs <APP.toml>", "write whimbrel list"),
    ("plan a.toml", "`whimbrel plan` needs --board", "write whimbrel plan"),
];

/// The files that they name.
fn written() -> Place {
    let place = Place::new();
    let app = fs::read_to_string(place.app(STREAM)).unwrap();
    let worker = "name = \"worker\"\n";
    for (name, from, to) in [
        ("a", "", ""),
        ("cycles", "\nrestart = true", "\nrestart = true\ncycles = 1000"),
        ("cpu", worker, "name = \"worker\"\ncpu = 1\n"),
        ("prio", worker, "name = \"worker\"\nprio = 1\n"),
        ("period", worker, "name = \"worker\"\nperiod_ms = 1\n"),
        ("restrat", "restart = true", "restrat = true"),
        ("mode", worker, "name = \"worker\"\nmode = \"replikate\"\n"),
        ("priority", worker, "name = \"worker\"\npriority = 99\n"),
        ("core", worker, "name = \"worker\"\ncore = 7\n"),
        ("port", "worker.in", "wroker.in"),
        ("slots", "slot_bytes = 8", "slot_bytes = 8\ncapacity = 3"),
        ("size", "slot_bytes = 8", ""),
        ("table", "[[task]]", "[[tasks]]"),
        ("quote", "name = \"test\"", "name = \"test"),
    ] {
        fs::write(
            place.path(&format!("{name}.toml")),
            if name == "cycles" { app.replace(from, to) } else { app.replacen(from, to, 1) },
        )
        .unwrap();
    }
    fs::remove_file(place.path("app.toml")).unwrap();
    for folder in ["app", "apps/one", "apps/two"] {
        fs::create_dir_all(place.path(folder)).unwrap();
        fs::write(place.path(folder).join("app.toml"), &app).unwrap();
    }
    fs::write(place.path("apps/one/tasks.c"), "int x;\n").unwrap();
    fs::create_dir(place.path("hollow")).unwrap();
    fs::copy(root().join("build/test-apps/tasks.so"), place.path("x.so")).unwrap();
    let core = "[platform]\nname = \"p\"\n[[core]]\ncount = 2\n[[core.point]]\nmhz = 100\n";
    for (name, contents) in [
        ("nine.toml", core.as_bytes()),
        ("cores.toml", core.replace("count", "conut").as_bytes()),
        ("empty.toml", b"\n"),
        ("x.py", b"print('x')\n"),
        ("tasks.c", b"int main(void);\n"),
        ("bytes", b"\x00\xff\xfe\x01"),
        ("half.json", b"{\"tasks\": {"),
    ] {
        fs::write(place.path(name), contents).unwrap();
    }
    place
}

#[test]
fn every_mistake_of_a_newcomer_is_told_with_its_cause_and_its_cure() {
    let place = written();
    let _run = place.start(&["a.toml", "--cores", "0,0", "--quiet"]);
    let mut verbs = BTreeSet::new();
    let mut wrong = String::new();
    for (words, cause, cure) in NAMES.iter().chain(KEYS).chain(ARGUMENTS) {
        let args: Vec<&str> = words.split(' ').collect();
        let mut command = place.command(&args);
        command.env("WHIMBREL_OCCUPY_STATE", place.path("journal"));
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        let errors = said.lines().filter_map(|line| line.trim_start().strip_prefix("× "));
        let help = said.lines().filter_map(|line| line.trim_start().strip_prefix("help: "));
        let is_told = output.status.code() == Some(2)
            && errors.take(1).any(|line| line.contains(cause))
            && help.take(1).any(|line| line.contains(cure))
            && !said.contains("panicked")
            && !said.contains("backtrace");
        if !is_told {
            wrong += &format!("{words}: {:?}\n{said}\n", output.status.code());
        }
        verbs.insert(args[0]);
    }
    assert!(wrong.is_empty(), "{wrong}");
    for verb in ["run", "sim", "explore", "import", "graph", "report", "migrate", "top", "occupy"] {
        assert!(verbs.contains(verb), "{verb}");
    }
}
