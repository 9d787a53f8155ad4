// SPDX-License-Identifier: Apache-2.0
//! Whatever happens and whenever a kill comes: afterwards everything is as it was.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use proptest::prelude::*;

use crate::linux::schedule::Schedule;
use crate::tests::fake::{Fake, Tree, World, folder, id};
use crate::{CpuSet, Error, MARK, Occupations, Policy, Request, ShieldKind};

const GUARDIANS: [i32; 2] = [90, 91];
const PROGRAMS: [i32; 2] = [80, 81];

/// What happens to a machine.
#[derive(Clone, Debug)]
enum Operation {
    Begin {
        which: usize,
        cpus: CpuSet,
        policy: Policy,
        soft: bool,
    },
    Admit {
        which: usize,
    },
    Fork {
        parent: usize,
    },
    /// One of a program's tasks ends; its children go to the first process.
    Die {
        which: usize,
    },
    Sweep,
    Adjust {
        which: usize,
        policy: Policy,
        soft: bool,
    },
    End {
        which: usize,
    },
}

#[derive(Clone, Debug)]
struct Scenario {
    world: u8,
    forgetful: bool,
    pinned: Vec<CpuSet>,
    steps: Vec<Operation>,
    cut: usize,
}

fn cpus() -> impl Strategy<Value = CpuSet> {
    prop::collection::btree_set(0_usize..4, 1..3).prop_map(|cpus| cpus.into_iter().collect())
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::Fair { nice: None }),
        (-20_i8..20).prop_map(|nice| Policy::Fair { nice: Some(nice) }),
        (1_u8..99).prop_map(|priority| Policy::Fifo { priority }),
    ]
}

fn step() -> impl Strategy<Value = Operation> {
    let which = 0_usize..2;
    prop_oneof![
        3 => (which.clone(), cpus(), policy(), prop::bool::weighted(0.2))
            .prop_map(|(which, cpus, policy, soft)| Operation::Begin { which, cpus, policy, soft }),
        3 => which.clone().prop_map(|which| Operation::Admit { which }),
        3 => (0_usize..20).prop_map(|parent| Operation::Fork { parent }),
        1 => (0_usize..20).prop_map(|which| Operation::Die { which }),
        2 => Just(Operation::Sweep),
        1 => (which.clone(), policy(), any::<bool>())
            .prop_map(|(which, policy, soft)| Operation::Adjust { which, policy, soft }),
        2 => which.prop_map(|which| Operation::End { which }),
    ]
}

fn story() -> impl Strategy<Value = Scenario> {
    let pinned = prop::collection::vec(cpus(), 0..4);
    let steps = prop::collection::vec(step(), 1..14);
    (0_u8..4, any::<bool>(), pinned, steps, 0_usize..120).prop_map(
        |(world, forgetful, pinned, steps, cut)| Scenario { world, forgetful, pinned, steps, cut },
    )
}

/// Four processors; by `kind` no cpusets, v1, or v2 with or without the controller; somebody else's
/// set of processors 1 to 3 with a task and, in v1, a set within.
fn world(story: &Scenario) -> World {
    let mut world = World::new(4);
    world.forgetful = story.forgetful;
    if story.world > 0 {
        let mut tree = Tree::new(story.world == 1, &world.cpus);
        tree.enabled = story.world == 3;
        tree.isolated = !story.forgetful;
        let other = tree.root.join("other");
        let inner = other.join("inner");
        for (path, cpus) in [(other.clone(), "1-3"), (inner, "2-3")] {
            tree.make(&path).unwrap();
            if tree.v1 || tree.enabled && path == other {
                let set = tree.sets.get_mut(&path).unwrap();
                set.cpus = cpus.parse().unwrap();
                set.mems = "0".to_owned();
            }
        }
        world.tree = Some(tree);
        world.tasks.clear();
        world.spawn(1, 0);
        world.spawn(7, 1);
        let cpus = world.tree.as_ref().unwrap().allowed(&other, &world.cpus);
        let task = world.tasks.get_mut(&7).unwrap();
        (task.home, task.cpus) = (other, cpus);
    }
    world.spawn(2, 1);
    world.tasks.get_mut(&2).unwrap().fixed = true;
    for tid in PROGRAMS.into_iter().chain(GUARDIANS) {
        world.spawn(tid, 1);
    }
    for (tid, cpus) in (10..).zip(&story.pinned) {
        world.spawn(tid, 1);
        world.pin(tid, cpus).unwrap();
    }
    world.tasks.get_mut(&PROGRAMS[0]).unwrap().schedule.nice = 3;
    world
}

