# SPDX-License-Identifier: Apache-2.0
"""What crosses to globally visible memory, and what a move does, takes as long as by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import Json, platform, simulate

SOURCE = 'source = "ours: a test"\n'
# 2.5 ns a byte, behind a bus as fast as it.
MEMORY = f"""
[[memory]]
name = "ram"
kind = "shared"
size = "64MiB"
latency_ns = 0
mb_per_s = 400
{SOURCE}"""
BUS = f'\n[bus]\narbitration = "fcfs"\nmhz = 100\nwidth_bytes = 4\nburst_bytes = 32\n{SOURCE}'
JOBS = f"\n[costs.job]\ntime_us = 0.000001\n{SOURCE}"

PAIR = """
[app]
name = "pair"

[[task]]
name = "source"
period_us = 1000
cycles = 1000
traffic = 4000
firings = 100

[[task]]
name = "sink"
cycles = 1000
traffic = 4000

[[channel]]
from = "source.out"
to = "sink.in"
slot_bytes = 16
"""

STREAM = """
[app]
name = "stream"

[[task]]
name = "source"
firings = 10
cycles = 1000

[[task]]
name = "sink"
core = 1
cycles = 1000

[[channel]]
from = "source.out"
to = "sink.in"
slots = 16
slot_bytes = 1048576
"""
MIB_NS = 2_621_440  # over MEMORY

MOVER = """
[app]
name = "mover"

[[task]]
name = "mover"
period_us = 10000
cycles = 1000
firings = 100

[[task]]
name = "busy"
core = 1
period_us = 1000
cycles = 1000
firings = 1000
"""


@pytest.mark.parametrize("rest", ["", JOBS], ids=["steps", "stacks"])
def test_traffic_takes_its_time_in_every_firing(rest: str, tmp_path: Path) -> None:
    summary = simulate(tmp_path, PAIR, platform("", rest=MEMORY + rest))
    # 1 us of cycles and 10 us of traffic each time, to the nanosecond of a job's cost.
    # A message of 16 bytes is written by the one and read by the other: 40 ns.
    busy = 100 * (1000 + 10_000 + 40)
    assert [task["busy_ns"] for task in summary["tasks"]] == pytest.approx([busy] * 2, abs=2)


def stream(folder: Path, app: str, rest: str) -> list[int]:
    """For how long the two tasks of a stream are busy."""
    summary = simulate(folder, app, platform("count = 2\n", rest=rest))
    return [task["busy_ns"] for task in summary["tasks"]]


def test_a_message_is_written_once_and_read_once_over_the_bus(tmp_path: Path) -> None:
    # 10 messages of 1 MiB over 400 MB/s, and 1 us of cycles for each.
    assert stream(tmp_path, STREAM, MEMORY) == [10 * (MIB_NS + 1000)] * 2
    # On a bus, the reader of one is in the way of the writer of the next but for its end.
    source, sink = stream(tmp_path, STREAM, MEMORY + BUS)
    assert source + sink == pytest.approx(2 * (2 * 9 + 1) * MIB_NS, rel=0.001)
    # Nothing crosses where there is no shared memory.
    assert stream(tmp_path, STREAM, "") == [10_000] * 2


def test_the_sum_of_a_run_is_its_crossings(tmp_path: Path) -> None:
    app = STREAM.replace("slots = 16", "slots = 1").replace("core = 1\n", "")
    summary = simulate(tmp_path, app, platform("", rest=MEMORY))
    assert summary["time_ns"] == pytest.approx(10 * 2 * (MIB_NS + 1000), abs=10)


def test_traffic_is_what_crosses_besides_messages(tmp_path: Path) -> None:
    app = STREAM.replace("cycles = 1000", "cycles = 1000\ntraffic = 4000")
    assert stream(tmp_path, app, MEMORY) == [10 * (MIB_NS + 11_000)] * 2


def test_a_message_costs_what_copying_it_costs(tmp_path: Path) -> None:
    costs = "".join(
        f"\n[costs.{action}]\ncycles = 100\ncycles_per_unit = {per_byte}\n{SOURCE}"
        for action, per_byte in (("send", 0.5), ("receive", 0.25))
    )
    source, sink = stream(tmp_path, STREAM, MEMORY + costs)
    assert source == 10 * (MIB_NS + 1000 + 100 + 524_288)
    assert sink == 10 * (MIB_NS + 1000 + 100 + 262_144)


def test_traffic_of_two_cores_takes_turns_on_the_bus(tmp_path: Path) -> None:
    task = "cycles = 8000\ntraffic = 32000\nfirings = 1\n"
    tasks = "".join(f'[[task]]\nname = "{n}"\ncore = {core}\n{task}' for core, n in enumerate("ab"))
    hardware = platform("count = 2\n", rest=MEMORY + BUS)
    summary = simulate(tmp_path, f'[app]\nname = "both"\n{tasks}', hardware)
    # Eight times 1 us of cycles, and 10 us of traffic of each, in turns of 80 ns.
    assert [each["busy_ns"] for each in summary["tasks"]] == pytest.approx([168_000] * 2, abs=1300)


def the_move(summary: Json) -> Json:
    """The one migration of a run, which succeeded."""
    (move,) = summary["migrations"]
    assert move["status"] == "ok"
    return move


def away_ns(folder: Path, transport: str, rest: str) -> int:
    """How long a replicated task is away."""
    options = ("--mode", "replicate", "--transport", transport, "--move", "mover=1@501ms")
    hardware = platform("count = 2\n", rest=rest)
    move = the_move(simulate(folder, MOVER, hardware, *options))
    return move["running_ns"] - move["parked_ns"]


def test_the_copies_of_one_core_do_not_wait_for_each_other(tmp_path: Path) -> None:
    alone = away_ns(tmp_path, "alias", MEMORY)
    assert alone > 1000
    assert away_ns(tmp_path, "alias", MEMORY + BUS) == alone
    # Into the buffer and out of it, over the one bus.
    assert away_ns(tmp_path, "buffer", MEMORY + BUS) == pytest.approx(2 * alone, rel=0.05)


@pytest.mark.parametrize("busy", [False, True])
def test_a_task_is_parked_before_another_core_takes_it(busy: bool, tmp_path: Path) -> None:
    costs = "".join(
        f"\n[costs.{half}]\ntime_us = {time_us}\n{SOURCE}"
        for half, time_us in (("park", 55_000), ("attach", 45_000))
    )
    app = MOVER if busy else MOVER.replace("firings = 1000", "firings = 1")
    hardware = platform("count = 2\n", rest=costs)
    move = the_move(simulate(tmp_path, app, hardware, "--move", "mover=1@501ms"))
    # 100 ms by hand; a target that is busy looks when its next job ends.
    away_ms = (move["running_ns"] - move["parked_ns"]) / 1e6
    assert 100 <= away_ms < (101.1 if busy else 100.01)


# ---- Changes of the operating point -------------------------------------------------------------

LONG = """
[app]
name = "long"
frame_rate = 10

