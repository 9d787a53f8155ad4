// SPDX-License-Identifier: Apache-2.0
//! The help, and the commands that only look or measure.

use std::fs;

use crate::common::{Place, root, text, write_script};
use insta::assert_snapshot;

#[test]
fn the_help_is_the_manual() {
    let place = Place::new();
    for command in [
        "new",
        "run",
        "migrate",
        "policy",
        "frame-rate",
        "restart",
        "top",
        "ps",
        "clean",
        "doctor",
        "bench",
        "plan",
        "import",
        "graph",
        "schema",
        "check",
        "list",
        "trace",
        "channel",
        "sim",
        "calibrate",
        "explore",
        "report",
        "occupy",
    ] {
        let output = place.output(&[command, "--help"]);
        assert_snapshot!(format!("help_{command}"), text(&output.stdout));
    }
    for verb in ["status", "adjust", "release", "noise"] {
        let output = place.output(&["occupy", verb, "--help"]);
        assert_snapshot!(format!("help_occupy_{verb}"), text(&output.stdout));
    }
    assert_snapshot!("help", text(&place.output(&["--help"]).stdout));
}

#[test]
fn a_command_line_that_makes_no_sense_is_an_error() {
    let place = Place::new();
    for args in [&["run"][..], &["run", "a", "--fast", "--frame-rate", "1"], &["fly"], &[]] {
        assert_eq!(place.output(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn every_error_says_what_failed_and_below_it_what_to_do() {
    let place = Place::new();
    for (words, message, help) in [
        (&["simm"][..], "`whimbrel` has no verb `simm`", "write `sim`"),
        (&["sim", "a", "--sed", "1"], "`whimbrel sim` has no option `--sed`", "write `--seed`"),
        (
            &["trace", "a", "--format", "perfeto"],
            "invalid value `perfeto` for --format",
            "write `perfetto`; all values are perfetto, vcd, btf",
        ),
        (
            &["run", "a", "--frequency", "emulated"],
            "invalid value `emulated` for --frequency",
            "write `emulate`; all values are none, emulate, cpufreq",
        ),
        (
            &["explore", "a", "--objectives", "energie"],
            "invalid value `energie` for --objectives",
            "write `energy`; all values are energy, misses, latency, cores",
        ),
        (
            &["migrate", "a"],
            "`whimbrel migrate` needs <TASK[.INDEX]>, <CORE>",
            "write whimbrel migrate",
        ),
        (&["sim", "nowhere.toml"], "nowhere.toml cannot be read", "name the path"),
        (&["migrate", "gone-1", "a", "0"], "no run is called `gone-1`", "start one with"),
        (&["occupy", "release", "77"], "there is no occupation 77", "see `whimbrel occupy status`"),
        (
            &["occupy", "--fifo", "100", "--", "true"],
            "100 is not in 1..=99",
            "see `whimbrel occupy",
        ),
        (
            &["occupy", "--shield", "affinty", "--", "true"],
            "invalid value `affinty` for --shield",
            "write `affinity`; all values are v2, v1, affinity",
        ),
    ] {
        let mut command = place.command(words);
        let output = command.env("WHIMBREL_OCCUPY_STATE", place.path("journal")).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].starts_with("  × ") && lines[0].contains(message), "{words:?}: {said}");
        let last = lines.last().unwrap();
        assert!(last.starts_with("  help: ") && last.contains(help), "{words:?}: {said}");
    }
}

#[test]
fn check_says_what_would_run_where_and_list_what_there_is() {
    let place = Place::new();
    let radio = root().join("apps/fm_radio/app.toml");
    let radio = radio.to_str().unwrap();
    let checked =
        place.json(&["check", radio, "--platform", "mpsoc3", "--map", "load", "--json"], 0);
    let (cores, tasks) =
        (checked["cores"].as_array().unwrap(), checked["tasks"].as_array().unwrap());
    assert_eq!((cores.len(), tasks.len()), (3, 6));
    for (number, core) in cores.iter().enumerate() {
        let here: Vec<_> = tasks.iter().filter(|task| task["core"] == number).collect();
        let load: f64 = here.iter().map(|task| task["load"].as_f64().unwrap()).sum();
        assert_eq!(core["tasks"], here.len());
        assert!((core["load"].as_f64().unwrap() - load).abs() < 1e-9 && load > 0.0, "{core}");
    }
    let table = text(&place.output(&["check", radio, "--cores", "0"]).stdout);
    assert!(table.contains("\ndemodulator     0"), "{table}");
    let busy =
        place.json(&["check", radio, "--platform", "mpsoc3", "--frame-rate", "1e5", "--json"], 0);
    assert!(busy["warnings"][0].as_str().unwrap().contains("too much to do"), "{busy}");

    let names = |args: &[&str], key: &str| -> Vec<String> {
        let rows = place.json(&[&["list"], args, &["--json"]].concat(), 0);
        let rows = rows.as_array().unwrap();
        rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&["platforms"], "platform").contains(&"mpsoc3".to_owned()));
    assert!(names(&["policies"], "policy").contains(&"balance".to_owned()));
    let boards =
        ["realview_pbx_a9", "rv32_soc", "sabrelite", "vexpress_a9", "virt_a64", "zynq_7000"];
    assert_eq!(names(&["boards"], "board"), boards);
    assert_eq!(names(&["runs"], "run"), [""; 0]);
    assert_eq!(
        names(&["tasks", radio], "task"),
        ["lpf", "demodulator", "bpf", "bpf", "bpf", "sum"]
    );
    assert!(text(&place.output(&["list", "tasks", radio]).stdout).contains("\nbpf.2 "));
}

#[test]
fn check_compares_the_load_of_cores_that_share_a_scheduler_with_their_number() {
    let place = Place::new();
    let core = |mhz: u32, keys: &str| {
        format!("[[core]]\n{keys}[[core.point]]\nmhz = {mhz}\nactive_mw = 1.0\n")
    };
    let group = core(100, "scheduling = \"edf\"\nmigration = \"full\"\ncount = 2\n");
    let platform = format!("[platform]\nname = \"a\"\n{}{group}", core(200, ""));
    fs::write(place.path("platform.toml"), platform).unwrap();
    let checked = |cycles: [u32; 3]| {
        let keys = "core = 2\nperiod_us = 100";
        let task = |n| format!("[[task]]\nname = \"of_{n}\"\n{keys}\ncycles = {n}\n");
        let app = format!("[app]\nname = \"a\"\n{}", cycles.map(task).concat());
        fs::write(place.path("app.toml"), app).unwrap();
        let paths = ["app.toml", "platform.toml"].map(|name| place.path(name));
        let [app, platform] = paths.each_ref().map(|path| path.to_str().unwrap());
        place.json(&["check", app, "--platform", platform, "--json"], 0)
    };

    // A core of the two has 10,000 cycles in each period.
    let fits = checked([5000, 6000, 7000]);
    let load = |core: usize| fits["cores"][core]["load"].as_f64().unwrap();
    assert!(load(0) == 0.0 && (load(1) - 0.9).abs() < 1e-9 && load(2) == load(1), "{fits}");
    assert_eq!(fits["warnings"], serde_json::json!([]));
    for (cycles, warning) in [
        ([7000, 8000, 9000], "cores 1 to 2 have too much to do: 120 % each"),
        ([1000, 2000, 11_000], "`of_11000` has too much to do for one core: 110 %"),
    ] {
        let warnings = &checked(cycles)["warnings"];
        assert!(warnings[0].as_str().unwrap().contains(warning), "{warnings}");
        assert_eq!(warnings.as_array().unwrap().len(), 1, "{warnings}");
    }
}

#[test]
fn doctor_finds_a_machine_that_these_tests_run_on_fit() {
    let place = Place::new();
    let findings = place.json(&["doctor", "--json"], 0);
    let of = |what: &str| {
        let all = findings.as_array().unwrap();
        all.iter().find(|finding| finding["what"] == what).unwrap()["verdict"].clone()
    };
    for what in ["whimbrel-linux", "memfd_create", "pidfd_open", "GVM address", "run directory"] {
        assert_eq!(of(what), "ok", "{what}");
    }
    assert!(text(&place.output(&["doctor"]).stdout).contains("memfd_create"));
}

#[test]
fn doctor_answers_no_when_nothing_could_run() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::with_helpers(folder.path().to_owned());
    let findings = place.json(&["doctor", "--json"], 1);
    assert_eq!(findings[0]["verdict"], "fatal");
    assert_eq!(findings[0]["advice"], "build it: make build");
}

