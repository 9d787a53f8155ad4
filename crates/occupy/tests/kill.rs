// SPDX-License-Identifier: Apache-2.0
//! Killed at random instants, and with few rights: real processes in a private world.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use common::private::{let_others_read, open_folder};
use common::{affinity, inside, machine, me, pin, request, shell};
use whimbrel_occupy::{Error, Policy, Request, ShieldKind};

/// Set in a process that a test starts from its own program: the folder of its machine.
const ROLE: &str = "WHIMBREL_TEST_ROLE";

/// This test's program again, in another role.
fn again(test: &str, wrapper: &[&str], folder: &Path) -> Command {
    let me = std::env::current_exe().unwrap();
    let mut command = Command::new(wrapper.first().map_or(me.as_os_str(), |name| name.as_ref()));
    command.args(wrapper.iter().skip(1));
    if !wrapper.is_empty() {
        command.arg(&me);
    }
    command.args(["--exact", test, "--nocapture"]).env(ROLE, folder).stdout(Stdio::null());
    command
}

fn role() -> Option<std::path::PathBuf> {
    std::env::var_os(ROLE).map(Into::into)
}

/// Begins, takes in, sweeps, adjusts and ends until it is killed.
fn busy(folder: &Path) {
    let machine = machine(folder);
    let program: i32 = fs::read_to_string(folder.join("program")).unwrap().parse().unwrap();
    loop {
        let fifo = Request { policy: Policy::Fifo { priority: 2 }, ..request() };
        let mut occupations = machine.lock().unwrap();
        occupations.recover().unwrap();
        let id = occupations.begin(&fifo, me(&machine)).unwrap().id;
        occupations.admit(id, machine.identify(program).unwrap()).unwrap();
        drop(occupations);
        machine.lock().unwrap().sweep(id).unwrap();
        machine.lock().unwrap().adjust(id, Policy::Fair { nice: Some(3) }, true).unwrap();
        machine.lock().unwrap().adjust(id, Policy::Fifo { priority: 3 }, false).unwrap();
        machine.lock().unwrap().end(id).unwrap();
    }
}

#[test]
fn a_kill_at_a_random_instant_is_undone() {
    const NAME: &str = "a_kill_at_a_random_instant_is_undone";
    if let Some(folder) = role() {
        return busy(&folder);
    }
    if !inside(NAME) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(folder.path());
    // Makes children all the time, of which some stay.
    let forking = "for i in $(seq 80); do sleep 600 & sleep 0.02; done; sleep 600";
    let shells: Vec<_> = (0..40).map(|_| shell("exec sleep 600")).collect();
    for (shell, cpus) in shells.iter().zip(["0", "1", "0-1"].iter().cycle()) {
        pin(shell.pid(), cpus);
    }
    let (maker, program) = (shell(forking), shell(forking));
    fs::write(folder.path().join("program"), program.pid().to_string()).unwrap();

    // So many find it occupied, whatever else the machine does.
    // A victim lives longer after each that had not come to occupy anything.
    let (mut hits, mut early) = (0, 0);
    for kill in 0_u64.. {
        if hits == 25 {
            break;
        }
        let mut victim = again(NAME, &[], folder.path()).spawn().unwrap();
        thread::sleep(Duration::from_millis((5 + kill * 37 % 61) * (1 + early)));
        victim.kill().unwrap();
        victim.wait().unwrap();
        let mut occupations = machine.lock().unwrap();
        early += 1;
        for (_, undone) in occupations.recover().unwrap() {
            (hits, early) = (hits + 1, 0);
            assert!(undone.foreign.is_empty(), "{undone:?}");
        }
        assert!(!folder.path().join("state/journal").exists());
        for (shell, cpus) in shells.iter().zip(["0", "1", "0-1"].iter().cycle()) {
            assert_eq!(affinity(shell.pid()), *cpus, "after kill {kill}");
        }
        let inherited = rustix::process::getpriority_process(None).unwrap().to_string();
        for parent in [&maker, &program] {
            let children = format!("/proc/{0}/task/{0}/children", parent.pid());
            let children = fs::read_to_string(children).unwrap();
            let all = children.split_whitespace().map(|tid| tid.parse().unwrap());
            for tid in all.chain([parent.pid()]) {
                let read = |name: &str| fs::read_to_string(format!("/proc/{tid}/{name}"));
                let (Ok(stat), Ok(status)) = (read("stat"), read("status")) else { continue };
                let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
                assert_eq!([fields[16], fields[38]], [&*inherited, "0"], "priority of {tid}");
                let free = status.contains("Cpus_allowed_list:\t0-1\n");
                assert!(free || fields[0] == "Z", "{tid} after kill {kill}: {status}");
            }
        }
    }
}

/// Occupies as whoever this runs as, and says how it went by its exit status.
fn modest(folder: &Path) {
    let machine = machine(folder);
    let target: i32 = fs::read_to_string(folder.join("program")).unwrap().parse().unwrap();
    let mut occupations = machine.lock().unwrap();
    let any = Request { shield: Some(ShieldKind::Affinity), ..request() };
    match occupations.begin(&any, me(&machine)) {
        Err(Error::Permission { capability: "CAP_SYS_NICE", .. }) => std::process::exit(3),
        begun => {
            let id = begun.unwrap().id;
            assert_eq!(affinity(target), "0");
            let kept = occupations.occupations()[0].kept.clone();
            let needs = |what: &str| kept.iter().any(|k| k.what == what && k.why == "needs root");
            assert!(needs("interrupts") && needs("unbound work queues"), "{kept:?}");
            occupations.end(id).unwrap();
            assert_eq!(affinity(target), "0-1");
        }
    }
}

#[test]
fn cap_sys_nice_suffices_and_its_lack_is_told() {
    const NAME: &str = "cap_sys_nice_suffices_and_its_lack_is_told";
    if let Some(folder) = role() {
        return modest(&folder);
    }
    if !inside(NAME) {
        return;
    }
    let folder = open_folder();
    let machine = machine(folder.path());
    fs::create_dir_all(&machine.state).unwrap();
    let target = shell("exec sleep 600");
    fs::write(folder.path().join("program"), target.pid().to_string()).unwrap();
    fs::write("/proc/irq/default_smp_affinity", "3\n").unwrap();
    let of_root = fs::Permissions::from_mode(0o644);
    fs::set_permissions("/proc/irq/default_smp_affinity", of_root).unwrap();
    let queues = machine.sys.join("devices/virtual/workqueue");
    fs::create_dir_all(&queues).unwrap();
    fs::write(queues.join("cpumask"), "3\n").unwrap();
    let_others_read(folder.path());
    // A journal that others may write is not trusted: its folder is theirs.
    std::os::unix::fs::chown(&machine.state, Some(65534), Some(65534)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let run = |rights: &str| -> ExitStatus {
        let wrapper = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            &format!("--inh-caps={rights}"),
            &format!("--ambient-caps={rights}"),
        ];
        again(NAME, &wrapper, folder.path()).status().unwrap()
    };
    assert_eq!(run("-all").code(), Some(3));
    assert_eq!(affinity(target.pid()), "0-1");
    assert_eq!(run("+sys_nice").code(), Some(0));
}
