# SPDX-License-Identifier: Apache-2.0
"""What must hold of the measurements on the model of the SoC, which give the same everywhere."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

import switches


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
