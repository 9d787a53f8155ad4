// SPDX-License-Identifier: Apache-2.0
//! The page as a whole.

mod common;

use std::fs;

use common::MadeUp;
use serde_json::Value;
use whimbrel_report::{Error, page};

const PIPELINE: [&str; 5] = ["source", "filter", "left", "right", "sink"];
const EVIL: &str = "</script><img src=x onerror=alert(1)>\u{2028}<!--{{script}}";

/// The island of a page: there is one, and it is JSON.
fn island(page: &str) -> Value {
    let parts: Vec<&str> = page.split("<script type=\"application/json\" id=\"data\">").collect();
    assert_eq!(parts.len(), 2, "one island");
    let (json, _) = parts[1].split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

fn page_of(run: &MadeUp) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run_folder = folder.path().join("run");
    run.write(&run_folder);
    page(&[run_folder], &[]).unwrap().html
}

/// The only link of a page.
const VIEWER: &str = "<a href=\"https://ui.perfetto.dev\"";

/// What an attribute or a rule of CSS would load, other than links that somebody must press.
fn references(page: &str) -> Vec<&str> {
    let marks = [" src=", " href=", "url(", "@import", "<link", "<iframe", "<base", "srcset="];
    let page = page.replace(VIEWER, "");
    let found = |mark: &&str| page.contains(*mark);
    marks.into_iter().filter(found).collect()
}

#[test]
fn a_page_refers_to_nothing_outside_itself_and_forbids_it() {
    let page = page_of(&MadeUp::new(3, &PIPELINE, 200));
    assert_eq!(references(&page), Vec::<&str>::new());
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("{{"), "every part is filled in");
    // The only addresses are those in the libraries' own headings, the name of SVG, and the link.
    let addresses: Vec<&str> = page
        .match_indices("://")
        .map(|(at, _)| page[at..].split(['"', '\'', ' ', ')', '\n']).next().unwrap())
        .collect();
    assert_eq!(
        addresses,
        [
            "://github.com/leeoniya/uPlot",
            "://github.com/developit/htm",
            "://www.w3.org/2000/svg",
            "://ui.perfetto.dev",
        ]
    );
}

#[test]
fn a_reference_would_be_found() {
    assert_eq!(references("<img src=x>"), [" src="]);
    assert_eq!(references("@import 'x'; a { b: url(c) }"), ["url(", "@import"]);
}

#[test]
fn names_that_look_like_markup_stay_names() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("<b>&'\"");
    MadeUp::new(2, &[EVIL, "sink"], 50).write(&run);
    let page = page(&[&run], &[]).unwrap().html;
    assert!(!page.contains("<img") && !page.contains("onerror=alert(1)>"));
    assert!(page.contains("<title>&lt;b&gt;&amp;&#39;&quot; · Whimbrel</title>"));
    assert_eq!(island(&page)["runs"][0]["tasks"]["rows"][0][0], EVIL);
    assert_eq!(page.matches("</script>").count(), 3);
}

#[test]
fn the_island_has_what_was_recorded() {
    let page = page_of(&MadeUp::new(3, &PIPELINE, 400));
    let data = island(&page);
    let run = &data["runs"][0];
    assert_eq!(run["summary"]["platform"], "mesh64");
    assert_eq!(run["summary"]["floorplan"]["blocks"].as_array().unwrap().len(), 3);
    assert!(run["summary"].get("migrations").is_none(), "it has a table of its own");
    assert_eq!(run["migrations"]["rows"].as_array().unwrap().len(), 5);
    assert_eq!(run["all_migrations"], 5);
    let events = &run["events"];
    assert_eq!(events["end_ns"], 400 * 2_000_000);
    assert_eq!(events["depth"].as_array().unwrap().len(), 4);
    for sort in ["frequency", "power", "temperature"] {
        assert!(events[sort].as_array().unwrap().iter().all(Value::is_object), "{sort}");
    }
}

