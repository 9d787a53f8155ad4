# SPDX-License-Identifier: Apache-2.0
"""The cocotb tests of each module, for several sizes."""

import pytest

from bench import simulate

SMALL = {"NumCores": 2, "NumTasks": 16, "NumPorts": 16}


def test_hw_rtos_directed() -> None:
    simulate("hw_rtos", "hw_rtos_directed", SMALL)


@pytest.mark.parametrize(
    "size",
    [
        SMALL,
        {"NumCores": 1, "NumTasks": 8, "NumPorts": 8, "WordsPerPort": 4},
        {"NumCores": 4, "NumTasks": 64, "NumPorts": 40, "WordsPerPort": 4, "BuffersInRam": 1},
    ],
    ids=lambda size: "_".join(map(str, size.values())),
)
def test_hw_rtos_random(size: dict[str, int]) -> None:
    simulate("hw_rtos", "hw_rtos_random", size)


def test_lock_unit_directed() -> None:
    simulate("lock_unit", "lock_unit_directed", {"NumCores": 2})
