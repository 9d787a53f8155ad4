# SPDX-License-Identifier: Apache-2.0
"""What must hold of the measurements on the model of the SoC, which give the same everywhere."""

from __future__ import annotations

import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "common"))

import columns
import pytest
import switches
import traces
from stated import check

README = "reproduce/nacul2007/README.md"
# Where code lies in the caches changes with what is linked before it.
SWITCH_WITHIN, TABLE_WITHIN = 0.01, 0.03


@cache
def median(name: str, wait_states: int = 4) -> float:
    return statistics.median(sample[0] for sample in switches.measure(name, wait_states))


def test_a_switch_in_hardware_takes_a_tenth_of_that_of_freertos() -> None:
    assert 10 * median("call") < median("freertos")


def test_a_receive_that_is_inlined_stores_and_takes_less() -> None:
    assert median("here") < 0.8 * median("call")


def test_every_switch_of_the_hardware_takes_the_same() -> None:
    samples = [sample[0] for sample in switches.measure("call", 4)]
    assert len(samples) == 256
    assert max(samples) - min(samples) <= 2


def test_the_next_task_is_known_within_32_cycles_of_the_receive() -> None:
    for wait_states in switches.WAIT_STATES:
        assert max(sample[2] for sample in switches.measure("call_stages", wait_states)) <= 32


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("freertos", "FreeRTOS, `xQueueReceive`"),
        ("call", "HW-RTOS, a call of C: 15 words are stored"),
        ("here", "HW-RTOS, receive is inlined: 2 words, and what the compiler keeps"),
    ],
)
def test_the_readme_states_what_a_switch_takes(name: str, label: str) -> None:
    counted = [median(name, wait_states) for wait_states in switches.WAIT_STATES]
    times = [] if name == "freertos" else [median("freertos") / median(name)]
    check(README, (label,), counted + times, SWITCH_WITHIN)


def test_the_stages_of_a_switch_are_all_of_it() -> None:
    total = statistics.median(sample[0] for sample in switches.measure("here_stages", 4))
    assert sum(cycles for _, cycles in switches.stages("here", 4)) == total


SOFTWARE, SINGLE, STATIC, DYNAMIC = columns.PAPER
PIXELS = "image_filter: 1 pictures of 24 x 28, 672 pixels, CRC-32 59163f59\n"
PACKETS = """\
packets: 36 received, 70 bits corrected
packets: 12 to forward, 882 bytes, CRC-32 1da329a0
packets: 4 to store, 2139 bytes, CRC-32 0e8134aa
packets: 20 discarded: 20 by a rule, 0 damaged, 0 for want of room
"""


@pytest.mark.parametrize("column", [SOFTWARE, DYNAMIC], ids=lambda column: column.name)
def test_the_image_filter_gives_what_it_gives_elsewhere(column: columns.Column) -> None:
    assert columns.finish("small", column) == PIXELS


@pytest.mark.parametrize("column", [SOFTWARE, DYNAMIC], ids=lambda column: column.name)
def test_the_packets_become_what_they_become_elsewhere(column: columns.Column) -> None:
    assert columns.finish("packets", column) == PACKETS


def test_hardware_filters_more_pixels_than_freertos_and_two_cores_more_than_one() -> None:
    software, single, static = (
        columns.measure("image_filter", column, cycles=200_000).done
        for column in (SOFTWARE, SINGLE, STATIC)
    )
    assert 1.5 * software < single < static / 1.3


@pytest.fixture(scope="module")
def first_million() -> dict[str, list[columns.Measured]]:
    """Of both benchmarks, in the columns of the paper."""
    places = [(app, column) for app in columns.WINDOWS for column in columns.PAPER]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda place: columns.measure(*place), places))
    half = len(columns.PAPER)
    return {"image_filter": found[:half], "packets": found[half:]}


def idle(entries: list[columns.Measured] | list[columns.Mean]) -> list[float]:
    """Of the cores that tasks may be on."""
    cores = [1 if column.mapping == "1" else 2 for column in columns.PAPER]
    return [sum(one.idle[:n]) for one, n in zip(entries, cores, strict=True)]


def test_the_readme_states_table_1(first_million: dict[str, list[columns.Measured]]) -> None:
    pixels, packets = first_million["image_filter"], first_million["packets"]
    row = "RTL, the first million"
    check(README, ("pixels", row), [m.done for m in pixels], TABLE_WITHIN)
    check(README, ("packets", row), [m.done for m in packets], TABLE_WITHIN)
    check(README, ("idle cycles, packets", row), idle(packets), TABLE_WITHIN)


@pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="a minute: `make soak` runs it")
def test_the_readme_states_the_means_of_table_1() -> None:
    means = columns.means()
    of = {app: [means[app, column.name] for column in columns.PAPER] for app in columns.WINDOWS}
    check(README, ("pixels", "RTL, mean"), [m.done for m in of["image_filter"]], TABLE_WITHIN)
    check(README, ("packets", "RTL, mean"), [m.done for m in of["packets"]], TABLE_WITHIN)
    check(README, ("idle cycles, packets", "RTL, mean"), idle(of["packets"]), TABLE_WITHIN)


def test_tasks_that_may_be_on_any_core_process_more_packets_with_fewer_idle_cycles(
    first_million: dict[str, list[columns.Measured]],
) -> None:
    _, _, static, dynamic = first_million["packets"]
    assert static.done < dynamic.done
    assert sum(dynamic.idle) < sum(static.idle)


def test_what_is_shared_may_be_left_out_of_the_caches() -> None:
    uncached = next(column for column in columns.BEYOND if column.uncached)
    assert columns.finish("small", uncached) == PIXELS


def test_tasks_are_on_both_cores_where_they_may_be_and_on_one_where_not(tmp_path: Path) -> None:
    static, dynamic = (traces.trace("packets", figure, tmp_path) for figure in traces.FIGURES)
    assert static.moved() == []
    assert len(dynamic.moved()) >= 3
    assert all(cores for cores in dynamic.cores.values())
    assert static.vcd.read_text().startswith("$")
