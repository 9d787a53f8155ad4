// SPDX-License-Identifier: Apache-2.0
//! Occupations by affinities alone, of real processes in a private world.

mod common;

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use common::{Running, affinity, inside, machine, me, pin, request, shell};
use whimbrel_occupy::{Error, MARK, Policy, Request};

/// A shell's only child, once it is there.
fn child(shell: &Running) -> i32 {
    let path = format!("/proc/{0}/task/{0}/children", shell.pid());
    until(|| std::fs::read_to_string(&path).unwrap().trim().parse().ok())
}

/// Waits until there is an answer, at most five minutes.
fn until<T>(answer: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(300);
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(Instant::now() < end, "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn others_leave_and_come_back_as_they_were() {
    if !inside("others_leave_and_come_back_as_they_were") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let shells = ["0-1", "0", "1"].map(|cpus| {
        let other = shell("sleep 600; :");
        pin(other.pid(), cpus);
        other
    });
    let now = || shells.each_ref().map(|shell| affinity(shell.pid()));
    let program = shell("sleep 600; :");
    let child = child(&program);

    let mut occupations = machine.lock().unwrap();
    let id = occupations.begin(&request(), me(&machine)).unwrap().id;
    occupations.admit(id, machine.identify(program.pid()).unwrap()).unwrap();
    assert_eq!(now(), ["0", "0", "0"]);
    assert_eq!([affinity(program.pid()), affinity(child)], ["1", "1"]);

    let undone = occupations.end(id).unwrap();
    assert!(undone.restored >= 4, "{undone:?}");
    assert!(undone.foreign.is_empty(), "{undone:?}");
    assert_eq!(now(), ["0-1", "0", "1"]);
    assert_eq!([affinity(program.pid()), affinity(child)], ["0-1", "0-1"]);
    assert!(!folder.path().join("state/journal").exists());
}

#[test]
fn children_that_are_made_meanwhile_are_not_left_pinned() {
    if !inside("children_that_are_made_meanwhile_are_not_left_pinned") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let mut free = shell("read go; sleep 600; :");
    let mut pinned = shell("read go; sleep 600; :");
    pin(pinned.pid(), "0");
    let mut program = shell("read go; sleep 600; :");

    let mut occupations = machine.lock().unwrap();
    let id = occupations.begin(&request(), me(&machine)).unwrap().id;
    occupations.admit(id, machine.identify(program.pid()).unwrap()).unwrap();
    for shell in [&mut free, &mut pinned, &mut program] {
        shell.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    }
    let children = [&free, &pinned, &program].map(child);
    assert_eq!(children.map(affinity), ["0", "0", "1"]);

    occupations.end(id).unwrap();
    assert_eq!(children.map(affinity), ["0-1", "0", "0-1"]);
}

#[test]
fn a_task_that_moves_itself_back_is_moved_again_and_told() {
    if !inside("a_task_that_moves_itself_back_is_moved_again_and_told") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let stubborn = shell("sleep 600; :");
    // A child that it makes later would be pinned with it, and moved as well.
    child(&stubborn);
    let mut occupations = machine.lock().unwrap();
    let id = occupations.begin(&request(), me(&machine)).unwrap().id;
    for _ in 0..3 {
        assert!(occupations.sweep(id).unwrap().kept.is_empty());
        pin(stubborn.pid(), "1");
        assert_eq!(occupations.sweep(id).unwrap().moved, 1);
        assert_eq!(affinity(stubborn.pid()), "0");
    }
    let kept = occupations.sweep(id).unwrap().kept;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].what, format!("task {} (sh)", stubborn.pid()));
    assert!(kept[0].why.starts_with("moves itself back"), "{kept:?}");
    // What it wanted is what it gets.
    occupations.end(id).unwrap();
    assert_eq!(affinity(stubborn.pid()), "1");
}

#[test]
fn orphans_of_the_program_stay_with_it() {
    if !inside("orphans_of_the_program_stay_with_it") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let mut occupations = machine.lock().unwrap();
    let begun = occupations.begin(&request(), me(&machine)).unwrap();
    let (id, mark) = (begun.id, begun.mark());
    let mut program = shell(&format!("read go; ({MARK}={mark} sleep 600 &) ; sleep 601; :"));
    occupations.admit(id, machine.identify(program.pid()).unwrap()).unwrap();
    program.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    child(&program);
    let orphan = until(|| {
        let all = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().parse::<i32>().ok());
        let line = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        all.into_iter().find(|pid| line(pid) == b"sleep\x00600\0")
    });
    occupations.sweep(id).unwrap();
    assert_eq!(affinity(orphan), "1");
    occupations.end(id).unwrap();
    assert_eq!(affinity(orphan), "0-1");
}

