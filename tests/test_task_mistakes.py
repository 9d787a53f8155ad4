# SPDX-License-Identifier: Apache-2.0
"""What a task does wrong while it runs is told with its name, its place, and what to do."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from running import PATIENCE_S, WHIMBREL

ROOT = Path(__file__).resolve().parent.parent
TASKS = ROOT / "tests/mistakes/tasks.c"
INCLUDE = ROOT / "middleware/include"
CPUS = sorted(os.sched_getaffinity(0))
CORES = f"{CPUS[0]},{CPUS[-1]}"
APP = """[app]
name = "mistakes"
module = "tasks.so"
frame_rate = 100

[params]
how = ""

[[task]]
name = "bird"
periodic = true
"""


def compile_module(folder: Path, *flags: str, include: Path = INCLUDE, cc: str = "gcc") -> None:
    words = [cc, "-std=gnu11", "-O1", "-w", "-fPIC", "-shared", "-Wl,-z,now", *flags]
    words += ["-I", str(include), str(TASKS), "-o", str(folder / "tasks.so")]
    subprocess.run(words, check=True)


@pytest.fixture(scope="module")
def with_lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The application, its module with debug information."""
    folder = tmp_path_factory.mktemp("with_lines")
    (folder / "app.toml").write_text(APP)
    compile_module(folder, "-g")
    return folder


def command(folder: Path, *options: str) -> list[str]:
    return [str(WHIMBREL), "run", str(folder / "app.toml"), "--cores", CORES, *options]


def environment(runtime: Path) -> dict[str, str]:
    return {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def run(
    folder: Path,
    runtime: Path,
    how: str = "",
    *options: str,
    before: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, "--quiet", "--set", f"how={how}", *options),
        env=environment(runtime),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        preexec_fn=before,
    )


def line_of(comment: str) -> int:
    lines = TASKS.read_text().splitlines()
    (line,) = (i for i, text in enumerate(lines, 1) if text.endswith(f"// {comment}"))
    return line


FAULTS = [
    ("segv", "crash", "crashes", "touched memory that is not its"),
    ("strlen", "fault", "asks the library", "touched memory that is not its"),
    ("jump", "fault", "jumps", "touched memory that is not its"),
    ("fpe", "fault", "divides", "it raised SIGFPE"),
    ("trap", "fault", "traps", "it raised SIG(ILL|TRAP)"),
    ("abort", "fault", "aborts", "it raised SIGABRT"),
]


@pytest.mark.parametrize(("how", "function", "comment", "what"), FAULTS)
def test_a_fault_is_told_with_its_function_file_and_line(
    with_lines: Path, tmp_path: Path, how: str, function: str, comment: str, what: str
) -> None:
    done = run(with_lines, tmp_path, how)
    said = done.stderr
    assert done.returncode == 2, said
    place = rf"in `{function}` \(\S*tasks\.c:{line_of(comment)}\)"
    assert re.search(rf"`bird` .*{what}.*{place}", said), said
    assert said.count("and its end, in") == 1


def test_a_stack_that_overflows_is_told_with_its_function(with_lines: Path, tmp_path: Path) -> None:
    said = run(with_lines, tmp_path, "stack").stderr
    assert re.search(r"it overflowed its stack .*, in `sink` \(\S*tasks\.c:\d+\)", said), said


