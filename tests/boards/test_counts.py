# SPDX-License-Identifier: Apache-2.0
"""What the board's kernel costs, in instructions: the same in every run."""

from __future__ import annotations

import re
import sys

import emulated

sys.path.append(str(emulated.ROOT / "reproduce/common"))

from stated import check_words

HAND_OFF_MOST = 1000


def counted(case: str) -> str:
    run = emulated.run("=" + case, mode=emulated.INSTRUCTIONS)
    assert run.status == 0, run.text
    print(run.text)
    return run.text


def test_an_idle_checkpoint_takes_three_instructions() -> None:
    text = counted("an_idle_checkpoint_takes_three_instructions")
    assert float(re.search(r"an idle checkpoint: (\S+)", text)[1]) == 3.0


def test_a_hand_off_takes_the_same_whatever_moves() -> None:
    text = counted("a_hand_off_takes_as_long_for_a_large_task_as_for_a_small_one")
    small, large = (int(n) for n in re.findall(r"median (\d+)", text))
    assert abs(large - small) < small / 20
    assert large < HAND_OFF_MOST
    counts = re.search(r"median (\d+), .*parts \d+ \d+ (\d+)", text)
    total, attach = map(int, counts.groups())
    # The target hears of it some instructions before or after the source is done: the medians of
    # these two parts are of different moves.
    words = "{} instructions to detach and to reach the target, {} to attach and run: {} in all"
    said = [total - attach, attach, total]
    check_words("reproduce/holmbacka2013/README.md", words, said, within=0.01)
