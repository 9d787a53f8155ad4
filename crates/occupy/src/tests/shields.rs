// SPDX-License-Identifier: Apache-2.0
//! What each shield, the interrupts and the work queues become, on kernels for tests.

use std::path::{Path, PathBuf};

use crate::tests::fake::{Fake, Task, Tree, World, folder, id};
use crate::{CpuSet, Error, MARK, Occupation, Occupations, Policy, Request, ShieldKind};

const ROOT: &str = "/sys/fs/cgroup";

struct Machine {
    fake: Fake,
    state: tempfile::TempDir,
}

impl Machine {
    /// Four processors, a program (80), its guardian (90), a task (10) and a fixed one (2).
    fn new(tree: Option<Tree>) -> Self {
        let mut world = World::new(4);
        world.tree = tree;
        world.tasks.clear();
        for tid in [1, 2, 10, 80, 90] {
            world.spawn(tid, i32::from(tid != 1));
        }
        world.tasks.get_mut(&2).unwrap().fixed = true;
        Self { fake: Fake::new(world), state: folder() }
    }

    fn v1() -> Self {
        Self::new(Some(Tree::new(true, &(0..4).collect())))
    }

    fn v2() -> Self {
        Self::new(Some(Tree::new(false, &(0..4).collect())))
    }

    fn occupations(&self) -> Occupations {
        self.fake.occupations(self.state.path())
    }

    fn read(&self, path: &str) -> String {
        crate::linux::kernel::Kernel::read(&self.fake, &PathBuf::from(ROOT).join(path)).unwrap()
    }

    fn home(&self, tid: i32) -> String {
        let home = self.fake.world.borrow().tasks[&tid].home.clone();
        home.strip_prefix(ROOT).unwrap().display().to_string()
    }

    fn cpus(&self, tid: i32) -> String {
        self.fake.world.borrow().tasks[&tid].cpus.to_string()
    }

    /// Makes somebody else's set.
    fn set(&self, path: &str, cpus: &str, exclusive: bool) {
        let mut world = self.fake.world.borrow_mut();
        let tree = world.tree.as_mut().unwrap();
        let path = Path::new(ROOT).join(path);
        tree.make(&path).unwrap();
        let set = tree.sets.get_mut(&path).unwrap();
        set.cpus = cpus.parse().unwrap();
        set.mems = "0".to_owned();
        set.exclusive = exclusive;
    }
}

fn wish(cpus: &str) -> Request {
    Request {
        cpus: Some(cpus.parse().unwrap()),
        soft: false,
        policy: Policy::Fair { nice: None },
        shield: None,
        command: vec!["lame".to_owned()],
    }
}

fn occupy(occupations: &mut Occupations, cpus: &str) -> Occupation {
    let occupation = occupations.begin(&wish(cpus), id(90)).unwrap();
    occupations.admit(occupation.id, id(80)).unwrap();
    occupation
}

#[test]
fn v1_has_a_set_for_the_program_and_one_for_all_else() {
    let machine = Machine::v1();
    machine.set("other", "1-3", false);
    let mut occupations = machine.occupations();
    let occupation = occupy(&mut occupations, "3");
    assert_eq!(occupation.shield, ShieldKind::V1);
    assert_eq!(machine.read("whimbrel-1/cpuset.cpus"), "3");
    assert_eq!(machine.read("whimbrel-system/cpuset.cpus"), "0-2");
    assert_eq!(machine.read("other/cpuset.cpus"), "1-2");
    assert_eq!(machine.read("cpuset.sched_load_balance"), "0");
    assert_eq!([10, 80, 2].map(|tid| machine.home(tid)), ["whimbrel-system", "whimbrel-1", ""]);
    assert_eq!([10, 80, 2].map(|tid| machine.cpus(tid)), ["0-2", "3", "0-3"]);
    let why = "a thread of the kernel that it does not let be moved";
    let kept = occupations.occupations()[0].kept.clone();
    assert!(kept.iter().any(|kept| kept.what == "task 2 (t)" && kept.why == why), "{kept:?}");

    // What is made in the root moves too, and a set that somebody makes is narrowed.
    machine.fake.world.borrow_mut().spawn(11, 2);
    machine.set("late", "2-3", false);
    assert_eq!(occupations.sweep(1).unwrap().moved, 1);
    assert_eq!(machine.home(11), "whimbrel-system");
    assert_eq!(machine.read("late/cpuset.cpus"), "2");

    occupations.end(1).unwrap();
    assert_eq!([10, 80, 11].map(|tid| machine.home(tid)), ["", "", ""]);
    assert_eq!(machine.read("other/cpuset.cpus"), "1-3");
    assert_eq!(machine.read("late/cpuset.cpus"), "2-3");
    assert_eq!(machine.read("cpuset.sched_load_balance"), "1");
}

