# SPDX-License-Identifier: Apache-2.0
"""The same workload by `whimbrel run` and by `whimbrel sim` on this machine as a platform."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import command
import scheduler
from threads import Thread, mean
from workloads import Object, later

BEGINS = 8  # of simulations, in a tick

Found = dict[str, Thread]  # by their names


@dataclass(frozen=True)
class Machine:
    """One processor of this machine."""

    cpu: int
    mhz: float  # at which cycles take what they say
    given_ns: int  # what rt-app is told that one of its loops takes
    platform: Path

    def rt_apps_mhz(self, loop_ns: float) -> float:
        """At which they take what rt-app's loops take: so much longer or shorter its `run` is than
        it says, and a microsecond here has so many more or fewer cycles."""
        return self.mhz * loop_ns / self.given_ns


def whimbrel(*words: str, limit: float = 120) -> str:
    """What the command prints."""
    return command.whimbrel(*words, fine=(0, 1), timeout=limit).stdout


def imported(workload: Object, mhz: float, folder: Path) -> Path:
    """The workload as an application whose microsecond is so many cycles."""
    file, app = folder / "workload.json", folder / "app.toml"
    file.write_text(json.dumps(workload, indent=1))
    whimbrel("import", str(file), "-o", str(app), "--mhz", f"{mhz:.6f}")
    return app


def run(app: Path, seconds: float, cpu: int) -> Found:
    """On this machine, its tasks under one kernel on a processor."""
    words = ("--cores", str(cpu), "--duration", f"{seconds}s", "--json", "--quiet")
    return tasks(json.loads(whimbrel("run", str(app), *words, limit=seconds + 60)))


def simulate(workload: Object, mhz: float, seconds: float, machine: Machine, folder: Path) -> Found:
    """In virtual time: on average over where in a tick the threads begin, which is by chance."""
    words = ("--platform", str(machine.platform), "--duration", f"{seconds}s", "--json", "--quiet")
    found = []
    for at in range(BEGINS):
        begun = later(workload, 1 + 1_000_000 // scheduler.hz() * at // BEGINS)
        app = imported(begun, mhz, folder)
        found.append(tasks(json.loads(whimbrel("sim", str(app), *words))))
    return {name: mean([of[name] for of in found if name in of]) for name in found[0]}


def tasks(summary: dict[str, Any]) -> Found:
    """What a summary says of the scripts of its tasks."""
    found = {}
    for task in summary["tasks"]:
        script, name = task["script"], task["task"]
        name = name if name not in found else f"{name}.{task['index']}"
        if script["loops"]:
            found[name] = Thread(
                loops=script["loops"],
                period=script["period_us"],
                run=script["run_us"],
                slack=script["slack_us"],
                latency=script["wakeup_us"],
            )
    return found


def plain(name: str) -> str:
    """A thread's name as the import has it."""
    return re.sub(r"[^A-Za-z0-9]", "_", name)[:31]


def machine(cpu: int, other: int, given_ns: int, quick: bool, folder: Path) -> Machine:
    """Measures this machine: how fast it computes, and, unless quick, what its kernels' steps
    cost."""
    task = {"loop": 1, "phases": {"p": {"loop": 5, "run": 2000}}}
    app = imported({"tasks": {"t": task}}, 1000, folder)
    took_us = min(run(app, 5, cpu)["t"].run for _ in range(5))
    mhz = 1000 * 2000 / took_us
    platform = folder / "machine.toml"
    if quick:
        platform.write_text(BARE.format(mhz=f"{mhz:.3f}"))
    else:
        cores = ("--cores", f"{cpu},{other}", "--mhz", f"{mhz:.3f}")
        whimbrel("calibrate", "--quick", *cores, "-o", str(platform), limit=600)
    platform.write_text(as_linux(platform.read_text()))
    return Machine(cpu, mhz, given_ns, platform)


BARE = """[platform]
name = "machine"

[[core]]
count = 1
kind = "host"

[[core.point]]
mhz = {mhz}
active_mw = 0
"""


def as_linux(platform: str) -> str:
    """The platform with one core, whose kernel schedules as Linux does: rt-app's threads are
    interrupted at any moment, a task of `whimbrel run` where it waits or between its events."""
    platform = re.sub(r"^count = \d+\n", "count = 1\n", platform, count=1, flags=re.MULTILINE)
    return platform.replace("[[core]]\n", f"[[core]]\n{scheduler.core()}", 1)
