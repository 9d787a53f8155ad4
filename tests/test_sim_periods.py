# SPDX-License-Identifier: Apache-2.0
"""Tasks that follow the frame rate: release n is at n * 10^12 / millihertz, rounded down."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from simulated import WHIMBREL, Json, command, events, platform, simulate

PARTS_OF_FRAMES = 10**12
RATES = (600, 700, 29.97, 23.976, 900, 3, 44100, 0.125)
RUN = 1

FRAMES = """
[app]
name = "frames"
frame_rate = {rate}

[[task]]
name = "first"
core = 0
priority = 9
periodic = true
cycles = 1
firings = {firings}

[[task]]
name = "later"
core = 1
periodic = true
offset_frames = {offset}
cycles = 1
firings = {firings}
"""


def millihertz(rate: float) -> int:
    return round(rate * 1000)


def jobs(rate: float) -> int:
    """Of the slowest as many as there are in half an hour."""
    return min(1000, int(1800 * rate))


def releases(folder: Path, rate: float, offset: float, *options: str) -> list[list[int]]:
    """When the jobs of each task begin, in nanoseconds: on idle cores, where nothing takes time."""
    app = FRAMES.format(rate=rate, firings=jobs(rate), offset=offset)
    record = folder / "record"
    more = ("--record", str(record), "--max-time", "10h", *options)
    simulate(folder, app, platform("count = 2\n"), *more)
    return [[e.time_ns for e in events(record, core) if e.kind == RUN] for core in (0, 1)]


@pytest.mark.parametrize("options", [(), ("--agent-period", "10ms")], ids=["alone", "agents"])
@pytest.mark.parametrize("rate", RATES)
def test_releases_keep_in_step_with_the_frame_rate(
    rate: float, options: tuple[str, ...], tmp_path: Path
) -> None:
    start_ns = 1
    first, later = releases(tmp_path, rate, 2, *options)
    by_hand = [start_ns + n * PARTS_OF_FRAMES // millihertz(rate) for n in range(jobs(rate) + 3)]
    # After its last firing a task wakes once more, to end; one with an offset begins at the start.
    assert first == by_hand[: jobs(rate) + 1]
    assert later == [start_ns, *by_hand[2:]]


def test_an_offset_of_a_part_of_a_frame_is_rounded_once(tmp_path: Path) -> None:
    _, later = releases(tmp_path, 700, 0.3)
    by_hand = [1 + (n * 10 + 3) * PARTS_OF_FRAMES // 10 // millihertz(700) for n in range(1001)]
    assert later == [1, *by_hand]


def test_a_deadline_of_one_frame_is_the_next_release(tmp_path: Path) -> None:
    """A job that takes all of its period ends when the next is released, never after it."""
    app = """
[app]
name = "full"
frame_rate = 3

[[task]]
name = "full"
periodic = true
cycles = 333333333
firings = 300
"""
    summary = simulate(tmp_path, app, platform(""))
    assert summary["tasks"][0]["misses"] == 0
    assert summary["time_ns"] == 100_000_000_000


# ---- Explored and simulated ---------------------------------------------------------------------

PIPELINE = """
[app]
name = "pipeline"
frame_rate = 100

[[task]]
name = "source"
periodic = true
cycles = 100000

[[task]]
name = "filter"
cycles = 400000

[[task]]
name = "sink"
periodic = true
offset_frames = 1
cycles = 100000

[[channel]]
from = "source.out"
to = "filter.in"
slot_bytes = 8

[[channel]]
from = "filter.out"
to = "sink.in"
slot_bytes = 8
"""
POINT = "[[core.point]]\nmhz = 1000\nactive_mw = 100\nidle_mw = 10\n"


def explored(folder: Path, rate: float) -> Json:
    """The only candidate there is, as `explore` tells it."""
    files = str(folder / "app.toml"), "--platform", str(folder / "platform.toml")
    words = [str(WHIMBREL), "explore", *files, "--frame-rates", str(rate), "--duration", "200ms"]
    done = subprocess.run(
        [*words, "--json", "--quiet"], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rates() -> list[float]:
    chance = random.Random(13)
    return [600, *(round(10 ** chance.uniform(1.5, 3.2), 3) for _ in range(4))]


@pytest.mark.parametrize("rate", rates())
@pytest.mark.parametrize("options", [(), ("--agent-period", "50ms")], ids=["alone", "agents"])
def test_a_candidate_comes_to_the_same_explored_and_simulated(
    options: tuple[str, ...], rate: float, tmp_path: Path
) -> None:
    (tmp_path / "app.toml").write_text(PIPELINE)
    (tmp_path / "platform.toml").write_text(platform(POINT))
    told = explored(tmp_path, rate)
    words = ("--platform", str(tmp_path / "platform.toml"), "--frame-rate", str(rate))
    done = command(tmp_path / "app.toml", *words, "--duration", "200ms", *options)
    assert done.returncode in (0, 1), done.stderr
    summary = json.loads(done.stdout)
    (entry,) = told["rates"][0]["front"]
    outcome = entry["outcome"]
    assert outcome["frames"] == summary["frames"]
    assert outcome["time_ms"] == summary["time_ns"] / 1e6
    assert outcome["latency_ms"] == summary["latency_ns"] / 1e6
    assert outcome["energy_mj"] == summary["energy"]["cores_uj"] / 1e3
    assert outcome["misses"] == summary["deadline_misses"]
    assert outcome["load"] == [core["load"] for core in summary["cores"]]
