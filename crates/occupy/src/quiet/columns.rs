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

#[cfg(test)]
mod tests {
    use super::{Line, parse};
    use crate::CpuSet;
    use proptest::prelude::*;

    const TWO: &str = include_str!("../../tests/recorded/linux-6.18-2/interrupts");
    const ONE: &str = include_str!("../../tests/recorded/linux-6.1-1/interrupts");
    const SIX_OF_EIGHT: &str =
        include_str!("../../tests/recorded/linux-6.1-8-without-3-5/interrupts");
    const SOFT_EIGHT: &str = include_str!("../../tests/recorded/linux-6.1-8-without-3-5/softirqs");

    fn count(text: &str, cpus: &str, name: &str) -> Option<u64> {
        let lines = parse(text, &cpus.parse().unwrap());
        lines.into_iter().find(|line| line.name == name).map(|line| line.count)
    }

    #[test]
    fn a_device_is_called_by_its_number_and_its_driver() {
        let disk = count(TWO, "1", "36 virtio1-req.0").unwrap();
        assert!(disk > 0);
        assert_eq!(count(TWO, "0", "36 virtio1-req.0"), Some(0));
        assert_eq!(count(TWO, "0-1", "36 virtio1-req.0"), Some(disk));
    }

    #[test]
    fn columns_are_those_of_the_head_though_processors_are_missing() {
        assert_eq!(count(SIX_OF_EIGHT, "4", "LOC Local timer interrupts"), Some(323));
        assert_eq!(count(SIX_OF_EIGHT, "2,4", "LOC Local timer interrupts"), Some(415 + 323));
        assert_eq!(count(SIX_OF_EIGHT, "3", "LOC Local timer interrupts"), Some(0));
        assert_eq!(count(SIX_OF_EIGHT, "7", "4 ttyS0"), Some(4));
    }

    #[test]
    fn soft_interrupts_have_columns_also_for_what_is_off_line() {
        assert_eq!(count(SOFT_EIGHT, "4", "SCHED"), Some(80));
        assert_eq!(count(SOFT_EIGHT, "7", "TASKLET"), Some(1));
    }

    #[test]
    fn what_is_counted_for_the_whole_machine_is_left_out() {
        assert_eq!(count(TWO, "0-1", "ERR"), None);
        // Unless there is only one processor, which then had all of them.
        assert_eq!(count(ONE, "0", "ERR"), Some(0));
        assert_eq!(count(ONE, "0", "LOC Local timer interrupts"), Some(330));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,80}", like in "[CPU01: 9\n]{0,80}") {
            let cpus: CpuSet = "0-3".parse().unwrap();
            parse(&text, &cpus);
            parse(&like, &cpus);
        }

        #[test]
        fn counts_of_the_wanted_columns_are_added_up(
            counts in prop::collection::btree_map(0_usize..64, any::<u64>(), 1..9),
            wanted in prop::collection::btree_set(0_usize..64, 0..30),
        ) {
            let head: String = counts.keys().map(|cpu| format!("CPU{cpu} ")).collect();
            let row: String = counts.values().map(|count| format!(" {count}")).collect();
            let text = format!("  {head}\n  7: {row}  chip  3-edge   some, driver\n");
            let of_wanted = counts.iter().filter(|(cpu, _)| wanted.contains(cpu));
            let count = of_wanted.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
            let line = Line { name: "7 some, driver".into(), count };
            prop_assert_eq!(parse(&text, &wanted.into_iter().collect()), [line]);
        }
    }
}
