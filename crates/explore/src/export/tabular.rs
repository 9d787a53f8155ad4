// SPDX-License-Identifier: Apache-2.0
//! Every candidate that ran as CSV, and the best of each frame rate as a table for the `table`
//! policy.

use std::fmt::Write as _;
use std::io::{self, Write};

use whimbrel_text::thousandths;

use crate::candidate::Candidate;
use crate::result::Exploration;
use crate::system::System;
use crate::text::{Words, megahertz};

/// The columns of a result.
pub(super) const COLUMNS: [&str; 12] = [
    "id",
    "policy",
    "mapping",
    "points",
    "slots",
    "channels",
    "rate",
    "energy_mj",
    "misses",
    "latency_ms",
    "cores",
    "pareto",
];

/// Writes `explore.csv`.
///
/// # Errors
/// It cannot be written.
pub fn csv(system: &System, exploration: &Exploration, out: impl Write) -> io::Result<()> {
    let words = Words(system);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for entry in exploration.entries() {
        let (candidate, outcome) = (&entry.candidate, &entry.outcome);
        writer.write_record([
            entry.id.to_string(),
            candidate.policy.clone(),
            words.mapping(candidate),
            words.points(candidate),
            words.slots(candidate),
            words.ways(candidate),
            words.rate(candidate),
            outcome.energy_mj.to_string(),
            outcome.misses.to_string(),
            outcome.latency_ms.map(|ms| ms.to_string()).unwrap_or_default(),
            outcome.cores.to_string(),
            entry.pareto.to_string(),
        ])?;
    }
    writer.flush()
}

/// The table of the `table` policy: for each frame rate what keeps every deadline with the least
/// energy, of what the policy `static` found; and the rates of which nothing does. `None`: there is
/// no row at all.
pub fn table(system: &System, exploration: &Exploration) -> (Option<String>, Vec<u64>) {
    let (mut text, mut without) = (String::new(), Vec::new());
    for rate in exploration.rates.iter().filter(|rate| rate.rate_millihz > 0) {
        match rate.best() {
            Some(best) => {
                let candidate = &best.candidate;
                let energy = best.outcome.energy_mj;
                // Writing to a String cannot fail.
                let _ = write!(
                    text,
                    "\n[[row]]\nframe_rate = {}  # {energy:.3} mJ\nmapping = {{ {} }}\n\
                     frequency_mhz = [{}]\n",
                    thousandths(rate.rate_millihz),
                    mapping(system, candidate),
                    frequencies(system, candidate),
                );
            }
            None => without.push(rate.rate_millihz),
        }
    }
    let head = format!(
        "# SPDX-License-Identifier: Apache-2.0\n\
         # {} on {}: for each frame rate the mapping and the frequencies that\n\
         # keep every deadline with the least energy, as `whimbrel explore` found them.\n",
        system.app, system.platform
    );
    ((!text.is_empty()).then(|| head + &text), without)
}

fn mapping(system: &System, candidate: &Candidate) -> String {
    let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
    for (task, core) in system.tasks.iter().zip(&candidate.mapping) {
        match groups.last_mut().filter(|(name, _)| *name == task.name) {
            Some((_, cores)) => cores.push(*core),
            None => groups.push((&task.name, vec![*core])),
        }
    }
    let one = |(name, cores): (&str, Vec<u32>)| match &cores[..] {
        [core] => format!("{name} = {core}"),
        _ => format!("{name} = {cores:?}"),
    };
    groups.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A core without a task is at its lowest point.
fn frequencies(system: &System, candidate: &Candidate) -> String {
    let words = Words(system);
    let mhz = (0..system.cores.len()).map(|core| megahertz(words.hz(candidate, core)));
    mhz.collect::<Vec<_>>().join(", ")
}