#[test]
fn response_times_and_their_histograms_are_in_the_island() {
    let page = page_of(&MadeUp::new(3, &PIPELINE, 400));
    let run = &island(&page)["runs"][0];
    let columns = run["tasks"]["columns"].as_array().unwrap();
    let at = |name: &str| columns.iter().position(|column| column == name).expect(name);
    let rows = run["tasks"]["rows"].as_array().unwrap();
    assert_eq!(rows[0][at("response")], Value::Null, "none was measured");
    let response = &rows[1][at("response")];
    assert_eq!((&response["n"], &response["p99_ns"]), (&400.into(), &298_000.into()));
    assert_eq!(response["histogram"][1], serde_json::json!([196_608, 212_992, 397]));
    assert_eq!(rows[1][at("firings_per_s")], 500.0);
    assert!(page.contains("Response times") && page.contains("function histogram("));
}

#[test]
fn a_run_without_a_curve_says_so() {
    let folder = tempfile::tempdir().unwrap();
    MadeUp { hardware: false, ..MadeUp::new(2, &PIPELINE, 20) }.write(folder.path());
    let data = island(&page(&[folder.path()], &[]).unwrap().html);
    let events = &data["runs"][0]["events"];
    for sort in ["frequency", "power", "temperature"] {
        assert_eq!(events[sort], serde_json::json!([null, null]), "{sort}");
    }
}

#[test]
fn a_page_of_a_million_events_stays_below_4_mib() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..24).map(|n| format!("task{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let events = MadeUp::new(8, &names, 7500).write(folder.path());
    assert!(events >= 1_000_000, "{events}");
    let page = page(&[folder.path()], &[]).unwrap().html;
    assert_eq!(island(&page)["runs"][0]["events"]["events"], events);
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}

#[test]
fn the_same_folders_give_the_same_bytes() {
    let run = MadeUp::new(3, &PIPELINE, 300);
    assert_eq!(page_of(&run), page_of(&run));
}

#[test]
fn a_run_that_was_killed_is_shown_as_far_as_it_went() {
    let folder = tempfile::tempdir().unwrap();
    MadeUp::new(2, &PIPELINE, 100).write(folder.path());
    fs::remove_file(folder.path().join("summary.json")).unwrap();
    let data = island(&page(&[folder.path()], &[]).unwrap().html);
    let run = &data["runs"][0];
    assert_eq!(run["summary"], serde_json::json!({}));
    assert_eq!(run["events"]["power"].as_array().unwrap().len(), 2);
    assert!(run["events"]["end_ns"].as_u64().unwrap() > 190_000_000);
}

#[test]
fn what_is_wrong_with_a_stream_is_told() {
    let folder = tempfile::tempdir().unwrap();
    MadeUp::new(4, &PIPELINE, 20).write(folder.path());
    fs::remove_file(folder.path().join("core-2.events")).unwrap();
    fs::write(folder.path().join("core-3.events"), "").unwrap();
    let stream = folder.path().join("core-1.events");
    let mut bytes = fs::read(&stream).unwrap();
    bytes.truncate(bytes.len() - 5);
    bytes[32 + 8] = 99;
    fs::write(&stream, bytes).unwrap();
    let page = page(&[folder.path()], &[]).unwrap();
    let data = island(&page.html);
    let expected = [
        "event streams that are missing: 1 (core-2.events)",
        "event streams that are empty: 1 (core-3.events)",
        "event streams that end within a record: 1",
        "events of unknown kinds, left out: 1",
    ];
    assert_eq!(data["runs"][0]["damage"], serde_json::json!(expected));
    assert_eq!(page.damage, expected);
}

#[test]
fn an_exploration_keeps_its_front_and_columns_that_are_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "id,policy,mapping,energy_mj,misses,pareto,surprise\n".to_owned();
    for n in 0..20_000 {
        let front = u32::from(n % 1000 == 999);
        table += &format!("{n},static,\"0,1\",{}.5,{},{front},x{n}\n", n % 77, n % 13);
    }
    fs::write(folder.path().join("explore.csv"), table).unwrap();
    let data = island(&page(&[folder.path()], &[]).unwrap().html);
    let found = &data["explorations"][0];
    let front = found["front"].as_array().unwrap();
    assert_eq!(front.iter().filter(|front| front.as_bool() == Some(true)).count(), 20);
    assert_eq!((front.len(), &found["all"]), (8020, &20_000.into()));
    for row in found["candidates"]["rows"].as_array().unwrap() {
        let id = row[0].as_f64().unwrap();
        let expected = serde_json::json!(["0,1", id % 77.0 + 0.5, id % 13.0]);
        assert_eq!([&row[2], &row[3], &row[4]], [&expected[0], &expected[1], &expected[2]]);
        assert_eq!(row[6], format!("x{id}"));
    }
}

