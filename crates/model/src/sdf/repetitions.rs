// SPDX-License-Identifier: Apache-2.0
//! The balance equations: for each channel, what is sent in one iteration is received in it.

use std::collections::VecDeque;

use num_integer::Integer;
use num_rational::Ratio;
use num_traits::CheckedMul;

use super::{Channel, Flaw, Graph};

/// The least whole solution, of each connected part by itself.
pub(super) fn solve(graph: &Graph) -> Result<Vec<u64>, Flaw> {
    let shares = shares(graph)?;
    let parts = graph.parts();
    let mut scales = vec![1_u64; graph.tasks.len()];

    for (share, part) in shares.iter().zip(&parts) {
        let (scale, denominator) = (scales[*part], *share.denom());
        let factor = denominator / scale.gcd(&denominator);
        scales[*part] = scale.checked_mul(factor).ok_or(Flaw::TooLong)?;
    }
    let mut counts = Vec::with_capacity(shares.len());
    for (share, part) in shares.iter().zip(&parts) {
        let factor = scales[*part] / share.denom();
        counts.push(share.numer().checked_mul(&factor).ok_or(Flaw::TooLong)?);
    }
    reduce(&mut counts, &parts);
    Ok(counts)
}

/// Firings of each task for one firing of the first of its part.
fn shares(graph: &Graph) -> Result<Vec<Ratio<u64>>, Flaw> {
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); graph.tasks.len()];
    for (number, channel) in graph.channels.iter().enumerate() {
        at[channel.from].push(number);
        at[channel.to].push(number);
    }
    let mut shares: Vec<Option<Ratio<u64>>> = vec![None; graph.tasks.len()];
    let mut reached = VecDeque::new();
    for first in 0..graph.tasks.len() {
        if shares[first].is_none() {
            shares[first] = Some(Ratio::ONE);
            reached.push_back(first);
        }
        while let Some(task) = reached.pop_front() {
            for &number in &at[task] {
                let channel = &graph.channels[number];
                let (Some(share), forward) = (shares[task], channel.from == task) else { continue };
                let other = if forward { channel.to } else { channel.from };
                if shares[other].is_none() {
                    shares[other] = Some(across(channel, share, forward)?);
                    reached.push_back(other);
                }
            }
        }
    }
    let shares: Vec<Ratio<u64>> = shares.into_iter().flatten().collect();
    graph.channels.iter().enumerate().try_for_each(|(n, c)| balanced(n, c, &shares))?;
    Ok(shares)
}

/// The share of the task at the other end of a channel.
fn across(channel: &Channel, share: Ratio<u64>, forward: bool) -> Result<Ratio<u64>, Flaw> {
    let rate = Ratio::new(u64::from(channel.produce), u64::from(channel.consume));
    let rate = if forward { rate } else { rate.recip() };
    share.checked_mul(&rate).ok_or(Flaw::TooLong)
}

fn balanced(number: usize, channel: &Channel, shares: &[Ratio<u64>]) -> Result<(), Flaw> {
    let messages = |task: usize, rate: u32| {
        shares[task].checked_mul(&Ratio::from(u64::from(rate))).ok_or(Flaw::TooLong)
    };
    let sent = messages(channel.from, channel.produce)?;
    let received = messages(channel.to, channel.consume)?;
    if sent == received { Ok(()) } else { Err(Flaw::Unbalanced(number)) }
}

fn reduce(counts: &mut [u64], parts: &[usize]) {
    let mut divisors = vec![0_u64; counts.len()];
    for (count, part) in counts.iter().zip(parts) {
        divisors[*part] = divisors[*part].gcd(count);
    }
    for (count, part) in counts.iter_mut().zip(parts) {
        *count /= divisors[*part];
    }
}
