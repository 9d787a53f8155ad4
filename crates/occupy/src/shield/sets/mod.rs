// SPDX-License-Identifier: Apache-2.0
//! Cpusets: where they are, and which of them are ours.

pub(crate) mod v1;
pub(crate) mod v2;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use procfs::FromRead;
use procfs::ProcessCGroups;
use procfs::process::MountInfos;

use crate::journal::Change;
use crate::linux::kernel::{Kernel, Linux, list};
use crate::linux::tasks;
use crate::settings::{NONE, Setting, THERE};
use crate::shield::affinity::Dues;
use crate::work::Work;
use crate::{CpuSet, Error, Machine, Occupation, ShieldKind};

/// What all folders of ours are called by; the occupation's number follows.
const OURS: &str = "whimbrel-";

/// What keeps from cpusets those who may not write them.
const ROOT: &str = "needs root";

impl Machine {
    /// The processors that a program here may be given: those that run and that the caller's
    /// container has.
    ///
    /// # Errors
    /// `/sys` does not tell.
    pub fn usable(&self) -> Result<CpuSet, Error> {
        usable(&Linux::default(), self)
    }
}

/// Those that run and that the cpusets which are seen here have.
pub(crate) fn usable(kernel: &dyn Kernel, machine: &Machine) -> Result<CpuSet, Error> {
    let mut usable = list(kernel, &machine.sys.join("devices/system/cpu/online"))?;
    for hierarchy in Hierarchy::all(kernel, machine).iter().filter(|hierarchy| hierarchy.part) {
        let files = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
        let mut lists = files.iter().map(|name| list(kernel, &hierarchy.root.join(name)));
        if let Some(cpus) = lists.find_map(Result::ok).filter(|cpus| cpus.meets(&usable)) {
            usable = usable.common(&cpus);
        }
    }
    Ok(usable)
}

/// A mounted hierarchy of cpusets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub kind: ShieldKind,
    /// Where it is mounted.
    pub root: PathBuf,
    /// Its root is a container's part of the machine's.
    pub part: bool,
}

impl Hierarchy {
    /// The hierarchies that are mounted here.
    pub fn all(kernel: &dyn Kernel, machine: &Machine) -> Vec<Self> {
        let Ok(text) = kernel.read(&machine.proc.join("self/mountinfo")) else { return Vec::new() };
        let Ok(mounts) = MountInfos::from_read(text.as_bytes()) else { return Vec::new() };
        let mut found: Vec<Self> = Vec::new();
        for mount in mounts {
            let kind = match mount.fs_type.as_str() {
                "cgroup2" => ShieldKind::V2,
                "cgroup" if mount.super_options.contains_key("cpuset") => ShieldKind::V1,
                _ => continue,
            };
            if found.iter().all(|other| other.kind != kind) {
                let part =
                    mount.root != "/" || kernel.exists(&mount.mount_point.join("cgroup.type"));
                found.push(Self { kind, root: mount.mount_point, part });
            }
        }
        found
    }

    /// Why it cannot be a shield, if it cannot.
    pub fn lacks(&self, kernel: &dyn Kernel) -> Option<String> {
        let controllers = kernel.read(&self.root.join("cgroup.controllers")).unwrap_or_default();
        let v2 = self.kind == ShieldKind::V2;
        let key = self.root.join(if v2 { "cgroup.subtree_control" } else { "cpuset.cpus" });
        if v2 && !controllers.split_whitespace().any(|word| word == "cpuset") {
            Some("its hierarchy has no cpuset controller, which v1 may have".to_owned())
        } else if !v2 && !kernel.exists(&key) {
            Some("its files have other names here".to_owned())
        } else if self.part {
            Some("what is seen of its hierarchy is a container's part".to_owned())
        } else if !kernel.may_write(&self.root) || !kernel.may_write(&key) {
            Some(ROOT.to_owned())
        } else {
            None
        }
    }

    /// The folder of an occupation.
    fn folder(&self, id: u32) -> PathBuf {
        self.root.join(format!("{OURS}{id}"))
    }

    /// The cpuset that a process is in now.
    fn home(&self, work: &Work, tid: i32) -> Option<PathBuf> {
        let path = work.machine.proc.join(tid.to_string()).join("cgroup");
        let text = work.kernel.read(&path).ok()?;
        let groups = ProcessCGroups::from_read(text.as_bytes()).ok()?;
        let mine = |controllers: &[String]| match self.kind {
            ShieldKind::V1 => controllers.iter().any(|name| name == "cpuset"),
            _ => controllers.iter().all(String::is_empty),
        };
        let group = groups.into_iter().find(|group| mine(&group.controllers))?;
        Some(self.root.join(group.pathname.trim_start_matches('/')))
    }

