# SPDX-License-Identifier: Apache-2.0
"""What is read of rt-app's logs and of the machine."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import scheduler
from threads import signed


def test_numbers_below_zero_are_read_however_they_are_written() -> None:
    assert [signed(word) for word in ("7", "-5", "18446744073709551611")] == [7, -5, -5]


def test_a_slice_is_as_the_kernel_says(tmp_path: Path) -> None:
    file = tmp_path / "base_slice_ns"
    file.write_text("3000000\n")
    assert scheduler.slice_us(file, processors=1) == 3000


@pytest.mark.parametrize(("processors", "slice_us"), [(1, 700), (2, 1400), (7, 2100), (64, 2800)])
def test_a_slice_that_cannot_be_read_is_computed(
    processors: int, slice_us: int, tmp_path: Path
) -> None:
    assert scheduler.slice_us(tmp_path / "none", processors) == slice_us


def test_slack_is_as_the_kernel_says_or_that_of_linux(tmp_path: Path) -> None:
    file = tmp_path / "timerslack_ns"
    assert scheduler.slack_us(file) == 50
    file.write_text("125500\n")
    assert scheduler.slack_us(file) == 125.5


CONFIG = "# CONFIG_HZ_PERIODIC is not set\nCONFIG_HZ_1000=y\nCONFIG_HZ=1000\nCONFIG_HZ_X=7\n"


@pytest.mark.parametrize("name", ["config.gz", "config-6.18"])
def test_ticks_are_as_the_kernel_was_configured(name: str, tmp_path: Path) -> None:
    raw = CONFIG.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name == "config.gz" else raw)
    assert scheduler.hz([tmp_path / "none", tmp_path / name]) == 1000


def test_ticks_are_those_of_most_where_no_file_says_them(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("CONFIG_SMP=y\n")
    assert scheduler.hz([tmp_path / "config", tmp_path / "none"]) == 250


def test_the_machines_scheduler_is_said_in_keys_of_a_core() -> None:
    keys = [line.split(" = ")[0] for line in scheduler.core().splitlines()]
    assert keys == ["scheduling", "slice_us", "tick_us", "timer_slack_us"]
