# SPDX-License-Identifier: Apache-2.0
"""What READMEs state of the kernels of kernels/riscv on the model of the SoC."""

from __future__ import annotations

import os
import statistics
import sys
from functools import cache
from pathlib import Path

import pytest

REPRODUCE = Path(__file__).resolve().parents[2] / "reproduce"
sys.path += [str(REPRODUCE / folder) for folder in ("nacul2007/rtl", "common", "lee2009")]

import costs_of  # noqa: E402
import model  # noqa: E402
from lab import Lab, Setting  # noqa: E402
from stated import check, check_words, stated  # noqa: E402

README = "reproduce/nacul2007/README.md"
WAIT_STATES = (0, 4, 10)
# Where code lies in the caches changes with every line of the middleware.
WITHIN = 0.1

heavy = pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")


def switches(image: Path) -> list[float]:
    """Of one of the kernels, and how many times fewer cycles than FreeRTOS's the one at 4 is."""
    counted = [
        statistics.median(costs_of.measure(wait_states, "switch", image)["switch"])
        for wait_states in WAIT_STATES
    ]
    return [*counted, stated(README, "FreeRTOS, `xQueueReceive`")[1] / counted[1]]


def test_the_readme_states_what_a_switch_of_our_kernel_takes() -> None:
    label = "our kernel ([kernels/riscv](../../kernels/riscv)), scheduled by software"
    check(README, (label,), switches(costs_of.IMAGE), WITHIN)


@heavy
def test_the_readme_states_what_a_switch_takes_that_the_hardware_schedules() -> None:
    model.build(costs_of.HARDWARE)
    label = "the same, scheduled by the HW-RTOS (`rv32_soc:hardware`)"
    check(README, (label,), switches(costs_of.HARDWARE), WITHIN)


@cache
def costs() -> dict[str, float]:
    """The median of every cost, in cycles."""
    found = {name: statistics.median(taken) for name, taken in costs_of.measure(4).items()}
    return found | {"checkpoint": found["1000_checkpoints"] / 1000}


@heavy
@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("a checkpoint without a request", ("checkpoint",)),
        ("a message of 4 bytes: sent, received", ("send_4", "receive_4")),
        ("of 1024 bytes: sent, received", ("send_1024", "receive_1024")),
        ("a switch through a blocking receive", ("switch",)),
        ("a message to a task on a core that sleeps", ("wake_other_core",)),
        ("a hand-off to a core that sleeps", ("handoff",)),
        (
            "of it until it is parked, attached, running",
            ("handoff_parked", "handoff_attached", "handoff_running"),
        ),
    ],
)
def test_the_readme_states_what_the_middleware_costs(label: str, names: tuple[str, ...]) -> None:
    assumed = costs_of.assumed()
    of_smp2 = [assumed[name] for name in names if name in assumed]
    check(README, (label,), [*(costs()[name] for name in names), *of_smp2], WITHIN)


@heavy
def test_the_sentence_states_the_message_of_the_table() -> None:
    words = "A message that is there already is received in {} cycles"
    check_words(README, words, [costs()["receive_4"]], WITHIN)


@heavy
def test_the_readme_states_the_phases_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    counted = [
        us * 10  # its second has ten million cycles
        for size in (128, 8192)
        for us in Lab(tmp_path).count(f"of_{size}", Setting(size, 20)).phases_us()[:5]
    ]
    words = "in cycles: 128 bytes {}, {}, {}, {}, {}; 8 KiB {}, {}, {}, {}, {}"
    check_words("reproduce/lee2009/README.md", words, counted, WITHIN)