    /// The occupations that have a folder here.
    fn wanted(&self, work: &Work) -> Vec<Occupation> {
        let all = work.journal.occupations().iter();
        all.filter(|o| o.shield == self.kind && !o.soft).cloned().collect()
    }

    /// The folders below that are not ours, parents first.
    fn others(&self, work: &Work, deep: bool) -> Vec<PathBuf> {
        let mut folders = below(work.kernel, &self.root, deep);
        let ours = |path: &PathBuf| work.journal.change(&Setting::Folder(path.clone())).is_some();
        folders.retain(|path| !path.ancestors().any(|path| ours(&path.to_owned())));
        folders
    }
}

/// The cpusets below a folder, parents first.
fn below(kernel: &dyn Kernel, root: &Path, deep: bool) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut next = vec![root.to_owned()];
    while let Some(folder) = next.pop() {
        let names = kernel.folders(&folder).unwrap_or_default();
        let start = folders.len();
        folders.extend(names.iter().map(|name| folder.join(name)));
        if deep {
            next.extend_from_slice(&folders[start..]);
        }
    }
    folders.sort_by_key(|path| path.components().count());
    folders
}

/// The first of these processors that a cpuset of somebody else has for itself, and that cpuset.
pub(crate) fn claimed(
    work: &Work,
    hierarchies: &[Hierarchy],
    cpus: &CpuSet,
) -> Option<(usize, PathBuf)> {
    let away = work.closed().union(cpus);
    for hierarchy in hierarchies {
        for folder in hierarchy.others(work, hierarchy.kind == ShieldKind::V1) {
            let has = |name: &str, words: &[&str]| {
                let text = work.kernel.read(&folder.join(name)).unwrap_or_default();
                text.split_whitespace().next().is_some_and(|word| words.contains(&word))
            };
            let list = work.kernel.read(&folder.join("cpuset.cpus")).unwrap_or_default();
            let list: CpuSet = list.parse().unwrap_or_default();
            let own = has("cpuset.cpu_exclusive", &["1"])
                || has("cpuset.cpus.partition", &["root", "isolated"]);
            if let Some(cpu) = list.common(cpus).iter().next() {
                if own || list.within(&away) {
                    return Some((cpu, folder));
                }
            }
        }
    }
    None
}

/// The affinities that the kernel gives tasks whose cpuset changes, while there are folders of
/// ours.
pub(crate) fn given(work: &Work) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for hierarchy in Hierarchy::all(work.kernel, work.machine) {
        let of_it = |path: &PathBuf| path.starts_with(&hierarchy.root);
        let ours =
            |change: &Change| matches!(&change.setting, Setting::Folder(path) if of_it(path));
        if work.journal.changes().any(ours) {
            let v1 = hierarchy.kind == ShieldKind::V1;
            let file = if v1 { "cpuset.cpus" } else { "cpuset.cpus.effective" };
            let mut folders = below(work.kernel, &hierarchy.root, true);
            folders.push(hierarchy.root);
            let lists = folders.iter().map(|folder| list(work.kernel, &folder.join(file)));
            found.extend(lists.filter_map(Result::ok).map(|cpus| cpus.to_string()));
        }
    }
    found
}

/// The tasks that are in a folder of ours, and its occupation: they are the program's.
pub(crate) fn inside(work: &Work, hierarchies: &[Hierarchy]) -> HashMap<i32, u32> {
    let mut found = HashMap::new();
    for hierarchy in hierarchies {
        let file = if hierarchy.kind == ShieldKind::V1 { "tasks" } else { "cgroup.threads" };
        for occupation in hierarchy.wanted(work) {
            let folder = hierarchy.folder(occupation.id);
            let mut folders = below(work.kernel, &folder, true);
            folders.push(folder);
            for tid in folders.iter().flat_map(|folder| numbers(work.kernel, &folder.join(file))) {
                found.insert(tid, occupation.id);
            }
        }
    }
    found
}

