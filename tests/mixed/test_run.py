# SPDX-License-Identifier: Apache-2.0
"""`whimbrel run` with kernels of two kinds: Linux here, FreeRTOS on cores that QEMU emulates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import move_enough
from scipy.io import wavfile
from under_way import (
    CPU,
    LIMIT_S,
    ROOT,
    WHIMBREL,
    command,
    kernel_of,
    second_board,
    started,
    stop,
    wait_for_more,
    wait_until,
    whimbrel,
)

TWO = f"{CPU},virt_a64:0"
KILLS = int(os.environ.get("MIXED_KILLS", "2"))
RESTARTS = KILLS // 2 + 1


def run(app: str, cores: str, *options: str, **params: object) -> dict[str, Any]:
    """The summary of a run in which nothing fails."""
    words = command(app, cores, *options, **params)
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def moves(summary: dict[str, Any], task: str) -> set[tuple[int, int]]:
    """Between which cores it moved."""
    return {
        (one["source"], one["target"])
        for one in summary["migrations"]
        if one["task"] == task and one["status"] == "ok"
    }


# ---- Nothing fails ------------------------------------------------------------------------------


def test_all_that_tasks_share_works_between_kernels_of_two_kinds() -> None:
    """The tasks check each message, answer, lock, turn and round for themselves."""

    def exchange() -> dict[str, Any]:
        summary = run("mixed", TWO, "--shuttle", "relay=1,0@2ms", messages=100000)
        sent = {channel["channel"]: channel["sent"] for channel in summary["channels"]}
        assert sent["relay_receiver"] == 100000
        assert sent["collector_in"] == 400
        assert sent["squares"] == sent["squares_caller"] == 200
        assert [core.get("guest") for core in summary["cores"]] == [None, "virt_a64"]
        return summary

    move_enough(exchange, 20, "relay")


def test_two_kernels_of_each_kind_are_one_system() -> None:
    cores = f"{CPU},virt_a64:0,{CPU},virt_a64:1"
    seen: set[tuple[int, int]] = set()

    def exchange() -> dict[str, Any]:
        # To each of the others: cores 1 and 3 are FreeRTOS's.
        summary = run("mixed", cores, "--shuttle", "relay=1,2,3,0@3ms", messages=60000)
        seen.update(moves(summary, "relay"))
        return summary

    move_enough(exchange, 20, "relay")
    assert len(seen) >= 4, seen


def test_two_emulators_and_linux_are_one_system(tmp_path: Path) -> None:
    """The relay goes from each kernel to each other, also from one emulator to the other."""
    other = second_board(tmp_path)
    seen: set[tuple[int, int]] = set()

    def exchange() -> dict[str, Any]:
        shuttle = ("--shuttle", "relay=1,2,0,2,1,0@3ms")
        summary = run("mixed", f"{TWO},{other}:0", *shuttle, messages=60000)
        guests = [core.get("guest") for core in summary["cores"]]
        assert guests == [None, "virt_a64", "second"]
        seen.update(moves(summary, "relay"))
        return summary

    move_enough(exchange, 20, "relay")
    assert seen >= {(1, 2), (2, 1)}, seen


def test_a_message_is_measured_beside_a_line_that_the_same_two_hand_over() -> None:
    words = [str(WHIMBREL), "bench", "mixed", "--quick", "--json"]
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["bench"], row["unit"], row["n"]) == ("mixed.64B.spin", "ns", 200)
    assert row["ratio"] > 0
    assert row["ratio"] == pytest.approx(row["against_p50"] / row["p50"])


def sound(path: Path) -> np.ndarray:
    return wavfile.read(path)[1].astype(np.int32)


def test_the_radio_plays_on_while_its_demodulator_goes_to_freertos_and_back(tmp_path: Path) -> None:
    """The same sound, but for the last bit of a few samples: the processors round otherwise."""
    here, both = tmp_path / "here.wav", tmp_path / "both.wav"
    run("fm_radio", str(CPU), "--fast", output=here)

    def play() -> dict[str, Any]:
        options = ("--fast", "--mode", "reenter", "--shuttle", "demodulator=1,0@5ms")
        summary = run("fm_radio", TWO, *options, output=both, plays=4)
        assert summary["frames"] == 1000
        once = sound(here)
        difference = np.abs(sound(both)[: len(once) - 5000] - once[:-5000])
        assert difference.max() <= 1
        assert np.count_nonzero(difference) <= len(once) / 1000
        return summary

    move_enough(play, 4, "demodulator")


def test_a_recorded_run_has_events_of_all_kernels_on_one_clock(tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    run("mixed", TWO, "--record", str(folder), messages=2000)
    trace = tmp_path / "trace.btf"
    words = [str(WHIMBREL), "trace", str(folder), "--format", "btf", "-o", str(trace)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True, timeout=LIMIT_S)
    lines = [line.split(",") for line in trace.read_text().splitlines() if line[0].isdigit()]
    times = [int(line[0]) for line in lines]
    assert times == sorted(times)
    assert {line[1] for line in lines} >= {"Core_0", "Core_1"}


def test_what_the_tutorial_says_is_typed(tmp_path: Path) -> None:
    """docs/mixed.md, word by word, but for where the sound goes and which processor it is."""
    page = (ROOT / "docs/mixed.md").read_text(encoding="utf-8")
    typed = page.split("```\n", 2)[1].strip()
    output = tmp_path / "mixed.wav"
    words = typed.replace("build/mixed.wav", str(output)).replace("--cores 0,", f"--cores {CPU},")
    done = subprocess.run(
        [*words.split(), "--json"], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["frames"] == 250
    assert len(sound(output)) > 200000


def test_the_figures_of_lee2009_are_measured_between_linux_and_freertos(tmp_path: Path) -> None:
    """In its own arrangement: on one clock no phase takes less than nothing, and no call less than
    its service works."""
    words = [sys.executable, "reproduce/lee2009/run", "--mixed", "--quick", "--json"]
    words += ["--plots", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    figures = [row["what"].split(",")[0] for row in rows]
    expected = {"figure 8": 10, "aggregation": 3, "figure 10": 3, "table 4": 4}
    assert {figure: figures.count(figure) for figure in figures} == expected
    phases = [row["ours"] for row in rows if row["unit"] == "µs"]
    assert len(phases) == 10 and min(phases) > -2, rows
    latencies = [row["ours"] for row in rows if row["what"].endswith("latency of a call")]
    assert len(latencies) == 2 and min(latencies) >= 6, rows


# ---- Deaths -------------------------------------------------------------------------------------


@contextmanager
def endless(
    runtime: Path, cores: str, *options: str, app: str | Path = "mixed"
) -> Iterator[subprocess.Popen[str]]:
    """A stream that goes on until it is stopped, once messages pass."""
    shuttle = ("--shuttle", "relay=1,0@2ms")
    words = command(app, cores, *shuttle, *options, messages=0, calls=100000000, rounds=0)
    with started(runtime, words) as process:
        assert wait_for_more(runtime, process, 1), process.communicate()[1]
        yield process


@pytest.mark.parametrize("number", range(KILLS))
def test_a_run_goes_on_when_its_emulator_is_killed(number: int, tmp_path: Path) -> None:
    """The relay may be on either side, or in between; its ends are on Linux."""
    runtime = tmp_path / "run"
    with endless(runtime, TWO) as process:
        time.sleep(number % 10 / 100)
        emulator = kernel_of(runtime, 1)
        os.kill(emulator, signal.SIGKILL)
        wait_for_more(runtime, process)
        status, summary, said = stop(process)
    assert status == 2, said
    assert "the kernel of core 1 was killed by signal 9" in said
    relay = next(task for task in summary["tasks"] if task["task"] == "relay")
    assert relay["state"] == "ended"
    assert not Path(f"/proc/{emulator}").exists()


@pytest.mark.parametrize("number", range(KILLS // 2))
def test_a_run_goes_on_when_a_linux_kernel_is_killed(number: int, tmp_path: Path) -> None:
    """Core 2 is of Linux, too, and the relay comes there."""
    runtime = tmp_path / "run"
    with endless(runtime, f"{TWO},{CPU}", "--shuttle", "relay=2,1@3ms") as process:
        time.sleep(number % 10 / 100)
        os.kill(kernel_of(runtime, 2), signal.SIGKILL)
        wait_for_more(runtime, process)
        status, _, said = stop(process)
    assert status == 2, said
    assert "the kernel of core 2 was killed by signal 9" in said


# ---- Starting again -----------------------------------------------------------------------------


@pytest.fixture
def rtos(tmp_path: Path) -> Path:
    """The application, but that its service is FreeRTOS's alone."""
    text = (ROOT / "apps/mixed/app.toml").read_text(encoding="utf-8")
    service = 'name = "square"\n'
    assert text.count(service) == 1
    folder = tmp_path / "rtos"
    folder.mkdir()
    module = f'module = "{ROOT}/build/apps/mixed.so"'
    text = text.replace('module = "mixed.so"', module)
    text = text.replace(service, f'{service}kinds = ["rtos"]\n')
    # Of those that are on each side one may not have ended when its emulator is killed.
    text = text.replace("count = 2\n", "count = 2\nrestart = true\n")
    (folder / "app.toml").write_text(text)
    makefile = (ROOT / "apps/mixed/Makefile").read_text(encoding="utf-8")
    include = f"ROOT := {ROOT}\ninclude {ROOT}/apps/module.mk"
    (folder / "Makefile").write_text(makefile.replace("include ../module.mk", include))
    (folder / "mixed.c").symlink_to(ROOT / "apps/mixed/mixed.c")
    return folder


