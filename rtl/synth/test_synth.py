# SPDX-License-Identifier: Apache-2.0
"""How large the hardware is."""

import os
import sys
from pathlib import Path

import pytest
from synth import SIZES, Size, count

sys.path.append(str(Path(__file__).resolve().parents[2] / "reproduce/common"))

from stated import check

PAPER = 20_000  # nacul2007, for two cores: "about 20k gates"


@pytest.fixture(scope="module")
def counted() -> dict:
    """Of two cores with 16 tasks and 16 ports."""
    return count((Size(),))[0]


def test_two_cores_with_16_tasks_and_16_ports_take_less_than_the_papers(counted: dict) -> None:
    print(counted)
    assert counted["flip_flops"] > 2 * 16 * 32  # the buffers are counted
    assert counted["with_buffers"] < PAPER


def check_row(row: dict) -> None:
    """The page states what was counted, to the gate."""
    size = [str(row[key]) for key in ("cores", "tasks", "ports", "words")]
    gates = ("hw_rtos", "buffers", "lock_unit", "with_buffers", "without_buffers")
    check("docs/rtl/README.md", size, [row[key] for key in gates], within=0)


def test_the_page_states_the_gates_of_the_papers_size(counted: dict) -> None:
    check_row(counted)


@pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")
def test_the_page_states_the_gates_of_every_size() -> None:
    for row in count(SIZES):
        check_row(row)
