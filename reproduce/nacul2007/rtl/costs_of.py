# SPDX-License-Identifier: Apache-2.0
"""Runs costs.c on the model: what the middleware costs with its kernel, where
tasks are scheduled by software or by the HW-RTOS."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

from model import PROGRAMS, ROOT, model, run_text

IMAGE = PROGRAMS / "costs/costs"
HARDWARE = PROGRAMS / "costs_hardware/costs"
SMALL, LARGE = 4, 1024  # bytes of a message


def samples(text: str) -> dict[str, list[int]]:
    """Of the lines `cost NAME CYCLES` of a program, by name."""
    found: dict[str, list[int]] = defaultdict(list)
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "cost":
            found[words[1]].append(int(words[2]))
    return found


def measure(wait_states: int, part: str = "", image: Path = IMAGE) -> dict[str, list[int]]:
    """The samples of each cost, in cycles; of the cases with `part` in their names."""
    return samples(run_text(model(), image, wait_states, line=f"{part}\n"))


def assumed() -> dict[str, float]:
    """What platform smp2 assumes of them."""
    platform = tomllib.loads((ROOT / "platforms/smp2.toml").read_text())
    costs = platform["costs"]
    found = {"switch": costs["switch"]["cycles"], "checkpoint": costs["checkpoint"]["cycles"]}
    for name in ("send", "receive"):
        for n in (SMALL, LARGE):
            found[f"{name}_{n}"] = costs[name]["cycles"] + n * costs[name]["cycles_per_unit"]
    found["handoff_parked"] = costs["park"]["cycles"]
    found["handoff_attached"] = costs["attach"]["cycles"]
    return found
