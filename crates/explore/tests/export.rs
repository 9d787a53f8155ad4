// SPDX-License-Identifier: Apache-2.0
//! The files say what was found: they are read back here.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::common::{Analytic, files, options, run, run_with};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use whimbrel_explore::{
    Candidate, Choices, Entry, Evaluate, Exploration, Failure, Outcome, ReplayError, Settings,
    SlotChoice, Space, Store, StoreError, System, WayChoice, Words, csv, json, read, restore,
    table,
};
use whimbrel_hardware::{Description, Leakage, Thermal};
use whimbrel_model::{App, Manifest, POINT_OFF, Setting, Table};

const RADIO: &str = r#"
[app]
name = "radio"
module = "radio.so"
frame_rate = 50

[[task]]
name = "lpf"
periodic = true

[[task]]
name = "bpf"
count = 3

[[task]]
name = "sum"
migratable = false

[[channel]]
from = "lpf.out"
to = "bpf.in"
slots = 14
slot_bytes = 64

[[channel]]
from = "bpf.out"
to = "sum.in"
slots = 14
slot_bytes = 64

[[mailbox]]
from = ["lpf.log"]
to = "sum.log"
slots = 3
slot_bytes = 8
"#;

fn app() -> App {
    let manifest = Manifest::parse(RADIO).unwrap();
    App::build(&manifest, &[], Path::new("/"), Path::new("/")).unwrap()
}

/// Three cores alike of 100.5 and 400 MHz, and what one firing of each task costs.
fn platform() -> Description {
    let work = |task: &str, cycles: u64| {
        serde_json::json!({
            "app": "radio", "task": task, "cycles": cycles,
        })
    };
    let core = serde_json::json!({
        "kind": "arm9",
        "points": [
            { "hz": 100_500_000, "microvolts": 0, "active_uw": 84_000, "idle_uw": 42_000,
              "static_uw": 0 },
            { "hz": 400_000_000, "microvolts": 0, "active_uw": 500_000, "idle_uw": 250_000,
              "static_uw": 0 },
        ],
        "start": 0,
        "transition": { "time_ps": 0, "energy_pj": 0 },
        "idle_states": [], "leakage": null, "cache": null, "node": [0, 0],
    });
    let cost = serde_json::json!({ "cycles": 0.0, "cycles_per_unit": 0.0, "ps": 0 });
    serde_json::from_value(serde_json::json!({
        "name": "three",
        "cores": [core, core, core],
        "costs": { "actions": [], "switch": cost, "clock": cost, "copy": cost, "load": cost },
        "memories": [], "interconnect": null, "thermal": null,
        "doorbell": { "kind": "interrupt", "send": cost, "latency_ps": 0, "receive": cost,
                      "interval_ps": 0 },
        "work": [work("lpf", 400_000), work("bpf", 300_000), work("sum", 100_000)],
    }))
    .unwrap()
}

/// What comes of candidates, but for a change.
struct Changed<'s>(&'s Analytic, fn(&mut Outcome, &Candidate));

impl Evaluate for Changed<'_> {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        let mut outcome = self.0.outcome(candidate);
        self.1(&mut outcome, candidate);
        Ok(outcome)
    }
}

fn explored(rates: &[u64]) -> (System, Exploration) {
    explored_with(rates, Choices::default(), |_, _| {})
}

fn space_of(rates: &[u64], mut choices: Choices) -> (System, Space) {
    let system = System::new(&app(), &platform());
    choices.rates_millihz = rates.to_vec();
    choices.slots.push(SlotChoice { channel: Some("lpf_bpf".into()), slots: vec![4, 14] });
    let space = Space::new(system.clone(), &choices, crate::common::SECOND_NS).unwrap();
    (system, space)
}

fn explored_with(
    rates: &[u64],
    choices: Choices,
    change: fn(&mut Outcome, &Candidate),
) -> (System, Exploration) {
    let (system, space) = space_of(rates, choices);
    let found = run(&space, &Changed(&Analytic::new(&system), change), &options()).unwrap();
    (system, found)
}

/// A store that knows what the file does.
fn restored(path: &Path, identity: &str) -> Result<Store, StoreError> {
    let mut store = Store::default();
    restore(path, identity, &mut store).map(|()| store)
}

/// Runs nothing.
struct Nothing;

impl Evaluate for Nothing {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        Err(Failure::Fatal(format!("{candidate:?} is not known")))
    }
}

fn all(found: &Exploration) -> Vec<Entry> {
    found.entries().map(Result::unwrap).collect()
}