/// Makes the cpusets what the occupations ask for.
pub(crate) fn settle(work: &mut Work, hierarchies: &[Hierarchy], dues: &Dues) -> Result<(), Error> {
    let closed = work.closed();
    for hierarchy in hierarchies {
        if !closed.is_empty() && hierarchy.lacks(work.kernel).as_deref() == Some(ROOT) {
            work.keep(closed.clone(), "cpusets", ROOT);
        }
        let left = work.journal.changes().any(|change| match &change.setting {
            Setting::Folder(path)
            | Setting::List(path)
            | Setting::Word(path)
            | Setting::Controller(path) => path.starts_with(&hierarchy.root),
            _ => false,
        });
        if !left && hierarchy.wanted(work).is_empty() {
            continue;
        }
        match hierarchy.kind {
            ShieldKind::V1 => v1::settle(work, hierarchy)?,
            ShieldKind::V2 => v2::settle(work, hierarchy)?,
            ShieldKind::Affinity => {}
        }
        admit(work, hierarchy, dues)?;
    }
    Ok(())
}

/// Moves the program's processes into its cpuset.
fn admit(work: &mut Work, hierarchy: &Hierarchy, dues: &Dues) -> Result<(), Error> {
    let system = hierarchy.root.join(v1::SYSTEM);
    let mut changes = Vec::new();
    for occupation in hierarchy.wanted(work) {
        let folder = hierarchy.folder(occupation.id);
        let first = |seen: &&crate::linux::tasks::Seen| seen.task.tid == seen.process;
        let owned = dues.owned().filter(|(seen, id)| *id == occupation.id && first(seen));
        let tasks: Vec<_> = owned.map(|(seen, _)| seen.task).collect();
        for task in tasks {
            let Some(home) = hierarchy.home(work, task.tid) else { continue };
            if home.starts_with(&folder) {
                continue;
            }
            // Tasks in the system's set are there because we took them out of the root.
            let before = if home == system { hierarchy.root.clone() } else { home.clone() };
            let text = |path: &Path| path.display().to_string();
            let (before, from, to) = (text(&before), text(&home), text(&folder));
            let setting = Setting::Home(task);
            changes
                .push(Change { of: Some(occupation.id), ..Change::new(setting, before, from, to) });
        }
    }
    work.moved += changes.len();
    for (change, error) in work.carry_out(changes)? {
        send_back(work, hierarchy, &change);
        work.fail(change, error);
    }
    Ok(())
}

/// Who has the number of a task that has ended by now, and was moved for it, goes where his parent
/// is: in the folder he would be taken for the program's.
fn send_back(work: &Work, hierarchy: &Hierarchy, change: &Change) {
    let Setting::Home(task) = change.setting else { return };
    let now = tasks::holder(work.kernel, &work.machine.proc, task.tid);
    let Some(stranger) = now.filter(|now| now.task != task) else { return };
    let is_here = |home: &PathBuf| home.display().to_string() == change.to;
    if hierarchy.home(work, task.tid).is_some_and(|home| is_here(&home)) {
        if let Some(home) = hierarchy.home(work, stranger.parent).filter(|home| !is_here(home)) {
            // He may have ended meanwhile.
            let home = home.display().to_string();
            let _ = Setting::Home(stranger.task).write(work.kernel, &home);
        }
    }
}

/// Takes away the folders of ours that no occupation wants; who is in them goes home.
fn dismiss(work: &mut Work, hierarchy: &Hierarchy, wanted: &[PathBuf]) -> Result<(), Error> {
    let folders = work.journal.changes().filter_map(|change| match &change.setting {
        Setting::Folder(path) if path.starts_with(&hierarchy.root) => Some(path.clone()),
        _ => None,
    });
    let folders: Vec<_> = folders.filter(|path| !wanted.contains(path)).collect();
    for folder in folders.into_iter().filter(|folder| work.kernel.exists(folder)) {
        let setting = Setting::Folder(folder.clone());
        if empty(work, hierarchy, &folder).is_err() {
            work.stuck.insert(setting);
        } else {
            work.restored += 1;
        }
    }
    Ok(())
}

/// How often a folder is emptied again, since those in it may have made new processes, and how long
/// is waited in between: the kernel takes a moment to let the dead go.
const ROUNDS: usize = 40;
const PAUSE: Duration = Duration::from_millis(2);