/// What is known of the tasks without asking the kernel.
#[derive(Default)]
struct Ledger {
    /// What each is to have at the end.
    due: BTreeMap<i32, (CpuSet, Schedule, PathBuf)>,
    /// Whose program each is of.
    owner: BTreeMap<i32, usize>,
}

impl Ledger {
    fn fork(&mut self, world: &mut World, parent: usize) {
        let tids: Vec<i32> = world.tasks.keys().copied().filter(|tid| *tid < 89).collect();
        let parent = tids[parent % tids.len()];
        let next = 100 - i32::try_from(self.due.len()).unwrap();
        if !world.tasks[&parent].fixed && next > 20 && !self.due.contains_key(&next) {
            world.fork(parent, next);
            self.due.insert(next, self.due[&parent].clone());
            self.owner.get(&parent).copied().map(|which| self.owner.insert(next, which));
        }
    }

    fn die(&mut self, world: &mut World, which: usize) {
        let Some((&tid, _)) = self.owner.iter().cycle().nth(which) else { return };
        self.owner.remove(&tid);
        world.tasks.remove(&tid);
        world.tasks.values_mut().filter(|task| task.parent == tid).for_each(|t| t.parent = 1);
    }

    /// A program is taken in with all that descends from it.
    fn admit(&mut self, world: &mut World, which: usize, mark: &str) {
        let program = PROGRAMS[which];
        world.tasks.get_mut(&program).unwrap().environ = format!("A=b\0{MARK}={mark}\0");
        let parent = |tid: &i32| world.tasks.get(tid).map(|task| task.parent);
        for tid in world.tasks.keys() {
            if std::iter::successors(Some(*tid), parent).any(|tid| tid == program) {
                self.owner.insert(*tid, which);
            }
        }
    }
}

/// Does one step; a refusal is an answer too.
fn act(
    occupations: &mut Occupations,
    fake: &Fake,
    ledger: &mut Ledger,
    step: &Operation,
) -> Result<(), Error> {
    let guardian = |which: usize| id(GUARDIANS[which]);
    let of = |occupations: &Occupations, which: usize| {
        let mut all = occupations.occupations().iter();
        all.find(|occupation| occupation.guardian == guardian(which)).map(|o| o.id)
    };
    match step {
        Operation::Begin { which, cpus, policy, soft } if of(occupations, *which).is_none() => {
            let (cpus, command) = (Some(cpus.clone()), vec![which.to_string()]);
            let request = Request { cpus, soft: *soft, policy: *policy, shield: None, command };
            occupations.begin(&request, guardian(*which))?;
        }
        Operation::Admit { which } => {
            if let Some(id) = of(occupations, *which) {
                occupations.admit(id, crate::tests::fake::id(PROGRAMS[*which]))?;
                let mark = occupations.occupations().iter().find(|o| o.id == id).unwrap().mark();
                ledger.admit(&mut fake.world.borrow_mut(), *which, &mark);
            }
        }
        Operation::Fork { parent } => ledger.fork(&mut fake.world.borrow_mut(), *parent),
        Operation::Die { which } => ledger.die(&mut fake.world.borrow_mut(), *which),
        Operation::Sweep => {
            for id in occupations.occupations().iter().map(|o| o.id).collect::<Vec<_>>() {
                occupations.sweep(id)?;
            }
        }
        Operation::Adjust { which, policy, soft } => {
            if let Some(id) = of(occupations, *which) {
                occupations.adjust(id, *policy, *soft)?;
            }
        }
        Operation::End { which } => {
            if let Some(id) = of(occupations, *which) {
                ledger.owner.retain(|_, owner| owner != which);
                let undone = occupations.end(id)?;
                assert!(undone.foreign.is_empty(), "{undone:?}");
            }
        }
        Operation::Begin { .. } => {}
    }
    Ok(())
}

