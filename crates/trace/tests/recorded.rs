// SPDX-License-Identifier: Apache-2.0
//! Reading recorded runs: whole ones, those of killed runs, and whatever else lies in a folder.

use std::fs;

use crate::common::{Folder, header, of, on};
use proptest::prelude::*;
use serde_json::json;
use whimbrel_trace::{Error, Event, Kind, Oddities, Recorded};

fn all(run: &Recorded) -> Vec<Event> {
    run.merged().map(Result::unwrap).collect()
}

fn refusal(folder: &Folder) -> String {
    let error = Recorded::open(folder.path()).unwrap_err().to_string();
    error.replace(folder.path().to_str().unwrap(), "HERE")
}

#[test]
fn a_run_has_the_events_of_each_core_and_what_its_summary_says() {
    let folder = Folder::new();
    let (first, second) = (of(1000, 0, Kind::Run, 1), on(1001, 10, Kind::Sleep, 0));
    folder.record(0, &[first]).record(10, &[second]).sum_up(&[("bpf", 0), ("bpf", 1)], &[]);
    let run = Recorded::open(folder.path()).unwrap();
    assert_eq!(run.cores().collect::<Vec<_>>(), [0, 10]);
    assert_eq!((run.records(), run.start_ns()), (2, 1000));
    assert_eq!(run.events(10).unwrap().map(Result::unwrap).collect::<Vec<_>>(), [second]);
    assert!(run.events(1).is_none());
    let summary = run.summary.as_ref().unwrap();
    assert_eq!((summary.app.name.as_str(), summary.tasks[1].index), ("made up", 1));
    assert_eq!(summary.raw["app"]["name"], "made up");
}

#[test]
fn events_of_one_time_come_in_the_order_of_their_cores_and_records() {
    let folder = Folder::new();
    let at = |time_ns, core, task| of(time_ns, core, Kind::Run, task);
    folder.record(1, &[at(5, 1, 0), at(5, 1, 1), at(9, 1, 2)]);
    folder.record(0, &[at(4, 0, 3), at(5, 0, 4), at(5, 0, 5)]);
    let tasks: Vec<u32> =
        all(&Recorded::open(folder.path()).unwrap()).iter().map(|event| event.task).collect();
    assert_eq!(tasks, [3, 4, 5, 0, 1, 2]);
}

#[test]
fn a_killed_run_is_read_as_far_as_it_was_written() {
    let folder = Folder::new();
    let whole = of(7, 0, Kind::Run, 0);
    folder.record(0, &[whole, of(8, 0, Kind::Block, 0)]).record(1, &[]);
    let bytes = fs::read(folder.stream(0)).unwrap();
    fs::write(folder.stream(0), &bytes[..bytes.len() - 1]).unwrap();
    fs::write(folder.stream(1), &header(1)[..20]).unwrap();
    fs::write(folder.stream(2), "").unwrap();
    let run = Recorded::open(folder.path()).unwrap();
    assert!(run.summary.is_none());
    assert_eq!(run.start_ns(), 1000);
    let mut merged = run.merged();
    assert_eq!(merged.by_ref().map(Result::unwrap).collect::<Vec<_>>(), [whole]);
    assert_eq!(merged.oddities(), Oddities { cut: 2, ..Oddities::default() });
    assert_eq!(run.empty(), [2]);
}

/// The lines about a run from which nothing was left out.
fn damage(folder: &Folder) -> Vec<String> {
    Recorded::open(folder.path()).unwrap().damage(&Oddities::default())
}

#[test]
fn streams_that_are_missing_or_empty_are_named() {
    let folder = Folder::new();
    folder.record(0, &[]).record(2, &[]);
    let killed = "the run was killed: it has no summary, so tasks and channels have no names";
    let gap = "event streams that are missing: 1 (core-1.events)";
    assert_eq!(damage(&folder), [killed, gap]);
    let cores = [0, 1, 2, 3].map(|core| json!({ "core": core }));
    let summary = json!({ "version": 1, "cores": cores, "dropped_events": 7 });
    fs::write(folder.path().join("summary.json"), summary.to_string()).unwrap();
    fs::write(folder.stream(2), "").unwrap();
    let lines = [
        "event streams that are missing: 2 (core-1.events, core-3.events)",
        "event streams that are empty: 1 (core-2.events)",
        "events that were not recorded, for lack of time: 7",
    ];
    assert_eq!(damage(&folder), lines);
}

