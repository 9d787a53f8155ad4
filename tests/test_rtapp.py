# SPDX-License-Identifier: Apache-2.0
"""Every example file of rt-app's Debian package: imported, simulated, and run on this machine."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from simulated import PATIENCE_S, WHIMBREL, command, platform

FOLDER = Path("/usr/share/doc/rt-app")
PIECES = FOLDER / "examples/merge"
FILES = sorted(file for file in FOLDER.rglob("*.json") if file.parent != PIECES)
# Each application is one file, but for one that its folder has in pieces.
APPS = {str(file.relative_to(FOLDER)): [file] for file in FILES}
APPS["examples/merge"] = sorted(PIECES.glob("*.json"))

Json = dict[str, Any]


def whimbrel(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Starts the command and waits for its end; never fails by itself."""
    line = [str(WHIMBREL), *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def machine(folder: Path) -> Path:
    """As many cores as the examples name, which are more than this machine may have."""
    file = folder / "platform.toml"
    file.write_text(
        platform('count = 3\nkind = "core"\nscheduling = "preemptive"\nslice_us = 3000\n')
    )
    return file


def simulated(files: list[Path], hardware: Path, seconds: int = 1) -> Json:
    """The files together, in virtual time."""
    others = [str(file) for file in files[1:]]
    words = ("--platform", str(hardware), "--duration", f"{seconds}s")
    done = command(files[0], *others, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run(files: list[Path]) -> Json:
    """The files together, for a second on one processor, which all three cores are; for longer if
    Linux has not let every task run, and one of them through its loop."""
    processor = min(os.sched_getaffinity(0))
    for seconds in (1, 4, 16):
        words = ("--duration", f"{seconds}s", "--json", "--quiet")
        done = whimbrel("run", *files, *words, "--cores", ",".join([str(processor)] * 3))
        assert done.returncode in (0, 1), done.stderr
        summary = json.loads(done.stdout)
        if all(task["runs"] > 0 for task in summary["tasks"]) and sum(loops(summary).values()) > 0:
            break
    return summary


@pytest.fixture(scope="module")
def runs() -> dict[str, Json]:
    """All on this machine; two at a time, for some compute for as long as they have the core."""
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(APPS, pool.map(run, APPS.values()), strict=True))


def loops(summary: Json) -> dict[str, int]:
    """How many loops tasks have done, by the names of the tasks."""
    found: dict[str, int] = {}
    for task in summary["tasks"]:
        found[task["task"]] = found.get(task["task"], 0) + task["script"]["loops"]
    return found


def test_the_package_is_there() -> None:
    assert len(FILES) >= 19, "the examples of rt-app are missing: make setup"


@pytest.mark.parametrize("name", APPS)
def test_an_example_is_simulated_for_a_second(name: str, tmp_path: Path) -> None:
    summary = simulated(APPS[name], machine(tmp_path))
    assert all(task["runs"] > 0 for task in summary["tasks"])
    assert sum(loops(summary).values()) > 0 or name.endswith("dvfs.json"), "its timer is of 1.2 s"


@pytest.mark.parametrize("name", APPS)
def test_an_example_runs_for_a_second(name: str, runs: dict[str, Json]) -> None:
    summary = runs[name]
    assert all(task["runs"] > 0 for task in summary["tasks"])
    assert sum(loops(summary).values()) > 0


def test_each_thread_has_the_loops_that_its_file_says(tmp_path: Path) -> None:
    """By hand: a buffer of music each 30 ms, five ticks of 6 ms for one."""
    found = loops(simulated(APPS["examples/mp3-short.json"], machine(tmp_path)))
    assert found["AudioTick"] == 166
    buffers = [found[name] for name in ("AudioOut", "AudioTrack", "mp3_decoder")]
    assert all(32 <= loops <= 34 for loops in buffers), found


def test_phases_follow_each_other_as_often_as_they_say(tmp_path: Path) -> None:
    """Twelve instances, each with ten loops of 3 ms and ten of 27 ms, timers of 30 ms: one core is
    too slow for all in phase "heavy", and all have their twenty loops in the end."""
    files = APPS["examples/tutorial/example3.json"]
    summary = simulated(files, machine(tmp_path), seconds=20)
    assert [task["script"]["loops"] for task in summary["tasks"]] == [20] * 12
    assert summary["tasks"][0]["script"]["run_us"] > 15_000


TIMED = """{ "tasks" : {
    "shared" : { "instance" : 2, "run" : 1000, "timer" : { "ref" : "tick", "period" : 10000 } },
    "delayed" : { "cpus" : [1], "delay" : 5000, "run" : 500,
        "timer" : { "ref" : "unique", "period" : 10000 } },
    "late" : { "cpus" : [2], "phases" : {
        "long" : { "run" : 15000, "timer" : { "ref" : "MODE", "period" : 10000, "mode" : "MODE" } },
        "short" : { "run" : 1000, "timer" : { "ref" : "MODE", "period" : 10000, "mode" : "MODE" } }
    } }
} }"""


@pytest.mark.parametrize(("mode", "period_us"), [("absolute", 10_000), ("relative", 12_500)])
def test_timers_are_as_rt_app_has_them(mode: str, period_us: float, tmp_path: Path) -> None:
    """By hand. Two instances of a timer of 10 ms wake each 20 ms, in turns. A loop of 15 ms makes a
    relative timer begin anew, so that two loops take 25 ms, and an absolute one not."""
    file = tmp_path / "timed.json"
    file.write_text(TIMED.replace("MODE", mode))
    summary = simulated([file], machine(tmp_path))
    scripts = {task["task"]: task["script"] for task in summary["tasks"]}
    assert scripts["shared"]["period_us"] == pytest.approx(20_000, rel=0.03)
    assert scripts["delayed"]["period_us"] == 10_000
    assert scripts["delayed"]["slack_us"] == 9_500
    assert scripts["late"]["period_us"] == pytest.approx(period_us, rel=0.02)


def test_a_piece_without_tasks_is_no_application(tmp_path: Path) -> None:
    done = command(PIECES / "global.json", "--platform", str(machine(tmp_path)))
    assert done.returncode == 2
    assert "the file has no `tasks`" in done.stderr