/// Each occupied processor is its program's alone, as far as tasks can be moved.
fn closed_to_others(occupations: &Occupations, fake: &Fake, ledger: &Ledger) {
    let world = fake.world.borrow();
    for occupation in occupations.occupations() {
        let which = GUARDIANS.iter().position(|tid| id(*tid) == occupation.guardian);
        for (tid, task) in &world.tasks {
            if ledger.owner.get(tid).copied() == which {
                assert!(task.cpus.within(&occupation.cpus), "{tid} of {occupation:?} has {task:?}");
            } else if !task.fixed && !occupation.soft {
                assert!(!task.cpus.meets(&occupation.cpus), "{tid} meets {occupation:?}: {task:?}");
            }
        }
        assert!(!world.irqs[&24].cpus.meets(&occupation.cpus));
        assert!(!world.queues.meets(&occupation.cpus));
    }
}

fn play(story: &Scenario) {
    let state = folder();
    let fake = Fake::new(world(story));
    let (due, rest) = fake.world.borrow().snapshot();
    let mut ledger = Ledger { due, ..Ledger::default() };
    fake.left.set(story.cut);
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut occupations = fake.occupations(state.path());
        for step in &story.steps {
            let done = act(&mut occupations, &fake, &mut ledger, step);
            if done.is_ok() && !matches!(step, Operation::Fork { .. } | Operation::Die { .. }) {
                closed_to_others(&occupations, &fake, &ledger);
            }
        }
    }));
    if let Err(reason) = played {
        assert!(reason.is::<crate::tests::fake::Cut>(), "{reason:?}");
    }
    // The guardians are gone too, and whoever comes next puts everything back.
    fake.left.set(usize::MAX);
    GUARDIANS.iter().for_each(|tid| drop(fake.world.borrow_mut().tasks.remove(tid)));
    for (_, undone) in fake.occupations(state.path()).recover().unwrap() {
        assert!(undone.foreign.is_empty(), "{undone:?}");
    }
    let world = fake.world.borrow();
    let (now, rest_now) = world.snapshot();
    // A child has what its parent had.
    now.iter().for_each(|(tid, task)| assert_eq!(task, &ledger.due[tid], "{tid}"));
    assert_eq!(rest, rest_now);
    assert!(!state.path().join("journal").exists());
}

/// `WHIMBREL_OCCUPY_STORIES`, which `make soak` sets.
fn stories() -> u32 {
    let asked = std::env::var("WHIMBREL_OCCUPY_STORIES").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(stories()))]
    #[test]
    fn whatever_happens_everything_is_as_it_was(story in story()) {
        play(&story);
    }
}

/// One story, cut before each of its changes.
#[test]
fn a_kill_at_any_change_is_undone() {
    for world in 0..4 {
        for forgetful in [false, true] {
            let begin = |which, cpus: &str, policy, soft| {
                let cpus = cpus.parse().unwrap();
                Operation::Begin { which, cpus, policy, soft }
            };
            let steps = vec![
                begin(0, "3", Policy::Fifo { priority: 9 }, false),
                Operation::Admit { which: 0 },
                Operation::Fork { parent: 5 },
                begin(1, "1", Policy::Fair { nice: Some(-5) }, false),
                Operation::Admit { which: 1 },
                Operation::Sweep,
                Operation::Adjust { which: 0, policy: Policy::Fair { nice: None }, soft: true },
                Operation::End { which: 0 },
                Operation::End { which: 1 },
            ];
            let pinned = ["3", "1", "0-1", "1,3"].map(|cpus| cpus.parse().unwrap()).to_vec();
            for cut in 0..150 {
                let story = Scenario {
                    world,
                    forgetful,
                    pinned: pinned.clone(),
                    steps: steps.clone(),
                    cut,
                };
                play(&story);
            }
        }
    }
}

#[test]
fn the_best_shield_is_taken_and_another_kind_beside_it_is_refused() {
    let story = Scenario { world: 1, forgetful: false, pinned: vec![], steps: vec![], cut: 0 };
    let state = folder();
    let fake = Fake::new(world(&story));
    let mut occupations = fake.occupations(state.path());
    let wish = |cpus: &str, shield| Request {
        cpus: Some(cpus.parse().unwrap()),
        soft: false,
        policy: Policy::Fair { nice: None },
        shield,
        command: vec![],
    };
    let first = occupations.begin(&wish("3", None), id(90)).unwrap();
    assert_eq!(first.shield, ShieldKind::V1);
    let second = occupations.begin(&wish("1", Some(ShieldKind::Affinity)), id(91));
    assert!(matches!(second, Err(Error::NoShield { shield: "affinity", .. })), "{second:?}");
}
