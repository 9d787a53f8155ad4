# SPDX-License-Identifier: Apache-2.0
"""What comes of a task does not depend on whether its kernel takes steps in its place."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from simulated import ROOT, command, platform, recorded_bytes

STEPS = re.compile(r", (\d+) steps without a switch")

# What takes time that no task of these applications spends, but that a step might: on such a
# platform every task goes on on its own stack. The first has no jobs, the second no other core.
SOURCE = 'source = "ours: a test"\n'
JOBS = f"\n[costs.job]\ncycles = 1\n{SOURCE}"
RINGS = f'\n[doorbell]\nkind = "interrupt"\n{SOURCE}\n[doorbell.send]\ncycles = 1\n{SOURCE}'

# Two slots, and times that vary: everybody waits for everybody now and then, and is rung meanwhile.
CROWD = """
[app]
name = "crowd"
description = "one to four to one, back and forth between two cores"

[[task]]
name = "src"
cycles = 1000
distribution = "uniform"
spread = 0.9
firings = 60000

[[task]]
name = "mid"
count = 4
core = [1, 0, 1, 0]
cycles = 1000
distribution = "uniform"
spread = 0.9

[[task]]
name = "dst"
core = 1
cycles = 1000
distribution = "uniform"
spread = 0.9

[[channel]]
from = "src.out"
to = "mid.in"
slots = 2
slot_bytes = 64

[[channel]]
from = "mid.out"
to = "dst.in"
slots = 2
slot_bytes = 64
"""


# Messages, and the traffic of some tasks' cycles, take their time: those tasks go on on their own
# stacks, and others between them by steps.
BEATS = """
[[task]]
name = "beat"
count = 2
core = [0, 1]
priority = 1
cycles = 700
firings = 2000
"""
TRAFFIC = CROWD.replace('name = "dst"', 'name = "dst"\ntraffic = 400') + BEATS
MEMORY = f"""
[[memory]]
name = "ram"
kind = "shared"
size = "1MiB"
latency_ns = 0
mb_per_s = 400
{SOURCE}"""


# An interrupt takes its time also from a task that is about to run.
ANSWERS = f'\n[doorbell]\nkind = "interrupt"\n{SOURCE}\n[doorbell.receive]\ncycles = 30\n{SOURCE}'


def costs(*actions: str, cycles: int = 50) -> str:
    """What takes time on both platforms: the work of kernels, between the steps of tasks."""
    return "".join(f"\n[costs.{action}]\ncycles = {cycles}\n{SOURCE}" for action in actions)


@dataclass(frozen=True)
class Case:
    """An application, and what is the same of the two platforms and what is not."""

    app: str
    cores: int
    apart: str
    costs: str = ""
    options: tuple[str, ...] = ()


FORK, RT, SCRIPT = (
    (ROOT / "apps/synthetic" / name).read_text()
    for name in ("fork_join.toml", "rt.toml", "script.toml")
)
BALANCE = ("--agent-period", "1ms", "--policy", "balance")
COPIES = ("--mode", "replicate", "--shuttle", "mid.0=0,1@3ms", "--shuttle", "dst=0,1@5ms")
CASES = {
    "rates": Case(FORK, 2, JOBS),
    "moves": Case(FORK, 2, JOBS, options=("--agent-period", "5ms", "--shuttle", "join=0,1@3ms")),
    "policy": Case(FORK, 3, JOBS, options=("--agent-period", "5ms", "--policy", "balance")),
    "copies": Case(FORK, 2, JOBS, options=("--mode", "replicate", "--shuttle", "split=1,0@7ms")),
    "jobs": Case(RT, 1, RINGS, options=("--agent-period", "10ms")),
    "crowd": Case(CROWD, 2, JOBS),
    "traffic": Case(TRAFFIC, 2, JOBS, MEMORY),
    "interrupts": Case(CROWD, 2, JOBS, ANSWERS + costs("switch")),
    "notes": Case(CROWD, 2, JOBS, costs("serve")),
    "reports": Case(CROWD, 2, JOBS, costs("report", "decide"), BALANCE),
    "scripts": Case(SCRIPT, 2, JOBS),
    "scripts that move": Case(
        SCRIPT, 2, JOBS, options=("--shuttle", "camera=1,0@11ms", "--shuttle", "worker.0=1,0@7ms")
    ),
    "arrivals": Case(CROWD, 2, JOBS, costs("copy", "park", "attach", cycles=5000), COPIES),
}


def run(folder: Path, case: str, hardware: str, *, records: bool) -> tuple[int, dict[str, bytes]]:
    """Simulates; how many steps were taken, and the bytes of all that was told and recorded."""
    folder.mkdir()
    (folder / "app.toml").write_text(CASES[case].app)
    (folder / "platform.toml").write_text(hardware)
    record = ("--record", str(folder / "recorded")) if records else ()
    done = command(
        folder / "app.toml",
        *("--platform", str(folder / "platform.toml"), *CASES[case].options, *record),
        quiet=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["ended"] == "finished"
    files = recorded_bytes(folder / "recorded") if records else {}
    steps = STEPS.search(done.stderr)
    return int(steps[1]) if steps else 0, {"summary": done.stdout.encode(), **files}


@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_steps_and_stacks_come_to_the_same(case: str, records: bool, tmp_path: Path) -> None:
    hardware = platform(*[""] * CASES[case].cores, rest=CASES[case].costs)
    steps, by_steps = run(tmp_path / "steps", case, hardware, records=records)
    apart = hardware + CASES[case].apart
    none, by_stacks = run(tmp_path / "stacks", case, apart, records=records)
    assert steps > 100
    assert none == 0
    assert by_steps == by_stacks


@pytest.mark.parametrize("case", CASES)
def test_recording_changes_nothing(case: str, tmp_path: Path) -> None:
    hardware = platform(*[""] * CASES[case].cores, rest=CASES[case].costs)
    _, alone = run(tmp_path / "alone", case, hardware, records=False)
    _, recorded = run(tmp_path / "recorded", case, hardware, records=True)
    with_streams, without = (json.loads(told["summary"]) for told in (recorded, alone))
    assert {**with_streams, "gvm_bytes": 0} == {**without, "gvm_bytes": 0}
