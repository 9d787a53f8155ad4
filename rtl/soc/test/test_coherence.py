# SPDX-License-Identifier: Apache-2.0
"""What each way to keep data caches coherent costs, and what more cores do; as docs/soc.md says."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "reproduce/common"))

from stated import check  # noqa: E402

PAGE = "docs/soc.md"
WAYS = ("snooping", "shared_uncached", "nothing_cached")
KINDS = ("fits", "does_not_fit")
# The compiler of the programs is the machine's; in the hardware nothing is by chance.
WITHIN = 0.001

heavy = pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")


def measured(tool: str, *options: str) -> dict[str, int]:
    """The cycles of each row that a tool of rtl/soc prints."""
    command = [ROOT / "rtl/soc" / tool, "--json", *options]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    return {row["bench"]: row["p50"] for row in json.loads(printed)}


@cache
def ways(wait_states: str) -> list[int]:
    """The cycles of each way."""
    cycles = measured("coherence", "--wait-states", wait_states)
    return [cycles[f"rtl.coherence.{way}.{wait_states}"] for way in WAYS]


def test_snooping_is_quickest_and_no_cache_slowest() -> None:
    took = ways("4")
    assert took == sorted(took)
    assert took[2] > 1.5 * took[0]


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("0 wait states", marks=heavy),
        "4 wait states",
        pytest.param("10 wait states", marks=heavy),
    ],
)
def test_the_page_states_what_each_way_costs(label: str) -> None:
    check(PAGE, (label,), ways(label.split()[0]), WITHIN)


@pytest.fixture(scope="module")
def scaling() -> dict[str, int]:
    targets = ["build/rtl/soc/c4_t16_p32_w4/whimbrel-soc", "build/rtl/programs/scaling.elf"]
    subprocess.run(["make", "--silent", "-C", ROOT, *targets], check=True)
    return measured("scaling")


@heavy
@pytest.mark.parametrize("label", ["1 core", "2 cores", "3 cores", "4 cores"])
def test_the_page_states_what_more_cores_do(scaling: dict[str, int], label: str) -> None:
    took = [scaling[f"rtl.scaling.{kind}.{label.split()[0]}"] for kind in KINDS]
    check(PAGE, (label,), took, WITHIN)
