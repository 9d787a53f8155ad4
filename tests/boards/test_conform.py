# SPDX-License-Identifier: Apache-2.0
"""The conformance suite on FreeRTOS, on the four emulated cores of a Cortex-A9."""

from __future__ import annotations

import re

import emulated
import pytest

# Why a case is skipped: a program that is loaded here is no process.
CANNOT = {"a recreated task has no process of its own here", "these kernels do not share tasks"}
# It has so many steps that a board takes long for them; and what their count is multiplied by.
SLOW = "tasks_of_every_mode_that_move_all_the_time_lose_double_and_reorder_nothing"
SLOW_SCALE = 0.03


@pytest.fixture(scope="module")
def cases() -> list[str]:
    if missing := emulated.missing():
        pytest.fail(f"the board cannot be emulated: {missing} is missing")
    return emulated.run("--list").text.split()


def check(text: str, cases: list[str]) -> None:
    """That each case is in what was said, and has passed or cannot be had."""
    passed = re.findall(r"^ok \d+ (\S+)", text, re.MULTILINE)
    assert sorted(passed) == sorted(cases)
    skipped = re.findall(r"^ok \d+ (\S+) # skipped: (.*)$", text, re.MULTILINE)
    for case, why in skipped:
        print(f"not on this board: {case}: {why}")
    print(f"{len(cases)} cases, {len(skipped)} of them not on this board")
    assert {why for _, why in skipped} <= CANNOT
    assert len(skipped) <= 10


def test_no_memory_is_where_the_linker_likes(cases: list[str]) -> None:
    """Each variable that is not zeroed has a section of its own, which the script must name."""
    assert cases
    assert b".noinit." not in (emulated.BUILD / "conform").read_bytes()


def test_every_case_in_turns_on_a_board_that_was_just_started(cases: list[str]) -> None:
    runs = emulated.run_each(cases, emulated.COUNTED, {SLOW: SLOW_SCALE})
    failures = [
        f"{case}: status {run.status}\n{run.text}" for case, run in runs.items() if run.status
    ]
    assert not failures, "\n".join(failures)
    check("".join(run.text for run in runs.values()), cases)


def test_every_case_as_threads_on_a_board_that_has_run_those_before(cases: list[str]) -> None:
    others = emulated.run(f"-{SLOW}", limit_s=5 * emulated.LIMIT_S)
    slow = emulated.run_each([SLOW], emulated.THREADS, {SLOW: SLOW_SCALE})[SLOW]
    for run in (others, slow):
        assert run.status == 0, run.text
    check(others.text + slow.text, cases)