#[test]
fn v2_isolates_one_processor_and_balances_several() {
    let machine = Machine::v2();
    let mut occupations = machine.occupations();
    assert_eq!(occupy(&mut occupations, "3").shield, ShieldKind::V2);
    assert_eq!(machine.read("whimbrel-1/cpuset.cpus.partition"), "isolated");
    assert_eq!([10, 80].map(|tid| machine.cpus(tid)), ["0-2", "3"]);
    occupations.end(1).unwrap();
    assert_eq!(machine.read("cgroup.subtree_control"), "");

    occupy(&mut occupations, "2-3");
    assert_eq!(machine.read("whimbrel-1/cpuset.cpus.partition"), "root");
    assert_eq!([10, 80].map(|tid| machine.cpus(tid)), ["0-1", "2-3"]);
}

#[test]
fn before_linux_6_1_one_processor_is_a_plain_partition() {
    let machine = Machine::v2();
    machine.fake.world.borrow_mut().tree.as_mut().unwrap().isolated = false;
    occupy(&mut machine.occupations(), "3");
    assert_eq!(machine.read("whimbrel-1/cpuset.cpus.partition"), "root");
}

#[test]
fn the_controller_stays_where_somebody_came_to_use_it() {
    let machine = Machine::v2();
    let mut occupations = machine.occupations();
    occupy(&mut occupations, "3");
    machine.set("late", "0", false);
    let undone = occupations.end(1).unwrap();
    assert_eq!(machine.read("cgroup.subtree_control"), "cpuset");
    assert_eq!(undone.foreign.len(), 1, "{undone:?}");
}

#[test]
fn a_program_goes_home_with_the_children_that_were_made_inside() {
    for machine in [Machine::v1(), Machine::v2()] {
        machine.fake.world.borrow_mut().tree.as_mut().unwrap().enabled = true;
        machine.set("slice", "0-3", false);
        machine.fake.world.borrow_mut().tasks.get_mut(&80).unwrap().home =
            Path::new(ROOT).join("slice");
        let mut occupations = machine.occupations();
        occupy(&mut occupations, "3");
        machine.fake.world.borrow_mut().fork(80, 81);
        assert_eq!(machine.home(81), "whimbrel-1");
        // The program ends; its child stays with the occupation, and then goes where it came from.
        machine.fake.world.borrow_mut().tasks.remove(&80);
        machine.fake.world.borrow_mut().tasks.get_mut(&81).unwrap().parent = 1;
        occupations.sweep(1).unwrap();
        assert_eq!(machine.cpus(81), "3");
        occupations.end(1).unwrap();
        assert_eq!((machine.home(81), machine.cpus(81)), ("slice".to_owned(), "0-3".to_owned()));
    }
}

#[test]
fn a_processor_that_anothers_cpuset_needs_is_refused() {
    for (cpus, exclusive) in [("2-3", true), ("3", false)] {
        let machine = Machine::v1();
        machine.set("cset", cpus, exclusive);
        let before = machine.fake.world.borrow().snapshot();
        let mut occupations = machine.occupations();
        let refused = occupations.begin(&wish("3"), id(90));
        assert!(
            matches!(&refused, Err(Error::ForeignCpuset { cpu: 3, path }) if path.ends_with("cset"))
        );
        assert_eq!(machine.fake.world.borrow().snapshot(), before);
        // And it is not chosen.
        let any = Request { cpus: None, ..wish("0") };
        assert!(!occupations.begin(&any, id(90)).unwrap().cpus.has(3));
    }
}

#[test]
fn a_shield_that_fails_is_undone_and_the_next_one_taken() {
    let machine = Machine::v1();
    // Somebody else has our folder's name.
    machine.set("whimbrel-1", "", false);
    let mut occupations = machine.occupations();
    assert_eq!(occupy(&mut occupations, "3").shield, ShieldKind::Affinity);
    assert_eq!(machine.home(10), "");
    assert_eq!([10, 80].map(|tid| machine.cpus(tid)), ["0-2", "3"]);
    occupations.end(1).unwrap();
    let asked = Request { shield: Some(ShieldKind::V1), ..wish("3") };
    assert!(occupations.begin(&asked, id(90)).is_err());
    assert_eq!([10, 80].map(|tid| machine.cpus(tid)), ["0-3", "0-3"]);
    assert!(occupations.occupations().is_empty());
}

