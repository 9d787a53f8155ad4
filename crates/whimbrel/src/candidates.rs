// SPDX-License-Identifier: Apache-2.0
//! Candidates of a space, chosen by a search that is not ours.

use rayon::prelude::*;
use serde_json::{Value, json};
use whimbrel_explore::{Candidate, Evaluate, Failure, Objective, Outcome, Words};
use whimbrel_run::args::Parameters;

use crate::explore::{self, Prepared};
use crate::library::{Trouble, Wrong, explore_options, input};

/// What there is to choose from, and the simulators that run candidates.
#[derive(Debug)]
pub struct Candidates {
    prepared: Prepared,
    objectives: Vec<Objective>,
}

impl Candidates {
    /// Of the parameters of an exploration.
    ///
    /// # Errors
    /// Bad input, or there is no simulator.
    pub fn new(given: Parameters) -> Result<Self, Wrong> {
        let args = explore_options(given)?;
        let prepared = explore::prepared(&args).map_err(input)?;
        Ok(Self { prepared, objectives: args.objectives })
    }

    /// The variables, each with its name and its values, and the objectives.
    pub fn described(&self) -> Value {
        let word = |of: &Objective| Objective::ALL.iter().find(|(_, known)| known == of);
        let objectives: Vec<&str> =
            self.objectives.iter().filter_map(word).map(|(word, _)| *word).collect();
        json!({ "variables": self.prepared.space.variables(), "objectives": objectives })
    }

    /// Runs candidates, each a position for each variable, on all processors. For each there is
    /// what an exploration's table says of it, and its objectives; or `failed`, why it cannot run.
    ///
    /// # Errors
    /// A candidate does not fit the space, or none can run.
    pub fn evaluate(&self, positions: &[Vec<usize>]) -> Result<Vec<Value>, Wrong> {
        let candidates = positions.iter().map(|of| self.prepared.space.candidate(of));
        let candidates: Vec<Candidate> =
            candidates.collect::<Result<_, _>>().map_err(|problem| input(problem.into()))?;
        let rows = candidates.par_iter().with_max_len(1).map(|candidate| self.row(candidate));
        rows.collect()
    }

    fn row(&self, candidate: &Candidate) -> Result<Value, Wrong> {
        let Prepared { space, simulator } = &self.prepared;
        let outcome = match space.fits(candidate) {
            true => simulator.run(candidate),
            false => Err(Failure::Candidate("its channels have no room for its batches".into())),
        };
        let (outcome, failed) = match outcome {
            Ok(outcome) => (Some(outcome), None),
            Err(Failure::Candidate(why)) => (None, Some(why)),
            Err(Failure::Fatal(message)) => {
                return Err(Wrong::Run(vec![Trouble { message, ..Trouble::default() }]));
            }
        };
        let values = |outcome: &Outcome| -> Vec<f64> {
            self.objectives.iter().map(|of| of.of(outcome)).collect()
        };
        let words = Words(space.system());
        Ok(json!({
            "policy": candidate.policy,
            "mapping": words.mapping(candidate),
            "points": words.points(candidate),
            "slots": words.slots(candidate),
            "channels": words.ways(candidate),
            "objectives": outcome.as_ref().map(values),
            "outcome": outcome,
            "failed": failed,
        }))
    }
}