#[test]
fn the_system_knows_kinds_rates_likeness_and_what_a_frame_costs() {
    let system = System::new(&app(), &platform());
    assert_eq!(system.rate_millihz, 50_000);
    assert!(system.cores.iter().all(|core| core.alike == 0));
    // lpf has a period; the rest follows it through the channels.
    let load = |task| system.load(task, 0, 100_000_000, 50_000);
    assert!((load(0) - 0.2).abs() < 1e-12 && (load(2) - 0.15).abs() < 1e-12);
    assert!((load(4) - 0.05).abs() < 1e-12);
    assert_eq!(system.cores[0].points[1].floor_uw, 250_000);

    let mut other = platform();
    other.cores[1].points[0].active_uw += 1;
    other.cores[2].kind = "dsp".into();
    let likeness: Vec<usize> =
        System::new(&app(), &other).cores.iter().map(|core| core.alike).collect();
    assert_eq!(likeness, [0, 1, 2]);
}

#[test]
fn the_csv_has_a_line_for_every_candidate_that_ran() {
    let (system, found) = explored(&[50_000, 100_000]);
    let mut text = Vec::new();
    csv(&system, &found, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    let head = "id,policy,mapping,points,slots,channels,rate,energy_mj,misses,latency_ms,cores,\
                power_mw,energy_per_frame_mj,energy_per_task_mj,time_ms,frames,pareto";
    assert_eq!(lines.next(), Some(head));
    assert_eq!(lines.clone().count(), found.ran());
    let first = "0,static,lpf=0 bpf=0/0/0 sum=0,400/-/-,\
                 lpf_bpf_0=4 lpf_bpf_1=4 lpf_bpf_2=4 bpf_sum_0=14 bpf_sum_1=14 bpf_sum_2=14,,50,";
    let line = lines.find(|line| line.contains(",400/-/-,")).unwrap();
    assert!(line.contains(&first[1..]), "{line}");
    let on = text.lines().filter(|line| line.ends_with(",true")).count();
    assert_eq!(on, found.rates.iter().map(|rate| rate.front.len()).sum::<usize>());
}

#[test]
fn the_parquet_file_has_the_same_rows_with_types() {
    let (system, found) = explored(&[50_000, 100_000]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("explore.parquet");
    let file = std::fs::File::create(&path).unwrap();
    whimbrel_explore::parquet(&system, &found, "it", file).unwrap();

    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), found.ran());
    for (row, entry) in rows.iter().zip(all(&found)) {
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        assert_eq!(*fields[0], Field::Long(entry.id as i64));
        assert_eq!(*fields[1], Field::Str("static".into()));
        assert_eq!(*fields[5], Field::Str(String::new()));
        assert_eq!(*fields[6], Field::Double(entry.candidate.rate_millihz as f64 / 1e3));
        assert_eq!(*fields[7], Field::Double(entry.outcome.energy_mj));
        assert_eq!(*fields[8], Field::Long(entry.outcome.misses as i64));
        assert_eq!(*fields[9], Field::Double(entry.outcome.latency_ms.unwrap()));
        assert_eq!(*fields[10], Field::Int(entry.outcome.cores as i32));
        let (energy, frames) = (entry.outcome.energy_mj, entry.outcome.frames);
        // A second, and one firing of each of five tasks in a frame.
        assert_eq!(*fields[11], Field::Double(energy / 1e3 * 1e3));
        assert_eq!(*fields[12], Field::Double(energy / frames as f64));
        assert_eq!(*fields[13], Field::Double(energy / (5 * frames) as f64));
        assert_eq!(*fields[14], Field::Double(1e3));
        assert_eq!(*fields[15], Field::Long(frames as i64));
        assert_eq!(*fields[16], Field::Bool(entry.pareto));
        let outcome = serde_json::to_string(&entry.outcome).unwrap();
        assert_eq!(*fields[17], Field::Str(outcome));
        assert_eq!(fields.len(), 18);
    }
}

