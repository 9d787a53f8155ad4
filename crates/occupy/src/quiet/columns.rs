// SPDX-License-Identifier: Apache-2.0
//! `/proc/interrupts` and `/proc/softirqs`: a column for each processor, a line for each source.

use crate::CpuSet;

/// How often one source has interrupted some processors since the boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number or short name, and what the kernel says of it: `36 virtio1-req.0`.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// The lines, summed over these processors. What has no count for each processor (`ERR`) is left
/// out. Only processors that the head names have columns: numbers that are off-line are missing.
pub fn parse(text: &str, cpus: &CpuSet) -> Vec<Line> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().split_whitespace();
    let wanted = |column: &str| {
        column.strip_prefix("CPU").and_then(|n| n.parse().ok()).is_some_and(|n| cpus.has(n))
    };
    let columns: Vec<bool> = head.map(wanted).collect();
    lines.filter_map(|line| parse_line(line, &columns)).collect()
}

fn parse_line(line: &str, columns: &[bool]) -> Option<Line> {
    let (label, mut rest) = line.split_once(':')?;
    let mut count = 0_u64;
    for wanted in columns {
        rest = rest.trim_start();
        let (digits, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        let one: u64 = digits.parse().ok()?;
        count = count.saturating_add(if *wanted { one } else { 0 });
        rest = after;
    }
    // Of a device, the controller and its own number come first, then blanks, then the drivers.
    let driver = rest.trim().rsplit("  ").next().unwrap_or_default().trim();
    Some(Line { name: format!("{} {driver}", label.trim()).trim_end().to_owned(), count })
}