#[test]
fn doctor_answers_no_under_a_limit_that_would_end_the_helper() {
    let place = Place::new();
    let doctor = place.command(&["doctor"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 100; exec \"$0\" doctor"]).arg(doctor.get_program());
    limited.envs(doctor.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("ulimit -f unlimited"), "{}", text(&output.stdout));
}

#[test]
fn a_quick_benchmark_measures_the_groups_that_are_named() {
    let rows = Place::new().json(&["bench", "--quick", "switch", "checkpoint", "--json"], 0);
    let names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["bench"].as_str().unwrap()).collect();

    let switches = ["switch", "switch.registers", "switch.clock", "switch.counted"];
    assert_eq!(names[..4], switches);
    assert_eq!(names[4], "checkpoint.loop");
    assert!(names[5..].iter().all(|name| name.starts_with("checkpoint.")), "{names:?}");
}

/// Helpers where the benchmarks are a script, with peers beside their folder.
fn bench_place(script: &str) -> (tempfile::TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_script(&path, text);
    };
    write("bin/whimbrel-bench", script);
    let peers = r#"{"peer":"gnuradio","samples_per_s":2e6},{"peer":"futuresdr","missing":"no"}"#;
    write(
        "bench/peers/run",
        &format!("case \"$*\" in *call*|*switch*) echo '[]';; *) echo '[{peers}]';; esac"),
    );
    let place = Place::with_helpers(folder.path().join("bin"));
    (folder, place)
}

