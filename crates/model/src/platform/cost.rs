// SPDX-License-Identifier: Apache-2.0
//! What actions cost: `[costs.send]` and the like.

use toml::de::DeTable;
use whimbrel_hardware::{Cost, Costs};

use super::units::{US, between, source, us};
use crate::problem::{Problem, Span};
use crate::reader::{Node, Reader, subtable};

const CYCLES: &str = "a number of cycles, from 0 to 1e15";

/// Reads `[costs]`. What it does not name costs nothing.
pub(super) fn read_all(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Costs {
    let mut reader = Reader::new("[costs]", table, place, problems);
    let others =
        ["switch", "clock", "copy", "load", "interrupt", "send_internal", "receive_internal"];
    let found = Costs::ACTIONS.into_iter().chain(others).map(|key| {
        let wanted = "a table with the action's cost";
        (key, reader.optional(key, wanted, subtable))
    });
    let found: Vec<_> = found.collect();
    reader.finish(());
    let mut costs = found.into_iter().map(|(key, table)| {
        let read = |table: &DeTable<'_>, place, problems: &mut _| {
            read(&format!("[costs.{key}]"), table, place, problems)
        };
        table.map(|table| read(table.get_ref(), table.span(), problems))
    });
    let actions = costs.by_ref().take(Costs::ACTIONS.len()).map(Option::unwrap_or_default);
    let actions = actions.collect();
    let [switch, clock, copy, load, interrupt] =
        std::array::from_fn(|_| costs.next().flatten().unwrap_or_default());
    let [send_internal, receive_internal] = std::array::from_fn(|_| costs.next().flatten());
    Costs { actions, switch, clock, copy, load, interrupt, send_internal, receive_internal }
}

/// Reads one cost; where something is wrong with it, what it would be without that.
pub(super) fn read(
    title: &str,
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Cost {
    let mut reader = Reader::new(title, table, place.clone(), problems);
    let cycles = |n: &Node<'_>| between(n, 0.0, 1e15);
    let cost = Cost {
        cycles: reader.or("cycles", CYCLES, cycles, 0.0),
        cycles_per_unit: reader.or("cycles_per_unit", CYCLES, cycles, 0.0),
        ps: reader.or("time_us", US, us, 0),
    };
    source(&mut reader);
    reader.finish(());
    let keys = ["cycles", "cycles_per_unit", "time_us"];
    if !keys.iter().any(|key| table.contains_key(*key)) {
        let problem = Problem::new(format!("{title} states no cost")).at(place, "this one");
        problems.push(problem.help("add `cycles`, `cycles_per_unit` or `time_us`"));
    }
    cost
}
