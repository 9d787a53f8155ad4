// SPDX-License-Identifier: Apache-2.0
//! The tool and its guardian are killed at random instants: nothing may stay as it is not to be.
//!
//! `WHIMBREL_OCCUPY_KILLS` says how often; `make soak` does it a thousand times.

mod private;
mod tool;

use std::collections::BTreeMap;
use std::env;
use std::thread;
use std::time::Duration;

use private::{Running, everything, guardians, wait_until};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process};
use tool::Tool;

/// The longest time from the start of the tool to the kill: an occupation takes about half of it.
/// After each kill that came too early it is longer, for a machine that is slow just now.
const WINDOW_US: u64 = 60_000;

fn kill(pid: i32) {
    // It may have ended by itself.
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

/// Sleeping processes that are pinned in every way.
fn population() -> Vec<Running> {
    let pinned =
        ["0", "1", "0-1"].map(|cpus| format!("taskset -pc {cpus} $$ >/dev/null; sleep 600"));
    let all = (0..4).flat_map(|_| pinned.each_ref().map(|p| Running::shell(p))).collect();
    let sleeping = || everything().values().filter(|text| text.starts_with("sleep:")).count();
    wait_until("all sleep", || sleeping() == 12);
    all
}

/// Which of those that are still there have changed.
fn differences(before: &BTreeMap<i32, String>, after: &BTreeMap<i32, String>) -> Vec<String> {
    let changed = |(task, was): (&i32, &String)| {
        let is = after.get(task)?;
        (is != was).then(|| format!("{task} was {was}, is {is}"))
    };
    before.iter().filter_map(changed).collect()
}

/// One occupation that is killed within this time, and whether it had begun by then.
fn one(tool: &Tool, random: &mut ChaCha8Rng, window_us: u64) -> bool {
    let mut running = tool.spawn(&["-q", "--cpu", "1", "--", "sleep", "600"]);
    thread::sleep(Duration::from_micros(random.random_range(0..window_us)));
    let journal = tool.state().join("journal");
    let begun = journal.exists();
    let (tool_too, guardian_too) =
        [(true, false), (false, true), (true, true)][random.random_range(0..3)];
    if tool_too {
        kill(running.pid());
        running.0.wait().unwrap();
    }
    if guardian_too {
        let killed = guardians();
        killed.iter().copied().for_each(kill);
        wait_until("they are dead", || guardians().iter().all(|pid| !killed.contains(pid)));
    }
    if tool_too && guardian_too {
        // Nobody is left who could undo it: the next command does.
        assert!(tool.output(&["status"]).status.success());
    }
    if !tool_too {
        // It ends by itself, or waits for its program with nothing occupied any more. A guardian
        // that had not taken its name yet was not killed.
        let over = || !journal.exists() || !guardians().is_empty();
        wait_until("the tool has noticed", over);
        kill(running.pid());
        running.0.wait().unwrap();
    }
    wait_until("the guardian has left", || guardians().is_empty());
    assert!(!journal.exists(), "nobody has undone it");
    begun
}

/// The programs that were left behind: they go on like any other.
fn orphans() -> Vec<(i32, String)> {
    let mine = |pid: &i32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words == b"sleep\x00600\0" && private::field(*pid, "PPid").as_deref() == Some("1")
    };
    everything().into_iter().filter(|(pid, _)| mine(pid)).collect()
}

private_tests! {
    fn whoever_is_killed_at_whatever_instant_nothing_stays() {
        let times = env::var("WHIMBREL_OCCUPY_KILLS").map_or(30, |n| n.parse().unwrap());
        let seed = env::var("WHIMBREL_OCCUPY_SEED").map_or(1, |n| n.parse().unwrap());
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let tool = Tool::new();
        let _population = population();
        let before = everything();
        let _maker_of_processes = Running::shell("while :; do sleep 0.005; done");
        let (mut begun, mut early) = (0, 0);
        for time in 0..times {
            let has_begun = one(&tool, &mut random, WINDOW_US * (1 + early));
            early = if has_begun { 0 } else { early + 1 };
            begun += u32::from(has_begun);
            let changed = differences(&before, &everything());
            assert!(changed.is_empty(), "seed {seed}, kill {time}: {changed:#?}");
            for (pid, is) in orphans() {
                let free = format!("sleep: processors {},", private::affinity(1).unwrap());
                assert!(is.starts_with(&free), "seed {seed}, kill {time}: {pid} is {is}");
                kill(pid);
            }
        }
        println!("{times} kills, {begun} of them of occupations that had begun: 0 differences");
        assert!(begun > 0, "every kill came too early");
    }
}
