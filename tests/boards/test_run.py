# SPDX-License-Identifier: Apache-2.0
"""`whimbrel run --board` on four emulated Cortex-A9: the same command, the same applications."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import emulated
import many_tasks
import pytest
from running import WHIMBREL
from simulated import BLOCK, READY, RUN, events

ROOT = emulated.ROOT
RADIO = ROOT / "apps" / "fm_radio"
RECORDING = RADIO / "data" / "cold_day_240k.cu8"
FRAMES = 250
# A run is as long as a program of the suite, and its image may have to be built before.
LIMIT_S = 2 * emulated.LIMIT_S
LEAST_SNR_DB = 60

sys.path.insert(0, str(RADIO))
from score import score_files  # noqa: E402


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def arguments(app: str | Path, *options: str, board: str | Path = "vexpress_a9") -> list[str]:
    """`board`: the name of a board, or its file."""
    file = emulated.patient(board) if isinstance(board, str) else board
    return [str(WHIMBREL), "run", str(ROOT / app), "--board", str(file), *options]


def run(app: str | Path, *options: str, board: str | Path = "vexpress_a9") -> dict[str, Any]:
    """Runs an application to its end; its summary, and what it has printed as `said`."""
    command = arguments(app, *options, "--json", board=board)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout) | {"said": ended.stderr}


def refusal(app: str | Path, *options: str, board: str | Path = "vexpress_a9") -> str:
    """What is said of a run that must fail, in one line."""
    command = arguments(app, *options, "--quiet", board=board)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert ended.returncode == 2, ended.stderr
    return " ".join(re.sub("[│─╭╰]", " ", ended.stderr).split())


def whimbrel(*words: str) -> subprocess.CompletedProcess[str]:
    """Another command, in another terminal."""
    return subprocess.run([str(WHIMBREL), *words], capture_output=True, text=True, timeout=600)


@contextmanager
def started(
    app: str, *options: str, board: str | Path = "vexpress_a9"
) -> Iterator[subprocess.Popen[str]]:
    """A run in the background whose board has answered; killed at the end."""
    with subprocess.Popen(
        arguments(app, *options, board=board),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        end = time.monotonic() + LIMIT_S
        name = Path(app).parent.name
        name = {"synthetic": "pipeline"}.get(name, name)
        while whimbrel("top", f"{name}-1", "--json").returncode != 0:
            assert running.poll() is None and time.monotonic() < end, running.communicate()
            time.sleep(0.05)
        try:
            yield running
        finally:
            running.kill()


def emulator(tmp_path: Path) -> int:
    """The process of the one run's emulator."""
    (record,) = (tmp_path / "whimbrel").glob("*/run.json")
    return json.loads(record.read_text())["helper"]["pid"]


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + LIMIT_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < end, f"process {pid} is left behind"
        time.sleep(0.01)


# ---- Starts -------------------------------------------------------------------------------------


def test_a_processor_whose_timers_count_at_another_rate_is_refused(tmp_path: Path) -> None:
    """It is found before main(), and told over the line all the same."""
    text = emulated.patient("virt_a64").read_text()
    file = tmp_path / "board.toml"
    file.write_text(text.replace('"cortex-a53"', '"cortex-a53,cntfrq=50000000"'))
    said = refusal("apps/hello/app.toml", board=file)
    assert "the timers do not count at 62.5 MHz: take a cortex-a53" in said


# ---- Runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("board", ["vexpress_a9", "realview_pbx_a9", "sabrelite", "virt_a64"])
def test_the_bird_changes_its_kernel_and_no_message_is_lost(board: str) -> None:
    summary = run("apps/hello/app.toml", "--shuttle", "bird=1,2,3,0@100ms", board=board)
    moves = [m for m in summary["migrations"] if m["status"] == "ok"]
    assert summary["frames"] == 200
    assert len(moves) >= 3
    assert len(set(re.findall(r"the bird is in process (\d+)", summary["said"]))) >= 3
    assert "200 messages, then the bird was gone" in summary["said"]


