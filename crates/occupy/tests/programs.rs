// SPDX-License-Identifier: Apache-2.0
//! Programs on processors of their own, and everybody else elsewhere.

mod private;
mod tool;

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use private::{Running, affinity, everything, field, guardians, wait_until};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use tool::Tool;

/// What a bystander may use while processor 1 is occupied, on this machine.
fn others() -> String {
    let all = affinity(1).unwrap();
    let last: usize = all.rsplit(['-', ',']).next().unwrap().parse().unwrap();
    match last {
        1 => "0".to_owned(),
        2 => "0,2".to_owned(),
        _ => format!("0,2-{last}"),
    }
}

/// Waits until the journal is gone, which is when everything is as it was.
fn wait_for_the_end(tool: &Tool) {
    wait_until("the occupation is undone", || tool.occupations().is_empty());
    wait_until("the guardian has left", || guardians().is_empty());
}

private_tests! {
    fn the_exit_status_is_that_of_the_program() {
        let tool = Tool::new();
        let ends = [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill $$", 143)];
        for (script, status) in ends {
            assert_eq!(tool.ends(&["-q", "--", "sh", "-c", script]), (Some(status), String::new()));
        }
        let output = tool.output(&["-q", "--", "echo", "its own output"]);
        assert_eq!(output.stdout, b"its own output\n");
    }

    fn a_program_is_alone_there_from_its_first_instruction() {
        let tool = Tool::new();
        let bystander = Running::sleep();
        let before = everything();

        // It tells its own affinity, and that of the bystander meanwhile.
        let script = format!("grep Cpus_allowed_list /proc/self/status /proc/{}/status | \
            cut -f 2", bystander.pid());
        let output = tool.output(&["-q", "--cpu", "1", "--", "sh", "-c", &script]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, format!("1\n{}\n", others()));
        assert_eq!(everything()[&bystander.pid()], before[&bystander.pid()]);
        wait_for_the_end(&tool);
    }

    fn children_and_threads_stay_with_their_program() {
        let tool = Tool::new();
        let script = "sleep 600 & sh -c 'sleep 600; true' & wait";
        let program = tool.spawn(&["--cpu", "1", "--", "sh", "-c", script]);
        tool.wait_for(1);
        let sleeping = || {
            let all = everything();
            let of = |text: &&String| text.starts_with("sleep:");
            all.values().filter(of).cloned().collect::<Vec<_>>()
        };
        wait_until("its children are there", || sleeping().len() == 2);
        assert!(sleeping().iter().all(|text| text.contains("processors 1,")), "{:?}", sleeping());
        drop(program);
        // The tool was killed, so the program goes on, like any other.
        wait_for_the_end(&tool);
        let all = affinity(1).unwrap();
        let free = format!("processors {all},");
        assert!(sleeping().iter().all(|text| text.contains(&free)), "{:?}", sleeping());
    }

    fn what_comes_later_is_moved_away_too() {
        let tool = Tool::new();
        let _program = tool.spawn(&["--cpu", "1", "--", "sleep", "600"]);
        tool.wait_for(1);
        let comer = Running::shell("taskset -pc 0-1 $$ >/dev/null; exec sleep 600");
        wait_until("the newcomer is moved", || {
            field(comer.pid(), "Name").as_deref() == Some("sleep")
                && affinity(comer.pid()).unwrap() == "0"
        });
    }

    fn a_task_that_moves_itself_back_is_named() {
        let tool = Tool::new();
        let script = "while :; do taskset -pc 1 $$ >/dev/null; sleep 0.01; done";
        let stubborn = Running::shell(script);
        let _program = tool.spawn(&["--cpu", "1", "--", "sleep", "600"]);
        tool.wait_for(1);
        wait_until("it is named", || {
            let kept = tool.occupations()[0]["kept"].as_array().unwrap().clone();
            kept.iter().any(|kept| {
                kept["what"].as_str().unwrap().starts_with(&format!("task {} ", stubborn.pid()))
                    && kept["why"].as_str().unwrap().contains("back")
            })
        });
    }

    fn a_guardian_that_cannot_have_the_journal_undoes_once_it_can() {
        let tool = Tool::new();
        let bystander = Running::sleep();
        let (free, away) = (affinity(bystander.pid()), others());
        let mut command = tool.command(&["-q", "--cpu", "1", "--", "sleep", "600"]);
        let mut running = Running(command.stderr(Stdio::piped()).spawn().unwrap());
        let program = tool.wait_for(1)[0]["program"]["tid"].as_i64().unwrap();
        let lock = fs::File::open(tool.state().join("lock")).unwrap();
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        // Now the guardian waits for it, to sweep.
        thread::sleep(Duration::from_millis(300));
        let since = Instant::now();
        let program = Pid::from_raw(program.try_into().unwrap()).unwrap();
        kill_process(program, Signal::KILL).unwrap();

        // The tool says that it is not undone, once a first try has waited for as long as a command
        // does; the guardian stays.
        let mut said = String::new();
        running.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("the guardian tries on"), "{said}");
        assert!(since.elapsed() < Duration::from_secs(45), "a sweep waited as long before");
        assert!(!running.0.wait().unwrap().success());
        assert_eq!(guardians().len(), 1);
        assert_eq!(affinity(bystander.pid()), Some(away));
        drop(lock);
        wait_until("it is undone", || affinity(bystander.pid()) == free);
        wait_for_the_end(&tool);
    }

    fn signals_end_the_program_and_the_occupation() {
        let tool = Tool::new();
        for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
            let mut program = tool.spawn(&["--cpu", "1", "--", "sleep", "600"]);
            tool.wait_for(1);
            program.signal(signal);
            assert_eq!(program.0.wait().unwrap().code(), Some(status));
            assert!(tool.occupations().is_empty());
        }
        // Ctrl-C goes to the whole group: here only to the tool, which waits on.
        let script = "read line; exit 5";
        let mut command = tool.command(&["-q", "--cpu", "1", "--", "sh", "-c", script]);
        let mut program = Running(command.stdin(std::process::Stdio::piped()).spawn().unwrap());
        tool.wait_for(1);
        program.signal(Signal::INT);
        drop(program.0.stdin.take());
        assert_eq!(program.0.wait().unwrap().code(), Some(5));
    }

    fn signals_that_are_ignored_stay_ignored() {
        let tool = Tool::new();
        let command = tool.command(&["-q", "--", "grep", "SigIgn", "/proc/self/status"]);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        shell.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        let said = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        let mask = u64::from_str_radix(said.split_whitespace().nth(1).unwrap(), 16).unwrap();
        // SIGHUP is 1 and SIGINT 2, SIGQUIT 3 and SIGTERM 15; bit 0 is signal 1.
        assert_eq!(mask & 0x4007, 0b011, "{said}");
    }

    fn a_running_program_is_taken_and_released() {
        let tool = Tool::new();
        let program = Running::shell("sleep 600 & sleep 600 & wait");
        let sleeps = |text: &&String| text.starts_with("sleep:");
        wait_until("it sleeps", || everything().values().filter(sleeps).count() == 2);
        let before = everything();
        let (status, said) = tool.ends(&["--cpu", "1", "--pid", &program.pid().to_string()]);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("processor 1"), "{said}");
        assert_eq!(affinity(program.pid()).unwrap(), "1");
        let shown = &tool.occupations()[0];
        assert_eq!(shown["program"]["tid"], program.pid());
        assert_eq!(shown["command"][0], "sh");

        let output = tool.output(&["release", "--pid", &program.pid().to_string()]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("occupation 1 has ended"), "{said}");
        wait_for_the_end(&tool);
        let after = everything();
        assert!(before.iter().all(|(task, was)| after.get(task).is_none_or(|is| is == was)));
        assert_eq!(affinity(program.pid()), affinity(1));
    }

    fn the_tool_waits_on_when_its_occupation_is_released() {
        let tool = Tool::new();
        let mut command = tool.command(&["--cpu", "1", "--", "sh", "-c", "read line; exit 3"]);
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let program = tool.wait_for(1)[0]["program"]["tid"].as_i64().unwrap();
        assert_eq!(tool.ends(&["release"]).0, Some(0));
        wait_for_the_end(&tool);
        assert_eq!(affinity(program.try_into().unwrap()), affinity(1));
        drop(child.stdin.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("was released"), "{said}");
    }

    fn how_it_is_scheduled_can_be_changed_while_it_runs() {
        let tool = Tool::new();
        let _program = tool.spawn(&["--cpu", "1", "--nice", "3", "--", "sleep", "600"]);
        let pid = tool.wait_for(1)[0]["program"]["tid"].as_i64().unwrap().try_into().unwrap();
        let shows = |text: &str| everything()[&pid].contains(text);
        assert!(shows("policy 0 0, nice 3"), "{}", everything()[&pid]);
        let adjust = |args: &[&str]| {
            let all: Vec<&str> = ["adjust", "1"].iter().chain(args).copied().collect();
            let (status, said) = tool.ends(&all);
            assert_eq!((status, said.as_str()), (Some(0), ""), "{all:?}");
        };
        adjust(&["--fifo", "7"]);
        assert!(shows("policy 1 7"), "{}", everything()[&pid]);
        adjust(&["--nice", "5"]);
        assert!(shows("policy 0 0, nice 5"), "{}", everything()[&pid]);
        adjust(&["--fair"]);
        let inherited = rustix::process::getpriority_process(None).unwrap();
        assert!(shows(&format!("policy 0 0, nice {inherited}")), "{}", everything()[&pid]);
        adjust(&["--soft"]);
        assert!(shows("policy 1 1"), "{}", everything()[&pid]);
        assert_eq!(tool.occupations()[0]["soft"], true);
        assert!(tool.ends(&["adjust", "1", "--nice", "5"]).1.contains("--hard"));
        adjust(&["--hard"]);
        assert!(shows("policy 0 0"), "{}", everything()[&pid]);
        assert_eq!(tool.occupations()[0]["soft"], false);
    }

    fn others_may_use_a_soft_processor() {
        let tool = Tool::new();
        let bystander = Running::sleep();
        let _program = tool.spawn(&["--cpu", "1", "--soft", "--", "sleep", "600"]);
        let shown = &tool.wait_for(1)[0];
        let pid = shown["program"]["tid"].as_i64().unwrap().try_into().unwrap();
        assert!(everything()[&pid].contains("processors 1, policy 1 1"), "{}", everything()[&pid]);
        assert_eq!(affinity(bystander.pid()), affinity(1));
    }

    fn status_says_who_what_and_how_quiet() {
        let tool = Tool::new();
        let _program = tool.spawn(&["--cpu", "1", "--", "sleep", "600"]);
        tool.wait_for(1);
        let text = String::from_utf8(tool.output(&["status"]).stdout).unwrap();
        for word in ["occupation 1: processor 1 for `sleep 600`, process ", "by affinity, fair",
            "quiet: in the last ", " s other tasks had ", "what stays there:",
            "affinity: available"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let quiet = &tool.occupations()[0]["quiet"];
        assert!(quiet["seconds"].as_f64().unwrap() >= 0.2, "{quiet}");
        assert!(quiet["others_percent"].as_f64().is_some(), "{quiet}");
    }

    fn a_report_says_what_disturbed_the_program() {
        let tool = Tool::new();
        let file = tool.path("report.json");
        let report = format!("--report={}", file.display());
        let (status, said) = tool.ends(&["-q", "--cpu", "1", &report, "--", "sleep", "0.3"]);
        assert_eq!((status, said.as_str()), (Some(0), ""));
        let report: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!(report["cpus"], "1");
        let rows = report["rows"].as_array().unwrap();
        assert!(rows.iter().any(|row| row["group"] == "program"), "{report}");

        let args = ["-q", "--cpu", "1", "--report", "--", "sh", "-c", "exit 4"];
        let (status, said) = tool.ends(&args);
        assert_eq!(status, Some(4));
        assert!(said.starts_with("processor 1: "), "{said}");
    }

    fn noise_is_measured_on_an_occupied_processor_by_its_program_only() {
        let tool = Tool::new();
        let this = env!("CARGO_BIN_EXE_whimbrel-occupy");
        let noise = [this, "noise", "--cpu", "1", "--duration", "100ms"];
        let args = ["-q", "--cpu", "1", "--"].iter().chain(&noise).chain(&["--json"]);
        let output = tool.output(&args.copied().collect::<Vec<_>>());
        let noise: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(noise["cpu"], 1);
    }

    fn noise_is_measured_before_and_during_an_occupation() {
        let tool = Tool::new();
        let busy = Running::shell("taskset -pc 1 $$ >/dev/null; while :; do :; done");
        let file = tool.path("noise.json");
        let args = ["noise", "--cpu", "1", "--occupied", "--duration", "300ms", "--json"];
        let output = tool.output(&[&args[..], &["--report", file.to_str().unwrap()]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!([&report["noise_before"]["cpu"], &report["noise_during"]["cpu"]], [1, 1]);
        // The shell has had its part of the processor before, and nothing of it during.
        let rows = report["rows"].as_array().unwrap();
        let shell = |row: &&serde_json::Value| row["name"] == format!("{} sh", busy.pid());
        let shell = rows.iter().find(shell).unwrap();
        assert!(shell["before"].as_f64().unwrap() > 0.0, "{report}");
        assert_eq!(shell["during"], 0.0, "{report}");
        let written = fs::read_to_string(file).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), report);
        assert!(tool.occupations().is_empty());
    }

    fn a_second_occupation_needs_a_third_processor() {
        if thread::available_parallelism().unwrap().get() < 3 {
            println!("two occupations need three processors; tests/guest has them");
            return;
        }
        let tool = Tool::new();
        let first = tool.spawn(&["--cpu", "1", "--", "sleep", "600"]);
        tool.wait_for(1);
        let _second = tool.spawn(&["--cpu", "2", "--", "sleep", "600"]);
        tool.wait_for(2);
        drop(first);
        wait_until("the first is undone", || tool.occupations().len() == 1);
        assert_eq!(tool.occupations()[0]["cpus"], "2");
    }

    fn what_a_command_line_holds_is_shown_without_what_a_terminal_obeys() {
        let tool = Tool::new();
        let evil = "a\u{1b}]0;title\u{7}\u{202e}\u{9b}31m\noccupation 9: free";
        let mut program = tool.spawn(&["--cpu", "1", "--", "sh", "-c", "sleep 600; :", evil]);
        tool.wait_for(1);
        let status = tool.output(&["status"]);
        let said = String::from_utf8(status.stdout).unwrap();
        let obeyed = |sign: char| sign.is_control() && sign != '\n' || sign == '\u{202e}';
        assert_eq!(said.chars().find(|sign| obeyed(*sign)), None, "{said:?}");
        assert!(said.contains("a?]0;title?\u{fffd}·31m?occupation 9: free`"), "{said}");
        // JSON says it all, by escapes; but not what only the program is to know.
        let json = String::from_utf8(tool.output(&["status", "--json"]).stdout).unwrap();
        assert_eq!(json.chars().find(|sign| obeyed(*sign)), None, "{json:?}");
        let found: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(found["occupations"][0]["command"][3], evil);
        let pid = program.pid();
        let child = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let environ = fs::read(format!("/proc/{}/environ", child.trim())).unwrap();
        let environ = String::from_utf8_lossy(&environ).into_owned();
        let mark = environ.split('\0').find_map(|word| word.strip_prefix("WHIMBREL_OCCUPY=1:"));
        assert!(mark.is_some_and(|token| token.len() == 32 && !json.contains(token)), "{json}");
        program.signal(Signal::TERM);
        program.0.wait().unwrap();
    }

    fn a_program_that_ends_by_a_signal_has_left_nothing() {
        let tool = Tool::new();
        let mut program = tool.spawn(&["--cpu", "1", "--", "sleep", "600"]);
        let pid = tool.wait_for(1)[0]["program"]["tid"].as_i64().unwrap().try_into().unwrap();
        // Before it is executed it is the tool's copy, which takes this signal otherwise.
        wait_until("it runs", || field(pid, "Name").as_deref() == Some("sleep"));
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, Signal::SEGV).unwrap();
        let status = program.0.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(139), None));
        assert!(tool.occupations().is_empty());
    }
}
