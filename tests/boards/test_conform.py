# SPDX-License-Identifier: Apache-2.0
"""The conformance suite on FreeRTOS, on the four emulated cores of a Cortex-A9."""

from __future__ import annotations

import re

import emulated
import pytest

# Why a case is skipped: a program that is loaded here is no process.
CANNOT = {"a recreated task has no process of its own here", "these kernels do not share tasks"}
# Cases of so many steps that a board takes long for them: what their counts are multiplied by.
SLOW = {"tasks_of_every_mode_that_move_all_the_time_lose_double_and_reorder_nothing": 0.03}


@pytest.fixture(scope="module")
def cases() -> list[str]:
    if missing := emulated.missing():
        pytest.fail(f"the board cannot be emulated: {missing} is missing")
    return emulated.run("--list").text.split()


def failures(runs: dict[str, emulated.Run]) -> str:
    return "\n".join(
        f"{case}: status {run.status}\n{run.text}"
        for case, run in runs.items()
        if run.status != 0 or "1 passed, 0 failed" not in run.text
    )


@pytest.mark.parametrize("mode", [emulated.THREADS, emulated.COUNTED], ids=["threads", "counted"])
def test_every_case(cases: list[str], mode: tuple[str, ...]) -> None:
    runs = emulated.run_each(cases, mode, SLOW)
    assert not failures(runs), failures(runs)
    skipped = {
        case: why for case, run in runs.items() for why in re.findall("# skipped: (.*)", run.text)
    }
    for case, why in skipped.items():
        print(f"not on this board: {case}: {why}")
    print(f"{len(runs)} cases, {len(skipped)} of them not on this board")
    assert set(skipped.values()) <= CANNOT
    assert len(skipped) <= 10
