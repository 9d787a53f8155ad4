# SPDX-License-Identifier: Apache-2.0
"""The conformance suite on FreeRTOS, on four emulated cores of each board."""

from __future__ import annotations

import re

import emulated
import pytest

# Why a case is skipped: a program loaded here is no process; and on a board that loads none.
CANNOT = {
    "a recreated task does not get its own process here",
    "these kernels do not share tasks",
    "the program has no re-entry",
}
UNLOADED = {"no program can be loaded here"}
# The reasons on each board, and how many cases they are at most.
SKIPPED = {
    emulated.VEXPRESS: (CANNOT, 12),
    emulated.REALVIEW: (CANNOT, 12),
    emulated.SABRELITE: (CANNOT, 12),
    emulated.VIRT: (CANNOT | UNLOADED, 26),
}
# What all counts are multiplied by, but in `make soak`, where the kernel is that of another board.
# With less a case can be over before anything of it has moved.
LESS = {emulated.SABRELITE: 0.05, emulated.VIRT: 0.05}
SCALE = LESS if emulated.LONGER == 1 else {}
# It has so many steps that a board takes long for them; and what their count is multiplied by.
SLOW = "tasks_of_every_mode_that_move_all_the_time_lose_double_and_reorder_nothing"
SLOW_SCALE = 0.03
# A board that boots as another does: `whimbrel run` boots it in any case (test_run.py).
BOARDS = [board for board in SKIPPED if board != emulated.REALVIEW or emulated.LONGER != 1]


@pytest.fixture(scope="module", params=BOARDS, ids=lambda board: board.name)
def board(request: pytest.FixtureRequest) -> emulated.Board:
    if missing := emulated.missing(request.param):
        pytest.fail(f"the board cannot be emulated: {missing} is missing")
    return request.param


@pytest.fixture(scope="module")
def cases(board: emulated.Board) -> list[str]:
    return emulated.run("--list", board=board).text.split()


def check(board: emulated.Board, text: str, cases: list[str]) -> None:
    """That each case is in what was said, and has passed or cannot be had."""
    passed = re.findall(r"^ok \d+ (\S+)", text, re.MULTILINE)
    assert sorted(passed) == sorted(cases)
    skipped = re.findall(r"^ok \d+ (\S+) # skipped: (.*)$", text, re.MULTILINE)
    for case, why in skipped:
        print(f"not on this board: {case}: {why}")
    print(f"{len(cases)} cases, {len(skipped)} of them not on this board")
    reasons, most = SKIPPED[board]
    assert {why for _, why in skipped} <= reasons
    assert len(skipped) <= most


def test_a_scale_before_the_name_of_a_case_selects_none_by_itself(
    board: emulated.Board, cases: list[str]
) -> None:
    assert emulated.run("scale=0.02", "--list", board=board).text.split() == cases
    run = emulated.run("scale=0.02", f"={cases[0]}", board=board)
    assert f"ok 1 {cases[0]}" in run.text and "1 passed, 0 failed" in run.text


def test_no_memory_is_where_the_linker_likes(board: emulated.Board, cases: list[str]) -> None:
    """Each variable that is not zeroed has a section of its own, which the script must name."""
    assert cases
    assert b".noinit." not in (board.build / "conform").read_bytes()


def all_pass(board: emulated.Board, mode: tuple[str, ...]) -> str:
    """What all cases say, one after the other; the slow one has a board and a count of its own."""
    scale = [f"scale={SCALE[board]}"] if board in SCALE else []
    others = emulated.run(f"-{SLOW}", *scale, mode=mode, limit_s=5 * emulated.LIMIT_S, board=board)
    slow = emulated.run_each([SLOW], mode, {SLOW: SLOW_SCALE}, board)[SLOW]
    for run in (others, slow):
        assert run.status == 0, run.text
    return others.text + slow.text


def test_every_case_in_turns(board: emulated.Board, cases: list[str]) -> None:
    """Of the other board only in `make soak`: the kernel is the same."""
    if board != emulated.VEXPRESS and emulated.LONGER == 1:
        pytest.skip("in `make soak`")
    check(board, all_pass(board, emulated.COUNTED), cases)


def test_every_case_as_threads(board: emulated.Board, cases: list[str]) -> None:
    check(board, all_pass(board, emulated.THREADS), cases)


@pytest.mark.skipif(emulated.LONGER == 1, reason="in `make soak`: a board is started for each case")
def test_every_case_in_turns_on_a_board_that_was_just_started(
    board: emulated.Board, cases: list[str]
) -> None:
    runs = emulated.run_each(cases, emulated.COUNTED, {SLOW: SLOW_SCALE}, board)
    failures = [
        f"{case}: status {run.status}\n{run.text}" for case, run in runs.items() if run.status
    ]
    assert not failures, "\n".join(failures)
    check(board, "".join(run.text for run in runs.values()), cases)
