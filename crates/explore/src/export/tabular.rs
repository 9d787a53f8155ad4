// SPDX-License-Identifier: Apache-2.0
//! Every candidate that ran as CSV, and the best of each frame rate as a table for the `table`
//! policy.

use std::fmt::Write as _;
use std::io::{self, Write};

use whimbrel_text::thousandths;

use crate::candidate::Candidate;
use crate::result::Exploration;
use crate::system::{Channel, System};
use crate::text::{Words, megahertz};

/// The columns of a result.
pub(super) const COLUMNS: [&str; 17] = [
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
    "power_mw",
    "energy_per_frame_mj",
    "energy_per_task_mj",
    "time_ms",
    "frames",
    "pareto",
];

/// Writes `explore.csv`.
///
/// # Errors
/// It cannot be written.
pub fn csv(system: &System, exploration: &Exploration, out: impl Write) -> io::Result<()> {
    let words = Words(system);
    let or_empty = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for entry in exploration.entries() {
        let entry = entry?;
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
            or_empty(outcome.latency_ms),
            outcome.cores.to_string(),
            or_empty(outcome.power_mw()),
            or_empty(outcome.energy_per_frame_mj()),
            or_empty(outcome.energy_per_task_mj()),
            outcome.time_ms.to_string(),
            outcome.frames.to_string(),
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
        match &rate.best {
            Some(best) => {
                let energy = format!("  # {:.3} mJ", best.outcome.energy_mj);
                text += &row(system, &best.candidate, &energy);
            }
            None => without.push(rate.rate_millihz),
        }
    }
    let head = format!(
        "# SPDX-License-Identifier: Apache-2.0\n\
         # {} on {}: for each frame rate the mapping and the frequencies that\n\
         # keep every deadline with the least energy, found by `whimbrel explore`.\n",
        system.app, system.platform
    );
    ((!text.is_empty()).then(|| head + &text), without)
}

/// A candidate as a row of such a table, with a comment. Slots and channels are the application's:
/// what the candidate has of others is named.
fn row(system: &System, candidate: &Candidate, comment: &str) -> String {
    let words = Words(system);
    let mut text = format!(
        "\n[[row]]\nframe_rate = {}{comment}\nmapping = {{ {} }}\nfrequency_mhz = [{}]\n",
        thousandths(candidate.rate_millihz),
        mapping(system, candidate),
        frequencies(system, candidate),
    );
    let own = |of: &Channel| (of.slots, of.way);
    let chosen = candidate.slots.iter().copied().zip(candidate.ways.iter().copied());
    if !system.channels.iter().map(own).eq(chosen) {
        let (slots, ways) = (words.slots(candidate), words.ways(candidate));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# with these in the app.toml: slots {slots} {ways}");
    }
    text
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

fn frequencies(system: &System, candidate: &Candidate) -> String {
    let words = Words(system);
    let one = |core: usize| match candidate.available[core] {
        true => megahertz(words.hz(candidate, core)),
        false => "\"off\"".to_owned(),
    };
    (0..system.cores.len()).map(one).collect::<Vec<_>>().join(", ")
}