#[test]
fn interrupts_and_work_queues_keep_away() {
    let machine = Machine::new(None);
    let mut occupations = machine.occupations();
    occupy(&mut occupations, "1");
    let now = || {
        let world = machine.fake.world.borrow();
        [&world.irqs[&24].cpus, &world.default_irq, &world.queues].map(CpuSet::to_string)
    };
    assert_eq!(now(), ["0,2-3", "0,2-3", "0,2-3"]);
    let kept = occupations.occupations()[0].kept.clone();
    assert!(kept.iter().any(|kept| kept.what == "interrupt 25 (disk)"), "{kept:?}");

    // As irqbalance does: its will is what holds afterwards.
    machine.fake.world.borrow_mut().irqs.get_mut(&24).unwrap().cpus = "1-2".parse().unwrap();
    occupations.sweep(1).unwrap();
    assert_eq!(now()[0], "2");
    occupations.end(1).unwrap();
    assert_eq!(now(), ["1-2", "0-3", "0-3"]);
}

#[test]
fn what_somebody_changed_meanwhile_is_left_and_told() {
    let machine = Machine::new(None);
    let mut occupations = machine.occupations();
    occupy(&mut occupations, "1");
    machine.fake.world.borrow_mut().irqs.get_mut(&24).unwrap().cpus = CpuSet::one(3);
    let undone = occupations.end(1).unwrap();
    assert_eq!(machine.fake.world.borrow().irqs[&24].cpus.to_string(), "3");
    assert_eq!(undone.foreign.len(), 1, "{undone:?}");
    assert!(undone.foreign[0].what.ends_with("irq/24/smp_affinity_list"), "{undone:?}");
}

#[test]
fn who_is_not_root_is_told_what_root_would_add() {
    let machine = Machine::v1();
    machine.fake.world.borrow_mut().root_user = false;
    let mut occupations = machine.occupations();
    assert_eq!(occupy(&mut occupations, "3").shield, ShieldKind::Affinity);
    let kept = occupations.occupations()[0].kept.clone();
    let needs: Vec<_> = kept.iter().filter(|kept| kept.why == "needs root").collect();
    let what: Vec<_> = needs.iter().map(|kept| kept.what.as_str()).collect();
    assert_eq!(what, ["cpusets", "interrupts", "unbound work queues"]);
}

#[test]
fn the_processor_with_the_fewest_fixed_interrupts_is_chosen() {
    let machine = Machine::new(None);
    machine.fake.world.borrow_mut().irqs.get_mut(&25).unwrap().cpus = CpuSet::one(3);
    let mut occupations = machine.occupations();
    let any = Request { cpus: None, ..wish("0") };
    let occupation = occupations.begin(&any, id(90)).unwrap();
    assert_eq!(occupation.cpus, CpuSet::one(2));
    let reason = "processor 2 has no interrupt that cannot be moved, processor 0 no interrupt, \
                  processor 1 no interrupt, processor 3 1 interrupt";
    assert_eq!(occupation.reason, reason);
    // Two more, and then none may be taken from the system.
    assert_eq!(occupations.begin(&any, id(10)).unwrap().cpus, CpuSet::one(1));
    assert_eq!(occupations.begin(&any, id(10)).unwrap().cpus, CpuSet::one(0));
    assert!(matches!(occupations.begin(&any, id(10)), Err(Error::NoneLeft { .. })));
}

/// Another user's process, bound to the program's processor, as anybody binds himself.
fn stranger(machine: &Machine, tid: i32, user: u32, environ: String) {
    let mut world = machine.fake.world.borrow_mut();
    world.spawn(tid, 1);
    let task = world.tasks.get_mut(&tid).unwrap();
    (task.user, task.environ) = (user, environ);
    world.pin(tid, &CpuSet::one(3)).unwrap();
}

fn is_real_time(machine: &Machine, tid: i32) -> bool {
    machine.fake.world.borrow().tasks[&tid].schedule.policy == 1
}

/// With a program of user 500 on processor 3, by affinities and SCHED_FIFO.
fn with_priority(machine: &Machine) -> Occupations {
    let mut occupations = machine.occupations();
    machine.fake.world.borrow_mut().tasks.get_mut(&80).unwrap().user = 500;
    let wish = Request { policy: Policy::Fifo { priority: 50 }, ..wish("3") };
    let begun = occupations.begin(&wish, id(90)).unwrap();
    occupations.admit(begun.id, id(80)).unwrap();
    assert!(is_real_time(machine, 80));
    occupations
}

#[test]
fn a_stranger_is_given_no_priority_whatever_his_environment_says() {
    let machine = Machine::new(None);
    let mut occupations = with_priority(&machine);
    let own = occupations.occupations()[0].mark();
    // What was enough once; a guess; another user's process that has the word, or lends rights.
    stranger(&machine, 20, 500, format!("{MARK}=1"));
    stranger(&machine, 21, 500, format!("{MARK}=1:{}", "0".repeat(32)));
    stranger(&machine, 22, 501, format!("{MARK}={own}"));
    stranger(&machine, 23, 0, format!("{MARK}={own}"));
    occupations.sweep(1).unwrap();
    for tid in [20, 21, 22, 23] {
        assert!(!is_real_time(&machine, tid), "{tid}");
        assert_eq!(machine.cpus(tid), "0-2", "{tid}");
    }
    // The program's own orphan has both.
    stranger(&machine, 24, 500, format!("A=b\0{MARK}={own}\0"));
    occupations.sweep(1).unwrap();
    assert!(is_real_time(&machine, 24));
    occupations.end(1).unwrap();
    assert!((20..25).all(|tid| !is_real_time(&machine, tid)));
}

