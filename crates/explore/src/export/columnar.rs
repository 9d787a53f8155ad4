// SPDX-License-Identifier: Apache-2.0
//! Every candidate that ran as Parquet: the columns of the CSV with their types, and its outcome.
//! Before the first column stand the lines that an exploration resumes from. Readers of Parquet
//! skip them. [`crate::restore`] reads nothing else, as a reader of Parquet trusts the counts in a
//! file.

use std::io::Write;
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

use super::summary::per_second;
use super::tabular::COLUMNS;
use crate::result::{Entry, Exploration};
use crate::store::all_lines;
use crate::system::System;
use crate::text::Words;

/// A column with everything that came of a candidate, as JSON.
const OUTCOME: &str = "outcome";

/// Rows of a row group, which is in memory until it is written.
const GROUP: usize = 1 << 16;

/// Writes `explore.parquet`. `identity`: as [`crate::Store::create`] takes it.
///
/// # Errors
/// It cannot be written.
pub fn parquet(
    system: &System,
    exploration: &Exploration,
    identity: &str,
    out: impl Write + Send,
) -> std::io::Result<()> {
    write(system, exploration, identity, out).map_err(std::io::Error::other)
}

fn write(
    system: &System,
    exploration: &Exploration,
    identity: &str,
    out: impl Write + Send,
) -> Result<()> {
    let properties = WriterProperties::builder().set_created_by("whimbrel".into()).build();
    let mut file = SerializedFileWriter::new(out, schema()?, Arc::new(properties))?;
    let rows = exploration.entries().map(|entry| (&entry.candidate, &entry.outcome));
    all_lines(identity, &exploration.settings, rows, |line| file.write_all(line))?;
    let mut rest = exploration.entries().peekable();
    while rest.peek().is_some() {
        let rows: Vec<&Entry> = rest.by_ref().take(GROUP).collect();
        write_group(&mut file, Words(system), &rows)?;
    }
    file.close()?;
    Ok(())
}

fn write_group(
    file: &mut SerializedFileWriter<impl Write + Send>,
    words: Words<'_>,
    rows: &[&Entry],
) -> Result<()> {
    let mut group = file.next_row_group()?;
    let text = |of: &dyn Fn(&Entry) -> String| -> Vec<ByteArray> {
        rows.iter().map(|entry| ByteArray::from(of(entry).into_bytes())).collect()
    };
    #[expect(clippy::cast_possible_wrap, reason = "no exploration has 2^63 candidates or misses")]
    let integers = |of: &dyn Fn(&Entry) -> u64| -> Vec<i64> {
        rows.iter().map(|entry| of(entry) as i64).collect()
    };
    column::<Int64Type>(&mut group, &integers(&|e| e.id as u64), None)?;
    column::<ByteArrayType>(&mut group, &text(&|e| e.candidate.policy.clone()), None)?;
    column::<ByteArrayType>(&mut group, &text(&|e| words.mapping(&e.candidate)), None)?;
    column::<ByteArrayType>(&mut group, &text(&|e| words.points(&e.candidate)), None)?;
    column::<ByteArrayType>(&mut group, &text(&|e| words.slots(&e.candidate)), None)?;
    column::<ByteArrayType>(&mut group, &text(&|e| words.ways(&e.candidate)), None)?;
    optional(&mut group, rows.iter().map(|e| per_second(e.candidate.rate_millihz)))?;
    let energy: Vec<f64> = rows.iter().map(|e| e.outcome.energy_mj).collect();
    column::<DoubleType>(&mut group, &energy, None)?;
    column::<Int64Type>(&mut group, &integers(&|e| e.outcome.misses), None)?;
    optional(&mut group, rows.iter().map(|e| e.outcome.latency_ms))?;
    let cores: Vec<i32> =
        rows.iter().map(|e| i32::try_from(e.outcome.cores).unwrap_or(i32::MAX)).collect();
    column::<Int32Type>(&mut group, &cores, None)?;
    optional(&mut group, rows.iter().map(|e| e.outcome.power_mw()))?;
    optional(&mut group, rows.iter().map(|e| e.outcome.energy_per_frame_mj()))?;
    optional(&mut group, rows.iter().map(|e| e.outcome.energy_per_task_mj()))?;
    let times: Vec<f64> = rows.iter().map(|e| e.outcome.time_ms).collect();
    column::<DoubleType>(&mut group, &times, None)?;
    column::<Int64Type>(&mut group, &integers(&|e| e.outcome.frames), None)?;
    let pareto: Vec<bool> = rows.iter().map(|e| e.pareto).collect();
    column::<BoolType>(&mut group, &pareto, None)?;
    column::<ByteArrayType>(&mut group, &text(&|e| json(&e.outcome)), None)?;
    group.close()?;
    Ok(())
}

/// What consists of numbers and text always is JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn schema() -> Result<TypePtr> {
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
    let fields = COLUMNS.iter().chain(&[OUTCOME]).map(column).collect::<Result<Vec<_>>>()?;
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
    values: impl Iterator<Item = Option<f64>> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = values.clone().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<f64> = values.flatten().collect();
    column::<DoubleType>(group, &there, Some(&levels))
}
