// SPDX-License-Identifier: Apache-2.0
//! Every candidate that ran as Parquet: the columns of the CSV with their types, and its outcome.
//! Before the first column stand the lines that an exploration resumes from. Readers of Parquet
//! skip them. [`crate::restore`] reads nothing else, as a reader of Parquet trusts the counts in a
//! file.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use serde::Serialize;
use tempfile::Builder;

use super::summary::per_second;
use super::tabular::COLUMNS;
use crate::candidate::{Candidate, Outcome};
use crate::result::{Entry, Exploration};
use crate::store::all_lines;
use crate::system::System;
use crate::text::Words;

/// A column with everything that came of a candidate, as JSON.
const OUTCOME: &str = "outcome";

/// The columns that are known only when everything has run.
const AT_END: [&str; 2] = ["id", "pareto"];

/// Rows of a row group, which is in memory until it is written.
const GROUP: usize = 1 << 12;

/// Writes `explore.parquet`. `identity`: as [`crate::Store::create`] takes it.
///
/// # Errors
/// It cannot be written.
pub fn parquet(
    system: &System,
    exploration: &Exploration,
    identity: &str,
    out: impl Write + Send,
) -> io::Result<()> {
    write(system, exploration, identity, out).map_err(io::Error::other)
}

/// Writes candidates that ran as a file for whoever reads while others run: without the columns
/// that are known at the end, and whole or not at all. Makes its folder.
pub(crate) fn part(system: &System, piece: &[(Candidate, Outcome)], path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let mut new = Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    let mut group = Group::default();
    for (candidate, outcome) in piece {
        group.push(Words(system), candidate, outcome);
    }
    begin(&mut new, |name| !AT_END.contains(&name))
        .and_then(|mut file| {
            group.write(&mut file)?;
            file.close()
        })
        .map_err(io::Error::other)?;
    new.persist(path)?;
    Ok(())
}

/// Begins a file of these columns.
fn begin<W: Write + Send>(out: W, has: impl Fn(&str) -> bool) -> Result<SerializedFileWriter<W>> {
    let properties = WriterProperties::builder().set_created_by("whimbrel".into()).build();
    SerializedFileWriter::new(out, schema(has)?, Arc::new(properties))
}

fn write(
    system: &System,
    exploration: &Exploration,
    identity: &str,
    out: impl Write + Send,
) -> Result<()> {
    let mut file = begin(out, |_| true)?;
    let lines = exploration.rates.iter().flat_map(|rate| rate.rows.sorted());
    let lines = lines.map(|head| head.map(|head| head.line));
    all_lines(identity, &exploration.settings, lines, |line| file.write_all(line))?;
    let mut rest = exploration.entries().peekable();
    while rest.peek().is_some() {
        let mut group = Group::default();
        for entry in rest.by_ref().take(GROUP) {
            let Entry { id, candidate, outcome, pareto } = entry?;
            group.id.push(i64::try_from(id).unwrap_or(i64::MAX));
            group.pareto.push(pareto);
            group.push(Words(system), &candidate, &outcome);
        }
        group.write(&mut file)?;
    }
    file.close()?;
    Ok(())
}

/// The columns of a row group; those of [`AT_END`] are empty in a part.
#[derive(Default)]
struct Group {
    id: Vec<i64>,
    policy: Vec<ByteArray>,
    mapping: Vec<ByteArray>,
    points: Vec<ByteArray>,
    slots: Vec<ByteArray>,
    ways: Vec<ByteArray>,
    rate: Vec<Option<f64>>,
    energy_mj: Vec<f64>,
    misses: Vec<i64>,
    latency_ms: Vec<Option<f64>>,
    cores: Vec<i32>,
    power_mw: Vec<Option<f64>>,
    energy_per_frame_mj: Vec<Option<f64>>,
    energy_per_task_mj: Vec<Option<f64>>,
    time_ms: Vec<f64>,
    frames: Vec<i64>,
    pareto: Vec<bool>,
    outcome: Vec<ByteArray>,
}