#[test]
fn the_longest_runs_keep_events_around_what_happened_and_those_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..24).map(|n| format!("task{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = MadeUp { hardware: false, ..MadeUp::new(8, &names, 20_000) };
    let events = run.write(folder.path());
    assert!(events > 1_500_000, "{events}");
    let exact = |asked: &[std::ops::Range<u64>]| {
        let page = page(&[folder.path()], asked).unwrap().html;
        let (_, exact) = page.split_once("id=\"exact\">").unwrap();
        let size = exact.split_once('<').unwrap().0.len();
        (size, island(&page)["runs"][0]["events"]["timeline"].clone())
    };
    let (size, sampled) = exact(&[]);
    assert!((1 << 20..5 << 19).contains(&size), "{size}");
    assert_eq!(
        (&sampled["sampled"], &sampled["cores"]),
        (&true.into(), &serde_json::json!([0, 1, 2, 3, 4, 5, 6, 7]))
    );
    let (whole, all) = exact(std::slice::from_ref(&(0..u64::MAX)));
    assert!(whole > size, "{whole}");
    assert_eq!(all["sampled"], false);
    let levels = all["levels"].as_array().unwrap();
    let widths: Vec<u64> = levels.iter().map(|level| level["width_ns"].as_u64().unwrap()).collect();
    assert!(widths.windows(2).all(|pair| pair[1] == pair[0] * 4), "{widths:?}");
}

#[test]
fn a_stream_of_nonsense_takes_little_time_and_room() {
    let folder = tempfile::tempdir().unwrap();
    MadeUp::new(2, &PIPELINE, 100).write(folder.path());
    let stream = folder.path().join("core-1.events");
    let mut bytes = fs::read(&stream).unwrap();
    for (n, byte) in bytes.iter_mut().enumerate().skip(32 + 24 * 40) {
        *byte = (n * n * 31 % 251) as u8;
    }
    // A time at the end of the range, for a task that runs from then on or until then.
    for (record, at) in [(50, u64::MAX), (60, 1)] {
        bytes[32 + record * 24..][..8].copy_from_slice(&at.to_le_bytes());
        bytes[32 + record * 24 + 8..][..8].copy_from_slice(&[1, 0, 1, 0, 2, 0, 0, 0]);
    }
    fs::write(&stream, bytes).unwrap();
    let summary = folder.path().join("summary.json");
    let mut known: Value = serde_json::from_slice(&fs::read(&summary).unwrap()).unwrap();
    known["deaths"] =
        serde_json::json!([{ "core": 1, "detected_ns": u64::MAX }, { "core": "x" }, 7]);
    fs::write(&summary, known.to_string()).unwrap();
    let page = page(&[folder.path()], std::slice::from_ref(&(3..5))).unwrap();
    assert!(!page.damage.is_empty());
    assert!(page.html.len() < 1 << 20, "{}", page.html.len());
}

#[test]
fn folders_that_are_neither_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(page(&[folder.path()], &[]), Err(Error::Recorded(_))));
    let table = folder.path().join("explore.csv");
    fs::write(&table, "id,energy_mj\n1,2\n").unwrap();
    assert!(matches!(page(&[folder.path()], &[]), Err(Error::NoFront { .. })));
    fs::write(&table, "id,pareto\n1\n").unwrap();
    let error = page(&[folder.path()], &[]).unwrap_err();
    assert!(error.to_string().contains("explore.csv") && error.to_string().contains("line: 2"));
}
