// SPDX-License-Identifier: Apache-2.0
//! A kernel for tests, which can be cut off before any change, as by `kill -9`.

mod cgroups;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

pub(crate) use cgroups::Tree;

use crate::linux::kernel::Kernel;
use crate::linux::schedule::Schedule;
use crate::lock::Locked;
use crate::{CpuSet, Machine, Occupations, TaskId};

/// A task; the number of a process is that of its first thread, and each has one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub parent: i32,
    pub fixed: bool,
    /// What it asked for, if it did.
    pub asked: Option<CpuSet>,
    pub cpus: CpuSet,
    pub schedule: Schedule,
    /// Its folder in the tree of cpusets.
    pub home: PathBuf,
    pub environ: String,
    pub user: u32,
}

/// An interrupt, or another setting with a mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Irq {
    pub cpus: CpuSet,
    pub managed: bool,
}

/// The machine that the kernel has.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub cpus: CpuSet,
    /// As before Linux 6.2: a task that changes cpuset forgets what it asked for.
    pub forgetful: bool,
    pub tasks: BTreeMap<i32, Task>,
    pub irqs: BTreeMap<u32, Irq>,
    pub default_irq: CpuSet,
    pub queues: CpuSet,
    pub tree: Option<Tree>,
    pub root_user: bool,
    /// What tasks were made to be scheduled as, in this order.
    pub scheduled: Vec<(i32, Schedule)>,
    /// At the next change of what has this number, another task comes to have it.
    pub reused: Option<(i32, Task)>,
    /// Numbers that were used again.
    pub again: BTreeSet<i32>,
}

/// All that an occupation may change.
pub(crate) type Snapshot = (BTreeMap<i32, (CpuSet, Schedule, PathBuf)>, String);

impl World {
    pub fn new(cpus: usize) -> Self {
        let all: CpuSet = (0..cpus).collect();
        let mut world = Self {
            cpus: all.clone(),
            forgetful: false,
            tasks: BTreeMap::new(),
            irqs: BTreeMap::new(),
            default_irq: all.clone(),
            queues: all.clone(),
            tree: None,
            root_user: true,
            scheduled: Vec::new(),
            reused: None,
            again: BTreeSet::new(),
        };
        for (number, cpus, managed) in [(24, all, false), (25, CpuSet::one(1), true)] {
            world.irqs.insert(number, Irq { cpus, managed });
        }
        world.spawn(1, 0);
        world
    }

    /// A task that asked for nothing, in the root.
    pub fn spawn(&mut self, tid: i32, parent: i32) {
        let schedule = Schedule { policy: 0, flags: 0, nice: 0, priority: 0, times: [0; 3] };
        let home = self.tree.as_ref().map(|tree| tree.root.clone()).unwrap_or_default();
        let (asked, environ, cpus) = (None, String::new(), self.cpus.clone());
        let user = 0;
        let task = Task { parent, fixed: false, asked, cpus, schedule, home, environ, user };
        self.tasks.insert(tid, task);
    }

    /// A child, which has what its parent has.
    pub fn fork(&mut self, parent: i32, tid: i32) {
        let task = Task { parent, ..self.tasks[&parent].clone() };
        self.tasks.insert(tid, task);
    }

    /// As the task does by itself.
    pub fn pin(&mut self, tid: i32, cpus: &CpuSet) -> io::Result<()> {
        let allowed = self.allowed(&self.tasks[&tid].home);
        let task = self.tasks.get_mut(&tid).ok_or_else(|| error(libc::ESRCH))?;
        if task.fixed || !cpus.meets(&allowed) {
            return Err(error(libc::EINVAL));
        }
        task.asked = Some(cpus.clone());
        task.cpus = cpus.common(&allowed);
        Ok(())
    }

    /// A task is to be changed by its number, which may be another's by then.
    fn reach(&mut self, tid: i32) {
        if let Some((tid, task)) = self.reused.take_if(|(reused, _)| *reused == tid) {
            self.tasks.insert(tid, task);
            self.again.insert(tid);
        }
    }

    pub fn snapshot(&self) -> Snapshot {
        let of = |task: &Task| (task.cpus.clone(), task.schedule, task.home.clone());
        let tasks = self.tasks.iter().map(|(tid, task)| (*tid, of(task))).collect();
        let rest = (&self.irqs, &self.default_irq, &self.queues, &self.tree);
        (tasks, format!("{rest:?}"))
    }