def test_a_task_that_runs_when_the_run_is_cut_off_counts(tmp_path: Path) -> None:
    """The board's cores are threads of the host's: its kernel says when it ran."""
    for duration_ms in (300, 1500, 15_000):
        record = ("--record", str(tmp_path / f"{duration_ms}"))
        summary = run("tests/ring.toml", "--duration", f"{duration_ms}ms", *record)
        assert summary["ended"] == "duration"
        recorded = events(tmp_path / f"{duration_ms}", 1)
        turns = [event for event in recorded if event.kind in (RUN, READY, BLOCK)]
        if turns and turns[-1].kind == RUN:
            break
    # Of what it ran before, and then of what it ran when it was cut off.
    assert turns and turns[-1].kind == RUN, turns
    before_ns = 0
    for begin, end in zip(turns[::2], turns[1::2], strict=False):
        assert begin.kind == RUN != end.kind, turns
        before_ns += end.time_ns - begin.time_ns - end.value  # value: what of it it polled
    since_ns = turns[-1].time_ns - summary["start_ns"] - before_ns
    _, busy_ns = (task["busy_ns"] for task in summary["tasks"])
    assert duration_ms * 1e6 - since_ns <= busy_ns <= summary["time_ns"] - since_ns
    core = summary["cores"][1]
    assert core["busy_ns"] == busy_ns
    assert core["load"] == pytest.approx(busy_ns / summary["time_ns"], abs=1e-3)


CALLS = """
[app]
name = "calls"
module = "calls.so"

[params]
calls = 300

[[task]]
name = "asker"
core = 1
period_us = 500

[[task]]
name = "adder"
core = 2
restart = true

[[service]]
name = "sums"
task = "adder"
callers = ["asker"]
request_bytes = 160
answer_bytes = 4
"""


def test_a_service_answers_every_call_while_it_and_its_caller_move(tmp_path: Path) -> None:
    source = ROOT / "crates/whimbrel/tests/apps/calls.c"
    (tmp_path / "app.toml").write_text(CALLS)
    (tmp_path / "Makefile").write_text(f"sources:\n\t@echo -std=c11 -O2\n\t@echo {source}\n")
    shuttles = ("--shuttle", "adder=3,0,2@7ms", "--shuttle", "asker=2,1@9ms")

    def moves(times: int) -> int:
        calls = 300 * times
        summary = run(tmp_path / "app.toml", "--set", f"calls={calls}", *shuttles)
        assert f"{calls} right, 0 gone" in summary["said"]
        return sum(migration["status"] == "ok" for migration in summary["migrations"])

    emulated.move_enough(moves)