def answers_again(runtime: Path, process: subprocess.Popen[str]) -> None:
    # Answers that were on their way come in any case.
    wait_for_more(runtime, process, 20, ["squares_caller"])


def test_a_service_of_an_emulator_that_was_killed_answers_again(tmp_path: Path, rtos: Path) -> None:
    """Its caller waits meanwhile: no other core has its code."""
    runtime = tmp_path / "run"
    options = ("--kinds", "host,rtos", f"--restart={RESTARTS}")
    with endless(runtime, TWO, *options, app=rtos) as process:
        for _ in range(RESTARTS):
            emulator = kernel_of(runtime, 1)
            os.kill(emulator, signal.SIGKILL)
            answers_again(runtime, process)
            kernel_of(runtime, 1, instead_of=emulator)
        wait_for_more(runtime, process)
        status, summary, said = stop(process)
    assert status == 0, said
    assert [death["lost"] for death in summary["deaths"]] == [0] * RESTARTS
    assert all(death["back_after_ns"] for death in summary["deaths"])
    square = next(task for task in summary["tasks"] if task["task"] == "square")
    assert square["core"] == 1
    sent = {channel["channel"]: channel["sent"] for channel in summary["channels"]}
    assert sent["squares"] == sent["squares_caller"]


def test_kernels_of_both_kinds_are_killed_and_come_back(tmp_path: Path, rtos: Path) -> None:
    """The relay goes round all three; its ends see each message once and in order."""
    runtime = tmp_path / "run"
    shuttle = ("--shuttle", "relay=1,2,0@2ms")
    options = ("--kinds", "host,rtos,host", f"--restart={RESTARTS}", *shuttle)
    with endless(runtime, f"{TWO},{CPU}", *options, app=rtos) as process:
        for number in range(2 * RESTARTS):
            core = 1 + number % 2
            victim = kernel_of(runtime, core)
            os.kill(victim, signal.SIGKILL)
            wait_for_more(runtime, process)
            kernel_of(runtime, core, instead_of=victim)
        status, summary, said = stop(process)
    assert status == 0, said
    assert [death["lost"] for death in summary["deaths"]] == [0] * len(summary["deaths"])
    assert len(summary["deaths"]) == 2 * RESTARTS
    assert all(task["state"] == "ended" for task in summary["tasks"])


def test_a_guest_is_started_again_when_that_is_asked(tmp_path: Path, rtos: Path) -> None:
    runtime = tmp_path / "run"
    with endless(runtime, TWO, "--kinds", "host,rtos", app=rtos) as process:
        asked = whimbrel(runtime, "restart", "mixed-1", "1")
        assert asked.returncode == 0, asked.stderr
        answers_again(runtime, process)
        status, summary, said = stop(process)
    assert status == 0, said
    assert len(summary["deaths"]) == 1


def test_an_emulator_that_is_stopped_for_a_while_loses_nothing(tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    with endless(runtime, TWO) as process:
        emulator = kernel_of(runtime, 1)
        os.kill(emulator, signal.SIGSTOP)
        time.sleep(1)
        os.kill(emulator, signal.SIGCONT)
        wait_for_more(runtime, process)
        status, summary, said = stop(process)
    assert status == 0, said
    assert all(task["state"] == "ended" for task in summary["tasks"])


def test_an_emulator_ends_with_its_command(tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    with endless(runtime, TWO) as process:
        emulator = kernel_of(runtime, 1)
        process.kill()
        wait_until(lambda: not Path(f"/proc/{emulator}").exists())
