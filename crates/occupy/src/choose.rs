// SPDX-License-Identifier: Apache-2.0
//! Which processor is the quietest to occupy.

use std::cmp::Reverse;

use crate::linux::kernel::Kernel;
use crate::shield::masks::Interrupt;
use crate::{CpuSet, Machine};

/// The processor with the fewest interrupts that cannot be moved, of equals the highest; and why.
///
/// The highest, because the kernel and devices by custom begin with the first.
pub(crate) fn choose(
    kernel: &dyn Kernel,
    machine: &Machine,
    free: &CpuSet,
) -> Option<(usize, String)> {
    let interrupts = Interrupt::all(kernel, machine);
    let fixed = interrupts.iter().filter(|interrupt| !interrupt.movable);
    let fixed: Vec<CpuSet> = fixed.map(|interrupt| interrupt.effective(kernel)).collect();
    let count = |cpu: usize| fixed.iter().filter(|cpus| cpus.has(cpu)).count();
    let best = free.iter().min_by_key(|&cpu| (count(cpu), Reverse(cpu)))?;
    let number = |cpu: usize| match count(cpu) {
        0 => "no interrupt".to_owned(),
        1 => "1 interrupt".to_owned(),
        more => format!("{more} interrupts"),
    };
    let others = free.iter().filter(|&cpu| cpu != best);
    let others: Vec<_> = others.map(|cpu| format!(", processor {cpu} {}", number(cpu))).collect();
    let reason = if others.is_empty() {
        format!("processor {best} is the only one that is free")
    } else {
        let (has, others) = (number(best), others.concat());
        format!("processor {best} has {has} that cannot be moved{others}")
    };
    Some((best, reason))
}
