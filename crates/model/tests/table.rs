// SPDX-License-Identifier: Apache-2.0
//! The table of the table policy: what it becomes, and what a person is told who got it wrong.

use crate::common::{RADIO, build, radio_with, shown, told};
use insta::assert_snapshot;
use whimbrel_model::{POINT_OFF, Problems, Table, TableRow};

const TABLE: &str = r"
[[row]]
frame_rate = 450
mapping = { bpf = [0, 1], lpf = 1 }

[[row]]
frame_rate = 900.5
mapping = { bpf = 1 }
frequency_mhz = [500, 133.3]
";

/// The operating points of two cores.
fn points() -> Vec<Vec<u64>> {
    vec![vec![100_000_000, 500_000_000], vec![100_000_000, 133_300_000, 500_000_000]]
}

fn rows(text: &str, points: &[Vec<u64>]) -> Result<Vec<TableRow>, Problems> {
    Table::parse(text)?.rows(&build(RADIO, &[]).unwrap(), points)
}

/// What a person sees of a table with one text of it replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(TABLE.contains(from), "{from}");
    let text = TABLE.replacen(from, to, 1);
    shown("table.toml", &text, rows(&text, &points()).expect_err(to))
}

#[test]
fn a_row_names_a_point_for_each_core_and_a_core_for_each_task() {
    // lpf, bpf 0, bpf 1, sink: those that a row does not name start where the file says.
    let first = TableRow { rate_millihz: 450_000, points: vec![1, 2], cores: vec![1, 0, 1, 0] };
    let second = TableRow { rate_millihz: 900_500, points: vec![1, 1], cores: vec![0, 1, 1, 0] };
    assert_eq!(rows(TABLE, &points()).unwrap(), [first, second]);
}

#[test]
fn one_frequency_holds_for_all_cores() {
    let text = TABLE.replace("[500, 133.3]", "100");
    assert_eq!(rows(&text, &points()).unwrap()[1].points, [0, 0]);
}

#[test]
fn a_core_without_tasks_may_be_off() {
    let all = "mapping = { bpf = 0, lpf = 0 }\nfrequency_mhz = [100, \"off\"]";
    let text = TABLE.replace("mapping = { bpf = 1 }\nfrequency_mhz = [500, 133.3]", all);
    assert_eq!(rows(&text, &points()).unwrap()[1].points, [0, POINT_OFF]);
    let said = refusal("133.3", "\"off\"");
    assert!(said.contains("core 1 is off, and `bpf.0` belongs on it"), "{said}");
    assert!(refusal("[500, 133.3]", "\"off\"").contains("must be a frequency in MHz"));
}

#[test]
fn the_row_of_a_rate_is_the_first_that_is_not_below_it_or_the_last() {
    let rows = rows(TABLE, &points()).unwrap();
    let at = |millihz| TableRow::at(&rows, millihz).map(|row| row.rate_millihz);
    assert_eq!(
        [1, 450_000, 450_001, 2_000_000].map(at),
        [450_000, 450_000, 900_500, 900_500].map(Some)
    );
    assert_eq!(TableRow::at(&[], 1), None);
}

#[test]
fn without_known_frequencies_the_one_point_of_a_core_is_its_first() {
    let text = TABLE.replace("frequency_mhz = [500, 133.3]", "");
    let rows = rows(&text, &[vec![], vec![]]).unwrap();
    assert_eq!((&rows[0].points, &rows[1].points), (&vec![0, 0], &vec![0, 0]));
}

#[test]
fn each_rule_of_a_table_has_its_own_refusal() {
    let cases = [
        ("[500, 133.3]", "[500]\nfrequency = 1", "[[row]] has no key `frequency`"),
        ("[500, 133.3]", "[500, 100, 100]", "3 frequencies for 2 cores"),
        ("[500, 133.3]", "-1", "`frequency_mhz` of [[row]] must be a frequency in MHz"),
        ("133.3", "133.4", "core 1 has no operating point of 133.4 MHz"),
        ("133.3", "133.4", "it has points of 100, 133.3, 500 MHz"),
        ("frame_rate = 450", "", "[[row]] has no `frame_rate`"),
        ("900.5", "450.0001", "the frame rates of a table ascend"),
        ("450", "0", "`frame_rate` of [[row]] must be frames per second, from 0.001 to 1e9"),
        ("[0, 1]", "[0, 1, 0]", "`bpf` has 3 cores for 2 tasks"),
        ("[0, 1]", "\"0\"", "`mapping` of [[row]] must be a table"),
        ("lpf = 1", "lpf = 2", "core 2 does not exist"),
        ("lpf = 1", "sink = 1", "`sink` may not move, and starts on core 0"),
    ];
    for (from, to, expected) in cases {
        let said = refusal(from, to).replace(['\n', '│'], " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{to}: {said}");
    }
    assert!(told(&rows("[[row]", &points()).unwrap_err()).contains("not TOML"));
    assert!(told(&rows("", &points()).unwrap_err()).contains("no `row`"));
    let unknown = told(&rows(TABLE, &[vec![], vec![]]).unwrap_err());
    assert!(unknown.contains("core 0 has no operating point of 500 MHz"), "{unknown}");
}

#[test]
fn what_is_written_once_is_refused_once() {
    for (from, to) in [("[500, 133.3]", "7"), ("[0, 1]", "2")] {
        let said = refusal(from, to);
        assert_eq!(said.matches("  × ").count(), 1, "{said}");
    }
}

#[test]
fn a_pinned_task_may_be_named_where_it_is() {
    let text = TABLE.replace("lpf = 1", "sink = 0");
    assert_eq!(rows(&text, &points()).unwrap()[0].cores[3], 0);
    let app = build(&radio_with("migratable = false", "core = 1"), &[]).unwrap();
    let rows = Table::parse(TABLE).unwrap().rows(&app, &points()).unwrap();
    assert_eq!(rows[0].cores[3], 1);
}

#[test]
fn a_task_that_does_not_exist_is_shown_with_the_one_that_was_meant() {
    assert_snapshot!(refusal("bpf = [0, 1]", "bfp = [0, 1]"));
}

#[test]
fn rates_that_do_not_ascend_are_shown_side_by_side() {
    assert_snapshot!(refusal("900.5", "450"));
}
