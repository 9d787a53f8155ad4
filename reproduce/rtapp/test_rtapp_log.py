# SPDX-License-Identifier: Apache-2.0
"""What is read of rt-app's logs and of the machine."""

from __future__ import annotations

import scheduler
from threads import signed


def test_numbers_below_zero_are_read_however_they_are_written() -> None:
    assert [signed(word) for word in ("7", "-5", "18446744073709551611")] == [7, -5, -5]


def test_the_machines_scheduler_is_said_in_keys_of_a_core() -> None:
    keys = dict(line.split(" = ") for line in scheduler.core().splitlines())
    assert keys["scheduling"] == '"fair"'
    assert 500 <= float(keys["slice_us"]) <= 10_000
    assert int(keys["tick_us"]) in {10_000, 4_000, 3_333, 1_000}
    assert float(keys["timer_slack_us"]) >= 0
