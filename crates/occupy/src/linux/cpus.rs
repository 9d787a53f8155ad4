// SPDX-License-Identifier: Apache-2.0
//! Sets of processors, as the kernel writes them: lists (`0-2,5`) and masks (`00000000,00000027`).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Processors by the kernel's numbers, in ascending order; may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CpuSet(BTreeSet<usize>);

/// A text that is not a list or mask of processors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid list of processors `{0}`: write 0-2,5")]
pub struct CpuSetError(pub String);

/// No machine has more; a larger number is a mistake (`CONFIG_NR_CPUS` ends at 8192).
const MOST: usize = 8192;

impl CpuSet {
    /// A set of one.
    pub fn one(cpu: usize) -> Self {
        Self(BTreeSet::from([cpu]))
    }

    /// Those of both sets.
    pub fn union(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    /// Those of this set that the other has not.
    pub fn minus(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    /// Those that both have.
    pub fn common(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    /// Whether the sets share a processor.
    pub fn meets(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    /// Whether every processor of this set is in the other.
    pub fn within(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Whether it has this processor.
    pub fn has(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// From a mask of `smp_affinity` or `cpumask`: words of 32 bits in hexadecimal, the highest
    /// first, with commas between them.
    pub fn from_mask(text: &str) -> Result<Self, CpuSetError> {
        let wrong = || CpuSetError(text.trim().to_owned());
        let mut cpus = BTreeSet::new();
        for (word, digits) in text.trim().rsplit(',').enumerate() {
            let bits = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
            cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| word * 32 + bit));
        }
        if cpus.last().is_some_and(|&last| last >= MOST) { Err(wrong()) } else { Ok(Self(cpus)) }
    }

    /// As a mask: the inverse of [`CpuSet::from_mask`].
    pub fn to_mask(&self) -> String {
        let words = self.0.last().map_or(1, |last| last / 32 + 1);
        let word = |word: usize| {
            let bits = (0..32).filter(|bit| self.has(word * 32 + bit));
            format!("{:08x}", bits.fold(0_u32, |mask, bit| mask | 1 << bit))
        };
        (0..words).rev().map(word).collect::<Vec<_>>().join(",")
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    /// From a list; nothing, or blanks, is the empty set.
    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        let wrong = || CpuSetError(text.trim().to_owned());
        let mut cpus = BTreeSet::new();
        for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |digits: &str| digits.parse::<usize>().map_err(|_| wrong());
            let (first, last) = (number(first)?, number(last)?);
            if first > last || last >= MOST {
                return Err(wrong());
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }
}

impl TryFrom<String> for CpuSet {
    type Error = CpuSetError;

    fn try_from(text: String) -> Result<Self, CpuSetError> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(cpus: CpuSet) -> Self {
        cpus.to_string()
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while rest.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CpuSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_and_masks_come_back(cpus in prop::collection::btree_set(0_usize..300, 0..40)) {
            let set: CpuSet = cpus.into_iter().collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set.clone());
            prop_assert_eq!(CpuSet::from_mask(&set.to_mask()).unwrap(), set);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9a-f,-]{0,12}") {
            let _ = text.parse::<CpuSet>();
            let _ = CpuSet::from_mask(&text);
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["x", "1-", "3-1", "-1", "1,,2", "9000", "0x1"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
        assert_eq!("".parse(), Ok(CpuSet::default()));
    }

    #[test]
    fn masks_are_those_of_the_kernel() {
        assert_eq!(CpuSet::from_mask("00000001,00000003\n").unwrap().to_string(), "0-1,32");
        assert_eq!(CpuSet::one(33).to_mask(), "00000002,00000000");
    }
}
