// SPDX-License-Identifier: Apache-2.0
//! What the system must offer to run an application, and what makes it run less well.

use std::fs;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, pidfd_open};
use whimbrel_model::CpuList;
use whimbrel_run::helpers;
use whimbrel_run::load::usable_cpus;
use whimbrel_run::rundir::Base;

use super::Finding;

/// Where globally visible memory lies, and the most that it may take there.
const GVM_BASE: u64 = 0x2000_0000_0000;
const GVM_MOST: u64 = 1 << 40;

/// All of it.
pub fn findings() -> Vec<Finding> {
    vec![
        helper(),
        memfd(),
        robust_futex(),
        pidfd(),
        gvm_base(),
        run_directory(),
        cores(),
        clock(),
        rt_throttling(),
        governor(),
        file_size(),
        locked_memory(),
        processes(),
    ]
}

fn helper() -> Finding {
    let advice = "build it: make build";
    match helpers::find(helpers::LAUNCHER) {
        Ok(path) => Finding::ok("whimbrel-linux", path.display().to_string()),
        Err(_) => Finding::fatal("whimbrel-linux", "not found", advice),
    }
}

fn memfd() -> Finding {
    match memfd_create("whimbrel", MemfdFlags::CLOEXEC) {
        Ok(_) => Finding::ok("memfd_create", "works"),
        Err(error) => Finding::fatal(
            "memfd_create",
            error.to_string(),
            "globally visible memory needs it: Linux 3.17 or newer, allowed by the sandbox",
        ),
    }
}

fn robust_futex() -> Finding {
    let mut head = std::ptr::null_mut::<libc::c_void>();
    let mut bytes: libc::size_t = 0;
    // SAFETY: both pointers are to locals of the types that the call writes, and process 0 is the
    // calling thread, so nothing else is read or changed.
    let result =
        unsafe { libc::syscall(libc::SYS_get_robust_list, 0, &raw mut head, &raw mut bytes) };
    if result == 0 {
        return Finding::ok("robust futex", "works");
    }
    let error = std::io::Error::last_os_error().to_string();
    let advice =
        "a killed kernel is noticed later without it: allow get_robust_list in the sandbox";
    Finding::missing("robust futex", error, advice)
}

fn pidfd() -> Finding {
    match pidfd_open(getpid(), PidfdFlags::empty()) {
        Ok(_) => Finding::ok("pidfd_open", "works"),
        Err(error) => Finding::fatal(
            "pidfd_open",
            error.to_string(),
            "kernels are supervised through it: Linux 5.3 or newer, allowed by the sandbox",
        ),
    }
}

fn gvm_base() -> Finding {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    match maps.lines().find(|line| overlaps_gvm(line)) {
        None => Finding::ok("GVM address", format!("{GVM_BASE:#x} is free")),
        Some(line) => Finding::fatal(
            "GVM address",
            format!("taken by {line}"),
            "globally visible memory lies there: run without the tool that maps this address",
        ),
    }
}

fn overlaps_gvm(line: &str) -> bool {
    let range = line.split(' ').next().and_then(|range| range.split_once('-'));
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let range = range.and_then(|(from, to)| Some((number(from)?, number(to)?)));
    range.is_some_and(|(from, to)| from < GVM_BASE + GVM_MOST && GVM_BASE < to)
}

fn run_directory() -> Finding {
    match Base::open() {
        Ok(base) => Finding::ok("run directory", base.path().display().to_string()),
        Err(problem) => Finding::fatal(
            "run directory",
            problem.message,
            "set XDG_RUNTIME_DIR to a folder that only you can use",
        ),
    }
}

fn cores() -> Finding {
    match usable_cpus() {
        Ok(cpus) if cpus.len() > 1 => {
            Finding::ok("cores", format!("{} usable: {}", cpus.len(), CpuList(cpus)))
        }
        Ok(cpus) => Finding::missing(
            "cores",
            format!("only {}", CpuList(cpus)),
            "tasks migrate between cores: --cores 0,0 makes two kernels share one",
        ),
        Err(problem) => Finding::fatal("cores", problem.message, "allow sched_getaffinity"),
    }
}

/// The helper reads the time-stamp counter itself only where Linux trusts it too.
fn clock() -> Finding {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = fs::read_to_string(path).unwrap_or_else(|_| "unknown".into());
    let source = source.trim().to_owned();
    if cfg!(not(target_arch = "x86_64")) || source == "tsc" {
        return Finding::ok("clock", source);
    }
    let advice = "times cost a system call: boot with clocksource=tsc if the counter is reliable";
    Finding::missing("clock", source, advice)
}

fn rt_throttling() -> Finding {
    let runtime = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or_default();
    let found = match runtime.trim() {
        "-1" => "off".into(),
        "" => "unknown".into(),
        us => format!("real-time tasks get {us} µs of each second"),
    };
    // Kernels run in the ordinary class, so this is something to know, not to change.
    Finding::ok("RT throttling", found)
}

fn governor() -> Finding {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    match fs::read_to_string(path) {
        Ok(governor) if governor.trim() == "performance" => Finding::ok("cpufreq", "performance"),
        Ok(governor) => Finding::missing(
            "cpufreq",
            governor.trim(),
            "clock changes blur measurements: cpupower frequency-set -g performance",
        ),
        Err(_) => Finding::ok("cpufreq", "none (a virtual machine, or a fixed clock)"),
    }
}

/// Globally visible memory is a file to the system, and a limit on files ends the helper.
fn file_size() -> Finding {
    // What the FM radio takes, with room.
    const WANTED: u64 = 64 << 20;
    match getrlimit(Resource::Fsize).current {
        Some(bytes) if bytes < WANTED => Finding::fatal(
            "file size",
            format!("at most {} KiB", bytes / 1024),
            "globally visible memory counts as a file: ulimit -f unlimited",
        ),
        Some(bytes) => Finding::ok("file size", format!("at most {} KiB", bytes / 1024)),
        None => Finding::ok("file size", "unlimited"),
    }
}

fn locked_memory() -> Finding {
    let limit = getrlimit(Resource::Memlock).current;
    // What the FM radio takes, rounded up.
    const WANTED: u64 = 8 << 20;
    match limit {
        Some(bytes) if bytes < WANTED => Finding::missing(
            "locked memory",
            format!("{} KiB", bytes / 1024),
            "page faults may delay tasks under memory pressure: ulimit -l unlimited",
        ),
        Some(bytes) => Finding::ok("locked memory", format!("{} KiB", bytes / 1024)),
        None => Finding::ok("locked memory", "unlimited"),
    }
}

fn processes() -> Finding {
    let cores = usable_cpus().map_or(1, |cpus| cpus.len() as u64);
    match getrlimit(Resource::Nproc).current {
        Some(limit) if limit < 2 * cores + 8 => Finding::missing(
            "processes",
            format!("at most {limit}"),
            "each core takes a kernel process: ulimit -u 1024",
        ),
        Some(limit) => Finding::ok("processes", format!("at most {limit}")),
        None => Finding::ok("processes", "unlimited"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mapping_over_the_address_is_in_the_way() {
        assert!(overlaps_gvm("1fffffff0000-200000001000 rw-p 00000000 00:00 0"));
        assert!(overlaps_gvm("200000000000-200000001000 rw-p 00000000 00:00 0"));
        assert!(!overlaps_gvm("1ffffffff000-200000000000 rw-p 00000000 00:00 0"));
        assert!(!overlaps_gvm("7f0000000000-7f0000001000 r--p 00000000 00:00 0"));
        assert!(!overlaps_gvm("nonsense"));
    }
}
