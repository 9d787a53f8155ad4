# SPDX-License-Identifier: Apache-2.0
"""What a core that has slept costs, and whom: as long as by hand, to the nanosecond."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import events, platform, simulate

RUN = 1
ROUNDS = 100
SLEPT = ROUNDS - 1
APP = f"""
[app]
name = "pair"

[[task]]
name = "source"
period_us = 1000
cycles = 1000
firings = {ROUNDS}

[[task]]
name = "sink"
core = 1
cycles = 1000

[[channel]]
from = "source.out"
to = "sink.in"
slot_bytes = 16
"""
SLEEP = """
[[core.idle_state]]
name = "sleep"
power_mw = 0
after_us = {after}
exit_us = 30
{more}
source = "ours: a test"
"""
COSTS = "ring_us = 10\nswitch_us = 0.5\nrefill_us = 2\n"
POINT = "[[core.point]]\nmhz = 1000\nactive_mw = 100\n"
COMMIT = '[costs.commit]\ntime_us = 1\nsource = "ours: a test"\n'


def pair(folder: Path, more: str = COSTS, *options: str, after: int = 100, rest: str = "") -> dict:
    """A source and a sink on cores of their own, which sleep between two frames."""
    core = "count = 2\n" + POINT + SLEEP.format(after=after, more=more)
    return simulate(folder, APP, platform(core, rest=rest), *options)


def busy(summary: dict) -> list[int]:
    """Nanoseconds of the source and of the sink."""
    return [task["busy_ns"] for task in summary["tasks"]]


def test_who_rings_pays_for_the_ring_and_who_wakes_for_its_cold_caches(tmp_path: Path) -> None:
    summary = pair(tmp_path)
    # A firing is 1 us. Nobody has slept before the first, and both wake once more to end.
    assert busy(summary) == [1_000 + SLEPT * 13_000 + 2_000, 1_000 + SLEPT * 3_000 + 2_000]
    assert [core["busy_ns"] for core in summary["cores"]] == busy(summary)


def test_the_first_switch_after_a_sleep_is_later_and_nobody_is_busy_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    pair(tmp_path, COSTS, "--record", str(folder))
    runs = [[e.time_ns for e in events(folder, core) if e.kind == RUN][-2] for core in (0, 1)]
    release_ns = SLEPT * 1_000_000 + 1
    # Out of the state and the switch; the firing, the ring, and the same on the other core.
    assert runs[0] == release_ns + 30_000 + 500
    assert runs[1] == runs[0] + 2_000 + 1_000 + 10_000 + 30_000 + 500


@pytest.mark.parametrize(
    ("more", "extra"),
    [
        ("", [0, 0]),
        ("ring_us = 10", [SLEPT * 10_000, 0]),
        ("refill_us = 2", [ROUNDS * 2_000] * 2),
        ("switch_us = 0.5", [0, 0]),
    ],
)
def test_each_cost_is_charged_by_itself(more: str, extra: list[int], tmp_path: Path) -> None:
    assert busy(pair(tmp_path, more)) == [ROUNDS * 1_000 + each for each in extra]


def test_a_core_that_has_not_slept_long_enough_costs_nothing(tmp_path: Path) -> None:
    assert busy(pair(tmp_path, after=2_000)) == [1_000 * ROUNDS] * 2


def test_what_else_takes_time_comes_on_top(tmp_path: Path) -> None:
    summary = pair(tmp_path, rest=COMMIT)
    without = pair(tmp_path)
    assert busy(summary)[1] == busy(without)[1]
    assert busy(summary)[0] - busy(without)[0] == ROUNDS * 1_000


def test_only_the_first_task_pays_and_its_neighbour_does_not(tmp_path: Path) -> None:
    task = "period_us = 1000\ncycles = 1000\nfirings = 100\n"
    app = '[app]\nname = "two"\n' + "".join(f'[[task]]\nname = "{n}"\n{task}' for n in "ab")
    core = POINT + SLEEP.format(after=100, more=COSTS)
    summary = simulate(tmp_path, app, platform(core))
    assert sorted(busy(summary)) == [100_000, 300_000]


FAR = """
[core.cache]
size = "64KiB"
line_bytes = 64
miss_ns = 0
far_ns = 10
source = "ours: a test"
"""


@pytest.mark.parametrize("slot_bytes", [64, 600])
def test_who_receives_from_another_core_reads_each_line_slower(
    slot_bytes: int, tmp_path: Path
) -> None:
    app = APP.replace("slot_bytes = 16", f"slot_bytes = {slot_bytes}")
    hardware = platform(f"count = 2\n{POINT}{FAR}")
    lines = -(-slot_bytes // 64)
    apart = simulate(tmp_path, app, hardware)
    assert busy(apart) == [ROUNDS * 1_000, ROUNDS * (1_000 + 10 * lines)]
    together = simulate(tmp_path, app.replace("core = 1\n", ""), hardware)
    assert busy(together) == [ROUNDS * 1_000] * 2
    # The first 51 frames it takes on the other core, and leaves at the checkpoint after them.
    moved = simulate(tmp_path, app, hardware, "--move", "sink=0@49500us")
    assert busy(moved) == [ROUNDS * 1_000, ROUNDS * 1_000 + 51 * 10 * lines]


def test_what_a_firing_receives_from_another_core_is_what_counts(tmp_path: Path) -> None:
    near = '[[task]]\nname = "near"\ncore = 1\nperiod_us = 1000\ncycles = 1\nfirings = 100\n'
    channel = '[[channel]]\nfrom = "near.out"\nto = "sink.near"\nslot_bytes = 6400\n'
    hardware = platform(f"count = 2\n{POINT}{FAR}")
    summary = simulate(tmp_path, APP + near + channel, hardware)
    # Half of one line for each of the two that it gives back, rounded up: a line each.
    assert busy(summary)[1] == ROUNDS * (1_000 + 2 * 10)


DISTURBED = """
[core.cache]
size = "64KiB"
line_bytes = 64
miss_ns = 0
disturbed = 0.2
disturbed_us = 50
source = "ours: a test"
"""


@pytest.mark.parametrize(("sleeps", "extra_us"), [(True, 10.0), (False, 0.0)])
def test_a_part_of_the_firings_after_a_sleep_is_disturbed_and_the_median_is_not(
    sleeps: bool, extra_us: float, tmp_path: Path
) -> None:
    task = "period_us = 1000\ncycles = 10000\nfirings = 4000\nworking_set = '64B'\n"
    app = f'[app]\nname = "one"\n[[task]]\nname = "t"\n{task}'
    state = SLEEP.format(after=100 if sleeps else 2_000, more="loses_cache = true")
    summary = simulate(tmp_path, app, platform(POINT + state + DISTURBED))
    # The draws have a variance of 0.2 * 2 * 50^2 - 10^2 = 900: four standard errors of the mean.
    assert busy(summary)[0] / 4000 / 1000 == pytest.approx(10 + extra_us, abs=4 * 30 / 4000**0.5)
    response = summary["tasks"][0]["response"]
    exit_ns = 30_000 if sleeps else 0
    assert response["p50_ns"] == pytest.approx(10_000 + exit_ns, rel=1 / 32)
    assert (response["max_ns"] > 150_000) == sleeps
