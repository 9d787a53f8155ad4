// SPDX-License-Identifier: Apache-2.0
//! The options of `run` and `sim` that say how tasks move, and who decides.

#![allow(rustdoc::broken_intra_doc_links, reason = "[[task]] is a table of TOML in the help")]

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};
use whimbrel_model::{Mode, Moves, POLICIES, Policy, PolicyName, Problem};
use whimbrel_text::option;

use super::Parameters;
use super::heading::MIGRATION;
use super::values::{one_of, positive_duration};

/// How tasks may move.
const MODES: [&str; 4] = ["handoff", "replicate", "recreate", "reenter"];
/// Where tasks may move.
const PLACES: [&str; 2] = ["checkpoints", "waits"];
/// How replicated contexts may travel.
const TRANSPORTS: [&str; 3] = ["auto", "alias", "buffer"];

/// Where nothing is said.
const ANY_TRANSPORT: &str = "auto";
const FIRST_CORE: &str = "0";
const AGENT_PERIOD: &str = "100ms";

/// The help of `--policy`.
fn policies() -> String {
    let each = POLICIES.iter().map(|Policy { name, does, .. }| format!("{name} {does}. "));
    format!(
        "What decides on moves and frequencies [default: none]\n\n\
         Parameters follow its name: NAME:KEY=VALUE,KEY=VALUE.\n\n{}none leaves all as it is. \
         docs/policies.md has their parameters. An application may bring other policies",
        each.collect::<String>()
    )
}

/// How tasks move, and who decides.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct MovingArgs {
    /// handoff, replicate, recreate or reenter
    ///
    /// How tasks move. It replaces `mode` of every [[task]] that may move
    #[arg(long, value_name = "MODE", value_parser = one_of::<Mode>(MODES))]
    #[arg(help_heading = MIGRATION, hide_possible_values = true)]
    pub mode: Option<Mode>,

    /// Where in its code a task moves: checkpoints or waits
    ///
    /// It replaces `move` of every [[task]] that may move. A task that is recreated or re-entered
    /// moves at its checkpoints
    #[arg(long, alias = "move-at", value_name = "WHERE", value_parser = one_of::<Moves>(PLACES))]
    #[arg(help_heading = MIGRATION, hide_short_help = true, hide_possible_values = true)]
    pub migration_points: Option<Moves>,

    /// How the memory of replicated tasks travels: alias, buffer or auto
    ///
    /// alias maps it at a second address, buffer copies it through the transfer buffer, auto maps
    /// it where the kernel can
    #[arg(long, value_name = "HOW", default_value = ANY_TRANSPORT,
          value_parser = PossibleValuesParser::new(TRANSPORTS))]
    #[arg(help_heading = MIGRATION, hide_short_help = true, hide_possible_values = true)]
    pub transport: String,

    /// What decides on moves [default: none]
    #[arg(long, value_name = "POLICY", long_help = policies(), help_heading = MIGRATION)]
    pub policy: Option<PolicyName>,

    /// The rows of the policy `table`
    ///
    /// It also selects that policy. `whimbrel explore --write-table` writes such a file;
    /// docs/policies.md describes it
    #[arg(long, value_name = "FILE.toml", help_heading = MIGRATION)]
    pub table: Option<PathBuf>,

    /// The core of the coordinator, which asks the policy
    #[arg(long, value_name = "CORE", default_value = FIRST_CORE)]
    #[arg(help_heading = MIGRATION, hide_short_help = true)]
    pub coordinator: u32,

    /// The period at which agents report loads and the policy decides
    #[arg(long, alias = "agents", value_name = "TIME", default_value = AGENT_PERIOD)]
    #[arg(value_parser = period, help_heading = MIGRATION, hide_short_help = true)]
    pub agent_period: Duration,
}

impl MovingArgs {
    /// By the parameters of a function.
    pub fn of(given: &mut Parameters) -> Result<Self, Problem> {
        Ok(Self {
            mode: given.one(option::MODE, one_of::<Mode>(MODES))?,
            migration_points: given.one(option::MIGRATION_POINTS, one_of::<Moves>(PLACES))?,
            transport: given.or(
                option::TRANSPORT,
                PossibleValuesParser::new(TRANSPORTS),
                ANY_TRANSPORT,
            )?,
            policy: given.one(option::POLICY, PolicyName::from_str)?,
            table: given.path(option::TABLE)?,
            coordinator: given.or(option::COORDINATOR, value_parser!(u32), FIRST_CORE)?,
            agent_period: given.or(option::AGENT_PERIOD, period, AGENT_PERIOD)?,
        })
    }
}

/// Shorter ones would cost more than they tell.
fn period(text: &str) -> Result<Duration, String> {
    let period = positive_duration(text)?;
    let least = Duration::from_millis(1);
    if period < least { Err("the period of agents is at least 1ms".into()) } else { Ok(period) }
}
