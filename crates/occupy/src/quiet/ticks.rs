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
