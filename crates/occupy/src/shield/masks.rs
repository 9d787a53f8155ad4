// SPDX-License-Identifier: Apache-2.0
//! Interrupts and unbound work queues, which keep away from every occupied processor.

use std::path::{Path, PathBuf};

use crate::linux::kernel::Kernel;
use crate::settings::Setting;
use crate::work::{Work, refusal};
use crate::{CpuSet, Error, Machine};

/// An interrupt that has a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interrupt {
    /// Its folder in `/proc/irq`.
    pub folder: PathBuf,
    /// As it is called in what is shown to people.
    pub what: String,
    /// The kernel lets it be moved, as far as it tells beforehand: since Linux 6.11 it does.
    pub movable: bool,
}

impl Interrupt {
    /// All there are.
    pub fn all(kernel: &dyn Kernel, machine: &Machine) -> Vec<Self> {
        let irq = machine.proc.join("irq");
        let names = kernel.folders(&irq).unwrap_or_default();
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        let found = numbers.into_iter().filter_map(|number| {
            let folder = irq.join(number.to_string());
            let handler = kernel.folders(&folder).ok()?.into_iter().next()?;
            let movable = kernel.writable(&folder.join("smp_affinity_list"));
            Some(Self { folder, what: format!("interrupt {number} ({handler})"), movable })
        });
        found.collect()
    }

    /// The processors that it comes to.
    pub fn effective(&self, kernel: &dyn Kernel) -> CpuSet {
        let read = |name: &str| kernel.read(&self.folder.join(name)).ok()?.parse::<CpuSet>().ok();
        let effective = read("effective_affinity_list").filter(|cpus| !cpus.is_empty());
        effective.or_else(|| read("smp_affinity_list")).unwrap_or_default()
    }
}

/// Moves them away, or back.
pub(crate) fn settle(work: &mut Work) -> Result<(), Error> {
    let away = work.occupied();
    let default = work.machine.proc.join("irq/default_smp_affinity");
    let queues = work.machine.sys.join("devices/virtual/workqueue/cpumask");
    let mut settings = Vec::new();
    if allowed(work, &default, &away, "interrupts") {
        settings.push((Setting::Mask(default), "new interrupts".to_owned()));
        for interrupt in Interrupt::all(work.kernel, work.machine) {
            if interrupt.movable {
                let path = interrupt.folder.join("smp_affinity_list");
                settings.push((Setting::List(path), interrupt.what));
            } else {
                let cpus = interrupt.effective(work.kernel).common(&away);
                stays(work, cpus, &interrupt.what);
            }
        }
    }
    if allowed(work, &queues, &away, "unbound work queues") {
        settings.push((Setting::Mask(queues), "unbound work queues".to_owned()));
    }
    let mut changes = Vec::new();
    for (setting, _) in &settings {
        let Ok(current) = setting.read(work.kernel) else { continue };
        changes.extend(work.plan(setting, &current, |before| work.less(before, &away)));
    }
    for (change, error) in work.carry_out(changes)? {
        let what = settings.iter().find(|(setting, _)| *setting == change.setting);
        let what = what.map_or_else(String::new, |(_, what)| what.clone());
        let cpus: CpuSet = change.from.parse().unwrap_or_default();
        match error.raw_os_error() {
            Some(libc::EPERM | libc::EIO) => stays(work, cpus.common(&away), &what),
            _ => work.keep(cpus.common(&away), what, refusal(&error, work.kernel)),
        }
        work.fail(change, error);
    }
    Ok(())
}

/// Whether these may be written at all; says so if not.
fn allowed(work: &mut Work, path: &Path, away: &CpuSet, what: &str) -> bool {
    if !work.kernel.exists(path) {
        return false;
    }
    let may = work.kernel.may_write(path);
    if !may && !away.is_empty() {
        work.keep(away.clone(), what, "needs root");
    }
    may
}

fn stays(work: &mut Work, cpus: CpuSet, what: &str) {
    if !cpus.is_empty() {
        work.keep(cpus, what, "the kernel alone decides where it comes");
    }
}
