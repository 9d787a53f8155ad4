// SPDX-License-Identifier: Apache-2.0
//! A space as independent variables, for searches that are not ours: a candidate is the position
//! of a value for each of them.

use serde::Serialize;
use serde_json::{Value, json};
use whimbrel_model::{Decides, Problem};

use crate::candidate::Candidate;
use crate::export::per_second;
use crate::space::Space;
use crate::text::megahertz;

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variable {
    /// Its name: the column that it is in, and what of that it sets, as `mapping.bpf.1`.
    pub name: String,
    /// What there is to choose from; at least one value.
    pub values: Vec<Value>,
}

impl Space {
    /// All there is to choose. Unlike [`Space::collect`] it has candidates that are alike, and ones
    /// that cannot keep up.
    pub fn variables(&self) -> Vec<Variable> {
        let (checked, system) = (&self.checked, &self.system);
        let variable = |name: String, values: Vec<Value>| Variable { name, values };
        let rates = checked.rates_millihz.iter().map(|rate| json!(per_second(*rate)));
        let policies = self.policies.iter().map(|policy| json!(policy.text));
        let mut all = vec![
            variable("rate".into(), rates.collect()),
            variable("policy".into(), policies.collect()),
        ];
        for (task, allowed) in system.tasks.iter().zip(0..) {
            let cores = self.cores_of(allowed).into_iter().map(|core| json!(core));
            all.push(variable(format!("mapping.{}", task.label), cores.collect()));
        }
        for (core, points) in checked.points.iter().enumerate() {
            let hz = points.iter().map(|point| system.cores[core].points[*point as usize].hz);
            let mhz = hz.map(|hz| json!(megahertz(hz).parse::<f64>().unwrap_or_default()));
            all.push(variable(format!("points.{core}"), mhz.collect()));
        }
        // Only a policy can make use of a core without a task.
        let fills = self.policies.iter().any(crate::space::SpacePolicy::fills);
        let on = if fills { vec![json!(true), json!(false)] } else { vec![json!(true)] };
        for core in 0..system.cores.len() {
            all.push(variable(format!("available.{core}"), on.clone()));
        }
        for (channels, slots) in &checked.slots {
            let slots = slots.iter().map(|slots| json!(slots)).collect();
            all.push(variable(self.group("slots", channels), slots));
        }
        for (channels, ways) in &checked.ways {
            let ways = ways.iter().map(|way| json!(way.to_string())).collect();
            all.push(variable(self.group("channels", channels), ways));
        }
        all
    }

    /// The candidate of a position for each of the variables, in their order. A core without a task
    /// is not available under a policy that moves none, and a policy that sets points begins at the
    /// highest, as in an exploration.
    ///
    /// # Errors
    /// There are more or fewer positions, or one is beyond its variable's values.
    pub fn candidate(&self, positions: &[usize]) -> Result<Candidate, Problem> {
        let (checked, system) = (&self.checked, &self.system);
        let variables = self.variables();
        let fits = |(variable, position): (&Variable, &usize)| *position < variable.values.len();
        if positions.len() != variables.len() || !variables.iter().zip(positions).all(fits) {
            let help = format!("give a position for each of its {} variables", variables.len());
            return Err(Problem::new("the candidate does not fit its space").help(help));
        }
        let mut rest = positions.iter().copied();
        // There are as many as there are variables.
        let mut next = || rest.next().unwrap_or(0);
        let rate_millihz = checked.rates_millihz[next()];
        let policy = &self.policies[next()];
        let cores: Vec<usize> =
            (0..system.tasks.len()).map(|task| self.cores_of(task)[next()]).collect();
        let chosen: Vec<u32> = checked.points.iter().map(|points| points[next()]).collect();
        let wanted: Vec<bool> = system.cores.iter().map(|_| next() == 0).collect();
        let available = wanted.iter().enumerate();
        let available: Vec<bool> = available
            .map(|(core, on)| cores.contains(&core) || (*on && policy.decides != Decides::Nothing))
            .collect();
        let points = match policy.keeps_points() {
            true => chosen.iter().zip(&available).map(|(p, on)| if *on { *p } else { 0 }).collect(),
            false => self.highest(&available),
        };
        let mut slots: Vec<u32> = system.channels.iter().map(|channel| channel.slots).collect();
        for (channels, numbers) in &checked.slots {
            let number = numbers[next()];
            channels.iter().for_each(|channel| slots[*channel] = number);
        }
        let mut ways: Vec<_> = system.channels.iter().map(|channel| channel.way).collect();
        for (channels, choices) in &checked.ways {
            let way = choices[next()];
            channels.iter().for_each(|channel| ways[*channel] = way);
        }
        let mapping = cores.iter().map(|core| u32::try_from(*core).unwrap_or(u32::MAX)).collect();
        let policy = policy.text.clone();
        Ok(Candidate { rate_millihz, policy, available, mapping, points, slots, ways })
    }

    /// The positions of which a candidate of this space is made. Those of what it leaves open, as
    /// the point of a core that is not available, are the last.
    pub fn positions(&self, candidate: &Candidate) -> Vec<usize> {
        fn at<T: PartialEq>(of: &[T], value: &T) -> usize {
            of.iter().position(|known| known == value).unwrap_or(of.len().saturating_sub(1))
        }
        let checked = &self.checked;
        let policy = self.policies.iter().position(|policy| policy.text == candidate.policy);
        let fills = self.policies.iter().any(crate::space::SpacePolicy::fills);
        let mut all = vec![at(&checked.rates_millihz, &candidate.rate_millihz)];
        all.push(policy.unwrap_or(0));
        let cores = candidate.mapping.iter().enumerate();
        all.extend(cores.map(|(task, core)| at(&self.cores_of(task), &(*core as usize))));
        let points = checked.points.iter().zip(&candidate.points).zip(&candidate.available);
        all.extend(points.map(|((of, point), on)| if *on { at(of, point) } else { of.len() - 1 }));
        all.extend(candidate.available.iter().map(|on| usize::from(fills && !on)));
        let slots = checked.slots.iter();
        all.extend(slots.map(|(channels, of)| at(of, &candidate.slots[channels[0]])));
        let ways = checked.ways.iter();
        all.extend(ways.map(|(channels, of)| at(of, &candidate.ways[channels[0]])));
        all
    }

    /// Whether it can be laid out: each batch has as many slots, and internal memory has room.
    pub fn fits(&self, candidate: &Candidate) -> bool {
        self.ways_fit(candidate)
    }

    /// The cores that a task may begin on.
    fn cores_of(&self, task: usize) -> Vec<usize> {
        let allowed = self.checked.allowed[task].iter().enumerate();
        allowed.filter(|(_, may)| **may).map(|(core, _)| core).collect()
    }

    /// The name of what channels have in common.
    fn group(&self, column: &str, channels: &[usize]) -> String {
        let all = self.system.channels.iter().filter(|channel| !channel.mailbox).count();
        if channels.len() == all {
            return column.to_owned();
        }
        let names = channels.iter().map(|channel| self.system.channels[*channel].name.as_str());
        format!("{column}.{}", names.collect::<Vec<_>>().join("+"))
    }
}
