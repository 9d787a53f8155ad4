# SPDX-License-Identifier: Apache-2.0
"""What a firing of each task takes on the SoC, without its messages and switches.

And which lines of the caches it finds gone when it comes back to a core that others use as well.

Two systems tell them apart: all tasks on one core, and each task in turn alone on a core beside all
others. They are counted in traces, without their beginnings, in which channels fill.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import traces
from columns import WINDOWS, Column

# A packet passes one of two lanes, which get different ones. Where computing is modelled
# it comes to one of three outputs.
SHARES = {"packets": {"decoder": 2, "crc": 2, "forward": 3, "store": 3, "discard": 3}}
CYCLES_PER_US = 10  # of a trace: 10 MHz
LINE_BYTES = 16  # of both caches

# What a firing does with channels, by the names of app/operations.c.
BY_SLOT = ("hold", "claim", "commit", "release")
OPERATIONS = {
    "image_filter": {
        "control": ("send", "receive"),
        "decoder": BY_SLOT,
        "filter": ("hold", "send", "release"),
    },
    "packets": {
        "packetizer": ("claim", "commit"),
        "forward": ("hold", "release"),
        "store": ("hold", "release"),
        "discard": ("hold", "release"),
    },
}


@dataclass
class Counted:
    """Of a task, in what is counted."""

    cycles: float = 0
    stays: float = 0  # from being chosen until another is
    misses: float = 0
    waits: float = 0  # cycles for the bus


@dataclass
class Run:
    """What a run counted."""

    done: int = 0
    tasks: dict[str, Counted] = field(default_factory=lambda: defaultdict(Counted))


def count(app: str, mapping: str, cycles: int, folder: Path) -> Run:
    """A run of so many cycles."""
    column = Column(mapping, "hw_rtos", mapping)
    trace = traces.run_trace(app, column, f"{app}.{mapping}", cycles, folder)
    run = Run(trace.done)
    for event in json.loads(trace.perfetto.read_text())["traceEvents"]:
        if event["ph"] == "X" and event["name"] in trace.cores:
            task, args = run.tasks[event["name"]], event["args"]
            task.cycles += event["dur"] * CYCLES_PER_US
            task.stays += 1
            task.misses += args["data misses"] + args["fetch misses"]
            task.waits += args["bus waits"]
    return run


def steady(app: str, mapping: str, folder: Path) -> dict[str, Counted]:
    """Of each task, for each pixel or packet, behind the beginning."""
    first, all_of_it = (count(app, mapping, end, folder) for end in WINDOWS[app])
    done = all_of_it.done - first.done
    found: dict[str, Counted] = defaultdict(Counted)
    for name, task in all_of_it.tasks.items():
        before = first.tasks[name]
        for what in vars(task):
            more = (getattr(task, what) - getattr(before, what)) / done
            setattr(found[name], what, more)
    return found


@dataclass(frozen=True)
class Work:
    """Of a firing of a task."""

    task: str  # NAME or NAME.INDEX
    cycles: float
    lines: float  # gone when it comes back


def works(app: str, operation: dict[str, float], switch: float, folder: Path) -> list[Work]:
    """Every task of an application; what operations and a switch take is not in their cycles."""
    names = traces.TASKS[app]
    mappings = ["1", *(chr(ord("A") + number) for number in range(len(names)))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        single, *others = pool.map(lambda mapping: steady(app, mapping, folder), mappings)
    found = []
    for name, there in zip(names, others, strict=True):
        crowded, alone = single[name], there[name]
        task = name.split(".")[0]
        share = SHARES.get(app, {}).get(task, 1)
        messages = sum(operation[one] for one in OPERATIONS[app].get(task, BY_SLOT))
        # What it waits for the bus more is what two cores do to each other.
        waited = max(alone.waits - crowded.waits, 0)
        cycles = (alone.cycles - waited - alone.stays * switch) * share - messages
        lines = max(crowded.misses - alone.misses, 0) * share
        found.append(Work(name, cycles, lines))
    return found
