# SPDX-License-Identifier: Apache-2.0
"""Ordinary tasks of FreeRTOS that move between kernels, on the four emulated cores."""

from __future__ import annotations

import re

import emulated
import pytest

CASES = ["keeps", "moves_asleep", "refuses", "outcomes", "deletes", "mixes"]


def expect_ok(case: str, *words: str, mode: tuple[str, ...]) -> None:
    run = emulated.run(case, *words, mode=mode, program=emulated.BUILD / "ordinary")
    assert (run.status, run.text.splitlines()[-1:]) == (0, [f"ok {case}"]), run.text


@pytest.mark.parametrize("case", CASES)
def test_as_threads_of_the_host(case: str) -> None:
    expect_ok(case, mode=emulated.THREADS)


@pytest.mark.parametrize("case", CASES)
def test_by_counted_instructions(case: str) -> None:
    expect_ok(case, "exact", mode=emulated.COUNTED)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("asserts", r"core 0: configASSERT fails in line \d+ of tasks\.c"),
        ("crashes", "core 1: crasher: it touched memory that is not its at address 0x10"),
    ],
)
def test_what_goes_wrong_is_told_though_there_is_no_launcher(case: str, said: str) -> None:
    run = emulated.run(case, program=emulated.BUILD / "ordinary")
    assert run.status == 2 and re.fullmatch(said, run.text.strip()), run
