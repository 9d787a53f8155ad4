// SPDX-License-Identifier: Apache-2.0
//! The maximum mean of a cycle, time over iterations, in exact numbers.
//!
//! A mean is assumed, first 0. Longest paths under the weights `time - mean × delay` settle
//! exactly if no cycle has a greater one; otherwise the edges of the paths close a cycle that has,
//! and its mean is the next to assume. The order of the nodes in one iteration makes paths settle
//! within one pass per delay (compare Howard's policy iteration: Dasdan, *Experimental analysis of
//! the fastest optimum cycle ratio and mean algorithms*, 2004).

use num_rational::Ratio;

use super::hsdf::{Edge, Hsdf};
use super::{Flaw, Graph};

/// See [`Graph::periods`].
pub(super) fn periods(graph: &Graph) -> Result<Vec<Ratio<u128>>, Flaw> {
    let hsdf = Hsdf::of(graph)?;
    let order = hsdf.order()?;
    let parts = graph.parts();
    let means = Means::new(&hsdf, &order, &parts).settle()?;
    let periods = parts
        .iter()
        .zip(&hsdf.repetitions)
        .map(|(part, count)| means[*part] / Ratio::from(u128::from(*count)));
    Ok(periods.collect())
}

/// The greatest means known of each connected part, and longest paths under them.
struct Means<'g> {
    /// In the order of an iteration of the nodes that they start from.
    edges: Vec<&'g Edge>,
    /// The part of each node.
    parts: Vec<usize>,
    means: Vec<Ratio<u128>>,
    /// Longest path to each node, times the denominator of the mean.
    lengths: Vec<i128>,
    /// Its last edge, a position in `edges`.
    before: Vec<Option<usize>>,
}

impl<'g> Means<'g> {
    fn new(hsdf: &'g Hsdf, order: &[usize], parts: &[usize]) -> Self {
        let mut places = vec![0; order.len()];
        for (place, node) in order.iter().enumerate() {
            places[*node] = place;
        }
        let mut edges: Vec<&Edge> = hsdf.edges.iter().collect();
        edges.sort_by_key(|edge| places[edge.from]);
        Self {
            edges,
            parts: hsdf.tasks.iter().map(|task| parts[*task]).collect(),
            means: vec![Ratio::from(0); parts.len()],
            lengths: vec![0; hsdf.tasks.len()],
            before: vec![None; hsdf.tasks.len()],
        }
    }

    fn settle(mut self) -> Result<Vec<Ratio<u128>>, Flaw> {
        while self.relax()? {
            self.raise();
        }
        Ok(self.means)
    }

    /// Makes paths longer along every edge; false when none got longer.
    fn relax(&mut self) -> Result<bool, Flaw> {
        let mut longer = false;
        for (number, edge) in self.edges.iter().enumerate() {
            let mean = self.means[self.parts[edge.from]];
            let length = weight(edge, mean).and_then(|w| self.lengths[edge.from].checked_add(w));
            let length = length.ok_or(Flaw::TooLong)?;
            if length > self.lengths[edge.to] {
                self.lengths[edge.to] = length;
                self.before[edge.to] = Some(number);
                longer = true;
            }
        }
        Ok(longer)
    }

    /// Takes the mean of every cycle of last edges; such a part starts its paths anew.
    fn raise(&mut self) {
        let mut visits = vec![usize::MAX; self.lengths.len()];
        let mut raised = vec![false; self.means.len()];
        for start in 0..self.lengths.len() {
            let mut at = start;
            while visits[at] == usize::MAX {
                visits[at] = start;
                let Some(number) = self.before[at] else { break };
                at = self.edges[number].from;
            }
            if visits[at] == start && self.before[at].is_some() {
                let (part, mean) = (self.parts[at], self.mean_of_cycle(at));
                if mean > self.means[part] {
                    self.means[part] = mean;
                    raised[part] = true;
                }
            }
        }
        for node in 0..self.lengths.len() {
            if raised[self.parts[node]] {
                self.lengths[node] = 0;
                self.before[node] = None;
            }
        }
    }

    fn mean_of_cycle(&self, first: usize) -> Ratio<u128> {
        let (mut time, mut delay, mut at) = (0_u128, 0_u128, first);
        while let Some(number) = self.before[at] {
            let edge = self.edges[number];
            time += u128::from(edge.time);
            delay += u128::from(edge.delay);
            at = edge.from;
            if at == first {
                break;
            }
        }
        // A cycle without delay would be a deadlock, and an end of the paths is no cycle.
        if delay == 0 { Ratio::from(0) } else { Ratio::new(time, delay) }
    }
}

/// `time - mean × delay`, times the denominator of the mean.
fn weight(edge: &Edge, mean: Ratio<u128>) -> Option<i128> {
    let time = u128::from(edge.time).checked_mul(*mean.denom())?;
    let due = u128::from(edge.delay).checked_mul(*mean.numer())?;
    i128::try_from(time).ok()?.checked_sub(i128::try_from(due).ok()?)
}
