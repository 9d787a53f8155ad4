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
    # 1 us of cycles, 10 us of traffic and 40 ns of a message each time, to the nanosecond of a
    # job's cost.
    assert [task["busy_ns"] for task in summary["tasks"]] == pytest.approx([1_104_000] * 2, abs=2)


MESSAGES = """
[app]
name = "messages"

[[task]]
name = "source"
cycles = 1000
firings = 10
{source}
[[task]]
name = "sink"
core = {core}
cycles = 1000

[[channel]]
from = "source.out"
to = "sink.in"
slot_bytes = {slot_bytes}
slots = 10
{channel}"""
MIB = 1 << 20
# 1 MiB over 400 MB/s.
CROSSING_NS = 2_621_440


@pytest.mark.parametrize("claim", ["send", "start"])
def test_a_message_crosses_once_when_it_is_sent_and_once_when_received(
    claim: str, tmp_path: Path
) -> None:
    app = MESSAGES.format(source="", core=0, slot_bytes=MIB, channel=f'claim = "{claim}"\n')
    summary = simulate(tmp_path, app, platform("", rest=MEMORY))
    busy_ns = [10 * (CROSSING_NS + 1000)] * 2
    assert [task["busy_ns"] for task in summary["tasks"]] == busy_ns
    # Where there is no memory to cross to, it takes no time.
    free = simulate(tmp_path, app, platform(""))
    assert [task["busy_ns"] for task in free["tasks"]] == [10_000, 10_000]


def test_every_message_of_a_rate_crosses(tmp_path: Path) -> None:
    rates = "produce = 2\nconsume = 5\n"
    app = MESSAGES.format(source="", core=1, slot_bytes=4000, channel=rates)
    summary = simulate(tmp_path, app, platform("count = 2\n", rest=MEMORY))
    # 10 us each: 20 of them, by 10 firings of the one and 4 of the other.
    assert [task["busy_ns"] for task in summary["tasks"]] == [210_000, 204_000]


def test_traffic_of_a_task_comes_on_top_of_its_messages(tmp_path: Path) -> None:
    app = MESSAGES.format(source="traffic = 8000\n", core=1, slot_bytes=4000, channel="")
    summary = simulate(tmp_path, app, platform("count = 2\n", rest=MEMORY))
    assert [task["busy_ns"] for task in summary["tasks"]] == [310_000, 110_000]


def test_messages_of_two_cores_take_turns_on_the_bus(tmp_path: Path) -> None:
    task = '[[task]]\nname = "{n}{core}"\ncore = {core}\ncycles = 1000\n'
    source, sink = task + "firings = 1\n", task
    channel = '[[channel]]\nfrom = "a{core}.out"\nto = "b{core}.in"\nslot_bytes = {MIB}\n'
    text = "".join(
        source.format(n="a", core=core)
        + sink.format(n="b", core=core)
        + channel.format(core=core, MIB=MIB)
        for core in range(2)
    )
    hardware = platform("count = 2\n", rest=MEMORY + BUS)
    summary = simulate(tmp_path, f'[app]\nname = "both"\n{text}', hardware)
    # Both cores send at once, and then receive at once: each takes twice as long, but a turn.
    busy_ns = [2 * CROSSING_NS + 1000] * 4
    assert [each["busy_ns"] for each in summary["tasks"]] == pytest.approx(busy_ns, abs=100)


def test_a_message_costs_what_copying_it_costs(tmp_path: Path) -> None:
    costs = "".join(
        f"\n[costs.{action}]\ncycles = 100\ncycles_per_unit = {per_byte}\n{SOURCE}"
        for action, per_byte in (("send", 0.5), ("receive", 0.25))
    )
    app = MESSAGES.format(source="", core=1, slot_bytes=4000, channel="")
    summary = simulate(tmp_path, app, platform("count = 2\n", rest=MEMORY + costs))
    busy_ns = [10 * (1000 + 10_000 + 100 + cycles) for cycles in (2000, 1000)]
    assert [task["busy_ns"] for task in summary["tasks"]] == busy_ns


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


OTHER = """
[[task]]
name = "other"
core = 2
period_us = 10000
offset_frames = 0.0004
cycles = 1000
traffic = {traffic}
firings = 100
"""


@pytest.mark.parametrize("way", ["cooperative", "preemptive"])
@pytest.mark.parametrize("traffic", [640, 1280])
def test_a_copy_lasts_as_much_longer_as_others_have_the_bus(
    traffic: int, way: str, tmp_path: Path
) -> None:
    mover = MOVER[: MOVER.index('[[task]]\nname = "busy"')]
    options = ("--mode", "replicate", "--transport", "alias", "--move", "mover=1@501ms")
    hardware = platform(f'count = 3\nscheduling = "{way}"\n', rest=MEMORY + BUS)
    alone, beside = (
        the_move(simulate(tmp_path, mover + more, hardware, *options))
        for more in ("", OTHER.format(traffic=traffic))
    )
    # It begins 4 us after the copy, whose first page takes 10.24 us: in turns of 80 ns.
    assert alone["running_ns"] - alone["parked_ns"] > 10_240
    assert beside["parked_ns"] == alone["parked_ns"]
    assert beside["running_ns"] - alone["running_ns"] == traffic * 5 // 2


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
@pytest.mark.parametrize(
    ("way", "rest"),
    [("cooperative", ""), ("cooperative", JOBS), ("preemptive", ""), ("edf", "")],
    ids=["steps", "stacks", "preempts", "edf"],
)
def test_a_frequency_changes_in_the_midst_of_a_firing(
    way: str, rest: str, core: int, tmp_path: Path
) -> None:
    """Asked for at 1 s: 1 s of 4 at 1 GHz, 1 ms of transition, and 3 + 4 s of cycles at half of it.

    On the core that decides, and on one that the coordinator asks; `clock` takes what it takes.
    """
    (tmp_path / "table.toml").write_text(TABLE)
    options = (
        "--table",
        str(tmp_path / "table.toml"),
        "--agent-period",
        "100ms",
        "--frame-rate-change",
        "20@1s",
    )
    app = LONG.replace("{core}", str(core))
    made = f'scheduling = "{way}"\n{POINTS}'
    summary = simulate(tmp_path, app, platform(made, rest=rest), *options)
    points = {point["hz"]: point["active_ns"] for point in summary["cores"][core]["points"]}
    assert points[1_000_000_000] == pytest.approx(1_000_000_000, abs=20)
    assert points[500_000_000] == pytest.approx(14_001_000_000, abs=100)
    assert summary["time_ns"] == pytest.approx(15_001_000_000, abs=100)