def test_tasks_without_code_are_recorded_while_a_policy_moves_them(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded"
    options = ["--fast", "--set", "load=40000", "--map", "round-robin", "--policy", "balance"]
    summary = run("apps/synthetic/app.toml", *options, "--record", str(recorded))
    assert {task["firings"] for task in summary["tasks"]} == {400}
    assert summary["policy"] == "balance"
    assert summary["dropped_events"] == 0

    trace = tmp_path / "trace"
    done = whimbrel("trace", str(recorded), "--format", "perfetto", "-o", str(trace))
    assert done.returncode == 0, done.stderr
    assert int(re.findall(r"(\d+) slices", done.stdout + done.stderr)[0]) >= 400
    page = tmp_path / "report.html"
    done = whimbrel("report", str(recorded), "-o", str(page))
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 10_000


@pytest.fixture(scope="module")
def plain_radio() -> Path:
    """The radio as one loop here, which multiplies and adds in two steps as the board does."""
    build = ROOT / "build" / "board_radio"
    command = ["make", "-s", "-C", RADIO, f"BUILD={build}", "EXTRA=-ffp-contract=off"]
    plain = build / "apps" / "fm_plain"
    subprocess.run([*command, plain], check=True, timeout=LIMIT_S)
    return plain


# Of the recording; more in `make soak`.
PLAYS = max(1, round(emulated.LONGER))
# Which cores the tasks go round.
EVERY = {
    "lpf": "1,2,3,0",
    "demodulator": "1,2,3,0",
    "bpf.0": "3,2,1,0",
    "bpf.1": "3,2,1,0",
    "bpf.2": "2,1,3,0",
    "sum": "2,0",
}
SOME = {"demodulator": "1,2,3,0", "bpf.1": "3,2,1,0"}


@pytest.mark.parametrize(
    ("mode", "tasks", "every", "plays", "moves"),
    [
        ("handoff", EVERY, "5ms", PLAYS, 100 * PLAYS),
        ("replicate", SOME, "100ms", 1, 4),
        ("recreate", SOME, "100ms", 1, 4),
    ],
)
def test_the_radio_has_the_sound_of_linux_to_the_bit_wherever_its_tasks_are(
    tmp_path: Path,
    plain_radio: Path,
    mode: str,
    tasks: dict[str, str],
    every: str,
    plays: int,
    moves: int,
) -> None:
    recording, sound, expected = (tmp_path / name for name in ("in.cu8", "board.wav", "linux.wav"))
    options = ["--fast", "--map", "round-robin", "--set", f"output={sound}", "--mode", mode]
    options += [f"--shuttle={task}={cores}@{every}" for task, cores in tasks.items()]

    def moved(times: int) -> int:
        summary = run("apps/fm_radio/app.toml", *options, "--set", f"plays={times * plays}")
        assert summary["frames"] == times * plays * FRAMES
        recording.write_bytes(RECORDING.read_bytes() * times * plays)
        command = [plain_radio, recording, expected]
        subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
        assert sound.read_bytes() == expected.read_bytes()
        n = sum(task["migrations"] for task in summary["tasks"])
        print(f"{mode}: {summary['frames']} frames, {n} moves")
        return n

    emulated.move_enough(moved, moves)


@pytest.mark.skipif(emulated.LONGER == 1, reason="in `make soak`: its image takes a minute")
def test_the_radio_has_one_sound_with_64_bits_wherever_its_tasks_are(tmp_path: Path) -> None:
    """A Cortex-A53 multiplies and adds in one step: the sound is not that of this machine."""
    shuttles = [f"--shuttle={task}={cores}@5ms" for task, cores in EVERY.items()]
    still, moving = tmp_path / "still.wav", tmp_path / "moving.wav"

    def play(sound: Path, plays: int, *options: str) -> int:
        options = (*options, "--fast", "--map", "round-robin", "--set", f"plays={plays}")
        summary = run(
            "apps/fm_radio/app.toml", *options, "--set", f"output={sound}", board="virt_a64"
        )
        assert summary["frames"] == plays * FRAMES
        return sum(task["migrations"] for task in summary["tasks"])

    def moved(times: int) -> int:
        assert play(still, times) == 0
        n = play(moving, times, *shuttles)
        assert moving.read_bytes() == still.read_bytes()
        print(f"{times * FRAMES} frames, {n} moves")
        return n

    emulated.move_enough(moved, 100)
    play(still, 1)
    assert score_files(RECORDING.with_suffix(".ref.wav"), still).snr_db >= LEAST_SNR_DB


def test_that_sound_is_the_reference_but_for_noise(tmp_path: Path, plain_radio: Path) -> None:
    sound = tmp_path / "linux.wav"
    subprocess.run([plain_radio, RECORDING, sound], check=True, capture_output=True)
    scored = score_files(RECORDING.with_suffix(".ref.wav"), sound)
    print(f"SNR {scored.snr_db:.1f} dB")
    assert scored.snr_db >= LEAST_SNR_DB


def test_a_run_is_watched_and_steered_from_other_terminals() -> None:
    with started("apps/synthetic/app.toml", "--set", "rate=20") as running:
        (listed,) = json.loads(whimbrel("ps", "--json").stdout)
        assert (listed["run"], len(listed["load"])) == ("pipeline-1", 4)
        for words, expected in [
            (["migrate", "pipeline-1", "filter", "3", "--timeout", "600s"], "runs on core 3"),
            (["policy", "pipeline-1", "spread"], "policy spread"),
            (["policy", "pipeline-1", "none"], "policy none"),
            (["rate", "pipeline-1", "25"], "25 frames per second"),
            (["top", "pipeline-1", "--once"], "of 25"),
        ]:
            done = whimbrel(*words)
            assert done.returncode == 0 and expected in done.stdout, (words, done)
        refused = whimbrel("policy", "pipeline-1", "nobodys")
        assert refused.returncode == 2 and "no policy of this name" in refused.stderr
        running.send_signal(signal.SIGINT)
        out, said = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 0, said
    assert "stopped by its user" in out


POLICY = """
#include "wb/policy.h"
static void stay(const struct wb_snapshot *snapshot, const int64_t *params, struct wb_decision *to)
{
    (void)snapshot, (void)params, (void)to;
}
const struct wb_policy wb_policy_mine = { .name = "mine", .help = "", .decide = stay };
int bird("""


def test_an_application_brings_its_own_policy(tmp_path: Path) -> None:
    app = changed_app(tmp_path, "int bird(", POLICY)
    assert run(app, "--policy", "mine")["policy"] == "mine"
    said = refusal(app, "--policy", "yours")
    assert "--policy yours: there is no policy of this name" in said


# ---- What is killed -----------------------------------------------------------------------------


def test_nothing_is_left_when_the_command_is_killed(tmp_path: Path) -> None:
    with started("apps/synthetic/app.toml", "--set", "rate=20") as running:
        pid = emulator(tmp_path)
        running.kill()
        wait_until_gone(pid)
    assert "reclaimed pipeline-1" in whimbrel("clean").stdout


def test_an_emulator_that_is_killed_ends_the_run(tmp_path: Path) -> None:
    with started("apps/synthetic/app.toml", "--set", "rate=20") as running:
        os.kill(emulator(tmp_path), signal.SIGKILL)
        _, said = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 2
    assert "the board vexpress_a9 was killed by signal 9 during the run" in said


def test_an_emulator_that_is_stopped_is_given_up(tmp_path: Path) -> None:
    """Not after less: on a busy host that passes before it begins."""
    board = changed_board(tmp_path, "[start]", "[start]\nsilence_s = 10")
    with started("apps/synthetic/app.toml", "--set", "rate=20", board=board) as running:
        os.kill(emulator(tmp_path), signal.SIGSTOP)
        _, said = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 2
    assert "the board vexpress_a9 has sent nothing for 10s" in said


# ---- What is wrong ------------------------------------------------------------------------------


def changed_board(tmp_path: Path, old: str, new: str) -> Path:
    """The board's file, with one text of it replaced."""
    text = (ROOT / "boards/vexpress_a9/board.toml").read_text()
    assert old in text
    text = text.replace('cmake = "."', f'cmake = "{ROOT}/boards/vexpress_a9"')
    path = tmp_path / "board.toml"
    path.write_text(text.replace(old, new))
    return path


def changed_app(tmp_path: Path, old: str, new: str) -> Path:
    """The hello application, with one text of it replaced."""
    folder = tmp_path / "hello"
    shutil.copytree(ROOT / "apps/hello", folder)
    sources = "sources:\n\t@echo -std=gnu11 -O2\n\t@echo hello.c\n\t@echo watcher.c\n"
    (folder / "Makefile").write_text(sources)
    changed = 0
    for path in [folder / "app.toml", folder / "hello.c"]:
        text = path.read_text()
        changed += old in text
        path.write_text(text.replace(old, new))
    assert changed
    return folder / "app.toml"


def test_a_core_that_never_boots_is_named(tmp_path: Path) -> None:
    board = changed_board(tmp_path, '"-smp", "4"', '"-smp", "3"')
    said = refusal("apps/hello/app.toml", board=board)
    assert "core 3 of the board vexpress_a9 is not there" in said


def test_a_build_that_was_copied_is_to_be_deleted(tmp_path: Path) -> None:
    board = changed_board(tmp_path, 'name = "vexpress_a9"', 'name = "copied"')
    folder = ROOT / "build/boards/copied"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        elsewhere = "CMAKE_CACHEFILE_DIR:INTERNAL=/a\nCMAKE_HOME_DIRECTORY:INTERNAL=/b\n"
        (folder / "CMakeCache.txt").write_text(elsewhere)
        said = refusal("apps/hello/app.toml", board=board)
    finally:
        shutil.rmtree(folder)
    assert "was made elsewhere" in said
    assert "delete" in said and "boards/copied" in said.replace(" ", "")


def test_an_image_of_another_application_is_refused() -> None:
    run("apps/hello/app.toml")
    said = refusal("apps/synthetic/app.toml", "--image", str(emulated.BUILD / "hello.elf"))
    assert "the image of the board vexpress_a9 is of another plan" in said
    assert "write the plan again with the same application and options" in said


def test_an_image_may_have_other_parameters_and_another_policy() -> None:
    options = ["--policy", "spread", "--image", str(emulated.BUILD / "hello.elf")]
    assert run("apps/hello/app.toml", *options)["policy"] == "spread"


def test_an_image_that_is_none_is_told_by_the_emulator(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    said = refusal("apps/hello/app.toml", "--image", str(folder))
    assert "there is no such file" in said
    image = tmp_path / "image"
    image.write_text("no program at all")
    board = changed_board(tmp_path, "[start]", "[start]\nsilence_s = 2")
    said = refusal("apps/hello/app.toml", "--image", str(image), board=board)
    assert "the board vexpress_a9 does not answer: nothing came for 2s" in said


@pytest.mark.parametrize("entry", ["witness", "rand", "exit"])
def test_a_function_that_is_missing_is_shown_at_its_line(entry: str, tmp_path: Path) -> None:
    """Also one that the C library has, and the launcher uses."""
    app = changed_app(tmp_path, 'name = "watcher"', f'name = "watcher"\nentry = "{entry}"')
    said = refusal(app)
    assert f"the application has no function `{entry}`" in said
    assert f'14 entry = "{entry}"' in said


def test_a_source_that_does_not_compile_is_told_in_the_compilers_words(tmp_path: Path) -> None:
    said = refusal(changed_app(tmp_path, "wb_checkpoint();", "wb_checkpoint()"))
    assert "the image of `hello` cannot be built" in said
    assert re.search(r"hello\.c:\d+:\d+: error: expected .;.", said), said


def test_memory_that_the_board_does_not_have_is_refused_at_its_line(tmp_path: Path) -> None:
    said = refusal(changed_app(tmp_path, 'name = "bird"', 'name = "bird"\nheap = "40MiB"'))
    assert "`hello` needs 42.6 MiB of globally visible memory" in said
    assert "make some of it smaller: bird 40.0 MiB" in said


@pytest.mark.parametrize(
    "keys",
    [
        "heap = '1MiB'",
        "stack = '188KiB'",
        "heap = '64KiB'\nstack = '4KiB'",
        "heap = 10000\nstack = 4100",
        "heap = 8100\nstack = 4000\nmode = 'replicate'",
    ],
    ids=["heaps", "stacks", "small", "odd", "replicated"],
)
def test_as_many_tasks_as_the_command_counts_boot_and_one_more_is_refused(
    keys: str, tmp_path: Path
) -> None:
    most = many_tasks.most_that_fit(tmp_path, "vexpress_a9", 4, keys)
    summary = run(many_tasks.write(tmp_path, most, 4, keys))
    assert [task["firings"] for task in summary["tasks"]] == [many_tasks.FIRINGS] * most
    said = refusal(many_tasks.write(tmp_path, most + 1, 4, keys))
    assert re.search("`many` needs .* MiB .*, and the board vexpress_a9 has", said), said


# ---- Modules that the board refuses -------------------------------------------------------------

# Of a relocatable file for Arm, little-endian: its header up to the machine.
MODULE = re.compile(rb"(\x7fELF\x01\x01.{10}\x01\x00)\x28\x00", re.DOTALL)
RISCV = (243).to_bytes(2, "little")


def test_a_module_that_the_board_refuses_is_told_in_one_error(tmp_path: Path) -> None:
    """The C library has rand(), but no kernel exports it. Then the module becomes a foreign one."""
    app = changed_app(tmp_path, "wb_checkpoint();", "wb_checkpoint(); (void)rand();")
    code = app.parent / "hello.c"
    code.write_text("#include <stdlib.h>\n" + code.read_text())
    app.write_text(re.sub('(name = "(bird|watcher)")', r"\1\nrestart = true", app.read_text()))
    said = refusal(app, "--mode", "recreate")
    assert "`bird` cannot be recreated: module image_module: symbol rand is unknown" in said
    assert "have the kernel export it by WB_EXPORT(rand)" in said
    assert "the entry of this task" in said
    assert said.count("Error") <= 1 and "has no function" not in said

    image = tmp_path / "foreign.elf"
    changed, modules = MODULE.subn(rb"\1" + RISCV, (emulated.BUILD / "hello.elf").read_bytes())
    assert modules == 1
    image.write_bytes(changed)
    said = refusal(app, "--mode", "recreate", "--image", str(image))
    assert "`bird` cannot be recreated: module image_module: it is for machine 243" in said
    assert "compile it for this board" in said
