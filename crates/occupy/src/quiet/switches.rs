// SPDX-License-Identifier: Apache-2.0
//! Context switches of processors, counted by the kernel's performance events.
//!
//! `/proc` has them for the whole machine only, and `/proc/schedstat` is compiled out of many
//! kernels; the event costs nothing while nobody reads it.

use std::io;

use perf_event::events::Software;
use perf_event::{Builder, Counter};

use crate::CpuSet;

/// Counters on some processors; they count from when they were opened.
#[derive(Debug)]
pub struct Switches(Vec<Counter>);

impl Switches {
    /// Starts counting.
    ///
    /// # Errors
    /// The kernel has no such events, or the user may not count on whole processors.
    pub fn open(cpus: &CpuSet) -> io::Result<Self> {
        let open = |cpu| {
            // Switches happen in the kernel, which is left out unless asked for.
            let mut counter = Builder::new(Software::CONTEXT_SWITCHES)
                .any_pid()
                .one_cpu(cpu)
                .include_kernel()
                .build()?;
            counter.enable().map(|()| counter)
        };
        cpus.iter().map(open).collect::<io::Result<_>>().map(Self)
    }

    /// How many there have been on all these processors.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&mut self) -> io::Result<u64> {
        self.0.iter_mut().map(Counter::read).sum()
    }
}
