# SPDX-License-Identifier: Apache-2.0
"""A workload by rt-app itself: what its logs say of each thread."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from command import Failed
from workloads import Object, pinned

RT_APP = "/usr/bin/rt-app"
ATTEMPTS = 3
# Columns of a log.
PERF, RUN, PERIOD, SLACK, C_PERIOD, LATENCY = 1, 2, 3, 7, 9, 10


@dataclass(frozen=True)
class Thread:
    """Means over the loops of its phases, in microseconds; without a timer two have no meaning."""

    loops: int
    period: float
    run: float
    slack: float | None
    latency: float | None


def run(workload: Object, cpu: int, folder: Path) -> dict[str, Thread]:
    """Runs it, and the threads by their names."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    for log in logs.glob("log-*.log"):
        log.unlink()
    file = folder / "pinned.json"
    file.write_text(json.dumps(pinned(workload, cpu, logs), indent=1))
    rt_app(file, workload["global"]["duration"] + 10)
    found = {}
    for log in sorted(logs.glob("log-*.log")):
        name, _, number = log.stem.removeprefix("log-").rpartition("-")
        rows = rows_of(log)
        if rows:
            found[name if name not in found else f"{name}.{number}"] = means(rows)
    return found


def rt_app(file: Path, limit: float) -> None:
    """Runs a file. In its end rt-app wakes all threads that wait, once, and waits for ever for one
    that comes to wait after that: then it is run again."""
    for _ in range(ATTEMPTS):
        with contextlib.suppress(subprocess.TimeoutExpired):
            command = [RT_APP, str(file)]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=False
            )
            if done.returncode != 0:
                raise Failed(f"rt-app ended with {done.returncode}: {done.stderr[-500:]}")
            return
    raise Failed(f"rt-app has not ended after {limit} s, {ATTEMPTS} times, with {file}")


def rows_of(log: Path) -> list[list[int]]:
    """The rows of a log but for the last one, which the end of the run cut short."""
    lines = [line for line in log.read_text().splitlines() if line and not line.startswith("#")]
    return [[signed(word) for word in line.split()] for line in lines[:-1]]


def signed(word: str) -> int:
    """A number of a log. Below 0 rt-app writes slack with its sign, and latencies, of timers that
    others share, unsigned."""
    number = int(word)
    return number - (1 << 64) if number >= 1 << 63 else number


def means(rows: list[list[int]]) -> Thread:
    """What the rows are on average."""

    def mean(column: int) -> float:
        return statistics.fmean(row[column] for row in rows)

    timed = any(row[C_PERIOD] for row in rows)
    return Thread(
        loops=len(rows),
        period=mean(PERIOD),
        run=mean(RUN),
        slack=mean(SLACK) if timed else None,
        latency=mean(LATENCY) if timed else None,
    )


def mean(same: list[Thread]) -> Thread:
    """What the same thread did on average."""

    def of(what: str) -> float | None:
        values = [
            value for value in (getattr(thread, what) for thread in same) if value is not None
        ]
        return statistics.fmean(values) if values else None

    return Thread(
        sum(thread.loops for thread in same),
        *(of(what) for what in ("period", "run", "slack", "latency")),
    )


def ns_per_loop(cpu: int, folder: Path) -> float:
    """What one loop of rt-app's computing takes on this processor.

    rt-app measures it anew at each start, which takes seconds. Here it is measured before and
    after each run, for a machine's speed changes by some percent within minutes, and with rt-app
    itself: a thread that computes 20000 loops every 10 ms, 100 times, the median. For the threads
    of the workloads sleep, too, and after a sleep a loop takes some percent longer than in a thread
    that always computes.
    """
    timer = {"ref": "t", "period": 10000}
    task = {"loop": 1, "phases": {"p": {"loop": 100, "run": 1000, "timer": timer}}}
    said = {"duration": -1, "calibration": 50, "default_policy": "SCHED_OTHER"}
    calm = {"lock_pages": False, "ftrace": False, "gnuplot": False, "log_size": 2}
    logs = folder / "calibration"
    logs.mkdir(exist_ok=True)
    file = folder / "calibration.json"
    file.write_text(json.dumps(pinned({"tasks": {"t": task}, "global": said | calm}, cpu, logs)))
    rt_app(file, 60)
    rows = rows_of(next(logs.glob("log-t-*.log")))
    return statistics.median(row[RUN] * 1000 / row[PERF] for row in rows)
