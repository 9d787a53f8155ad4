# SPDX-License-Identifier: Apache-2.0
"""What the board's kernel costs, in instructions: the same in every run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import emulated
import pytest

sys.path.append(str(emulated.ROOT / "reproduce/common"))

from running import WHIMBREL
from stated import check_words

HAND_OFF_MOST = 1000
AM62P = tomllib.loads((emulated.ROOT / "platforms/am62p.toml").read_text())
CLOCK_STEP = 16  # instructions between two counts of the clock of virt_a64
COUNTED_ONCE = ("post", "serve", "park", "rung")  # the others in loops


def counted(case: str, board: emulated.Board = emulated.VEXPRESS) -> str:
    run = emulated.run("=" + case, mode=emulated.INSTRUCTIONS, board=board)
    assert run.status == 0, run.text
    print(run.text)
    return run.text


def test_an_idle_checkpoint_takes_three_instructions() -> None:
    text = counted("an_idle_checkpoint_takes_three_instructions")
    assert float(re.search(r"an idle checkpoint: (\S+)", text)[1]) == 3.0


def test_the_sabrelite_finds_out_how_fast_its_clock_counts() -> None:
    """The clock counts instructions: at one MHz more or less, three would be 2.97 or 3.03."""
    text = counted("an_idle_checkpoint_takes_three_instructions", emulated.SABRELITE)
    assert abs(float(re.search(r"an idle checkpoint: (\S+)", text)[1]) - 3) < 0.015


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


def acts(*cases: str) -> dict[str, int]:
    """What each act takes on a Cortex-A53."""
    text = "".join(counted(case, emulated.VIRT) for case in cases)
    return {name: int(n) for name, n in re.findall(r"^# (\w+): (\d+)$", text, re.MULTILINE)}


def test_the_platform_am62p_has_what_is_counted() -> None:
    n = acts(
        "messages_memory_and_rings_are_counted",
        "a_switch_between_two_tasks_is_counted",
        "a_message_that_wakes_another_core_is_counted",
    )
    checkpoint = counted("an_idle_checkpoint_takes_three_instructions", emulated.VIRT)
    hops = counted("a_hand_off_takes_as_long_for_a_large_task_as_for_a_small_one", emulated.VIRT)
    whole, detach = map(int, re.search(r"median (\d+), .*parts (\d+)", hops).groups())
    n["checkpoint"] = int(float(re.search(r"an idle checkpoint: (\S+)", checkpoint)[1]))
    post = n["notify"] - n["commit"] - n["ring"]
    expected = {name: n[name] for name in ("claim", "commit", "hold", "release", "switch", "heap")}
    expected |= {
        "checkpoint": n["checkpoint"],
        "send": n["send"] - n["claim"] - n["commit"],
        "receive": n["receive"] - n["hold"] - n["release"],
        "post": post,
        "serve": n["wake"] - n["switch"],
        "park": detach - n["checkpoint"] - post,
        "ring": n["ring"],
        "rung": n["way"] - n["ring"],
    }
    there = {name: cost for name, cost in AM62P["costs"].items() if name in expected}
    there |= {"ring": AM62P["doorbell"]["send"], "rung": AM62P["doorbell"]["receive"]}
    cycles = {name: cost.get("cycles", cost.get("cycles_per_unit")) for name, cost in there.items()}
    off = {
        name: (cycles[name], want)
        for name, want in expected.items()
        if abs(cycles[name] - want) > (CLOCK_STEP if name in COUNTED_ONCE else 1 + want / 20)
    }
    assert not off, f"platforms/am62p.toml: (there, counted) {off}"
    charged = ("checkpoint", "park", "post", "ring", "rung", "serve", "switch")
    assert abs(sum(cycles[name] for name in charged) - whole) <= whole / 20


@pytest.mark.skipif(
    "PUBLISHED_ALL" not in os.environ, reason="in `make soak`: the radio takes half a minute"
)
def test_the_platform_am62p_has_the_cycles_of_the_radio(tmp_path: Path) -> None:
    board = emulated.ROOT / "boards/virt_a64"
    text = (board / "board.toml").read_text()
    for old, new in (
        (
            '"-smp", "4",',
            f'"-smp", "4", "{emulated.INSTRUCTIONS[0]}", "{emulated.INSTRUCTIONS[1]}",',
        ),
        ('cmake = "."', f'cmake = "{board}"'),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "board.toml").write_text(text)
    words = [
        str(WHIMBREL),
        "run",
        str(emulated.ROOT / "apps/fm_radio/app.toml"),
        "--fast",
        "--json",
    ]
    words += ["--quiet", "--board", str(tmp_path / "board.toml"), "--set", "output="]
    there = {work["task"]: work["cycles"] for work in AM62P["work"]}
    off = dict.fromkeys(there, (0.0, 0.0))
    # The more the machine is held up, the more of the launcher's questions interrupt a task.
    for _ in range(3):
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=4 * emulated.LIMIT_S, check=False
        )
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        busy, firings = Counter(), Counter()
        for task in summary["tasks"]:
            busy[task["task"]] += task["busy_ns"]
            firings[task["task"]] += task["firings"]
        off = {
            task: (cycles, busy[task] / firings[task])
            for task, cycles in there.items()
            if abs(cycles * firings[task] / busy[task] - 1) > 1 / 20
        }
        assert set(there) == set(busy)
        if not off:
            break
    assert not off, f"platforms/am62p.toml: (there, counted) {off}"