#[test]
fn records_that_cannot_be_understood_are_skipped_and_counted() {
    let folder = Folder::new();
    let good = of(7, 0, Kind::Run, 0);
    folder.record(0, &[good, of(8, 1, Kind::Run, 0), good]);
    let mut bytes = fs::read(folder.stream(0)).unwrap();
    bytes[32 + 8] = 99;
    fs::write(folder.stream(0), bytes).unwrap();
    let mut merged = Recorded::open(folder.path()).unwrap().merged();
    assert_eq!(merged.by_ref().count(), 1);
    assert_eq!(merged.oddities(), Oddities { unknown: 1, damaged: 1, ..Oddities::default() });
}

#[test]
fn an_event_that_goes_back_in_time_gets_the_time_of_the_one_before() {
    let folder = Folder::new();
    folder.record(0, &[of(7, 0, Kind::Run, 0), of(6, 0, Kind::Run, 1), of(8, 0, Kind::Run, 2)]);
    let mut events = Recorded::open(folder.path()).unwrap().events(0).unwrap();
    let times: Vec<u64> = events.by_ref().map(|event| event.unwrap().time_ns).collect();
    assert_eq!(times, [7, 7, 8]);
    assert_eq!(events.oddities().late, 1);
}

#[test]
fn a_task_pauses_before_the_next_one_runs() {
    let folder = Folder::new();
    let (next, blocks) = (of(7, 0, Kind::Run, 1), of(7, 0, Kind::Block, 0));
    let (again, parks) = (of(9, 0, Kind::Run, 0), of(9, 0, Kind::Park, 1));
    // One that pauses as soon as it ran, and one that pauses later, are as they were recorded.
    let short = [of(10, 0, Kind::Run, 2), of(10, 0, Kind::End, 2)];
    let later = [of(11, 0, Kind::Run, 3), of(12, 0, Kind::Ready, 0)];
    folder.record(0, &[&[next, blocks, again, parks][..], &short, &later].concat());
    let wanted = [&[blocks, next, parks, again][..], &short, &later].concat();
    assert_eq!(all(&Recorded::open(folder.path()).unwrap()), wanted);
}

#[test]
fn what_is_no_run_is_refused_with_its_name() {
    let folder = Folder::new();
    let nothing = "HERE is not the folder of a recorded run: no core-N.events is in it";
    assert_eq!(refusal(&folder), nothing);
    fs::write(folder.path().join("core-x.events"), "").unwrap();
    fs::write(folder.path().join("core-00.events"), "").unwrap();
    assert_eq!(refusal(&folder), nothing);
    let missing = Recorded::open(folder.path().join("nowhere")).unwrap_err().to_string();
    assert!(missing.contains("nowhere cannot be read: No such file"), "{missing}");
}

#[test]
fn a_stream_of_another_format_is_refused_with_what_is_wrong() {
    let folder = Folder::new();
    let said = |at: usize, byte: u8| {
        let mut bytes = header(0);
        bytes[at] = byte;
        fs::write(folder.stream(0), bytes).unwrap();
        refusal(&folder)
    };
    let wrong = |why: &str| format!("HERE/core-0.events is not an event stream: {why}");
    assert_eq!(said(0, b'X'), wrong("it does not begin with `WBEVENTS`"));
    assert_eq!(said(8, 2), wrong("its version is 2, and only 1 is known"));
    assert_eq!(said(12, 32), wrong("its records have 32 bytes instead of 24"));
    assert_eq!(said(16, 3), wrong("it says that it is of core 3"));
}

