// SPDX-License-Identifier: Apache-2.0
//! What is decided before an occupation begins: its processors and its shield.

use crate::choose::choose;
use crate::linux::kernel::{Kernel, Linux, list};
use crate::shield::sets::{self, Hierarchy};
use crate::work::Work;
use crate::{CpuSet, Error, Machine, ShieldKind};

impl Machine {
    /// The shields, best first, and of each why it is not to be had.
    pub fn shields(&self) -> Vec<(ShieldKind, Result<(), String>)> {
        available(&Linux::default(), self)
    }
}

/// The processors to occupy, and why these.
pub(crate) fn processors(work: &Work, asked: Option<&CpuSet>) -> Result<(CpuSet, String), Error> {
    let occupied = work.occupied();
    let none_left = |wanted: &CpuSet| Error::NoneLeft {
        wanted: wanted.union(&occupied),
        usable: work.usable.clone(),
    };
    let Some(cpus) = asked else {
        let hierarchies = Hierarchy::all(work.kernel, work.machine);
        let claimed = |cpu: usize| sets::claimed(work, &hierarchies, &CpuSet::one(cpu)).is_some();
        let free = work.usable.minus(&occupied);
        let open: CpuSet = free.iter().filter(|&cpu| !claimed(cpu)).collect();
        let chosen = choose(work.kernel, work.machine, &open).filter(|_| free.len() > 1);
        let (cpu, reason) = chosen.ok_or_else(|| none_left(&free))?;
        return Ok((CpuSet::one(cpu), reason));
    };
    let online = list(work.kernel, &work.machine.sys.join("devices/system/cpu/online"))?;
    for cpu in cpus.iter() {
        if !online.has(cpu) || !work.usable.has(cpu) {
            return Err(Error::Offline { cpu, online: online.common(&work.usable) });
        }
        let mut all = work.journal.occupations().iter();
        if let Some(other) = all.find(|other| other.cpus.has(cpu)) {
            return Err(Error::Occupied { cpu, by: other.command.join(" ") });
        }
    }
    if cpus.is_empty() || work.usable.within(&cpus.union(&occupied)) {
        return Err(none_left(cpus));
    }
    unclaimed(work, cpus)?;
    Ok((cpus.clone(), "asked for".to_owned()))
}

/// Refuses processors that somebody else's cpuset needs.
pub(crate) fn unclaimed(work: &Work, cpus: &CpuSet) -> Result<(), Error> {
    let hierarchies = Hierarchy::all(work.kernel, work.machine);
    match sets::claimed(work, &hierarchies, cpus) {
        Some((cpu, path)) => Err(Error::ForeignCpuset { cpu, path }),
        None => Ok(()),
    }
}

/// The shields to try, best first.
pub(crate) fn shields(
    work: &Work,
    soft: bool,
    asked: Option<ShieldKind>,
) -> Result<Vec<ShieldKind>, Error> {
    let refuse = |kind: ShieldKind, why: &str| {
        Err(Error::NoShield { shield: kind.name(), why: why.to_owned() })
    };
    if soft {
        return match asked {
            Some(kind) if kind != ShieldKind::Affinity => {
                refuse(kind, "a soft occupation keeps no other program away")
            }
            _ => Ok(vec![ShieldKind::Affinity]),
        };
    }
    // What a task would have without occupations can be told from one kind of shield at a time.
    let other = work.journal.occupations().iter().find(|other| !other.soft);
    let available = available(work.kernel, work.machine);
    let of = |kind: ShieldKind| available.iter().find(|(other, _)| *other == kind);
    let lacks = |kind: ShieldKind| of(kind).and_then(|(_, lacks)| lacks.as_ref().err());
    match (asked, other) {
        (Some(kind), Some(other)) if kind != other.shield => {
            refuse(kind, &format!("occupation {} has the shield {}", other.id, other.shield.name()))
        }
        (Some(kind), _) => match lacks(kind) {
            Some(why) => refuse(kind, why),
            None => Ok(vec![kind]),
        },
        (None, Some(other)) => Ok(vec![other.shield]),
        (None, None) => {
            let best = available.iter().filter(|(_, lacks)| lacks.is_ok());
            Ok(best.map(|(kind, _)| *kind).collect())
        }
    }
}

/// Every shield, best first, and why it is not to be had.
pub(crate) fn available(
    kernel: &dyn Kernel,
    machine: &Machine,
) -> Vec<(ShieldKind, Result<(), String>)> {
    let hierarchies = Hierarchy::all(kernel, machine);
    let cpusets = [ShieldKind::V2, ShieldKind::V1].into_iter().map(|kind| {
        let mounted = hierarchies.iter().find(|hierarchy| hierarchy.kind == kind);
        let lacks = match mounted {
            Some(hierarchy) => hierarchy.lacks(kernel),
            None => Some("its hierarchy is not mounted".to_owned()),
        };
        (kind, lacks.map_or(Ok(()), Err))
    });
    let may = kernel.may_move();
    let affinity = if may { Ok(()) } else { Err("needs CAP_SYS_NICE".to_owned()) };
    cpusets.chain([(ShieldKind::Affinity, affinity)]).collect()
}
