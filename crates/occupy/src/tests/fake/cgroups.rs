// SPDX-License-Identifier: Apache-2.0
//! Trees of cpusets as the kernel's, with its rules, v1 or v2.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{World, error};
use crate::CpuSet;

/// A cpuset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set {
    pub cpus: CpuSet,
    pub mems: String,
    pub exclusive: bool,
    pub unbalanced: bool,
    /// Of v2: what was asked for.
    pub partition: String,
}

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    pub root: PathBuf,
    pub v1: bool,
    pub sets: BTreeMap<PathBuf, Set>,
    /// Of v2: the root gives its children the controller.
    pub enabled: bool,
    /// Of v2: `isolated` is known, as since Linux 6.1.
    pub isolated: bool,
}

impl Tree {
    pub fn new(v1: bool, cpus: &CpuSet) -> Self {
        let root = PathBuf::from("/sys/fs/cgroup");
        let set = Set { cpus: cpus.clone(), mems: "0".to_owned(), ..Set::default() };
        let sets = BTreeMap::from([(root.clone(), set)]);
        Self { root, v1, sets, enabled: false, isolated: true }
    }

    pub fn mount(&self) -> String {
        let (kind, options) = if self.v1 { ("cgroup", "rw,cpuset") } else { ("cgroup2", "rw") };
        format!("31 23 0:28 / {} rw - {kind} {kind} {options}\n", self.root.display())
    }

    /// The line of `/proc/TID/cgroup`.
    pub fn line(&self, home: &Path) -> String {
        let path = home.strip_prefix(&self.root).unwrap().display();
        if self.v1 { format!("4:cpuset:/{path}\n") } else { format!("0::/{path}\n") }
    }

    /// What the tasks of a folder may use.
    pub fn allowed(&self, home: &Path, all: &CpuSet) -> CpuSet {
        if self.v1 {
            return self.sets[home].cpus.clone();
        }
        let partitions = self.sets.iter().filter(|(path, _)| self.state(path) == "valid");
        if self.state(home) == "valid" {
            return self.sets[home].cpus.clone();
        }
        let taken: CpuSet =
            partitions.flat_map(|(_, set)| set.cpus.iter().collect::<Vec<_>>()).collect();
        let open = all.minus(&taken);
        let wish = &self.sets[home].cpus;
        if home != self.root && wish.meets(&open) { wish.common(&open) } else { open }
    }

    /// Whether a partition of v2 holds: nobody beside it names its processors.
    fn state(&self, path: &Path) -> &'static str {
        let set = &self.sets[path];
        if set.partition.is_empty() {
            return "member";
        }
        let mut others =
            self.sets.iter().filter(|(other, _)| *other != path && **other != self.root);
        if others.any(|(_, other)| other.cpus.meets(&set.cpus)) { "invalid" } else { "valid" }
    }

    fn children(&self, path: &Path) -> impl Iterator<Item = (&PathBuf, &Set)> {
        self.sets.iter().filter(move |(child, _)| child.parent() == Some(path))
    }

    pub fn folders(&self, path: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        self.children(path).map(|(path, _)| name(path)).collect()
    }

    pub fn make(&mut self, path: &Path) -> io::Result<()> {
        if self.sets.insert(path.to_owned(), Set::default()).is_some() {
            return Err(error(libc::EEXIST));
        }
        Ok(())
    }

    pub fn remove(&mut self, path: &Path, world: &World) -> io::Result<()> {
        let busy = world.tasks.values().any(|task| task.home == path);
        if busy || self.children(path).next().is_some() {
            return Err(error(libc::EBUSY));
        }
        self.sets.remove(path).map(drop).ok_or_else(|| error(libc::ENOENT))
    }

    pub fn read(&self, path: &Path, world: &World) -> io::Result<String> {
        let (folder, name) = split(path);
        let set = self.sets.get(folder).ok_or_else(|| error(libc::ENOENT))?;
        let there = self.v1 || self.enabled && folder != self.root;
        let flag = |on: bool| u8::from(on).to_string();
        Ok(match name {
            "tasks" | "cgroup.procs" | "cgroup.threads" => {
                let inside = world.tasks.iter().filter(|(_, task)| task.home == folder);
                inside.map(|(tid, _)| format!("{tid}\n")).collect()
            }
            "cgroup.controllers" if !self.v1 => "cpuset cpu".to_owned(),
            "cgroup.subtree_control" if !self.v1 => {
                (if self.enabled { "cpuset" } else { "" }).to_owned()
            }
            "cpuset.cpus" if there => set.cpus.to_string(),
            "cpuset.cpus.effective" if !self.v1 && (there || self.root == folder) => {
                self.allowed(folder, &world.cpus).to_string()
            }
            "cpuset.mems" if there => set.mems.clone(),
            "cpuset.cpu_exclusive" if self.v1 => flag(set.exclusive),
            "cpuset.sched_load_balance" if self.v1 => flag(!set.unbalanced),
            "cpuset.cpus.partition" if there && !self.v1 => match self.state(folder) {
                "member" => "member".to_owned(),
                "valid" => set.partition.clone(),
                _ => format!("{} invalid (Cpu list in cpuset.cpus not exclusive)", set.partition),
            },
            _ => return Err(error(libc::ENOENT)),
        })
    }

    /// Returns the task to move there, if that was written.
    pub fn write(&mut self, path: &Path, text: &str, world: &World) -> io::Result<Option<i32>> {
        let (folder, name) = split(path);
        let wrong = || error(libc::EINVAL);
        if name == "cgroup.subtree_control" {
            self.enabled = text == "+cpuset";
            if !self.enabled {
                let below = self.sets.iter_mut().filter(|(path, _)| **path != self.root);
                below.for_each(|(_, set)| *set = Set::default());
            }
            return Ok(None);
        }
        self.read(path, world)?;
        let busy = world.tasks.values().any(|task| task.home == folder);
        let rest = self.clone();
        let set = self.sets.get_mut(folder).ok_or_else(|| error(libc::ENOENT))?;
        match name {
            "tasks" | "cgroup.procs" => {
                if self.v1 && (set.cpus.is_empty() || set.mems.is_empty()) {
                    return Err(error(libc::ENOSPC));
                }
                return text.parse().map(Some).map_err(|_| wrong());
            }
            "cpuset.mems" => set.mems = text.to_owned(),
            "cpuset.sched_load_balance" => set.unbalanced = text == "0",
            "cpuset.cpus.partition" => {
                if text == "isolated" && !self.isolated {
                    return Err(wrong());
                }
                set.partition = text.to_owned();
            }
            "cpuset.cpus" => {
                let cpus: CpuSet = text.parse().map_err(|_| wrong())?;
                if self.v1 {
                    let parent = &rest.sets[folder.parent().expect("the root is not written")];
                    let mut children = rest.children(folder);
                    if !cpus.within(&parent.cpus) || children.any(|(_, c)| !c.cpus.within(&cpus)) {
                        return Err(error(libc::EBUSY));
                    }
                    if busy && cpus.is_empty() {
                        return Err(error(libc::ENOSPC));
                    }
                }
                set.cpus = cpus;
            }
            _ => return Err(wrong()),
        }
        Ok(None)
    }
}

fn split(path: &Path) -> (&Path, &str) {
    let name = path.file_name().and_then(|name| name.to_str());
    (path.parent().unwrap_or(path), name.unwrap_or_default())
}
