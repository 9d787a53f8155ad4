# SPDX-License-Identifier: Apache-2.0
"""Random programs with barriers, conditions, semaphores and mutexes end when an own schedule says,
to the nanosecond."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from own_schedule import Program, Schedule
from random_programs import Maker, application, hardware, is_told
from simulated import events, simulate

CASES = int(os.environ.get("SIM_CASES", "60"))
END = 4


def of_whimbrel(folder: Path, program: Program) -> list[int | None]:
    """When each task ended."""
    record = folder / "record"
    folder.mkdir(exist_ok=True)
    simulate(folder, application(program), hardware(program), "--record", str(record))
    ended: list[int | None] = [None] * len(program.tasks)
    for core in range(len(program.cores)):
        head = (record / f"core-{core}.events").read_bytes()[24:32]
        for event in events(record, core):
            if event.kind == END:
                ended[event.task] = event.time_ns - int.from_bytes(head, "little")
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
