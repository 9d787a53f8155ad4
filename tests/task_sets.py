# SPDX-License-Identifier: Apache-2.0
"""Sets of periodic tasks on preemptive cores, and when their jobs were complete."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from simulated import Json, events, platform, simulate

RUN, READY, BLOCK, END = 1, 2, 3, 4


@dataclass(frozen=True)
class Task:
    """All in microseconds; a larger priority is more urgent."""

    period: int
    computes: int
    offset: int
    priority: int


def shares_of(chance: random.Random, number: int, left: float) -> list[float]:
    """UUniFast: E. Bini, G. C. Buttazzo, "Measuring the Performance of Schedulability Tests",
    Real-Time Systems 30, 2005."""
    shares = []
    for n in range(number - 1, 0, -1):
        rest = left * chance.random() ** (1 / n)
        shares.append(left - rest)
        left = rest
    return [*shares, left]


def task_set(seed: int, cores: int = 1) -> list[Task]:
    """Two to eight tasks for each core that take half of all cores up to all of them, none more
    than one core. No two have the same period or priority, so that no two jobs are equal in all
    that a scheduler looks at."""
    chance = random.Random(seed)
    number = chance.randint(2, 8) if cores == 1 else chance.randint(cores + 1, 4 * cores)
    periods = chance.sample(range(400, 12_000), number)
    priorities = chance.sample(range(32), number)
    used = chance.uniform(0.5, 1.0) * cores
    shares = shares_of(chance, number, used)
    while max(shares) > 1:
        shares = shares_of(chance, number, used)
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
    folder: Path, tasks: list[Task], scheduling: str, until_us: int, *options: str, cores: str = ""
) -> Json:
    """On one core, or as `cores` says: more keys of its [[core]]."""
    core = f'scheduling = "{scheduling}"\n{cores}'
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


class Span(NamedTuple):
    """A task had a core."""

    begin: int
    end: int
    core: int


def spans(folder: Path, cores: int, tasks: int) -> tuple[list[list[Span]], list[int]]:
    """When each task had which core, in nanoseconds, neighbours as one; and the core that it had at
    the very start, before its first job."""
    start = int.from_bytes((folder / "core-0.events").read_bytes()[24:32], "little")
    found: list[list[Span]] = [[] for _ in range(tasks)]
    places = [0] * tasks
    for core in range(cores):
        begun = 0
        for event in events(folder, core):
            now = event.time_ns - start
            if event.kind == RUN:
                begun = now
            elif event.kind in (READY, BLOCK, END):
                found[event.task].append(Span(begun, now, core))
    for task, all_of_it in enumerate(found):
        had = sorted(all_of_it)
        places[task] = had[0].core
        found[task] = []
        for span in had:
            last = found[task][-1] if found[task] else None
            if last is not None and (last.end, last.core) == (span.begin, span.core):
                found[task][-1] = Span(last.begin, span.end, span.core)
            elif span.end > span.begin:
                found[task].append(span)
    return found, places


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
