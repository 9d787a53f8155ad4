# SPDX-License-Identifier: Apache-2.0
"""What READMEs state of the kernels of kernels/riscv on the model of the SoC."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import pytest

REPRODUCE = Path(__file__).resolve().parents[2] / "reproduce"
sys.path.append(str(REPRODUCE / "nacul2007/rtl"))
sys.path.append(str(REPRODUCE / "common"))

import costs_of  # noqa: E402
from stated import stated  # noqa: E402

README = "reproduce/nacul2007/README.md"
LABEL = "our kernel ([kernels/riscv](../../kernels/riscv)), scheduled by software"
WAIT_STATES = (0, 4, 10)
# Where code lies in the caches changes with every line of the middleware.
WITHIN = 0.1


def test_the_readme_states_what_a_switch_of_our_kernel_takes() -> None:
    counted = [
        statistics.median(costs_of.measure(wait_states, "switch")["switch"])
        for wait_states in WAIT_STATES
    ]
    assert stated(README, LABEL)[:3] == pytest.approx(counted, rel=WITHIN)
