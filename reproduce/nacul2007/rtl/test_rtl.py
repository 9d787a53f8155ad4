# SPDX-License-Identifier: Apache-2.0
"""What must hold of the measurements on the model of the SoC, which give the same everywhere."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

import columns
import pytest
import switches
import traces


def median(name: str) -> float:
    return statistics.median(sample[0] for sample in switches.measure(name, 4))


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


def test_tasks_that_may_be_on_any_core_process_more_packets_with_fewer_idle_cycles() -> None:
    static, dynamic = (columns.measure("packets", column) for column in (STATIC, DYNAMIC))
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
