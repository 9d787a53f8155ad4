// SPDX-License-Identifier: Apache-2.0
//! What the policies that come with Whimbrel mean for an exploration.

use whimbrel_model::{Decides, POLICIES, PolicyName, Problem};
use whimbrel_text::{option, suggestion};

use crate::system::System;

/// What a policy decides.
///
/// # Errors
/// It does not exist, or cannot be explored.
pub fn decides(policy: &PolicyName) -> Result<Decides, Problem> {
    const WRITTEN: &str = "table";
    let policies = option::POLICIES;
    if policy.name == WRITTEN {
        let problem = Problem::new(format!("{policies}: `table` cannot be explored"));
        let help = format!(
            "leave it out: its table is what an exploration writes, with {}",
            option::WRITE_TABLE
        );
        return Err(problem.help(help));
    }
    if let Some(known) = POLICIES.iter().find(|known| known.name == policy.name) {
        return Ok(known.decides);
    }
    let names = POLICIES.iter().map(|known| known.name).filter(|name| *name != WRITTEN);
    let names: Vec<&str> = names.collect();
    let help = suggestion(&policy.name, names.iter().copied(), || {
        format!("name one of {}", names.join(", "))
    });
    Err(Problem::new(format!("{policies}: there is no policy `{policy}`")).help(help))
}

/// Whether a policy tells cores apart that are alike in all but their places: by temperatures on a
/// floorplan, or by who is next to whom on the ring of cores. Of up to five each is next to all.
///
/// That a policy takes the first of several that are equally good is no more than a name.
pub fn sees_places(policy: &PolicyName, system: &System) -> bool {
    const ALL_NEIGHBOURS_MOST: usize = 5;
    match policy.name.as_str() {
        "thermal" | "leakage" => system.has_floorplan,
        "gossip" => system.cores.len() > ALL_NEIGHBOURS_MOST,
        _ => false,
    }
}

/// Reads a list of policies. A comma also stands between the parameters of one: what looks like a
/// parameter belongs to the policy before it.
///
/// # Errors
/// Text that is no policy, or one named twice.
pub fn parse_list(text: &str) -> Result<Vec<PolicyName>, String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split(',') {
        let parameter = part.split_once('=').is_some_and(|(key, _)| !key.contains(':'));
        match words.last_mut().filter(|_| parameter) {
            Some(policy) => *policy = format!("{policy},{part}"),
            None => words.push(part.to_owned()),
        }
    }
    let mut policies: Vec<PolicyName> = Vec::new();
    for word in &words {
        let policy: PolicyName = word.parse()?;
        if policies.contains(&policy) {
            return Err(format!("`{policy}` stands twice"));
        }
        policies.push(policy);
    }
    Ok(policies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_separates_policies_and_their_parameters() {
        let list = parse_list("static,balance:settle_ms=500,horizon_ms=2000,gossip").unwrap();
        let text: Vec<String> = list.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["static", "balance:settle_ms=500,horizon_ms=2000", "gossip"]);
        for bad in ["", "static,", "a=1", "static,static", "balance:a"] {
            assert!(parse_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_policy_that_does_not_exist_or_is_the_result_is_refused() {
        let message = |text: &str| decides(&text.parse().unwrap()).unwrap_err().message;
        assert_eq!(message("balanse"), "--policies: there is no policy `balanse`");
        assert_eq!(message("table"), "--policies: `table` cannot be explored");
        assert_eq!(decides(&"gossip".parse().unwrap()), Ok(Decides::Moves));
    }
}
