# SPDX-License-Identifier: Apache-2.0
"""Sporadic releases and release jitter, by their bounds and their distributions."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest
from simulated import command, events, platform, simulate

RUN, START_NS, JOBS = 1, 1, 20_000
PERIOD_NS, JITTER_NS, GAP_NS = 100_000, 40_000, 60_000
SIGMAS = 4.5  # one of 150,000 samples lies beyond

TASK = """
[app]
name = "arrivals"

[[task]]
name = "task"
period_us = 100
cycles = 1
firings = {jobs}
{more}
"""
SPORADIC = 'arrival = "sporadic"\nmean_gap_us = 60\n'


def begins(folder: Path, more: str, *options: str) -> list[int]:
    """When each job begins, in nanoseconds after the start: its core is idle."""
    app = TASK.format(jobs=JOBS, more=more)
    simulate(folder, app, platform(""), "--record", str(folder / "record"), *options)
    at = [e.time_ns - START_NS for e in events(folder / "record", 0) if e.kind == RUN]
    # The first switch is that of the start, if it comes before the first job; the last ends it.
    return at[-JOBS - 1 : -1]


def test_jobs_of_a_task_with_jitter_begin_evenly_after_their_releases(tmp_path: Path) -> None:
    off = [at - n * PERIOD_NS for n, at in enumerate(begins(tmp_path, "jitter_us = 40\n"))]
    assert min(off) >= 0
    assert max(off) <= JITTER_NS
    assert abs(fmean(off) - JITTER_NS / 2) < SIGMAS * JITTER_NS / math.sqrt(12 * JOBS)
    for part in (0.1, 0.5, 0.9):
        error = math.sqrt(part * (1 - part) / JOBS)
        assert abs(fmean(ns <= part * JITTER_NS for ns in off) - part) < SIGMAS * error


def test_a_sporadic_task_is_released_its_period_and_an_exponential_gap_later(
    tmp_path: Path,
) -> None:
    at = begins(tmp_path, SPORADIC)
    assert at[0] == 0
    gaps = [b - a - PERIOD_NS for a, b in pairwise(at)]
    assert min(gaps) >= 0
    assert abs(fmean(gaps) - GAP_NS) < SIGMAS * GAP_NS / math.sqrt(len(gaps))
    for at_most in (0.1, 1.0, 3.0):
        part = 1 - math.exp(-at_most)
        error = math.sqrt(part * (1 - part) / len(gaps))
        assert abs(fmean(gap <= at_most * GAP_NS for gap in gaps) - part) < SIGMAS * error


@pytest.mark.parametrize("more", [SPORADIC, "jitter_us = 40\n"], ids=["sporadic", "jitter"])
def test_draws_are_those_of_the_seed(more: str, tmp_path: Path) -> None:
    runs = []
    for number, seed in enumerate(("1", "1", "2")):
        folder = tmp_path / str(number)
        folder.mkdir()
        runs.append(begins(folder, more, "--seed", seed))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.parametrize(("cycles", "misses"), [(10_000, 0), (60_000, JOBS)])
def test_a_deadline_counts_from_the_release(cycles: int, misses: int, tmp_path: Path) -> None:
    """50 µs after it: 10 µs of computing always end in time, 60 µs never do."""
    app = TASK.format(jobs=JOBS, more="jitter_us = 40\ndeadline_frames = 0.5\n")
    app = app.replace("cycles = 1\n", f"cycles = {cycles}\n")
    task = simulate(tmp_path, app, platform(""))["tasks"][0]
    assert task["misses"] == misses
    longest_ns = cycles + JITTER_NS
    assert task["response"]["max_ns"] == pytest.approx(longest_ns, abs=100)
    assert task["response"]["min_ns"] == pytest.approx(cycles, abs=100)


def test_as_fast_as_it_goes_nothing_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "platform.toml").write_text(platform(""))
    (tmp_path / "app.toml").write_text(TASK.format(jobs=100, more=SPORADIC))
    done = command(tmp_path / "app.toml", "--platform", str(tmp_path / "platform.toml"), "--fast")
    assert done.returncode == 0, done.stderr
    assert '"time_ns":100,' in done.stdout.replace(" ", "")
