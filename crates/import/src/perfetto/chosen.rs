// SPDX-License-Identifier: Apache-2.0
//! Which threads of a trace are meant.

use std::collections::BTreeMap;

use whimbrel_trace::linux::{Recording, Tid, What};

use crate::notes::Notes;
use whimbrel_model::{Problem, nearest};

/// How many threads are named to who has chosen none.
const SHOWN: usize = 12;

/// The threads of these names or numbers, with what each is called; `None`: something is refused.
pub(super) fn threads(
    recording: &Recording,
    wanted: &[String],
    notes: &mut Notes,
) -> Option<BTreeMap<Tid, String>> {
    let mut chosen = BTreeMap::new();
    let known = || recording.names.iter().filter(|(tid, _)| **tid != 0);
    for wanted in wanted {
        let number = wanted.parse::<Tid>().ok();
        let mut named = known()
            .filter(|(tid, names)| number == Some(**tid) || names.iter().any(|name| name == wanted))
            .peekable();
        if named.peek().is_none() {
            let problem = Problem::new(format!("no thread of the trace is called `{wanted}`"));
            let names = known().flat_map(|(_, names)| names.iter().map(String::as_str));
            notes.refuse(match nearest(wanted, names) {
                Some(meant) => problem.help(format!("write `{meant}`")),
                None => problem.help(busiest(recording)),
            });
        }
        chosen.extend(named.map(|(tid, names)| (*tid, names.last().unwrap_or(wanted).clone())));
    }
    if wanted.is_empty() {
        let problem = Problem::new("the threads of the application are not given");
        let how = "name them: `whimbrel import TRACE --threads a,b -o app.toml`";
        notes.refuse(problem.help(format!("{how}; {}", busiest(recording))));
    }
    notes.problems.is_empty().then_some(chosen)
}

/// The threads that ran for the longest time.
fn busiest(recording: &Recording) -> String {
    let mut since: BTreeMap<u32, u64> = BTreeMap::new();
    let mut ran: BTreeMap<Tid, u64> = BTreeMap::new();
    for event in &recording.events {
        if let What::Switch { from, .. } = event.what {
            if let Some(start) = since.insert(event.cpu, event.time_ns) {
                *ran.entry(from).or_default() += event.time_ns.saturating_sub(start);
            }
        }
    }
    let mut ran: Vec<(Tid, u64)> = ran.into_iter().filter(|(tid, _)| *tid != 0).collect();
    ran.sort_by_key(|(tid, ns)| (std::cmp::Reverse(*ns), *tid));
    let shown = ran.iter().take(SHOWN).map(|(tid, ns)| {
        let name = recording.names.get(tid).and_then(|names| names.last());
        format!("{} ({tid}) {} ms", name.map_or("?", String::as_str), ns / 1_000_000)
    });
    let shown: Vec<String> = shown.collect();
    match shown.len() {
        0 => "it has no `sched_switch`: record the category `sched`".into(),
        _ => format!("the busiest are {}", shown.join(", ")),
    }
}