    fn allowed(&self, home: &Path) -> CpuSet {
        self.tree.as_ref().map_or_else(|| self.cpus.clone(), |tree| tree.allowed(home, &self.cpus))
    }

    /// What the kernel does with the tasks whose cpuset has changed.
    fn follow(&mut self, before: &Self) {
        for (tid, old) in &before.tasks {
            let home = self.tasks[tid].home.clone();
            let (was, is) = (before.allowed(&old.home), self.allowed(&home));
            let task = self.tasks.get_mut(tid).expect("none ends here");
            if task.fixed || (was == is && old.home == home) {
                continue;
            }
            let asked =
                task.asked.clone().filter(|_| !self.forgetful).unwrap_or_else(|| is.clone());
            task.cpus = if asked.meets(&is) { asked.common(&is) } else { is };
            if self.forgetful {
                task.asked = None;
            }
        }
    }

    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let parts = names(path);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let list = || text.parse::<CpuSet>().map_err(|_| error(libc::EINVAL));
        let mask = || CpuSet::from_mask(text).map_err(|_| error(libc::EINVAL));
        match parts[..] {
            ["proc", "irq", "default_smp_affinity"] => self.default_irq = mask()?,
            ["proc", "irq", number, "smp_affinity_list"] => {
                let irq = self.irqs.get_mut(&number.parse().unwrap()).expect("it is there");
                if irq.managed {
                    return Err(error(libc::EIO));
                }
                irq.cpus = list()?;
            }
            ["sys", "devices", ..] => self.queues = mask()?,
            _ => {
                let before = self.clone();
                let tree = self.tree.as_mut().ok_or_else(|| error(libc::ENOENT))?;
                if let Some(tid) = tree.write(path, text, &before)? {
                    self.reach(tid);
                    let task = self.tasks.get_mut(&tid).ok_or_else(|| error(libc::ESRCH))?;
                    if task.fixed {
                        return Err(error(libc::EINVAL));
                    }
                    task.home = path.parent().expect("it is a file's").to_owned();
                }
                self.follow(&before);
            }
        }
        Ok(())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let parts = names(path);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let task = |tid: &str| {
            let tid: i32 = tid.parse().map_err(|_| error(libc::ENOENT))?;
            self.tasks.get(&tid).map(|task| (tid, task)).ok_or_else(|| error(libc::ENOENT))
        };
        Ok(match parts[..] {
            ["proc", "sys", "kernel", "random", "boot_id"] => "one\n".to_owned(),
            ["proc", "self", "mountinfo"] => {
                self.tree.as_ref().map_or_else(String::new, Tree::mount)
            }
            ["proc", "irq", "default_smp_affinity"] => self.default_irq.to_mask(),
            ["proc", "irq", number, "smp_affinity_list" | "effective_affinity_list"] => {
                self.irqs[&number.parse().unwrap()].cpus.to_string()
            }
            ["sys", "devices", "virtual", "workqueue", "cpumask"] => self.queues.to_mask(),
            ["sys", "devices", "system", "cpu", "online"] => self.cpus.to_string(),
            ["proc", tid, "stat"] => {
                let (tid, task) = task(tid)?;
                let flags = if task.fixed { 0x0400_0000 } else { 0 };
                let parent = task.parent;
                let start = if self.again.contains(&tid) { 1_000_000 + tid } else { tid };
                let rest = "0 0 0 0 0 0 0 0 20 0 1 0";
                format!(
                    "{tid} (t) S {parent} 1 1 0 -1 {flags} {rest} {start} 0 0 {}",
                    "0 ".repeat(29)
                )
            }
            ["proc", tid, "status"] => {
                let user = task(tid)?.1.user;
                format!("Name:\tt\nUid:\t{user}\t{user}\t{user}\t{user}\n")
            }
            ["proc", tid, "environ"] => task(tid)?.1.environ.clone(),
            ["proc", tid, "cgroup"] => {
                let tree = self.tree.as_ref().ok_or_else(|| error(libc::ENOENT))?;
                tree.line(&task(tid)?.1.home)
            }
            _ => {
                let tree = self.tree.as_ref().ok_or_else(|| error(libc::ENOENT))?;
                tree.read(path, self)?
            }
        })
    }

    fn folders(&self, path: &Path) -> io::Result<Vec<String>> {
        let parts = names(path);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Ok(match parts[..] {
            ["proc"] => self.tasks.keys().map(i32::to_string).collect(),
            ["proc", "irq"] => self.irqs.keys().map(u32::to_string).collect(),
            ["proc", "irq", _] => vec!["disk".to_owned()],
            _ => {
                let tree = self.tree.as_ref().ok_or_else(|| error(libc::ENOENT))?;
                tree.folders(path)
            }
        })
    }
}

