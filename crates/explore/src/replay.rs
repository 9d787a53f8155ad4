// SPDX-License-Identifier: Apache-2.0
//! One candidate from the files of a result, with the settings that it ran with: all that is needed
//! to run it once more.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::candidate::Candidate;
use crate::export::VERSION;
use crate::restore::restored;
use crate::settings::Settings;
use crate::store::StoreError;
use crate::system::System;
use crate::text::{Words, megahertz};

/// The file that has the settings of the tables beside it.
const SUMMARY: &str = "front.json";

/// A candidate in the words of the options.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// Its number.
    pub id: u64,
    /// The policy.
    pub policy: String,
    /// The core of each task.
    pub mapping: String,
    /// The megahertz of each core.
    pub points: String,
    /// The slots of channels.
    pub slots: String,
    /// How messages go through channels.
    pub channels: String,
    /// Frames per second; empty: there is no rate.
    pub rate: String,
}

/// A candidate as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// In words.
    Row(Row),
    /// In numbers of a system.
    Candidate(Candidate),
}

/// All that is needed to run a candidate once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// What it ran with.
    pub settings: Settings,
    /// The candidate.
    pub found: Found,
}

/// Why there is nothing to run.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is no result, or a damaged one.
    #[error("is not a result of an exploration: {0}")]
    Other(String),
    /// It is of another version.
    #[error("is of version {0} of the format, and only {VERSION} is known")]
    Version(u64),
    /// A table without the file that has its settings.
    #[error("has no {SUMMARY} next to it, which has the settings of the exploration")]
    Alone,
    /// There is no such row; these there are.
    #[error("has no row {0}")]
    NoRow(u64, Vec<u64>),
    /// A candidate that the application and the platform do not have.
    #[error("is of another application or platform")]
    Misfit,
}

/// Reads a row of an `explore.csv`, an `explore.parquet`, or a `front.json`; of a folder, of the
/// table in it.
///
/// # Errors
/// The file is not one of these, or has no such row.
pub fn read(path: &Path, row: u64) -> Result<Replay, ReplayError> {
    if path.is_dir() {
        return read(&path.join("explore.csv"), row);
    }
    match path.extension().and_then(|end| end.to_str()) {
        Some("parquet") => from_parquet(path, row),
        Some("csv") => from_csv(path, row),
        _ => from_summary(path, row),
    }
}

impl Replay {
    /// The candidate in words.
    ///
    /// # Errors
    /// It is not of this system.
    pub fn row(&self, system: &System) -> Result<Row, ReplayError> {
        let candidate = match &self.found {
            Found::Row(row) => return Ok(row.clone()),
            Found::Candidate(candidate) => candidate,
        };
        let cores = system.cores.len();
        let of_cores = candidate.available.len() == cores && candidate.points.len() == cores;
        let has_points = || {
            let mut all = system.cores.iter().zip(&candidate.points);
            all.all(|(core, point)| (*point as usize) < core.points.len())
        };
        let of_channels = [candidate.slots.len(), candidate.ways.len()];
        if !of_cores
            || !has_points()
            || of_channels != [system.channels.len(); 2]
            || candidate.mapping.len() != system.tasks.len()
        {
            return Err(ReplayError::Misfit);
        }
        let words = Words(system);
        Ok(Row {
            id: 0,
            policy: candidate.policy.clone(),
            mapping: words.mapping(candidate),
            points: words.points(candidate),
            slots: words.slots(candidate),
            channels: words.ways(candidate),
            rate: words.rate(candidate),
        })
    }
}

