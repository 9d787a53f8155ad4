// SPDX-License-Identifier: Apache-2.0
//! `/proc/stat`: what the processors' time went to.

use std::collections::BTreeMap;

/// What the kernel tells apart, in the order of the file. The time of guests is also the user's.
pub const KINDS: [&str; 8] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// Clock ticks of one processor since the boot, one number for each of [`KINDS`].
pub type Ticks = [u64; KINDS.len()];

/// The processors that are on-line; kinds that an old kernel does not know are 0.
pub fn parse(text: &str) -> BTreeMap<usize, Ticks> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<(usize, Ticks)> {
    let mut words = line.split_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let mut ticks = Ticks::default();
    for (tick, word) in ticks.iter_mut().zip(words) {
        *tick = word.parse().ok()?;
    }
    Some((cpu, ticks))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    #[test]
    fn processors_keep_their_numbers_though_some_are_missing() {
        let text = include_str!("../../tests/recorded/linux-6.1-8-without-3-5/stat");
        let ticks = parse(text);
        assert_eq!(ticks.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 4, 6, 7]);
        assert_eq!(ticks[&7], [2, 0, 59, 289, 0, 0, 2, 0]);
    }

    #[test]
    fn steal_is_the_eighth_and_guests_are_not_counted_twice() {
        let two = parse(include_str!("../../tests/recorded/linux-6.18-2/stat"));
        assert_eq!((two.len(), two[&0][7]), (2, 168));
        assert_eq!(parse(include_str!("../../tests/recorded/linux-6.1-1/stat")).len(), 1);
        assert_eq!(parse("cpu3 1 2 3 4 5 6 7 8 9 10\n")[&3], [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn kinds_that_an_old_kernel_does_not_know_are_zero() {
        assert_eq!(parse("cpu 9 9 9 9\ncpu0 1 2 3 4\n")[&0], [1, 2, 3, 4, 0, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,80}", like in "[cpu0-9 \n]{0,80}") {
            parse(&text);
            parse(&like);
        }
    }
}
