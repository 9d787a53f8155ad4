# SPDX-License-Identifier: Apache-2.0
"""What must hold of a move on the SoC, in cycles, which are the same everywhere."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent))

sys.path.append(str(Path(__file__).resolve().parents[2] / "common"))

import cycles
from stated import check

PARTS = ("a_hand_off_costs", "a_copy_costs", "a_tick_costs")


@pytest.fixture(scope="module")
def taken() -> cycles.Medians:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {key: cost for part in pool.map(cycles.measure, PARTS) for key, cost in part.items()}


def test_a_hand_off_takes_the_same_whatever_the_size_of_the_task(taken: cycles.Medians) -> None:
    moves = [taken["handoff", kib] for kib in cycles.SIZES_KIB]
    assert max(moves) < 1.5 * min(moves)


def test_a_copy_grows_with_the_size(taken: cycles.Medians) -> None:
    sizes = sorted((number, cost) for (name, number), cost in taken.items() if name == "copy")
    (small, least), (large, most) = sizes[0], sizes[-1]
    assert most / least > large / small / 2
    assert most > taken["handoff", 64]


def test_a_tick_of_an_agent_takes_less_than_the_paper_allows_at_10_hz(
    taken: cycles.Medians,
) -> None:
    most = cycles.PUBLISHED["figure6"]["agent_most_percent"]
    for tasks in cycles.TASKS:
        assert 0 < taken["agent", tasks] < taken["both", tasks]
    assert cycles.share(taken["agent", 16], 10) < most


# The middleware's kernel is in it: a few lines elsewhere move its code in the caches.
WITHIN = 0.1


def test_the_readme_states_what_is_counted(taken: cycles.Medians) -> None:
    page = "reproduce/acquaviva2008/README.md"
    of_sizes = [taken["handoff", kib] for kib in cycles.SIZES_KIB]
    check(page, ("7", "a hand-off of a task with 1, 4, 16, 64 KiB in use"), of_sizes, WITHIN)
    copies = [cost for (name, _), cost in sorted(taken.items()) if name == "copy"]
    check(page, ("7", "a copy of 0.5, 2, 8, 32 KiB"), copies, WITHIN)
    agents = [taken["agent", tasks] for tasks in cycles.TASKS]
    row = "a tick of the agent with 8, 16 tasks, caches emptied before"
    check(page, ("6 (b)", row), agents, WITHIN)
    tables = [taken["both", tasks] - taken["agent", tasks] for tasks in cycles.TASKS]
    check(page, ("6 (a)", "the coordinator's table besides, 8, 16 tasks"), tables, WITHIN)
