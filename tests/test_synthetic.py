# SPDX-License-Identifier: Apache-2.0
"""Synthetic applications on Linux: every message arrives, and modelled computing takes its time."""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from running import WHIMBREL, move_enough
from simulated import RUN, events
from test_crash import summary_after_a_kill

ROOT = Path(__file__).resolve().parent.parent
APPS = ROOT / "apps/synthetic"
CORES = "{0},{0}".format(min(os.sched_getaffinity(0)))
FILES = ("app.toml", "fork_join.toml", "rt.toml", "script.toml")


@dataclass(frozen=True)
class Expected:
    """One line of expected.txt."""

    firings: int
    sent: int
    cycles: int


def expected(file: str) -> dict[str, Expected]:
    """What expected.txt asks of the tasks of a file."""
    lines = (APPS / "expected.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line.startswith(file)]
    return {task: Expected(int(n), int(sent), int(cycles)) for _, task, n, sent, cycles in rows}


def run(file: Path, *options: str) -> dict:
    """Runs an application on two cores of one processor and returns its summary."""
    command = [str(WHIMBREL), "run", str(file), "--json", "--cores", CORES, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sum_of(summary: dict, key: str) -> dict[str, int]:
    """A number of all tasks that share a name."""
    sums: dict[str, int] = defaultdict(int)
    for task in summary["tasks"]:
        sums[task["task"]] += task[key]
    return sums


def sent(summary: dict, tasks: dict[str, Expected]) -> dict[str, int]:
    """Messages by their sender: channels are named after their ends."""
    sums = dict.fromkeys(tasks, 0)
    for channel in summary["channels"]:
        sums[channel["channel"].split("_")[0]] += channel["sent"]
    return sums


@pytest.mark.parametrize("file", FILES)
def test_every_task_fires_as_often_as_it_is_to(file: str) -> None:
    tasks = expected(file)
    summary = run(APPS / file, "--fast")
    assert sent(summary, tasks) == {name: task.sent for name, task in tasks.items()}
    assert all(task["state"] == "ended" for task in summary["tasks"])
    assert all(channel["depth"] == 0 for channel in summary["channels"])


@pytest.mark.parametrize("mode", ["handoff", "replicate", "recreate"])
def test_migrations_lose_repeat_and_reorder_nothing(mode: str, tmp_path: Path) -> None:
    text = (APPS / "app.toml").read_text()
    moving = tmp_path / "app.toml"
    moving.write_text(text.replace("[[task]]\n", "[[task]]\nrestart = true\n"))
    moves = ("source=1,0@31ms", "filter=1,0@17ms", "encode=1,0@13ms", "sink=1,0@41ms")
    shuttles = [word for move in moves for word in ("--shuttle", move)]

    def shuttle() -> dict:
        summary = run(moving, "--mode", mode, *shuttles)
        assert sent(summary, expected("app.toml"))["encode"] == 400
        return summary

    move_enough(shuttle, 8)


@pytest.mark.parametrize("mhz", [50, 100])
def test_modelled_computing_takes_the_time_of_its_cycles(mhz: int, tmp_path: Path) -> None:
    platform = tmp_path / "platform.toml"
    point = f"[[core.point]]\nmhz = {mhz}\nactive_mw = 1.0\n"
    platform.write_text(f'[platform]\nname = "p"\n\n[[core]]\ncount = 2\n\n{point}')
    options = ("--fast", "--frequency", "none", "--platform", str(platform))
    busy_ns = sum_of(run(APPS / "rt.toml", *options), "busy_ns")
    for name, task in expected("rt.toml").items():
        # Other processes in between make it longer, nothing makes it shorter.
        assert busy_ns[name] >= task.firings * task.cycles * 1000 / mhz * 0.999, name


def test_a_kernel_that_is_killed_costs_no_message(tmp_path: Path) -> None:
    # For four seconds: the kill is to come before the end, on a busy machine too.
    text = (APPS / "app.toml").read_text().replace("firings = 400", "firings = 800")
    application = tmp_path / "app.toml"
    application.write_text(text.replace("[[task]]\n", "[[task]]\nrestart = true\ncore = 1\n"))
    summary = summary_after_a_kill(application, CORES)
    assert sent(summary, expected("app.toml"))["encode"] == 800


@pytest.mark.parametrize("options", [(), ("--agent-period", "20ms")], ids=["alone", "agents"])
def test_a_task_that_runs_when_the_run_is_cut_off_counts(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """From when its kernel came to run it. When that is, is Linux's to say: longer runs until it
    does."""
    for duration_ms in (300, 1500, 15_000):
        record = ("--record", str(tmp_path / f"{duration_ms}"))
        limit = ("--duration", f"{duration_ms}ms")
        summary = run(ROOT / "tests/ring.toml", *limit, *record, *options)
        assert summary["ended"] == "duration"
        begins = [e for e in events(tmp_path / f"{duration_ms}", 1) if e.kind == RUN]
        if begins:
            break
    # Between the first and the last it waits for a message, for as long as Linux holds `a` up.
    first_ns, last_ns = (begins[i].time_ns - summary["start_ns"] for i in (0, -1))
    _, busy_ns = (task["busy_ns"] for task in summary["tasks"])
    assert duration_ms * 1e6 - last_ns <= busy_ns <= summary["time_ns"] - first_ns
    core = summary["cores"][1]
    assert core["busy_ns"] == busy_ns
    assert core["load"] == pytest.approx(busy_ns / summary["time_ns"], abs=1e-3)
