// SPDX-License-Identifier: Apache-2.0
//! Value change dumps, parsed again.

use std::collections::BTreeMap;

use crate::common::{Folder, SLICES, anything, made_up, trace};
use proptest::prelude::*;
use vcd::{Command, Header, IdCode, Parser, Value};
use whimbrel_trace::Format;

/// The changes of a dump: when, which signal, to what.
type Changes = Vec<(u64, IdCode, String)>;

fn text(bits: impl Iterator<Item = Value>) -> String {
    bits.map(|bit| bit.to_string()).collect()
}

fn read(folder: &Folder) -> (Header, Changes) {
    let (bytes, _) = trace(folder, Format::Vcd);
    let mut parser = Parser::new(bytes.as_slice());
    let header = parser.parse_header().unwrap();
    let (mut changes, mut now_ns) = (Vec::new(), None);
    for command in parser {
        match command.unwrap() {
            Command::Timestamp(time_ns) => {
                assert!(now_ns < Some(time_ns), "time goes on");
                now_ns = Some(time_ns);
            }
            Command::ChangeVector(id, bits) => {
                changes.push((now_ns.unwrap(), id, text(bits.iter())));
            }
            Command::ChangeString(id, value) => changes.push((now_ns.unwrap(), id, value)),
            Command::ChangeScalar(id, bit) => {
                changes.push((now_ns.unwrap(), id, bit.to_string()));
            }
            Command::Begin(_) | Command::End(_) => {}
            other => panic!("{other:?} is no change"),
        }
    }
    (header, changes)
}

/// The changes of one signal.
fn signal(folder: &Folder, path: &[&str]) -> Vec<(u64, String)> {
    let (header, changes) = read(folder);
    let code = header.find_var(path).unwrap().code;
    let of_it = changes.into_iter().filter(|(_, id, _)| *id == code);
    of_it.map(|(at, _, value)| (at, value)).collect()
}

#[test]
fn a_core_says_which_task_it_runs_or_that_it_is_idle_or_asleep() {
    let folder = made_up();
    let said =
        |core: &str| -> Vec<(u64, String)> { signal(&folder, &["made_up", core, "running"]) };
    let wanted = [
        (0, "idle"),
        (100, "src"),
        (200, "dsp.0"),
        (300, "idle"),
        (310, "asleep"),
        (500, "src"),
        (600, "dsp.1"),
        (700, "idle"),
        (850, "dsp.1"),
        (900, "idle"),
        (910, "src"),
        (1500, "idle"),
    ];
    assert_eq!(said("core_0"), wanted.map(|(at, what)| (at, what.to_owned())));
    let wanted = [
        (0, "idle"),
        (0, "asleep"),
        (320, "idle"),
        (350, "dsp.0"),
        (400, "idle"),
        (1500, "src"),
        (1600, "idle"),
    ];
    assert_eq!(said("core_1"), wanted.map(|(at, what)| (at, what.to_owned())));
    let slices = SLICES.iter().filter(|(core, ..)| *core == 1).count();
    assert_eq!(
        wanted.iter().filter(|(_, what)| !["idle", "asleep"].contains(what)).count(),
        slices
    );
}

#[test]
fn numbers_are_unknown_until_their_first_value() {
    let folder = made_up();
    let of_core = |core: &str, name: &str| signal(&folder, &["made_up", core, name]);
    let change = |at: u64, value: &str| (at, value.to_owned());
    let unknown = || change(0, "x");
    let frequency = [unknown(), change(0, &format!("{:b}", 200_000))];
    assert_eq!(of_core("core_0", "frequency_khz"), frequency);
    assert_eq!(of_core("core_1", "frequency_khz"), [unknown()]);
    let temperature = [unknown(), change(420, &format!("{:b}", -5000_i32))];
    assert_eq!(of_core("core_1", "temperature_millidegrees"), temperature);
    assert_eq!(of_core("core_0", "deadline_missed"), [change(550, "1")]);
    let depths = [unknown(), change(150, "1"), change(250, "0")];
    assert_eq!(signal(&folder, &["made_up", "channels", "link"]), depths);
}

proptest! {
    #[test]
    fn whatever_was_recorded_a_dump_is_parsed_and_each_change_is_of_a_declared_signal(
        run in anything(),
    ) {
        let (header, changes) = read(&run.folder());
        let mut declared = BTreeMap::new();
        let vcd::ScopeItem::Scope(top) = &header.items[0] else { panic!("a scope") };
        for scope in &top.items {
            let vcd::ScopeItem::Scope(scope) = scope else { panic!("a scope") };
            for item in &scope.items {
                let vcd::ScopeItem::Var(var) = item else { panic!("a signal") };
                prop_assert!(declared.insert(var.code, var.reference.clone()).is_none());
            }
        }
        for (_, id, _) in changes {
            prop_assert!(declared.contains_key(&id));
        }
    }
}
