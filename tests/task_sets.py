# SPDX-License-Identifier: Apache-2.0
"""Sets of periodic tasks on one preemptive core, and when their jobs were complete."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from simulated import Json, events, platform, simulate

RUN, READY, BLOCK, END = 1, 2, 3, 4


@dataclass(frozen=True)
class Task:
    """All in microseconds; a larger priority is more urgent."""

    period: int
    computes: int
    offset: int
    priority: int


def task_set(seed: int) -> list[Task]:
    """Two to eight tasks that take half of the core up to all of it: E. Bini, G. C. Buttazzo,
    "Measuring the Performance of Schedulability Tests", Real-Time Systems 30, 2005. No two have the
    same period or priority, so that no two jobs are equal in all that a scheduler looks at."""
    chance = random.Random(seed)
    number = chance.randint(2, 8)
    periods = chance.sample(range(400, 12_000), number)
    priorities = chance.sample(range(32), number)
    left, shares = chance.uniform(0.5, 1.0), []
    for n in range(number - 1, 0, -1):
        rest = left * chance.random() ** (1 / n)
        shares.append(left - rest)
        left = rest
    shares.append(left)
    together = chance.random() < 0.5
    return [
        Task(period, max(1, int(period * share)), 0 if together else chance.randrange(period), p)
        for period, share, p in zip(periods, shares, priorities, strict=True)
    ]


def application(tasks: list[Task], scheduling: str) -> str:
    tables = ['[app]\nname = "made"\n']
    for n, task in enumerate(tasks):
        priority = task.priority if scheduling == "preemptive" else 8
        tables.append(
            f"""
[[task]]
name = "t{n}"
priority = {priority}
period_us = {task.period}
offset_frames = {task.offset / task.period!r}
cycles = {task.computes * 1000}
"""
        )
    return "\n".join(tables)


def in_whimbrel(
    folder: Path, tasks: list[Task], scheduling: str, until_us: int, *options: str
) -> Json:
    core = f'scheduling = "{scheduling}"\n'
    options = ("--duration", f"{until_us}us", *options)
    return simulate(folder, application(tasks, scheduling), platform(core), *options)


def intervals(folder: Path, task: int) -> list[tuple[int, int]]:
    """When a task had the core, in nanoseconds."""
    found, begun = [], 0
    start = int.from_bytes((folder / "core-0.events").read_bytes()[24:32], "little")
    for event in events(folder, 0):
        if event.task != task:
            continue
        if event.kind == RUN:
            begun = event.time_ns
        elif event.kind in (READY, BLOCK, END):
            found.append((begun - start, event.time_ns - start))
    return found


def completions(had: list[tuple[int, int]], job_ns: int) -> list[int]:
    """When jobs that all compute for so long were complete."""
    found, done = [], 0
    for begin, end in had:
        while (len(found) + 1) * job_ns <= done + end - begin:
            found.append(begin + (len(found) + 1) * job_ns - done)
        done += end - begin
    return found


def of_whimbrel(folder: Path, tasks: list[Task], scheduling: str, until_us: int) -> list[list[int]]:
    """When the jobs of each task were complete, in nanoseconds."""
    folder.mkdir(exist_ok=True)
    record = folder / "record"
    in_whimbrel(folder, tasks, scheduling, until_us, "--record", str(record))
    found = [completions(intervals(record, n), t.computes * 1000) for n, t in enumerate(tasks)]
    return [[at for at in of_task if at < until_us * 1000] for of_task in found]
