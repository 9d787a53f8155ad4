# SPDX-License-Identifier: Apache-2.0
"""Random programs with barriers, conditions, semaphores and mutexes end when an own schedule says,
to the nanosecond."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from own_schedule import Program, Schedule
from random_programs import Maker, application, hardware, is_told
from simulated import events, platform, simulate

CASES = int(os.environ.get("SIM_CASES", "60"))
END = 4


def ends(record: Path, core: int) -> list[tuple[int, int]]:
    """Which tasks ended on a core, and when."""
    head = (record / f"core-{core}.events").read_bytes()[24:32]
    start_ns = int.from_bytes(head, "little")
    return [(e.task, e.time_ns - start_ns) for e in events(record, core) if e.kind == END]


def of_whimbrel(folder: Path, program: Program) -> list[int | None]:
    """When each task ended."""
    record = folder / "record"
    folder.mkdir(exist_ok=True)
    simulate(folder, application(program), hardware(program), "--record", str(record))
    ended: list[int | None] = [None] * len(program.tasks)
    for core in range(len(program.cores)):
        for task, time_ns in ends(record, core):
            ended[task] = time_ns
    return ended


def test_random_programs_end_when_an_own_schedule_says(tmp_path: Path) -> None:
    kinds: Counter[str] = Counter()
    seed, compared = 0, 0
    while compared < CASES:
        seed += 1
        program = Maker(seed).program
        ours = Schedule(program).ends()
        if None in ours or not is_told(program):  # it deadlocks, or is refused
            continue
        folder = tmp_path / str(seed)
        assert of_whimbrel(folder, program) == ours, f"seed {seed}: {folder}"
        compared += 1
        kinds.update({core.scheduling for core in program.cores})
    print(f"{compared} of {seed} programs end, on cores that are {dict(kinds)}")
    assert len(kinds) == 4 and min(kinds.values()) > CASES / 16


MUTEX = '[app]\nname = "idle"\n\n[[mutex]]\nname = "m"\n'
BARRIER = '[[barrier]]\nname = "b"\ntasks = 6\n'


@pytest.mark.parametrize("barrier", [False, True])
def test_idle_cores_that_are_woken_in_order_have_a_mutex_in_that_order(
    tmp_path: Path, barrier: bool
) -> None:
    asleep = '{ sleep = "1ms" }'
    app = MUTEX + (BARRIER if barrier else "")
    for core in range(5):
        wait = '{ barrier = "b" }' if barrier else asleep
        script = f'{wait}, {{ lock = "m" }}, {{ run = 1000000 }}, {{ unlock = "m" }}'
        app += f'[[task]]\nname = "t{core}"\ncore = {core}\nscript = [{script}]\n'
    if barrier:
        script = f'{asleep}, {{ barrier = "b" }}'
        app += f'[[task]]\nname = "waker"\ncore = 5\nscript = [{script}]\n'
    record = tmp_path / "record"
    simulate(tmp_path, app, platform("count = 6\n"), "--record", str(record))
    # 1 GHz: each has it for a millisecond.
    for core in range(5):
        assert ends(record, core) == [(core, (core + 2) * 1_000_000)]