#[test]
fn what_the_parquet_file_knows_is_restored_to_the_bit_and_of_nothing_else() {
    let (system, found) = explored(&[50_000, 100_000]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("explore.parquet");
    let file = std::fs::File::create(&path).unwrap();
    whimbrel_explore::parquet(&system, &found, "it", file).unwrap();

    // Of a folder as well, whose file knows it then.
    let journal = folder.path().join("evaluated.jsonl");
    let mut filled = Store::create(&journal, "it").unwrap();
    restore(&path, "it", &mut filled).unwrap();
    let resumed = Store::resume(&journal, "it").unwrap();
    let (space, stop) =
        (space_of(&[50_000, 100_000], Choices::default()).1, AtomicBool::new(false));
    for mut store in [restored(&path, "it").unwrap(), filled, resumed] {
        assert_eq!(store.len(), found.ran());
        let again = run_with(&space, &Nothing, &options(), &mut store, &stop).unwrap();
        assert!(files(&system, &again) == files(&system, &found));
    }
    assert!(matches!(restored(&path, "other"), Err(StoreError::Other)));
    for text in ["", "PAR1", "no parquet"] {
        std::fs::write(&path, text).unwrap();
        assert!(matches!(restored(&path, "it"), Err(StoreError::Incomplete)), "{text}");
    }
    assert!(matches!(restored(folder.path(), "it"), Err(StoreError::Io(_))));
}

#[test]
fn a_damaged_parquet_file_is_an_error_and_never_a_panic() {
    let (system, found) = explored(&[50_000]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("explore.parquet");
    let mut whole = Vec::new();
    whimbrel_explore::parquet(&system, &found, "it", &mut whole).unwrap();

    // Each byte of the beginning, and every 61st of the rest.
    let places = (0..1024).chain((1024..whole.len()).step_by(61));
    let mut refused = 0;
    for (at, changed) in places.zip([0x01, 0x80, 0xff].into_iter().cycle()) {
        let mut damaged = whole.clone();
        damaged[at] ^= changed;
        std::fs::write(&path, &damaged).unwrap();
        refused += u32::from(restored(&path, "it").is_err());
        if at % 61 == 0 {
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(restored(&path, "it").is_err(), "{at} bytes of it");
        }
    }
    // Most of it is text of which any letter may be another.
    assert!(refused > 100, "{refused} of {}", whole.len());
}

/// A Parquet file of `lines` and a footer.
fn with_footer(lines: &[u8], footer: &[u8]) -> Vec<u8> {
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", lines, footer, &length, b"PAR1"].concat()
}

/// Fuzzing found it: the library counted 2^31 booleans of no byte each for a minute.
#[test]
fn a_count_in_the_footer_costs_no_time_and_no_memory() {
    const MOST: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x07];
    let list = |of: u8| [&[0xf0 | of][..], &MOST].concat();
    let (structs, text, lists, booleans) = (12, 8, 9, 2);
    // Fields of a file: 2, the schema; 4, groups of rows; 5, pairs of texts; 9, one of no meaning.
    let field = |number: u8, of: u8| [&[number << 4 | 9][..], &list(of)].concat();
    let deep = [field(9, lists), list(lists), list(booleans)].concat();
    let mut footers = vec![field(9, booleans), deep, [&[0x98][..], &MOST].concat()];
    footers.extend([2, 4, 5].map(|number| field(number, structs)));
    footers.extend([2, 4, 5].map(|number| field(number, text)));

    let (system, found) = explored(&[50_000]);
    let mut whole = Vec::new();
    whimbrel_explore::parquet(&system, &found, "it", &mut whole).unwrap();
    let end = whole.windows(2).position(|two| two == b"\n\n").unwrap() + 2;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("explore.parquet");
    let begun = Instant::now();
    for footer in &footers {
        std::fs::write(&path, with_footer(&[], footer)).unwrap();
        assert!(restored(&path, "it").is_err(), "{footer:?}");
        std::fs::write(&path, with_footer(&whole[4..end], footer)).unwrap();
        assert_eq!(restored(&path, "it").unwrap().len(), found.ran(), "{footer:?}");
    }
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

fn settings() -> Settings {
    let set = vec![Setting { key: "plays".into(), value: "2".into() }];
    let (app, files, platform) = ("radio".into(), vec!["radio.toml".into()], "three".into());
    Settings {
        app,
        files,
        platform,
        set,
        pins: Vec::new(),
        duration_ns: 5,
        seed: 7,
        identity: "it".into(),
    }
}

#[test]
fn a_row_of_each_file_has_the_words_and_the_settings_that_repeat_it() {
    // Mailboxes are chosen by name only; all else has one number of slots.
    let slots = vec![SlotChoice { channel: Some("sum_log".into()), slots: vec![9] }];
    let way = "batch:4:5ms".parse().unwrap();
    let ways = vec![WayChoice { channel: Some("lpf_bpf_0".into()), ways: vec![way] }];
    let choices = Choices { slots, ways, ..Choices::default() };
    let (system, mut found) = explored_with(&[50_000, 100_000], choices, |_, _| {});
    found.settings = settings();
    let Entry { id: on, candidate, .. } = all(&found).into_iter().find(|e| e.pareto).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let table = std::fs::File::create(path("explore.csv")).unwrap();
    csv(&system, &found, table).unwrap();
    let alone = read(&path("explore.csv"), on as u64).unwrap_err();
    assert!(matches!(alone, ReplayError::Alone), "{alone}");
    std::fs::write(path("front.json"), json(&system, &found).to_string()).unwrap();
    let columns = std::fs::File::create(path("explore.parquet")).unwrap();
    whimbrel_explore::parquet(&system, &found, "it", columns).unwrap();

    let candidate = &candidate;
    let words = Words(&system);
    for name in ["explore.csv", "explore.parquet", ""] {
        let replay = read(&path(name), on as u64).unwrap();
        assert_eq!(replay.settings, settings(), "{name}");
        let row = replay.row(&system).unwrap();
        assert_eq!(row.mapping, words.mapping(candidate), "{name}");
        assert!(row.slots.ends_with("lpf_log_sum_log=9") || row.slots.contains("=9"), "{row:?}");
        assert_eq!((row.channels.as_str(), row.rate.as_str()), ("lpf_bpf_0=batch:4:5ms", "50"));
    }
    // With every task, core and channel by its name.
    let row = read(&path("front.json"), on as u64).unwrap().row(&system).unwrap();
    assert!(row.mapping.starts_with("lpf.0="), "{row:?}");
    assert_eq!((row.points, row.rate), (words.points(candidate), "50".into()));
    assert_eq!(row.slots.split(' ').count(), 7);
}

#[test]
fn a_file_that_is_no_result_or_has_no_such_row_is_refused() {
    let (system, found) = explored(&[50_000]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let said = |name: &str, row: u64| read(&path(name), row).unwrap_err().to_string();
    let write = |name: &str, text: &[u8]| std::fs::write(path(name), text).unwrap();

    assert!(said("none.csv", 0).contains("No such file"), "{}", said("none.csv", 0));
    write("other.csv", b"a,b\n1,2\n");
    assert!(said("other.csv", 0).contains("missing field `id`"), "{}", said("other.csv", 0));
    write("other.json", b"{}");
    assert!(said("other.json", 0).contains("is not a result of an exploration"));
    let mut summary = json(&system, &found);
    let count = found.ran() as u64;
    write("front.json", summary.to_string().as_bytes());
    assert_eq!(said("front.json", count), format!("has no row {count}"));
    summary["version"] = 2.into();
    write("front.json", summary.to_string().as_bytes());
    assert!(said("front.json", 0).starts_with("is of version 2"));

    let mut whole = Vec::new();
    whimbrel_explore::parquet(&system, &found, "it", &mut whole).unwrap();
    write("explore.parquet", &whole);
    assert_eq!(said("explore.parquet", count), format!("has no row {count}"));
    let mut other = System::new(&app(), &platform());
    other.tasks.pop();
    let misfit = read(&path("explore.parquet"), 0).unwrap().row(&other).unwrap_err();
    assert!(matches!(misfit, ReplayError::Misfit));
    write("explore.parquet", &whole[..whole.len() - 9]);
    assert!(said("explore.parquet", 0).contains("is not a result"));
    let text = String::from_utf8_lossy(&whole[..40]).replace("\"version\":2", "\"version\":1");
    write("explore.parquet", &[text.as_bytes(), &whole[text.len()..]].concat());
    assert!(said("explore.parquet", 0).contains("of another version"));
}

#[test]
fn a_latency_that_is_not_known_is_empty_in_both() {
    let unknown = |outcome: &mut Outcome, _: &Candidate| outcome.latency_ms = None;
    let (system, found) = explored_with(&[50_000], Choices::default(), unknown);
    let mut text = Vec::new();
    csv(&system, &found, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let line = text.lines().nth(1).unwrap();
    assert_eq!(line.split(',').nth(9), Some(""), "{line}");
    let mut bytes = Vec::new();
    whimbrel_explore::parquet(&system, &found, "it", &mut bytes).unwrap();
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("one.parquet");
    std::fs::write(&path, bytes).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    assert_eq!(row.get_column_iter().nth(9).unwrap().1, &Field::Null);
}

#[test]
fn the_summary_has_the_fronts_with_everything_about_their_members() {
    let (system, found) = explored(&[50_000]);
    let value = json(&system, &found);
    assert_eq!((&value["app"], &value["platform"]), (&"radio".into(), &"three".into()));
    assert_eq!(value["objectives"][0], "energy");
    let rate = &value["rates"][0];
    assert_eq!((&rate["rate"], &rate["method"]), (&50.0.into(), &"exhaustive".into()));
    let front = rate["front"].as_array().unwrap();
    assert_eq!(front.len(), found.rates[0].front.len());
    assert_eq!(front[0]["mapping"].as_array().unwrap().len(), 5);
    assert_eq!(front[0]["slots"].as_array().unwrap().len(), 7);
    let energy = |at: usize| front[at]["outcome"]["energy_mj"].as_f64().unwrap();
    assert!((1..front.len()).all(|at| energy(at - 1) <= energy(at)));
}

#[test]
fn the_table_is_one_that_the_policy_takes() {
    let rates = [50_000, 100_000, 200_000, 400_000];
    let (system, found) = explored(&rates);
    let (text, without) = table(&system, &found);
    let text = text.unwrap();
    assert!(without.is_empty());
    let parsed = Table::parse(&text).unwrap();
    let hz: Vec<Vec<u64>> =
        platform().cores.iter().map(|core| core.points.iter().map(|p| p.hz).collect()).collect();
    let rows = parsed.rows(&app(), &hz).unwrap();
    assert_eq!(rows.len(), rates.len());
    for (row, rate) in rows.iter().zip(&found.rates) {
        let best = rate.best.as_ref().unwrap();
        assert_eq!(row.rate_millihz, rate.rate_millihz);
        let Candidate { mapping, points, available, .. } = &best.candidate;
        let of_core = |(on, point): (&bool, &u32)| if *on { *point } else { POINT_OFF };
        let points: Vec<u32> = available.iter().zip(points).map(of_core).collect();
        assert_eq!((&row.cores, &row.points), (mapping, &points));
        let kept = all(&found).into_iter().filter(|entry| entry.outcome.misses == 0);
        let mut kept = kept.filter(|e| e.candidate.rate_millihz == rate.rate_millihz);
        assert!(kept.all(|e| e.outcome.energy_mj >= best.outcome.energy_mj));
    }
}

#[test]
fn a_rate_at_which_every_candidate_misses_deadlines_has_no_row() {
    let fast = |outcome: &mut Outcome, candidate: &Candidate| {
        outcome.misses = u64::from(candidate.rate_millihz > 50_000);
    };
    let (system, found) = explored_with(&[50_000, 100_000], Choices::default(), fast);
    let (text, without) = table(&system, &found);
    assert_eq!(text.unwrap().matches("[[row]]").count(), 1);
    assert_eq!(without, [100_000]);
    let every = |outcome: &mut Outcome, _: &Candidate| outcome.misses = 1;
    let (system, found) = explored_with(&[50_000, 100_000], Choices::default(), every);
    assert_eq!(table(&system, &found), (None, vec![50_000, 100_000]));
}

#[test]
fn cores_are_told_apart_by_their_place_where_places_matter() {
    let mut mesh = platform();
    let text = serde_json::json!({ "mesh": {
        "columns": 3, "rows": 1, "hz": 1, "width_bytes": 4, "hop_cycles": 1, "pj_per_byte_hop": 0.0,
    }});
    mesh.interconnect = Some(serde_json::from_value(text).unwrap());
    for (core, column) in mesh.cores.iter_mut().zip(0..) {
        core.node = (column, 0);
    }
    let alike = |platform: &Description| -> Vec<usize> {
        System::new(&app(), platform).cores.iter().map(|core| core.alike).collect()
    };
    assert_eq!(alike(&mesh), [0, 1, 2]);
    mesh.interconnect = None;
    assert_eq!(alike(&mesh), [0, 0, 0]);
    for (arbitration, expected) in [("fcfs", [0, 0, 0]), ("tdma", [0, 1, 2])] {
        let text = serde_json::json!({ "bus": {
            "arbitration": arbitration, "hz": 1, "width_bytes": 4, "setup_cycles": 0,
            "burst_bytes": 4, "pj_per_byte": 0.0, "slots": 3,
        }});
        let interconnect = Some(serde_json::from_value(text).unwrap());
        assert_eq!(alike(&Description { interconnect, ..mesh.clone() }), expected);
    }
    // The leakage of one core has the temperature of those next to it differ.
    mesh.thermal = Some(Thermal {
        ambient_mc: 25_000,
        blocks: Vec::new(),
        thickness_mm: 0.5,
        conductivity: 100.0,
        capacity: 1.75e6,
        sink_k_per_w: 10.0,
        sink_j_per_k: 1.0,
        step_ps: 1_000_000_000,
    });
    assert_eq!(alike(&mesh), [0, 0, 0]);
    mesh.cores[2].leakage = Some(Leakage { reference_mc: 25_000, slope_c: 30.0 });
    assert_eq!(alike(&mesh), [0, 1, 2]);
}
