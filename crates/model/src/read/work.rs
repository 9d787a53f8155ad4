// SPDX-License-Identifier: Apache-2.0
//! What tasks compute in each firing: which combinations of keys make sense, and their values.

use toml::Spanned;

use super::amount::{Amount, amount};
use super::cycles::CyclesTable;
use super::keys::TaskTable;
use super::manifest::Manifest;
use crate::app::{Compute, Cycles, Param, Work, nothing_real};
use crate::problem::Problem;
use crate::reader::given;

/// `WB_CYCLES_MAX` of the middleware.
const CYCLES_MOST: f64 = 281_474_976_710_656.0;

/// The work of a `[[task]]`, `None` if it has none, and what is wrong with it.
pub(crate) fn build(
    table: &TaskTable,
    params: &[Param],
    problems: &mut Vec<Problem>,
) -> Option<Work> {
    let name = table.name.get_ref();
    let mut value = |written| match cycles_value(written, params, name) {
        Ok(cycles) => cycles,
        Err(problem) => {
            problems.push(problem);
            1
        }
    };
    let Some(written) = &table.cycles else {
        without_cycles(table, name, problems);
        return None;
    };
    let cycles = match written.get_ref() {
        CyclesTable::Every(amount) => Cycles::Every(value(amount)),
        CyclesTable::ByKind(all) => {
            Cycles::ByKind(all.iter().map(|(kind, n)| (kind.clone(), value(n))).collect())
        }
    };
    Some(Work {
        cycles,
        distribution: given(&table.distribution),
        spread_ppm: spread_ppm(table, name, problems),
        working_bytes: given(&table.working_set),
        traffic_bytes: given(&table.traffic),
        firings: given(&table.firings),
    })
}

fn without_cycles(table: &TaskTable, name: &str, problems: &mut Vec<Problem>) {
    let of_cycles = ["distribution", "spread", "working_set", "traffic", "firings"];
    let Some((_, at)) = table.has(&of_cycles).next() else { return };
    let problem = Problem::new(format!("`{name}` has no cycles that this could be said of"));
    problems.push(problem.at(at, "this key").help("add `cycles`: what a firing takes"));
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
pub(crate) fn cycles_value(
    written: &Spanned<Amount>,
    params: &[Param],
    name: &str,
) -> Result<u64, Problem> {
    let value = amount(written, params, "cycles")?;
    if (1.0..=CYCLES_MOST).contains(&value) {
        return Ok(value.round() as u64);
    }
    let problem = Problem::new(format!("a firing of `{name}` cannot take {value} cycles"));
    let help = "write a number from 1 to 2^48; a task does not run on a kind of core that it omits";
    Err(problem.at(written.span(), "these cycles").help(help))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
fn spread_ppm(table: &TaskTable, name: &str, problems: &mut Vec<Problem>) -> u32 {
    let distribution = given(&table.distribution);
    let most = distribution.spread_most();
    match (&table.spread, &table.distribution) {
        (Some(spread), _) if most == 0.0 => {
            let problem = Problem::new(format!("`{name}` has a spread, but is {distribution}"));
            problems.push(problem.at(spread.span(), "this key").help(
                "remove it, or set distribution = \"uniform\" or \"normal\": \"constant\" and \
                 \"exponential\" take no spread",
            ));
            0
        }
        (Some(spread), _) if *spread.get_ref() > most => {
            let problem =
                Problem::new(format!("a firing of `{name}` could take less than 0 cycles"));
            problems.push(
                problem
                    .at(spread.span(), "this spread")
                    .help(format!("write at most {most} for a {distribution} distribution")),
            );
            0
        }
        (Some(spread), _) => (spread.get_ref() * 1e6).round() as u32,
        (None, Some(written)) if most > 0.0 => {
            let problem = Problem::new(format!("`{name}` is {distribution}, but has no spread"));
            let help = "add `spread`, relative to the cycles, for example 0.2";
            problems.push(problem.at(written.span(), "this distribution").help(help));
            0
        }
        (None, _) => 0,
    }
}

/// What the manifest says of computing, and what is wrong with that.
pub(crate) fn compute(manifest: &Manifest, problems: &mut Vec<Problem>) -> Compute {
    let app = &manifest.app;
    match &app.compute {
        Some(written) if app.module.is_none() && *written.get_ref() == Compute::Real => {
            problems.push(nothing_real(written.span()));
            Compute::Model
        }
        Some(written) => *written.get_ref(),
        None if app.module.is_none() => Compute::Model,
        None => Compute::Real,
    }
}