fn empty(work: &mut Work, hierarchy: &Hierarchy, folder: &Path) -> io::Result<()> {
    let v1 = hierarchy.kind == ShieldKind::V1;
    let file = if v1 { "tasks" } else { "cgroup.procs" };
    // Removing a partition gives its processors back when the kernel finds the time, and before
    // Linux 6.2 that undoes the affinities of all tasks; so it gives them back here, while we wait.
    let _ = work.kernel.write(&folder.join("cpuset.cpus.partition"), "member");
    let mut last = Ok(());
    for round in 0..ROUNDS {
        let mut folders = below(work.kernel, folder, true);
        folders.insert(0, folder.to_owned());
        for folder in folders.iter().rev() {
            for tid in numbers(work.kernel, &folder.join(file)) {
                let home = came_from(work, hierarchy, folder, tid);
                let _ = work.kernel.write(&home.join(file), &tid.to_string());
            }
            last = work.kernel.remove(folder);
        }
        if last.is_ok() {
            return Ok(());
        }
        if round > 0 {
            thread::sleep(PAUSE);
        }
    }
    last
}

/// Where a task of ours is to go: where it was, or where the program was that it is of.
fn came_from(work: &Work, hierarchy: &Hierarchy, folder: &Path, tid: i32) -> PathBuf {
    let to = folder.display().to_string();
    let homes: Vec<_> = work
        .journal
        .changes()
        .filter_map(|change| match change.setting {
            Setting::Home(task) if to.starts_with(&change.to) => Some((task.tid, &change.before)),
            _ => None,
        })
        .collect();
    let process = work.seen.iter().find(|seen| seen.task.tid == tid).map(|seen| seen.process);
    let own = homes.iter().find(|(home, _)| Some(*home) == process).or_else(|| homes.first());
    let home = own.map(|(_, before)| PathBuf::from(before));
    home.filter(|home| work.kernel.exists(home)).unwrap_or_else(|| hierarchy.root.clone())
}

/// The numbers in a file, a line each.
fn numbers(kernel: &dyn Kernel, path: &Path) -> Vec<i32> {
    let text = kernel.read(path).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).filter(|&tid| tid > 0).collect()
}

/// Makes a folder, and writes first that it was made; one that is there without us is refused.
fn make(work: &mut Work, folder: &Path) -> Result<(), Error> {
    let setting = Setting::Folder(folder.to_owned());
    if work.kernel.exists(folder) {
        return match work.journal.change(&setting) {
            Some(_) => Ok(()),
            None => Err(Error::File {
                path: folder.to_owned(),
                error: io::ErrorKind::AlreadyExists.into(),
            }),
        };
    }
    let failed =
        work.carry_out(vec![Change::new(setting, NONE.into(), NONE.into(), THERE.into())])?;
    match failed.into_iter().next() {
        Some((_, error)) => Err(Error::File { path: folder.to_owned(), error }),
        None => Ok(()),
    }
}

/// Writes a file of one of our folders, which goes with it: nothing is written down.
fn set(work: &Work, path: &Path, value: &str) -> Result<(), Error> {
    let current = work.kernel.read(path).unwrap_or_default();
    if current.trim() == value {
        return Ok(());
    }
    let fails = |error| Error::File { path: path.to_owned(), error };
    work.kernel.write(path, value).map_err(fails)
}

/// Takes the closed processors out of somebody else's cpusets, or gives them back.
///
/// A set lies within its parent, so sets shrink from below and grow from above.
fn narrow(work: &mut Work, folders: &[PathBuf]) -> Result<(), Error> {
    let closed = work.closed();
    let (mut shrinking, mut growing) = (Vec::new(), Vec::new());
    for folder in folders {
        let setting = Setting::List(folder.join("cpuset.cpus"));
        let Ok(current) = setting.read(work.kernel) else { continue };
        let list: CpuSet = current.parse().unwrap_or_default();
        if !list.is_empty() && list.within(&closed) {
            let what = format!("cpuset {}", folder.display());
            work.keep(list, what, "it has no other processors");
        } else if work.journal.change(&setting).is_some() || list.meets(&closed) {
            let plan = work.plan(&setting, &current, |before| work.less(before, &closed));
            let Some(change) = plan else { continue };
            let to: CpuSet = change.to.parse().unwrap_or_default();
            if to.within(&list) { &mut shrinking } else { &mut growing }.push(change);
        }
    }
    let changes = shrinking.into_iter().rev().chain(growing).collect();
    for (change, error) in work.carry_out(changes)? {
        let list: CpuSet = change.from.parse().unwrap_or_default();
        let what = change.setting.name();
        work.keep(list, what, format!("the kernel refuses it: {error}"));
        work.fail(change, error);
    }
    Ok(())
}
