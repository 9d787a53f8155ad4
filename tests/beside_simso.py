# SPDX-License-Identifier: Apache-2.0
"""Sets of periodic tasks in SimSo.

SimSo (M. Chéramy, P.-E. Hladik, A.-M. Déplanche: "SimSo: A Simulation Tool to Evaluate Real-Time
Multiprocessor Scheduling Algorithms", WATERS 2014) simulates schedulers of real-time tasks. As a
program this measures how fast it and Whimbrel are on the same random sets: `beside_simso.py [SETS]
[SECONDS]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from simso.configuration import Configuration
from simso.core import Model
from task_sets import Task, in_whimbrel, task_set

CLASSES = {"preemptive": "simso.schedulers.FP", "edf": "simso.schedulers.EDF_mono"}
GLOBAL = {"preemptive": "simso.schedulers.FP", "edf": "simso.schedulers.EDF"}


def in_simso(tasks: list[Task], scheduling: str, until_us: int, cores: int = 1) -> Model:
    """Its milliseconds stand for microseconds, and have one cycle each: they are exact."""
    configuration = Configuration()
    configuration.cycles_per_ms = 1
    configuration.duration = until_us
    for n, task in enumerate(tasks):
        configuration.add_task(
            name=f"t{n}",
            identifier=n,
            period=task.period,
            activation_date=task.offset,
            wcet=task.computes,
            deadline=task.period,
            abort_on_miss=False,
            data={"priority": task.priority},
        )
    for core in range(cores):
        configuration.add_processor(name=f"core {core}", identifier=core)
    configuration.scheduler_info.clas = (CLASSES if cores == 1 else GLOBAL)[scheduling]
    configuration.check_all()
    return Model(configuration)


def of_simso(tasks: list[Task], scheduling: str, until_us: int) -> list[list[int]]:
    model = in_simso(tasks, scheduling, until_us)
    model.run_model()
    ends = [[job.end_date for job in task.jobs] for task in model.task_list]
    return [
        [end * 1000 for end in of_task if end is not None and end < until_us] for of_task in ends
    ]


def measure(sets: int, seconds: int) -> None:
    """Whimbrel as the command from its start to its end, SimSo without importing and setting up."""
    until_us = seconds * 1_000_000
    for scheduling in CLASSES:
        ours = theirs = jobs = 0.0
        for seed in range(sets):
            tasks = task_set(seed)
            with tempfile.TemporaryDirectory() as folder:
                begin = time.perf_counter()
                summary = in_whimbrel(Path(folder), tasks, scheduling, until_us)
                ours += time.perf_counter() - begin
            jobs += sum(task["jobs"] for task in summary["tasks"])
            model = in_simso(tasks, scheduling, until_us)
            begin = time.perf_counter()
            model.run_model()
            theirs += time.perf_counter() - begin
        print(
            f"{scheduling}: {sets} sets of {seconds} s, {jobs:.0f} jobs: whimbrel {ours:.2f} s,"
            f" SimSo {theirs:.2f} s, {theirs / ours:.1f} times"
        )


if __name__ == "__main__":
    sets, seconds, *_ = (*map(int, sys.argv[1:]), *(20, 10)[len(sys.argv) - 1 :])
    measure(sets, seconds)
