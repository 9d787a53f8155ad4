// SPDX-License-Identifier: Apache-2.0
//! What this kernel takes from a program with a real-time priority: throttling and the fair server.

use std::path::Path;

use crate::Machine;
use crate::linux::kernel::{Kernel, Linux};

impl Machine {
    /// What the kernel takes from a program with a real-time priority, a line for each mechanism.
    ///
    /// None of it is changed: it is what keeps a machine usable, and a program that is scheduled
    /// fairly on a processor of its own loses nothing to it.
    pub fn taken_from_fifo(&self) -> Vec<String> {
        vec![self.throttling(), self.fair_server()]
    }

    fn throttling(&self) -> String {
        let number = |name: &str| number(&self.proc.join("sys/kernel").join(name));
        let times = (number("sched_rt_runtime_us"), number("sched_rt_period_us"));
        match times {
            (Some(runtime), _) if runtime < 0 => "real-time throttling: off".to_owned(),
            (Some(runtime), Some(period)) if period > 0 => format!(
                "real-time throttling: takes up to {} of each {} ms from SCHED_FIFO",
                share(period - runtime, period),
                period / 1000
            ),
            _ => "real-time throttling: sched_rt_runtime_us cannot be read".to_owned(),
        }
    }

    fn fair_server(&self) -> String {
        let debug = self.sys.join("kernel/debug");
        let server = debug.join("sched/fair_server");
        let kernel = Linux::default();
        let unreadable = "fair server: its files cannot be read here; since Linux 6.12 it takes \
                          5.0 % from SCHED_FIFO while fair tasks wait";
        let Ok(cpus) = kernel.folders(&server) else {
            // Who sees the scheduler's other files would see these.
            let none = kernel.exists(&debug.join("sched/debug"));
            return if none { "fair server: this kernel has none" } else { unreadable }.to_owned();
        };
        let shares = cpus.iter().map(|cpu| {
            let runtime = number(&server.join(cpu).join("runtime"))?;
            let period = number(&server.join(cpu).join("period")).filter(|&period| period > 0)?;
            Some(share(runtime, period))
        });
        match shares.collect::<Option<Vec<_>>>() {
            Some(mut shares) if !shares.is_empty() => {
                shares.sort();
                shares.dedup();
                let shares = shares.join(" or ");
                format!("fair server: takes {shares} from SCHED_FIFO while fair tasks wait")
            }
            _ => unreadable.to_owned(),
        }
    }
}

fn number(path: &Path) -> Option<i64> {
    Linux::default().read(path).ok()?.trim().parse().ok()
}

fn share(part: i64, total: i64) -> String {
    let tenths = part.saturating_mul(1000) / total;
    format!("{}.{} %", tenths / 10, tenths % 10)
}
