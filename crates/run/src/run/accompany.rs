// SPDX-License-Identifier: Apache-2.0
//! A simulation for a program, which comes along: nothing is printed.

use std::path::Path;
use std::sync::mpsc;

use whimbrel_model::Plan;

use super::callbacks::Callbacks;
use super::helper::Helper;
use super::record::Prepared;
use super::session::{Ending, Opening, Session, Timing};
use super::summary::Summary;
use super::summed;
use super::view::View;
use crate::failure::Failure;
use crate::helpers;
use crate::load::{Loaded, Schedule, utf8};

/// Simulates, records into a folder if there is one, and sums up.
///
/// # Errors
/// A helper that cannot be started, or a run that failed.
pub fn accompany(
    mut loaded: Loaded,
    record: Option<&Path>,
    complete: impl FnOnce(Plan) -> Plan,
    callbacks: &mut dyn Callbacks,
) -> Result<Summary, Failure> {
    let program = helpers::find(helpers::SIMULATOR)?;
    let cores = loaded.options.cpus.len();
    let folder = record.map(|path| Prepared::new(path, cores)).transpose()?;
    let recorded = folder.as_ref().map(|folder| utf8(folder.path())).transpose()?;
    let plan = complete(loaded.plan(recorded, String::new()));
    let (sender, inputs) = mpsc::channel();
    let helper = Helper::start(&program, &loaded, sender)?;
    let ending = Ending { after: None, at_once: !loaded.app.drains() };
    let (schedule, frame_rate) = (Schedule::default(), loaded.options.frame_rate);
    let timing = Timing { schedule, ending, frame_rate };
    let view = View::new(&loaded.app, true);
    let session = Session::new(helper, inputs, timing, view, |_| {}).with(callbacks);
    let results = session.run(Opening { line: plan.line(), ..Opening::default() });
    let folder = folder.filter(|_| results.began()).map(Prepared::keep);
    let name = loaded.app.name.clone();
    let (summary, reports) = summed(&mut loaded, &name, folder.as_deref(), results);
    if reports.is_empty() { Ok(summary) } else { Err(Failure::Reports(reports)) }
}
