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


PAGE = "reproduce/acquaviva2008/README.md"
HANDED = "a hand-off of a task with 1, 4, 16, 64 KiB in use"
FETCHED = "what it then fetches again, of 4 KiB"
COPIED = "a copy of 0.5, 2, 8, 32 KiB"
IMAGES = "an image of 1, 4, 16, 64 KiB"
LINE = "a line through the images: intercept, slope"
AGENT = "a tick of the agent with 8, 16 tasks, caches emptied before"
TABLE = "the coordinator's table in addition, 8, 16 tasks"
SHARES = "of a core of 100 MHz, 16 tasks, at 1, 10, 100 Hz"
TICK = "all that a tick takes from a task that runs: timer, interrupt and inbox are in it"
CHECKPOINT = "a checkpoint without a request"
RADIO = "of the radio's tasks, one checkpoint for a frame of 40 samples"


def test_the_readme_states_what_is_counted(taken: cycles.Medians) -> None:
    check(PAGE, ("7", HANDED), [taken["handoff", kib] for kib in cycles.SIZES_KIB], WITHIN)
    # What of a small part lies in the way of code is up to the linker.
    sizes = (1, cycles.CACHE_KIB)
    few, again = (taken["first_pass", kib] - taken["second_pass", kib] for kib in sizes)
    assert 0 < few < again / 2
    check(PAGE, ("7", FETCHED), [again], WITHIN)
    copies = [cost for (name, _), cost in sorted(taken.items()) if name == "copy"]
    check(PAGE, ("7", COPIED), copies, WITHIN)
    agents = [taken["agent", tasks] for tasks in cycles.TASKS]
    check(PAGE, ("6 (b)", AGENT), agents, WITHIN)
    tables = [taken["both", tasks] - taken["agent", tasks] for tasks in cycles.TASKS]
    check(PAGE, ("6 (a)", TABLE), tables, WITHIN)
    for figure, theirs, ticks in (
        ("6 (b)", "at 100 Hz < 0.25 %", agents),
        ("6 (a)", "negligible", tables),
    ):
        shares = [cycles.share(ticks[-1], hz) for hz in cycles.RATES_HZ]
        check(PAGE, (figure, SHARES, theirs), shares, WITHIN)


heavy = pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What `run` prints, by row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runs")))
        return {row["what"]: row["ours"] for row in cycles.rows()}


@heavy
def test_the_readme_states_what_images_take(every: dict[str, float]) -> None:
    images = [every[f"figure 16: with an image, {kib} KiB"] for kib in cycles.SIZES_KIB]
    check(PAGE, ("7, 16", IMAGES), images, WITHIN)
    line = [every[f"figure 7: an image, {name}"] for name in ("intercept", "slope")]
    points = list(zip(map(float, cycles.SIZES_KIB), images, strict=True))
    check(PAGE, ("7", LINE, "104986 cycles,"), [*line, cycles.fit(points).r2], WITHIN)


@heavy
def test_the_readme_states_what_ticks_and_checkpoints_take(every: dict[str, float]) -> None:
    whole = every["figure 6 (b): all that a tick takes from a task"]
    check(PAGE, ("6 (b)", TICK), [whole], WITHIN)
    check(PAGE, ("16", CHECKPOINT), [every["figure 16: a checkpoint"]], WITHIN)
    radio = [cost for what, cost in every.items() if what.startswith("figure 16 (b)")]
    check(PAGE, ("16 (b)", RADIO, "< 1 % each"), [min(radio), max(radio)], WITHIN)