def test_without_debug_information_the_function_or_the_offset_is_told(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(APP)
    compile_module(tmp_path)
    said = run(tmp_path, tmp_path, "segv").stderr
    assert re.search(r"in `crash` at offset 0x[0-9a-f]+ of tasks.so", said), said
    assert "build the module with -g" in said
    compile_module(tmp_path, "-s")
    said = run(tmp_path, tmp_path, "segv").stderr
    assert re.search(r" at offset 0x[0-9a-f]+ of tasks.so", said), said


def test_a_simulated_fault_has_its_line_too(with_lines: Path, tmp_path: Path) -> None:
    words = [str(WHIMBREL), "sim", str(with_lines / "app.toml"), "--set", "how=segv"]
    done = subprocess.run(
        words, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"tasks.c:{line_of('crashes')}" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("how", "call"),
    [
        ("exit", "exit(0)"),
        ("errx", "exit(5)"),
        ("_exit", "_exit(0)"),
        ("quick_exit", "quick_exit(3)"),
        ("pthread_exit", "pthread_exit(0)"),
    ],
)
def test_a_task_that_ends_its_process_is_named(
    with_lines: Path, tmp_path: Path, how: str, call: str
) -> None:
    done = run(with_lines, tmp_path, how)
    assert done.returncode == 2
    assert f"`bird` ended the run: it called {call}" in done.stderr
    assert "help: return from `bird`" in done.stderr
    assert done.stderr.count("and its end, in") == 1


def test_what_a_task_prints_is_in_a_file_once_and_in_order_also_when_it_moves(
    with_lines: Path, tmp_path: Path
) -> None:
    done = run(with_lines, tmp_path, "", "--shuttle", "bird=1,0@5ms")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^it begins\npart of a line, and its end, in \d+$", done.stderr, re.MULTILINE)
    assert done.stderr.count("it begins") == 1
    assert done.stderr.count("part of a line") == 1


def test_the_beginning_of_a_line_is_in_a_file_soon_after_a_checkpoint(
    with_lines: Path, tmp_path: Path
) -> None:
    status, said = stalled(with_lines, tmp_path, "diligent", "so far")
    assert status == 0, said
    assert said.count("so far") == 1


def test_what_a_task_says_reaches_no_terminal_raw(with_lines: Path, tmp_path: Path) -> None:
    said = run(with_lines, tmp_path, "fail").stderr
    assert "ended the run: it is ?[31mred" in said
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said)