#[test]
fn a_summary_of_another_format_is_refused_with_what_is_wrong() {
    let folder = Folder::new();
    folder.record(0, &[]);
    let said = |text: &str| {
        fs::write(folder.path().join("summary.json"), text).unwrap();
        refusal(&folder)
    };
    let wrong = "HERE/summary.json is not the summary of a run: ";
    assert!(said("{").starts_with(&format!("{wrong}EOF")));
    assert_eq!(said("{}"), format!("{wrong}its version is missing, and only 1 is known"));
    assert_eq!(said(r#"{"version": 2}"#), format!("{wrong}its version is 2, and only 1 is known"));
    assert!(said(r#"{"version": 1, "tasks": 7}"#).starts_with(wrong));
}

#[test]
fn a_stream_that_vanishes_while_it_is_read_is_an_error_and_then_the_end() {
    let folder = Folder::new();
    folder.record(0, &[of(7, 0, Kind::Run, 0)]);
    let run = Recorded::open(folder.path()).unwrap();
    fs::remove_file(folder.stream(0)).unwrap();
    let mut merged = run.merged();
    assert!(matches!(merged.next(), Some(Err(Error::Read { .. }))));
    assert!(merged.next().is_none());
}

/// Events of a core in the order of their times, more than are read at once.
fn events(core: u32) -> impl Strategy<Value = Vec<Event>> {
    // Without `run`, which may change places with what follows it.
    let one = (0_u64..3, 1..Kind::ALL.len(), 0_u32..9, any::<u32>());
    prop::collection::vec(one, 0..3000).prop_map(move |steps| {
        let mut time_ns = 0;
        let event = |(step, kind, object, value): (u64, usize, u32, u32)| {
            time_ns += step;
            Event { time_ns, kind: Kind::ALL[kind], core, task: object, object, value }
        };
        steps.into_iter().map(event).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merged_events_are_those_of_all_cores_sorted_by_time_core_and_position(
        first in events(0), second in events(1), third in events(2),
    ) {
        let folder = Folder::new();
        folder.record(0, &first).record(1, &second).record(2, &third);
        let mut wanted = [first, second, third].concat();
        wanted.sort_by_key(|event| (event.time_ns, event.core));
        prop_assert_eq!(all(&Recorded::open(folder.path()).unwrap()), wanted);
    }

    #[test]
    fn whatever_bytes_follow_a_header_are_events_in_order_or_are_counted(
        mut bytes in prop::collection::vec(any::<u8>(), 0..4000), kinds in any::<bool>(),
    ) {
        if kinds {
            // Otherwise nearly every record would be of an unknown kind.
            for record in bytes.chunks_exact_mut(24) {
                record[8] %= 19;
                record[9..12].fill(0);
                record[14..16].fill(0);
                record[18..20].fill(0);
            }
        }
        let folder = Folder::new();
        let file: Vec<u8> = header(0).into_iter().chain(bytes.iter().copied()).collect();
        fs::write(folder.stream(0), file).unwrap();
        let mut stream = Recorded::open(folder.path()).unwrap().events(0).unwrap();
        let read: Vec<Event> = stream.by_ref().map(Result::unwrap).collect();
        let odd = stream.oddities();
        let records = (bytes.len() / 24) as u64;
        prop_assert_eq!(read.len() as u64 + odd.unknown + odd.damaged, records);
        prop_assert_eq!(odd.cut, u64::from(bytes.len() % 24 != 0));
        prop_assert!(read.is_sorted_by_key(|event| event.time_ns));
    }

    #[test]
    fn whatever_bytes_a_stream_has_it_is_refused_or_read(
        bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0..32_usize,
    ) {
        let folder = Folder::new();
        fs::write(folder.stream(0), &bytes).unwrap();
        let _ = Recorded::open(folder.path()).map(|run| run.merged().count());
        let mut damaged = header(0);
        damaged[at] = bytes.first().copied().unwrap_or(0);
        fs::write(folder.stream(0), damaged).unwrap();
        if let Ok(run) = Recorded::open(folder.path()) {
            prop_assert_eq!(run.merged().count(), 0);
        }
    }
}