fn from_parquet(path: &Path, row: u64) -> Result<Replay, ReplayError> {
    let (mut count, mut found) = (0, None);
    let file = File::open(path).map_err(ReplayError::Io)?;
    let settings = restored(&file, None, |candidate, _, _| {
        found = found.take().or((count == row).then_some(candidate));
        count += 1;
        Ok(())
    })
    .map_err(|error| match error {
        StoreError::Io(error) => ReplayError::Io(error),
        StoreError::Other => ReplayError::Other("it is of another version".into()),
        other => ReplayError::Other(other.to_string()),
    })?;
    let candidate = found.ok_or_else(|| ReplayError::NoRow(row, (0..count).collect()))?;
    Ok(Replay { settings, found: Found::Candidate(candidate) })
}

fn from_csv(path: &Path, wanted: u64) -> Result<Replay, ReplayError> {
    let wrong = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => ReplayError::Io(error),
        other => ReplayError::Other(format!("{other:?}")),
    };
    let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
    let mut known = Vec::new();
    for row in reader.deserialize::<Row>() {
        let row = row.map_err(|error| ReplayError::Other(error.to_string()))?;
        if row.id == wanted {
            let summary = path.with_file_name(SUMMARY);
            let settings = match summary.is_file() {
                true => settings(&summary)?.1,
                false => return Err(ReplayError::Alone),
            };
            return Ok(Replay { settings, found: Found::Row(row) });
        }
        known.push(row.id);
    }
    Err(ReplayError::NoRow(wanted, known))
}

/// A summary, and the settings in it.
fn settings(path: &Path) -> Result<(Value, Settings), ReplayError> {
    let wrong = |error: serde_json::Error| ReplayError::Other(error.to_string());
    let summary: Value =
        serde_json::from_reader(BufReader::new(File::open(path)?)).map_err(wrong)?;
    let version = summary["version"].as_u64();
    match version.filter(|_| summary["rates"].is_array()) {
        None => Err(ReplayError::Other("it has no `version` and `rates`".into())),
        Some(known) if known == u64::from(VERSION) => {
            let settings = Settings::deserialize(&summary["settings"]).map_err(wrong)?;
            Ok((summary, settings))
        }
        Some(other) => Err(ReplayError::Version(other)),
    }
}

fn from_summary(path: &Path, wanted: u64) -> Result<Replay, ReplayError> {
    let (summary, settings) = settings(path)?;
    let mut known = Vec::new();
    for rate in summary["rates"].as_array().into_iter().flatten() {
        for member in rate["front"].as_array().into_iter().flatten() {
            let row = member_row(member, &rate["rate"])
                .ok_or_else(|| ReplayError::Other("a member of a front is damaged".into()))?;
            if row.id == wanted {
                return Ok(Replay { settings, found: Found::Row(row) });
            }
            known.push(row.id);
        }
    }
    Err(ReplayError::NoRow(wanted, known))
}

/// A member of a front in words; `None`: it is none.
fn member_row(member: &Value, rate: &Value) -> Option<Row> {
    let list = |key: &str| member[key].as_array();
    let task = |of: &Value| {
        Some(format!("{}.{}={}", of["task"].as_str()?, of["index"].as_u64()?, of["core"].as_u64()?))
    };
    let point = |hz: &Value| match hz {
        Value::Null => Some("-".to_owned()),
        hz => hz.as_u64().map(megahertz),
    };
    let slots = |of: &Value| Some(format!("{}={}", of["channel"].as_str()?, of["slots"].as_u64()?));
    let way = |of: &Value| Some(format!("{}={}", of["channel"].as_str()?, of["way"].as_str()?));
    let joined = |key: &str, one: &dyn Fn(&Value) -> Option<String>, by: &str| {
        Some(list(key)?.iter().map(one).collect::<Option<Vec<_>>>()?.join(by))
    };
    Some(Row {
        id: member["id"].as_u64()?,
        policy: member["policy"].as_str()?.to_owned(),
        mapping: joined("mapping", &task, ",")?,
        points: joined("hz", &point, "/")?,
        slots: joined("slots", &slots, " ")?,
        channels: joined("slots", &way, " ")?,
        rate: rate.as_f64().map(|rate| rate.to_string()).unwrap_or_default(),
    })
}