#[test]
fn at_the_end_of_an_occupation_nobody_gains_by_it() {
    let machine = Machine::new(None);
    let schedule = |tid: i32| machine.fake.world.borrow().tasks[&tid].schedule;
    let plain = schedule(80);
    let urgent = plain.under(Policy::Fair { nice: Some(-7) });
    machine.fake.world.borrow_mut().tasks.get_mut(&80).unwrap().schedule = urgent;
    let mut occupations = with_priority(&machine);
    let given = schedule(80);
    // What a stranger has may be what the program was given once.
    occupations.adjust(1, Policy::Fair { nice: Some(0) }, false).unwrap();
    occupations.adjust(1, Policy::Fifo { priority: 50 }, false).unwrap();

    // No sweep sees them before the end.
    stranger(&machine, 20, 501, String::new());
    stranger(&machine, 21, 501, String::new());
    machine.fake.world.borrow_mut().tasks.get_mut(&21).unwrap().schedule = given;
    machine.fake.world.borrow_mut().scheduled.clear();
    occupations.end(1).unwrap();
    assert_eq!(schedule(20), plain);
    // What the program has given is left with nobody.
    assert_eq!(schedule(21), urgent);
    assert_eq!([20, 21].map(|tid| machine.cpus(tid)), ["0-3", "0-3"]);
    let scheduled = machine.fake.world.borrow().scheduled.clone();
    assert!(scheduled.iter().all(|(_, schedule)| schedule.policy != given.policy), "{scheduled:?}");
}

#[test]
fn a_program_that_becomes_another_users_has_its_orphans() {
    let machine = Machine::new(None);
    let mut occupations = with_priority(&machine);
    machine.fake.world.borrow_mut().tasks.get_mut(&80).unwrap().user = 502;
    occupations.sweep(1).unwrap();
    assert_eq!(occupations.occupations()[0].user, Some(502));
    stranger(&machine, 20, 502, format!("{MARK}={}", occupations.occupations()[0].mark()));
    occupations.sweep(1).unwrap();
    assert!(is_real_time(&machine, 20));
}

#[test]
fn no_two_occupations_have_the_same_mark() {
    let machine = Machine::new(None);
    let mut occupations = machine.occupations();
    let mut marks = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let begun = occupations.begin(&wish("3"), id(90)).unwrap();
        assert_eq!(begun.token.len(), 32);
        marks.insert(begun.mark());
        occupations.end(begun.id).unwrap();
    }
    assert_eq!(marks.len(), 5);
}

/// A child of the program ends between the look and the change, and a process of user 501 has its
/// number by then.
fn reuse(machine: &Machine, tid: i32) {
    let mut world = machine.fake.world.borrow_mut();
    let parent = world.tasks[&10].clone();
    world.reused = Some((tid, Task { parent: 10, user: 501, ..parent }));
}

#[test]
fn who_has_the_number_of_a_task_that_has_ended_is_given_nothing_of_its() {
    for tree in [None, Some(Tree::new(false, &(0..4).collect()))] {
        let has_sets = tree.is_some();
        let machine = Machine::new(tree);
        let mut occupations = with_priority(&machine);
        let world = || machine.fake.world.borrow_mut();
        let child = |tid: i32| world().fork(80, tid);
        let got_nothing = |tid: i32| {
            let world = world();
            assert!(world.reused.is_none() && world.again.contains(&tid), "{tid} was not reached");
            let of = |tid: i32| {
                let task = &world.tasks[&tid];
                (task.schedule, task.cpus.clone(), task.home.clone())
            };
            assert_eq!(of(tid), of(10), "{tid}");
        };
        // A priority.
        child(30);
        occupations.sweep(1).unwrap();
        reuse(&machine, 30);
        occupations.adjust(1, Policy::Fifo { priority: 51 }, false).unwrap();
        got_nothing(30);
        // Processors.
        child(31);
        world().tasks.get_mut(&31).unwrap().cpus = (0..4).collect();
        reuse(&machine, 31);
        occupations.sweep(1).unwrap();
        got_nothing(31);
        // A cpuset.
        if has_sets {
            child(32);
            let home = world().tasks[&10].home.clone();
            world().tasks.get_mut(&32).unwrap().home = home;
            reuse(&machine, 32);
            occupations.sweep(1).unwrap();
            got_nothing(32);
        }
    }
}