/// The kernel of such a world.
#[derive(Clone, Debug)]
pub(crate) struct Fake {
    pub world: Rc<RefCell<World>>,
    /// How many changes it does before it cuts off.
    pub left: Rc<Cell<usize>>,
}

/// A folder for a journal, which nobody else may write, whatever the caller's umask is.
pub fn folder() -> tempfile::TempDir {
    let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    tempfile::Builder::new().permissions(own).tempdir().unwrap()
}

/// What a cut is, to those who catch it.
pub(crate) struct Cut;

impl Fake {
    pub fn new(world: World) -> Self {
        Self { world: Rc::new(RefCell::new(world)), left: Rc::new(Cell::new(usize::MAX)) }
    }

    /// The journal of this machine, as a new process takes it.
    pub fn occupations(&self, state: &Path) -> Occupations {
        let (proc, sys) = ("/proc".into(), "/sys".into());
        let machine = Machine { proc, sys, state: state.to_owned() };
        let lock = Locked::within(&machine.state, Duration::ZERO).unwrap();
        Occupations::new(&machine, Box::new(self.clone()), lock).unwrap()
    }

    fn change(&self) -> std::cell::RefMut<'_, World> {
        let left = self.left.get();
        if left == 0 {
            resume_unwind(Box::new(Cut));
        }
        self.left.set(left - 1);
        self.world.borrow_mut()
    }

    fn task<T>(&self, tid: i32, get: impl Fn(&Task) -> T) -> io::Result<T> {
        let world = self.world.borrow();
        world.tasks.get(&tid).map(get).ok_or_else(|| error(libc::ESRCH))
    }
}

impl Kernel for Fake {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.world.borrow().read(path)
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.change().write(path, text)
    }

    fn folders(&self, path: &Path) -> io::Result<Vec<String>> {
        self.world.borrow().folders(path)
    }

    fn exists(&self, path: &Path) -> bool {
        let world = self.world.borrow();
        world.tree.as_ref().is_some_and(|tree| tree.sets.contains_key(path))
            || world.read(path).is_ok()
    }

    fn may_write(&self, _: &Path) -> bool {
        self.world.borrow().root_user
    }

    fn writable(&self, path: &Path) -> bool {
        let names = names(path);
        let number = names.get(2).and_then(|name| name.parse::<u32>().ok());
        number.is_none_or(|number| !self.world.borrow().irqs[&number].managed)
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        self.change().tree.as_mut().ok_or_else(|| error(libc::ENOENT))?.make(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut world = self.change();
        let before = world.clone();
        world.tree.as_mut().ok_or_else(|| error(libc::ENOENT))?.remove(path, &before)?;
        world.follow(&before);
        Ok(())
    }

    fn affinity(&self, tid: i32) -> io::Result<CpuSet> {
        self.task(tid, |task| task.cpus.clone())
    }

    fn set_affinity(&self, tid: i32, cpus: &CpuSet) -> io::Result<()> {
        let mut world = self.change();
        world.reach(tid);
        world.pin(tid, cpus)
    }

    fn schedule(&self, tid: i32) -> io::Result<Schedule> {
        self.task(tid, |task| task.schedule)
    }

    fn set_schedule(&self, tid: i32, schedule: &Schedule) -> io::Result<()> {
        let mut world = self.change();
        world.reach(tid);
        world.tasks.get_mut(&tid).ok_or_else(|| error(libc::ESRCH))?.schedule = *schedule;
        world.scheduled.push((tid, *schedule));
        Ok(())
    }

    fn may_move(&self) -> bool {
        true
    }
}

/// The name of a task, whose start is its number.
pub(crate) fn id(tid: i32) -> TaskId {
    TaskId { tid, start: u64::try_from(tid).unwrap() }
}

pub(crate) fn error(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

fn names(path: &Path) -> Vec<String> {
    path.iter().skip(1).map(|name| name.to_string_lossy().into_owned()).collect()
}
