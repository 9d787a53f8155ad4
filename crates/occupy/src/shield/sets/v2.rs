// SPDX-License-Identifier: Apache-2.0
//! cgroup v2: a cpuset partition for each program; the kernel keeps all others out of it.

use super::{Hierarchy, dismiss, make, narrow, set};
use crate::journal::Change;
use crate::settings::Setting;
use crate::work::Work;
use crate::{Error, Occupation};

pub(crate) fn settle(work: &mut Work, hierarchy: &Hierarchy) -> Result<(), Error> {
    let root = &hierarchy.root;
    let wanted = hierarchy.wanted(work);
    let folders: Vec<_> = wanted.iter().map(|o| hierarchy.folder(o.id)).collect();
    dismiss(work, hierarchy, &folders)?;
    let controller = Setting::Controller(root.join("cgroup.subtree_control"));
    let others = hierarchy.others(work, false);
    if !wanted.is_empty() {
        work.settle(controller, |_| "+cpuset".to_owned())?;
        narrow(work, &others)?;
        return wanted.iter().try_for_each(|occupation| partition(work, hierarchy, occupation));
    }
    narrow(work, &others)?;
    let Some(change) = work.journal.change(&controller) else { return Ok(()) };
    // The controller takes its settings with it: those of somebody who came after us stay.
    let used = |folder: &std::path::PathBuf| {
        let list = work.kernel.read(&folder.join("cpuset.cpus")).unwrap_or_default();
        !list.trim().is_empty()
    };
    if change.before == "-cpuset" && others.iter().any(used) {
        let tell = Change { from: "+cpuset".to_owned(), foreign: true, ..change.clone() };
        work.tell(&tell);
        return Ok(());
    }
    work.settle(controller, str::to_owned)
}

/// A partition of these processors: one alone needs no balancing, of which `isolated` takes the
/// kernel's timers and work away too; several are balanced among themselves.
fn partition(work: &mut Work, hierarchy: &Hierarchy, of: &Occupation) -> Result<(), Error> {
    let folder = hierarchy.folder(of.id);
    make(work, &folder)?;
    set(work, &folder.join("cpuset.cpus"), &of.cpus.to_string())?;
    let file = folder.join("cpuset.cpus.partition");
    let is = |work: &Work| work.kernel.read(&file).unwrap_or_default().trim().to_owned();
    if !matches!(is(work).as_str(), "isolated" | "root") {
        let isolated = of.cpus.len() == 1 && set(work, &file, "isolated").is_ok();
        // Before Linux 6.1 there is only `root`.
        if !isolated || is(work) != "isolated" {
            set(work, &file, "root")?;
        }
    }
    match is(work).as_str() {
        "isolated" | "root" => Ok(()),
        why => Err(Error::NoShield { shield: "v2", why: why.to_owned() }),
    }
}