#[test]
fn bench_passes_groups_on_and_compares_the_radio_with_its_peers() {
    let row = r#"{"bench":"fm_radio.one_core","unit":"samples/s","p50":5000000,"args":"'"$*"'"}"#;
    let (_folder, place) = bench_place(&format!("echo '{row}'"));
    let rows = place.json(&["bench", "fm_radio", "--quick", "--peers", "--json"], 0);
    assert_eq!(rows[0]["args"], "fm_radio --quick");
    assert_eq!((&rows[1]["against"], &rows[1]["ratio"]), (&"gnuradio".into(), &2.5.into()));
    assert_eq!(rows.as_array().unwrap().len(), 2);

    let output = place.output(&["bench", "--peers"]);
    let shown = text(&output.stdout);
    let (processor, table) = shown.split_once("\n\n").unwrap();
    for row in rows.as_array().unwrap() {
        assert_eq!(processor, format!("processor: {}", row["processor"].as_str().unwrap()));
    }
    assert_snapshot!(table);
    let no_simulator = "sim.pipeline, sim.sweep, sim.many and sim.many.65536 were not measured: \
        build whimbrel-sim with `make build`";
    let no_source = "mixed.64B.spin was not measured: `whimbrel bench mixed` says why";
    let expected = format!("futuresdr was not measured: no\n{no_simulator}\n{no_source}\n");
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn a_benchmark_that_fails_is_an_error() {
    let (_folder, place) = bench_place("exit 3");
    assert!(place.error(&["bench"]).contains("exit status: 3"));
    let (_folder, place) = bench_place("echo nonsense");
    assert!(place.error(&["bench"]).contains("wrote what cannot be read"));
}
