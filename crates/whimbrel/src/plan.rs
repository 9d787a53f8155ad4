// SPDX-License-Identifier: Apache-2.0
//! `whimbrel plan`: a plan as C, for an image of a board.

use whimbrel_model::{hash, tables};
use whimbrel_run::failure::Outcome;
use whimbrel_run::fingerprint;
use whimbrel_run::load::fit;

use crate::cli::PlanArgs;
use crate::files::write;

/// Writes the plan of an application for a board.
///
/// # Errors
/// Bad input, or an application that does not fit the board.
pub fn plan(args: &PlanArgs) -> Outcome {
    let loaded = fit(&args.layout, &args.board)?;
    let plan = loaded.plan(None, String::new());
    let mut text = tables(&plan, &loaded.app.name, &hash(&plan, fingerprint));
    if let Some(target) = &loaded.board {
        text += &loaded.linked(&target.board)?;
    }
    write(args.output.as_deref(), &text)
}
