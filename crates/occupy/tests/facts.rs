// SPDX-License-Identifier: Apache-2.0
//! What a machine tells of itself, from trees of files.

use std::fs;
use std::path::Path;

use whimbrel_occupy::{Machine, ShieldKind};

fn machine(folder: &Path, files: &[(&str, &str)]) -> Machine {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Machine { proc: folder.join("proc"), sys: folder.join("sys"), state: folder.join("state") }
}

#[test]
fn throttling_and_the_fair_server_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = "sys/kernel/debug/sched/fair_server";
    let files = [
        ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        (&format!("{server}/cpu0/runtime"), "50000000\n"),
        (&format!("{server}/cpu0/period"), "1000000000\n"),
        (&format!("{server}/cpu1/runtime"), "0\n"),
        (&format!("{server}/cpu1/period"), "1000000000\n"),
    ];
    let lines = machine(folder.path(), &files).taken_from_fifo();
    let throttling = "real-time throttling: takes up to 5.0 % of each 1000 ms from SCHED_FIFO";
    let server = "fair server: takes 0.0 % or 5.0 % from SCHED_FIFO while fair tasks wait";
    assert_eq!(lines, [throttling, server]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let lines = machine(folder.path(), &[]).taken_from_fifo();
    assert!(
        lines[0].contains("cannot be read") && lines[1].contains("cannot be read"),
        "{lines:?}"
    );

    let off = [
        ("proc/sys/kernel/sched_rt_runtime_us", "-1\n"),
        ("sys/kernel/debug/sched/debug", "Sched Debug Version: v0.11\n"),
    ];
    let lines = machine(folder.path(), &off).taken_from_fifo();
    assert_eq!(lines, ["real-time throttling: off", "fair server: this kernel has none"]);
}

#[test]
fn shields_say_why_they_are_not_to_be_had() {
    let folder = tempfile::tempdir_in("/tmp").unwrap(); // a mount point has no spaces here
    let why = |mounts: &str, files: &[(&str, &str)]| {
        let mut files = files.to_vec();
        files.push(("proc/self/mountinfo", mounts));
        let machine = machine(folder.path(), &files);
        machine.shields().into_iter().map(|(_, lacks)| lacks.err()).take(2).collect::<Vec<_>>()
    };
    let lacks = |v2: &str, v1: &str| {
        [v2, v1].map(|why| Some(why).filter(|why| !why.is_empty()).map(str::to_owned)).to_vec()
    };
    let not = "its hierarchy is not mounted";
    assert_eq!(why("", &[]), lacks(not, not));

    let at = |name: &str| folder.path().join(name).display().to_string();
    let (two, one) = (at("two"), at("one"));
    let mounts = format!(
        "41 31 0:38 / {two} rw shared:7 - cgroup2 cgroup2 rw\n\
         34 31 0:31 / {one} rw - cgroup c rw,cpuset\n"
    );
    let none = "its hierarchy has no cpuset controller, which v1 may have";
    assert_eq!(why(&mounts, &[]), lacks(none, "its files have other names here"));

    let files = [
        ("two/cgroup.controllers", "cpuset cpu io\n"),
        ("two/cgroup.subtree_control", ""),
        ("one/cpuset.cpus", "0-1"),
    ];
    assert_eq!(why(&mounts, &files), lacks("", ""));
    let part = mounts.replace(" / ", " /docker/7 ");
    let of = "what is seen of its hierarchy is a container's part";
    assert_eq!(why(&part, &files), lacks(of, of));
}

#[test]
fn a_container_has_the_processors_of_its_cpuset() {
    let folder = tempfile::tempdir_in("/tmp").unwrap(); // a mount point has no spaces here
    let root = folder.path().join("two").display().to_string();
    let mounts = format!("41 31 0:38 /docker/7 {root} rw - cgroup2 cgroup2 rw\n");
    let files = [
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("two/cpuset.cpus.effective", "2-3\n"),
        ("proc/self/mountinfo", &mounts),
    ];
    let machine = machine(folder.path(), &files);
    assert_eq!(machine.online().unwrap().to_string(), "0-7");
    assert_eq!(machine.usable().unwrap().to_string(), "2-3");
}

#[test]
fn shields_are_listed_best_first() {
    let kinds: Vec<_> = Machine::here().shields().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [ShieldKind::V2, ShieldKind::V1, ShieldKind::Affinity]);
}