[[task]]
name = "long"
core = {core}
cycles = 4000000000
firings = 2

[[task]]
name = "clock"
core = 0
periodic = true
cycles = 10
firings = 2
"""
POINTS = f"""count = 2

[[core.point]]
mhz = 500
active_mw = 50

[[core.point]]
mhz = 1000
active_mw = 100

[core.transition]
time_us = 1000
energy_uj = 0
{SOURCE}"""
TABLE = """
[[row]]
frame_rate = 10
mapping = {}
frequency_mhz = 1000

[[row]]
frame_rate = 20
mapping = {}
frequency_mhz = 500
"""


@pytest.mark.parametrize("core", [0, 1], ids=["decides", "is-asked"])
@pytest.mark.parametrize("rest", ["", JOBS], ids=["steps", "stacks"])
def test_a_frequency_changes_in_the_midst_of_a_firing(rest: str, core: int, tmp_path: Path) -> None:
    """Asked for at 1 s: 1 s of 4 at 1 GHz, 1 ms of transition, and 3 + 4 s of cycles at half of it.

    On the core that decides, and on one that the coordinator asks; `clock` takes what it takes.
    """
    (tmp_path / "table.toml").write_text(TABLE)
    options = ("--table", str(tmp_path / "table.toml"), "--agents", "100ms", "--rate", "20@1s")
    app = LONG.replace("{core}", str(core))
    summary = simulate(tmp_path, app, platform(POINTS, rest=rest), *options)
    points = {point["hz"]: point["active_ns"] for point in summary["cores"][core]["points"]}
    assert points[1_000_000_000] == pytest.approx(1_000_000_000, abs=20)
    assert points[500_000_000] == pytest.approx(14_001_000_000, abs=100)
    assert summary["time_ns"] == pytest.approx(15_001_000_000, abs=100)
