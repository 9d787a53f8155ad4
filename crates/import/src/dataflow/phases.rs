// SPDX-License-Identifier: Apache-2.0
//! What an actor does in its firings, one after the other and then again from the first: rates of
//! its ports, and times. A graph that is not cyclo-static has one phase.

use num_integer::Integer;

/// Of one actor: more are no pattern, and no tasks of ours.
pub(super) const PHASES_MAX: usize = 1 << 16;

/// A number for each phase, at least one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phases {
    each: Vec<u64>,
    /// Sums of all before: one more than there are phases.
    sums: Vec<u64>,
}

impl Phases {
    /// Those numbers, as few of them as say the same.
    pub fn new(each: &[u64]) -> Self {
        let repeats = |length: &usize| {
            each.len() % length == 0 && each[*length..].iter().eq(&each[..each.len() - length])
        };
        let length = (1..each.len()).find(repeats).unwrap_or(each.len());
        let each = each[..length].to_vec();
        let mut sums = vec![0];
        for number in &each {
            sums.push(sums[sums.len() - 1] + number);
        }
        Self { each, sums }
    }

    /// Always the same.
    pub fn one(number: u64) -> Self {
        Self::new(&[number])
    }

    /// Reads `1,0,3*2`: numbers, the last of them three times.
    pub fn read(text: &str, most: u64) -> Option<Self> {
        let mut each = Vec::new();
        for part in text.split(',') {
            let (times, number) = part.split_once('*').unwrap_or(("1", part));
            let times: usize = times.trim().parse().ok()?;
            let number = number.trim().parse().ok().filter(|number| *number <= most)?;
            if times == 0 || times > PHASES_MAX - each.len() {
                return None;
            }
            each.resize(each.len() + times, number);
        }
        Some(Self::new(&each))
    }

    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// Of a firing, counted from 0.
    pub fn at(&self, firing: u64) -> u64 {
        self.each[self.phase(firing)]
    }

    /// Of all phases.
    pub fn all(&self) -> u64 {
        self.sums[self.len()]
    }

    pub fn least(&self) -> u64 {
        self.each.iter().copied().min().unwrap_or_default()
    }

    pub fn most(&self) -> u64 {
        self.each.iter().copied().max().unwrap_or_default()
    }

    /// Of the first so many firings.
    pub fn sum(&self, firings: u64) -> u64 {
        firings / self.len() as u64 * self.all() + self.sums[self.phase(firings)]
    }

    /// How many firings it takes until the sum is that large. Some number is more than 0.
    pub fn firings(&self, sum: u64) -> u64 {
        if sum == 0 {
            return 0;
        }
        // The last of the laps may not be needed whole.
        let laps = (sum - 1) / self.all();
        let rest = sum - laps * self.all();
        laps * self.len() as u64 + self.sums.partition_point(|before| *before < rest) as u64
    }

    /// The firing that passes a token, counted from 0.
    pub fn passes(&self, token: u64) -> u64 {
        self.firings(token + 1) - 1
    }

    fn phase(&self, firing: u64) -> usize {
        usize::try_from(firing % self.len() as u64).unwrap_or_default()
    }
}

/// After how many firings all of these begin anew; `None`: after too many.
pub(super) fn together<'a>(all: impl Iterator<Item = &'a Phases>) -> Option<usize> {
    all.map(Phases::len).try_fold(1_usize, |length, other| {
        Some(length.lcm(&other)).filter(|length| *length <= PHASES_MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_stand_for_several_phases() {
        let phases = Phases::read("0, 2*18,0", 32).unwrap();
        assert_eq!((0..5).map(|n| phases.at(n)).collect::<Vec<_>>(), [0, 18, 18, 0, 0]);
        assert_eq!((phases.len(), phases.all(), phases.most()), (4, 36, 18));
        for wrong in ["", "1,", "1,,2", "x", "-1", "0*3", "*3", "3*", "33", "1.5", "70000*1"] {
            assert_eq!(Phases::read(wrong, 32), None, "{wrong}");
        }
    }

    #[test]
    fn phases_that_repeat_are_as_few_as_can_be() {
        assert_eq!(Phases::new(&[2, 1, 2, 1]), Phases::new(&[2, 1]));
        assert_eq!(Phases::new(&[3; 7]), Phases::one(3));
        assert_eq!(Phases::new(&[1, 2, 1]).len(), 3);
        let all = [Phases::new(&[1, 2]), Phases::new(&[1, 2, 3]), Phases::one(9)];
        assert_eq!(together(all.iter()), Some(6));
    }

    #[test]
    fn firings_are_the_least_whose_sum_is_large_enough() {
        for each in [&[1][..], &[3], &[0, 2], &[2, 0], &[1, 0, 2], &[0, 0, 5, 1]] {
            let phases = Phases::new(each);
            let mut sum = 0;
            for firings in 0..20 {
                assert_eq!(phases.sum(firings), sum);
                sum += each[usize::try_from(firings).unwrap() % each.len()];
            }
            for sum in 1..30 {
                let firings = phases.firings(sum);
                assert!(phases.sum(firings) >= sum && phases.sum(firings - 1) < sum, "{each:?}");
            }
            assert_eq!(phases.firings(0), 0);
        }
    }
}
