# SPDX-License-Identifier: Apache-2.0
"""The cocotb tests of each module, for several sizes."""

from bench import simulate


def test_hw_rtos_directed() -> None:
    simulate("hw_rtos", "hw_rtos_directed", {"NumCores": 2, "NumTasks": 16, "NumPorts": 16})


def test_lock_unit_directed() -> None:
    simulate("lock_unit", "lock_unit_directed", {"NumCores": 2})
