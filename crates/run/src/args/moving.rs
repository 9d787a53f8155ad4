// SPDX-License-Identifier: Apache-2.0
//! The options of `run` and `sim` that say how tasks move, and who decides.

#![allow(rustdoc::broken_intra_doc_links, reason = "[[task]] is a table of TOML in the help")]

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use whimbrel_model::{Mode, Moves, POLICIES, Policy, PolicyName, Problem};
use whimbrel_text::option;

use super::Parameters;
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
const AGENTS_PERIOD: &str = "100ms";

/// The help of `--policy`.
fn policies() -> String {
    let each = POLICIES.iter().map(|Policy { name, does, .. }| format!("{name} {does}; "));
    format!(
        "Let a policy decide on moves and frequencies, with parameters as \
         NAME:KEY=VALUE,KEY=VALUE\n\n{}none leaves all as it is, which is the default. \
         docs/policies.md has their parameters; an application may bring other policies",
        each.collect::<String>()
    )
}

/// How tasks move, and who decides.
#[derive(Debug, Clone, Args)]
pub struct MovingArgs {
    /// How every task that may move moves, instead of what its [[task]] says
    #[arg(long, value_name = "MODE", value_parser = one_of::<Mode>(MODES))]
    pub mode: Option<Mode>,

    /// Where every task that may move moves, instead of what its [[task]] says; one that is
    /// recreated or re-entered moves at its checkpoints
    #[arg(long, value_name = "WHERE", value_parser = one_of::<Moves>(PLACES))]
    pub move_at: Option<Moves>,

    /// How the memory of replicated tasks travels: mapped at a second address, or by a buffer
    #[arg(long, value_name = "HOW", default_value = ANY_TRANSPORT,
          value_parser = PossibleValuesParser::new(TRANSPORTS))]
    pub transport: String,

    /// Let a policy decide on moves and frequencies, with parameters as NAME:KEY=VALUE,KEY=VALUE
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", long_help = policies())]
    pub policy: Option<PolicyName>,

    /// The rows of the table policy, which this also chooses when there is no --policy (see
    /// docs/table-toml.md)
    #[arg(long, value_name = "FILE.toml")]
    pub table: Option<PathBuf>,

    /// The core that the coordinator runs on, which asks the policy
    #[arg(long, value_name = "CORE", default_value = FIRST_CORE)]
    pub coordinator: u32,

    /// How often the agent of each core reports loads, and the policy is asked
    #[arg(long, value_name = "PERIOD", default_value = AGENTS_PERIOD, value_parser = period)]
    pub agents: Duration,
}

impl MovingArgs {
    /// By the parameters of a function.
    pub fn of(given: &mut Parameters) -> Result<Self, Problem> {
        Ok(Self {
            mode: given.one(option::MODE, one_of::<Mode>(MODES))?,
            move_at: given.one(option::MOVE_AT, one_of::<Moves>(PLACES))?,
            transport: given.or(
                option::TRANSPORT,
                PossibleValuesParser::new(TRANSPORTS),
                ANY_TRANSPORT,
            )?,
            policy: given.one(option::POLICY, PolicyName::from_str)?,
            table: given.path(option::TABLE)?,
            coordinator: given.or(option::COORDINATOR, value_parser!(u32), FIRST_CORE)?,
            agents: given.or(option::AGENTS, period, AGENTS_PERIOD)?,
        })
    }
}

/// Shorter ones would cost more than they tell.
fn period(text: &str) -> Result<Duration, String> {
    let period = positive_duration(text)?;
    let least = Duration::from_millis(1);
    if period < least { Err("the period of agents is at least 1ms".into()) } else { Ok(period) }
}
