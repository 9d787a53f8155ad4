// SPDX-License-Identifier: Apache-2.0
//! What is refused, and that nothing is changed then.

mod private;
mod tool;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use private::{Running, everything, let_others_read, wait_until};
use tool::Tool;

/// Asks for something that is refused with this status and these words, and changes nothing.
fn refused(tool: &Tool, args: &[&str], status: i32, words: &[&str]) {
    let bystander = Running::sleep();
    let before = everything();
    let (code, said) = tool.ends(args);
    assert_eq!(code, Some(status), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?}: {said}");
    }
    assert_eq!(everything()[&bystander.pid()], before[&bystander.pid()]);
    assert_eq!(everything()[&1], before[&1]);
}

/// The processors of this machine, and the highest.
fn last() -> (String, String) {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap().trim().to_owned();
    let last = online.rsplit(['-', ',']).next().unwrap().to_owned();
    (online, last)
}

private_tests! {
    fn a_processor_that_is_off_line_is_refused() {
        let tool = Tool::new();
        refused(&tool, &["--cpu", "8191", "--", "true"], 2, &["8191 is not on-line"]);
        assert!(tool.occupations().is_empty());
    }

    fn the_last_processor_stays_with_the_system() {
        let tool = Tool::new();
        let (all, last) = last();
        let args = ["--cpu", &all, "--", "true"];
        refused(&tool, &args, 2, &["no processor for the system", "leave at least one"]);

        // Nor by several occupations together.
        let rest = format!("0-{}", last.parse::<u32>().unwrap() - 1);
        let first = tool.spawn(&["--cpu", &rest, "--", "sleep", "600"]);
        tool.wait_for(1);
        refused(&tool, &["--cpu", &last, "--", "true"], 2, &["no processor for the system"]);
        drop(first);
    }

    fn a_processor_is_occupied_once() {
        let tool = Tool::new();
        let (_, last) = last();
        let first = tool.spawn(&["--cpu", &last, "--", "sleep", "600"]);
        tool.wait_for(1);
        let args = ["--cpu", &last, "--", "true"];
        refused(&tool, &args, 2, &["is occupied already", "sleep 600", "status"]);
        drop(first);
    }

    fn a_program_that_does_not_exist_is_127_and_one_that_cannot_be_executed_126() {
        let tool = Tool::new();
        refused(&tool, &["--", "no-such-program"], 127, &["no-such-program", "does not exist"]);
        refused(&tool, &["--", "/no/such/program"], 127, &["/no/such/program"]);
        let file = tool.path("text");
        fs::write(&file, "no program").unwrap();
        refused(&tool, &["--", file.to_str().unwrap()], 126, &["cannot be executed"]);
        assert!(!tool.state().exists(), "the journal was written for nothing");

        // A script whose interpreter is missing is seen only when it is executed.
        fs::write(&file, "#!/no/such/interpreter\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        refused(&tool, &["--", file.to_str().unwrap()], 127, &["cannot be executed"]);
        assert!(tool.occupations().is_empty());
    }

    fn a_journal_that_is_not_trusted_leaves_no_guardian_behind() {
        let tool = Tool::new();
        fs::create_dir(tool.state()).unwrap();
        fs::set_permissions(tool.state(), fs::Permissions::from_mode(0o777)).unwrap();
        refused(&tool, &["--", "true"], 2, &["is not trusted", "help: close it by `chmod 700 "]);
        wait_until("no guardian is left", || {
            let name = |pid: &i32| private::field(*pid, "Name").unwrap_or_default();
            everything().keys().all(|pid| name(pid) != "occupy-guardian")
        });
    }

    fn a_process_that_has_ended_is_refused() {
        let tool = Tool::new();
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id().to_string();
        wait_until("it has ended", || private::field(child.id().try_into().unwrap(), "State")
            .is_some_and(|state| state.starts_with('Z')));
        // First as one that nobody has waited for, then not at all.
        refused(&tool, &["--pid", &pid], 2, &["does not exist"]);
        child.wait().unwrap();
        refused(&tool, &["--pid", &pid], 2, &["does not exist"]);
        assert!(tool.occupations().is_empty());
    }

    fn a_process_may_end_while_it_is_occupied_for() {
        let tool = Tool::new();
        let bystander = Running::sleep();
        let before = everything();
        for milliseconds in 0..12 {
            let script = format!("sleep 0.{milliseconds:03}");
            let mut program = Running::shell(&script);
            let (status, said) = tool.ends(&["--pid", &program.pid().to_string()]);
            assert!(status == Some(0) || said.contains("does not exist"), "{status:?} {said}");
            program.0.wait().unwrap();
            wait_until("it is over", || tool.occupations().is_empty());
        }
        assert_eq!(everything()[&bystander.pid()], before[&bystander.pid()]);
    }

    fn without_the_capability_its_name_is_said() {
        if !rustix::process::geteuid().is_root() {
            println!("only root can become somebody who may nothing");
            return;
        }
        let tool = Tool::for_others();
        let bystander = Running::sleep();
        let before = everything();
        fs::create_dir(tool.state()).unwrap();
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--"];
        let run = |args: &[&str]| {
            let tool = tool.command(args);
            let mut command = Command::new("setpriv");
            command.args(nobody).arg(tool.get_program()).args(tool.get_args());
            command.envs(tool.get_envs().filter_map(|(key, value)| Some((key, value?))));
            let output = command.output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        std::os::unix::fs::chown(tool.state(), Some(65534), Some(65534)).unwrap();
        let_others_read(tool.state().parent().unwrap());
        let (status, said) = run(&["--", "true"]);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("CAP_SYS_NICE"), "{said}");
        assert_eq!(everything()[&bystander.pid()], before[&bystander.pid()]);
    }

    fn a_journal_that_others_may_write_is_not_trusted() {
        let tool = Tool::new();
        fs::create_dir(tool.state()).unwrap();
        fs::set_permissions(tool.state(), fs::Permissions::from_mode(0o777)).unwrap();
        refused(&tool, &["--", "true"], 2, &["others may use it (mode 777)", "chmod 700"]);
    }

    fn an_occupation_that_is_not_there_is_refused() {
        let tool = Tool::new();
        refused(&tool, &["release", "3"], 2, &["no occupation 3"]);
        refused(&tool, &["release", "--pid", "1"], 2, &["process 1"]);
        refused(&tool, &["adjust", "3", "--fifo", "1"], 2, &["no occupation 3"]);
        assert_eq!(tool.ends(&["release"]).0, Some(0));
        assert_eq!(tool.ends(&["release", "--all"]).0, Some(0));
    }

    fn a_command_line_that_makes_no_sense_is_refused() {
        let tool = Tool::new();
        for args in [
            &[][..],
            &["--cpu", "", "--", "true"],
            &["--cpu", "2-1", "--", "true"],
            &["--pid", "1", "--", "true"],
            &["--pid", "0"],
            &["--fifo", "100", "--", "true"],
            &["--fifo", "1", "--nice", "1", "--", "true"],
            &["--soft", "--nice", "1", "--", "true"],
            &["--shield", "v3", "--", "true"],
            &["adjust", "1"],
            &["adjust", "1", "--soft", "--hard"],
            &["release", "1", "--all"],
            &["noise", "--duration", "0s"],
        ] {
            assert_eq!(tool.ends(args).0, Some(2), "{args:?}");
        }
        for args in [&["--report=x.svg", "--", "true"][..], &["noise", "--report=x.svg"]] {
            refused(&tool, args, 2, &["write FILE.json", "tools/plot_quiet.py"]);
        }
        assert!(!tool.state().exists());
    }
}