/// What the attack does: with the old word in its environment another user's process binds
/// itself to the processor and waits to be given the program's priority.
#[test]
fn a_stranger_who_binds_himself_to_the_processor_is_moved_away_without_a_priority() {
    if !inside("a_stranger_who_binds_himself_to_the_processor_is_moved_away_without_a_priority") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let program = shell("sleep 600; :");
    let mut occupations = machine.lock().unwrap();
    let fifo = Request { policy: Policy::Fifo { priority: 7 }, ..request() };
    let begun = occupations.begin(&fifo, me(&machine)).unwrap();
    occupations.admit(begun.id, machine.identify(program.pid()).unwrap()).unwrap();

    let user = "exec setpriv --reuid=65534 --regid=65534 --clear-groups";
    let bound = |mark: String| {
        let attacker = shell(&format!("{user} env {MARK}={mark} taskset -c 1 sleep 600"));
        until(|| (affinity(attacker.pid()) == "1").then_some(()));
        attacker
    };
    // The number alone, as it was; and the whole word, should another user ever learn it.
    for attacker in [bound(begun.id.to_string()), bound(begun.mark())] {
        occupations.sweep(begun.id).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", attacker.pid())).unwrap();
        let policy = stat.rsplit_once(") ").unwrap().1.split(' ').nth(38).unwrap().to_owned();
        assert_eq!((policy.as_str(), affinity(attacker.pid()).as_str()), ("0", "0"));
    }
    // Nobody else may read the journal, which has the word.
    let journal = machine.state.join("journal");
    let words = format!("{user} cat {}", journal.display());
    let read = std::process::Command::new("sh").args(["-c", &words]).output().unwrap();
    assert!(!read.status.success() && read.stdout.is_empty());
    assert!(std::fs::read_to_string(journal).unwrap().contains(&begun.token));
    occupations.end(begun.id).unwrap();
}

#[test]
fn priorities_are_set_adjusted_and_put_back() {
    if !inside("priorities_are_set_adjusted_and_put_back") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let policy = |tid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).unwrap();
        let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        // Niceness, real-time priority, policy: fields 19, 40 and 41.
        [fields[16].to_owned(), fields[37].to_owned(), fields[38].to_owned()]
    };
    let mut program = shell("read go; sleep 600; :");
    let status = std::process::Command::new("renice")
        .args(["-n", "5", "-p", &program.pid().to_string()])
        .output()
        .unwrap();
    assert!(status.status.success());
    let mut occupations = machine.lock().unwrap();
    let fifo = Request { policy: Policy::Fifo { priority: 7 }, ..request() };
    let id = occupations.begin(&fifo, me(&machine)).unwrap().id;
    occupations.admit(id, machine.identify(program.pid()).unwrap()).unwrap();
    assert_eq!(policy(program.pid()), ["5", "7", "1"]);
    program.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    let child = child(&program);

    occupations.adjust(id, Policy::Fifo { priority: 8 }, false).unwrap();
    assert_eq!([policy(program.pid()), policy(child)], [["5", "8", "1"], ["5", "8", "1"]]);
    occupations.adjust(id, Policy::Fair { nice: Some(-3) }, false).unwrap();
    assert_eq!([policy(program.pid()), policy(child)], [["-3", "0", "0"], ["-3", "0", "0"]]);
    occupations.adjust(id, Policy::Fair { nice: None }, false).unwrap();
    assert_eq!(policy(program.pid()), ["5", "0", "0"]);
    occupations.adjust(id, Policy::Fair { nice: None }, true).unwrap();
    assert_eq!([policy(program.pid()), policy(child)], [["5", "1", "1"], ["5", "1", "1"]]);
    assert_eq!(affinity(me(&machine).tid), "0-1");
    occupations.end(id).unwrap();
    assert_eq!([policy(program.pid()), policy(child)], [["5", "0", "0"], ["5", "0", "0"]]);
    assert_eq!([affinity(program.pid()), affinity(child)], ["0-1", "0-1"]);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    if !inside("what_cannot_be_is_refused_and_changes_nothing") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let other = shell("sleep 600; :");
    let mut occupations = machine.lock().unwrap();
    let wish = |cpus: &str| Request { cpus: Some(cpus.parse().unwrap()), ..request() };
    let me = me(&machine);
    assert!(matches!(occupations.begin(&wish("700"), me), Err(Error::Offline { cpu: 700, .. })));
    assert!(matches!(occupations.begin(&wish("0-1"), me), Err(Error::NoneLeft { .. })));
    let id = occupations.begin(&wish("1"), me).unwrap().id;
    assert!(matches!(occupations.begin(&wish("1"), me), Err(Error::Occupied { cpu: 1, .. })));
    assert!(matches!(occupations.begin(&wish("0"), me), Err(Error::NoneLeft { .. })));
    assert!(matches!(occupations.sweep(9), Err(Error::NoOccupation { .. })));
    let gone = machine.identify(other.pid()).unwrap();
    let pid = other.pid();
    drop(other);
    assert!(matches!(occupations.admit(id, gone), Err(Error::NoProcess { pid: p }) if p == pid));
    occupations.end(id).unwrap();
    assert_eq!(affinity(me.tid), "0-1");
    assert!(!folder.path().join("state/journal").exists());
}

#[test]
fn three_hundred_processes_leave_and_come_back() {
    if !inside("three_hundred_processes_leave_and_come_back") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    let shells: Vec<_> = (0..300).map(|_| shell("exec sleep 600")).collect();
    let all = |cpus: &str| shells.iter().all(|shell| affinity(shell.pid()) == cpus);
    let mut times = Vec::new();
    for _ in 0..10 {
        let start = Instant::now();
        let id = machine.lock().unwrap().begin(&request(), me(&machine)).unwrap().id;
        let begun = start.elapsed();
        assert!(all("0"));
        let start = Instant::now();
        machine.lock().unwrap().sweep(id).unwrap();
        let swept = start.elapsed();
        let start = Instant::now();
        machine.lock().unwrap().end(id).unwrap();
        times.push((begun, swept, start.elapsed()));
        assert!(all("0-1"));
    }
    eprintln!("300 processes: (begun, swept, ended) {times:?}");
}