def stalled(folder: Path, runtime: Path, how: str, until: str) -> tuple[int, str]:
    """Runs until it says so, then ends it by Ctrl-C; its status, and what it said."""
    log = runtime / "said"
    with log.open("w") as said:
        process = subprocess.Popen(
            command(folder, "--set", f"how={how}"),
            env=environment(runtime),
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
    deadline = time.monotonic() + PATIENCE_S
    while until not in log.read_text() and process.poll() is None:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process.wait(PATIENCE_S), log.read_text()


def test_a_task_in_an_endless_loop_is_named_also_at_ctrl_c(
    with_lines: Path, tmp_path: Path
) -> None:
    status, said = stalled(with_lines, tmp_path, "loop", "bird busy for")
    assert status == 2, said
    assert said.count("`bird` is busy: it has reached no checkpoint on core 0") == 1
    assert re.search(r"load \d+ % .*, bird busy for \S+ s without a checkpoint", said)
    assert re.search(r"× `bird` had reached no checkpoint on core 0 for .* ended by force", said)
    assert "call wb_checkpoint() in its loops" in said


def test_top_shows_a_task_in_an_endless_loop_as_busy(with_lines: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(with_lines, "--quiet", "--set", "how=loop"),
        env=environment(tmp_path),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        shown = ""
        while not re.search(r"bird +busy \d+s", shown):
            assert time.monotonic() < deadline, shown
            words = [str(WHIMBREL), "top", "--once"]
            shown = subprocess.run(
                words, env=environment(tmp_path), capture_output=True, text=True, check=False
            ).stdout
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)


def test_a_task_that_waits_in_a_system_call_is_named_once(with_lines: Path, tmp_path: Path) -> None:
    status, said = stalled(with_lines, tmp_path, "read", "`bird` blocks core 0")
    assert said.count("`bird` blocks core 0: it waits in `read`") == 1, said
    assert status == 2, said
    assert re.search(r"× `bird` had waited in `read` on core 0 for .* ended by force", said)


def test_a_task_that_sleeps_is_named_and_told_what_to_call(
    with_lines: Path, tmp_path: Path
) -> None:
    status, said = stalled(with_lines, tmp_path, "sleep", "`bird` blocks core 0")
    assert status == 0, said
    assert said.count("it waits in `clock_nanosleep`") == 1
    assert "woken early" not in said
    assert "use wb_sleep_until() or wb_period_wait()" in said


@pytest.mark.parametrize("how", ["patient", "diligent"])
def test_a_task_that_waits_or_computes_as_it_should_is_not_named(
    with_lines: Path, tmp_path: Path, how: str
) -> None:
    options = ["--set", f"how={how}", "--duration", "5s"]
    words = command(with_lines, *options)
    done = subprocess.run(
        words, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "busy" not in done.stderr
    assert "blocks" not in done.stderr


# ---- Ctrl-Z --------------------------------------------------------------------------------------


def states(leader: int) -> set[str]:
    """Of a process and all that it has started."""
    parents: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(folder.name)] = (int(fields[1]), fields[0])
    family = {leader}
    for _ in range(5):
        family |= {pid for pid, (parent, _) in parents.items() if parent in family}
    return {parents[pid][1] for pid in family if pid in parents}


def wait_for_states(leader: int, holds: Callable[[set[str]], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds(states(leader)):
        assert time.monotonic() < deadline, states(leader)
        time.sleep(0.02)


# Longer than Linux keeps a task waiting for its processor, on a busy machine too.
STOPPED_S = 8


def test_ctrl_z_stops_a_whole_run_and_no_job_is_late_for_it(tmp_path: Path) -> None:
    words = [str(WHIMBREL), "run", str(ROOT / "apps/hello/app.toml"), "--cores", CORES, "--json"]
    process = subprocess.Popen(
        words,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stderr is not None
    while "message" not in process.stderr.readline():
        pass
    os.killpg(process.pid, signal.SIGTSTP)
    wait_for_states(process.pid, lambda states: states == {"T"})
    time.sleep(STOPPED_S)
    assert states(process.pid) == {"T"}
    os.killpg(process.pid, signal.SIGCONT)
    out, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    assert "200 messages" in said
    late = re.findall(r'"worst_late_ns": ?(\d+)', out)
    assert late
    # One that is due just after the stop has begun would be late by a little less than all of it.
    assert max(map(int, late)) < 0.75 * STOPPED_S * 1e9, "a job was late by the time of the stop"


def test_a_command_that_is_killed_while_stopped_leaves_nothing_behind(
    with_lines: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        command(with_lines, "--set", "how=patient"),
        env=environment(tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stderr is not None
    while "and its end" not in process.stderr.readline():
        pass
    (folder,) = (tmp_path / "whimbrel").glob("*/run.json")
    helper = json.loads(folder.read_text())["helper"]["pid"]
    os.killpg(process.pid, signal.SIGTSTP)
    wait_for_states(process.pid, lambda states: states == {"T"})
    process.kill()
    process.wait(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{helper}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---- Modules -------------------------------------------------------------------------------------


def refused(folder: Path, runtime: Path) -> str:
    done = run(folder, runtime)
    assert done.returncode == 2, done.stderr
    assert "the module cannot be loaded" in done.stderr
    return " ".join(done.stderr.split())


def test_a_module_for_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(APP)
    headers = tmp_path / "include/wb"
    headers.mkdir(parents=True)
    for header in (INCLUDE / "wb").iterdir():
        text = header.read_text()
        (headers / header.name).write_text(
            re.sub(r'(#define WB_VERSION) ".*"', r'\1 "0.0.9"', text)
        )
    compile_module(tmp_path, include=headers.parent)
    said = refused(tmp_path, tmp_path)
    assert "it was built for Whimbrel 0.0.9, and this is version" in said
    assert "help: build it again" in said
    compile_module(tmp_path, "-Dwb_period_wait=wb_period_wait_v9")
    assert "this one has no `wb_period_wait_v9`" in refused(tmp_path, tmp_path)


def test_a_file_that_is_no_module_is_refused_for_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(APP)
    compile_module(tmp_path, "-g")
    module = tmp_path / "tasks.so"
    whole = module.read_bytes()

    def of(content: bytes) -> str:
        module.write_bytes(content)
        return refused(tmp_path, tmp_path)

    assert "it is for RISC-V, and this machine is" in of(whole[:18] + b"\xf3\x00" + whole[20:])
    assert "it is empty" in of(b"")
    assert "it is not a shared object" in of(b"# a script\n")
    assert "it is an object file or a program" in of(whole[:16] + b"\x01\x00" + whole[18:])
    for length in (40, 64, 100, 700, 4096, 8200):
        assert "build it again" in of(whole[:length]), length


# ---- What the system lacks -----------------------------------------------------------------------


@pytest.mark.parametrize("files", [7, 9, 12])
def test_too_few_files_have_their_cure(with_lines: Path, tmp_path: Path, files: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = run(with_lines, tmp_path, before=limit)
    assert done.returncode == 2, done.stderr
    assert "Too many open files" in done.stderr
    assert "help: raise the limit of open files of a process (`ulimit -n`)" in done.stderr


def test_too_little_memory_has_its_cure(with_lines: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (60_000_000, 60_000_000))

    done = run(with_lines, tmp_path, before=limit)
    assert done.returncode == 2, done.stderr
    assert "panicked" not in done.stderr
    assert "help: " in done.stderr