impl Group {
    /// Takes a candidate into all columns but those of [`AT_END`].
    #[expect(clippy::cast_possible_wrap, reason = "no run has 2^63 misses or frames")]
    fn push(&mut self, words: Words<'_>, candidate: &Candidate, outcome: &Outcome) {
        // Without the room that a text has left: there are many.
        let text = |of: String| ByteArray::from(of.into_boxed_str().into_boxed_bytes().into_vec());
        self.policy.push(text(candidate.policy.clone()));
        self.mapping.push(text(words.mapping(candidate)));
        self.points.push(text(words.points(candidate)));
        self.slots.push(text(words.slots(candidate)));
        self.ways.push(text(words.ways(candidate)));
        self.rate.push(per_second(candidate.rate_millihz));
        self.energy_mj.push(outcome.energy_mj);
        self.misses.push(outcome.misses as i64);
        self.latency_ms.push(outcome.latency_ms);
        self.cores.push(i32::try_from(outcome.cores).unwrap_or(i32::MAX));
        self.power_mw.push(outcome.power_mw());
        self.energy_per_frame_mj.push(outcome.energy_per_frame_mj());
        self.energy_per_task_mj.push(outcome.energy_per_task_mj());
        self.time_ms.push(outcome.time_ms);
        self.frames.push(outcome.frames as i64);
        self.outcome.push(text(json(outcome)));
    }

    fn write(self, file: &mut SerializedFileWriter<impl Write + Send>) -> Result<()> {
        let mut group = file.next_row_group()?;
        if !self.id.is_empty() {
            column::<Int64Type>(&mut group, &self.id, None)?;
        }
        for texts in [self.policy, self.mapping, self.points, self.slots, self.ways] {
            column::<ByteArrayType>(&mut group, &texts, None)?;
        }
        optional(&mut group, &self.rate)?;
        column::<DoubleType>(&mut group, &self.energy_mj, None)?;
        column::<Int64Type>(&mut group, &self.misses, None)?;
        optional(&mut group, &self.latency_ms)?;
        column::<Int32Type>(&mut group, &self.cores, None)?;
        optional(&mut group, &self.power_mw)?;
        optional(&mut group, &self.energy_per_frame_mj)?;
        optional(&mut group, &self.energy_per_task_mj)?;
        column::<DoubleType>(&mut group, &self.time_ms, None)?;
        column::<Int64Type>(&mut group, &self.frames, None)?;
        if !self.pareto.is_empty() {
            column::<BoolType>(&mut group, &self.pareto, None)?;
        }
        column::<ByteArrayType>(&mut group, &self.outcome, None)?;
        group.close()?;
        Ok(())
    }
}

/// What consists of numbers and text always is JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn schema(has: impl Fn(&str) -> bool) -> Result<TypePtr> {
    let column = |name: &&str| -> Result<TypePtr> {
        let (physical, presence) = match *name {
            "id" | "misses" | "frames" => (Physical::INT64, Repetition::REQUIRED),
            "energy_mj" | "time_ms" => (Physical::DOUBLE, Repetition::REQUIRED),
            "rate" | "latency_ms" | "power_mw" | "energy_per_frame_mj" | "energy_per_task_mj" => {
                (Physical::DOUBLE, Repetition::OPTIONAL)
            }
            "cores" => (Physical::INT32, Repetition::REQUIRED),
            "pareto" => (Physical::BOOLEAN, Repetition::REQUIRED),
            _ => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
        };
        let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        let built = Type::primitive_type_builder(name, physical).with_repetition(presence);
        Ok(Arc::new(built.with_logical_type(text).build()?))
    };
    let names = COLUMNS.iter().chain(&[OUTCOME]).filter(|name| has(name));
    let fields = names.map(column).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("explore").with_fields(fields).build()?))
}

/// Writes the next column; `levels` says which of an optional one's values there are.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()?;
    }
    Ok(())
}

fn optional(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[Option<f64>],
) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<f64> = values.iter().flatten().copied().collect();
    column::<DoubleType>(group, &there, Some(&levels))
}
