// SPDX-License-Identifier: Apache-2.0
//! Other systems side by side: what `bench/peers/run` prints, as rows.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Map;
use whimbrel_model::Problem;
use whimbrel_run::benchmark::{BenchRow, lines_of_command, parse};
use whimbrel_run::failure::{Failure, say};
use whimbrel_run::helpers;
use whimbrel_run::load::usable_cpus;

/// A system measured side by side.
#[derive(Debug, Clone, Deserialize)]
pub struct Peer {
    /// Its name and version.
    pub peer: String,
    /// What it does in a second; `None`: it was not measured.
    #[serde(alias = "samples_per_s", alias = "events_per_s")]
    pub rate: Option<f64>,
    /// Or what a call or a switch takes, in nanoseconds.
    #[serde(alias = "call_ns", alias = "switch_ns")]
    pub ns: Option<f64>,
    /// How to get it, if it is not there.
    pub missing: Option<String>,
}

impl Peer {
    /// Says why there is no rate.
    pub fn excuse(&self) {
        let why = self.missing.as_deref().unwrap_or("it gave no result");
        say(&format!("{} was not measured: {why}", self.peer));
    }
}

/// The processor that peers run on.
///
/// # Errors
/// Linux does not say which ones this process may use.
pub fn cpu() -> Result<u32, Failure> {
    Ok(usable_cpus()?.last().copied().unwrap_or(0))
}

/// Measures the peers of a group.
///
/// # Errors
/// They are not where the source tree has them, or fail.
pub fn measured(group: &str, more: &[&str]) -> Result<Vec<Peer>, Failure> {
    let program = program()?;
    let cpu = cpu()?.to_string();
    let fixed = ["--cpu", &cpu, "--group", group, "--json"];
    let options: Vec<OsString> = fixed.iter().chain(more).map(OsString::from).collect();
    let text = lines_of_command(&program, &options)?.join("\n");
    Ok(parse(&program, &text)?)
}

/// Where the peers are: in the source tree that the helpers were built in.
fn program() -> Result<PathBuf, Failure> {
    let path = helpers::root()?.join("bench/peers/run");
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("--peers: {} does not exist", path.display());
    Err(Problem::new(message).help("run this command from the bin folder of a source tree").into())
}

/// Rows of the same radio in other systems, each against ours on one core.
///
/// # Errors
/// As [`measured`].
pub fn radio(ours: &[BenchRow]) -> Result<Vec<BenchRow>, Failure> {
    let one_core = ours.iter().find(|row| row.bench == "fm_radio.one_core");
    let our_rate = one_core.and_then(|row| row.rest.get("p50")?.as_f64());
    let found = measured("fm_radio", &[])?;
    Ok(rows("fm_radio.one_core", "samples/s", our_rate, &found))
}

/// Rows of what takes `bench` its time in other systems: those of a group.
///
/// # Errors
/// As [`measured`].
pub fn times(group: &str, bench: &str, ours: &[BenchRow]) -> Result<Vec<BenchRow>, Failure> {
    let own = ours.iter().find(|row| row.bench == bench);
    let our_ns = own.and_then(|row| row.rest.get("p50")?.as_f64());
    let mut rows = Vec::new();
    for peer in measured(group, &[])? {
        let Some(ns) = peer.ns else {
            peer.excuse();
            continue;
        };
        let mut row = row([bench, "ns"], our_ns, &peer.peer, ns);
        row.rest.insert("ratio".into(), our_ns.map(|ours| ns / ours).into());
        rows.push(row);
    }
    Ok(rows)
}

/// A row for each peer that has a rate.
pub fn rows(bench: &str, unit: &str, ours: Option<f64>, peers: &[Peer]) -> Vec<BenchRow> {
    let mut rows = Vec::new();
    for peer in peers {
        match peer.rate {
            Some(rate) => rows.push(row([bench, unit], ours, &peer.peer, rate)),
            None => peer.excuse(),
        }
    }
    rows
}

fn row([bench, unit]: [&str; 2], ours: Option<f64>, peer: &str, rate: f64) -> BenchRow {
    let mut rest = Map::new();
    rest.insert("p50".into(), ours.into());
    rest.insert("against".into(), peer.into());
    rest.insert("against_p50".into(), rate.into());
    rest.insert("ratio".into(), ours.map(|ours| ours / rate).into());
    BenchRow { bench: bench.into(), unit: unit.into(), rest }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_peer_is_compared_with_our_rate() {
        let names = ["fm_radio.one_core", "samples/s"];
        assert_eq!(row(names, Some(3e6), "gnuradio", 2e6).rest["ratio"], 1.5);
        assert_eq!(row(names, None, "gnuradio", 2e6).rest["ratio"], Value::Null);
    }

    #[test]
    fn a_rate_is_read_whatever_it_counts() {
        for text in [
            r#"{"peer": "simpy", "events_per_s": 5}"#,
            r#"{"peer": "gnuradio", "samples_per_s": 5}"#,
        ] {
            assert_eq!(serde_json::from_str::<Peer>(text).unwrap().rate, Some(5.0));
        }
    }

    #[test]
    fn a_missing_peer_has_no_row() {
        let text = r#"[{"peer": "a", "missing": "make"}, {"peer": "b", "events_per_s": 5}]"#;
        let peers: Vec<Peer> = serde_json::from_str(text).unwrap();
        let rows = rows("sim.pipeline", "events/s", Some(10.0), &peers);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].rest["against"], "b");
    }
}
