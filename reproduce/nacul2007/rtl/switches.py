# SPDX-License-Identifier: Apache-2.0
"""Cycles of a context switch: just before a task receives, and has to wait, to when the next one
has received. In the HW-RTOS, and in FreeRTOS on one core of the same SoC."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import costs_of
from model import PROGRAMS, build, model, run

WAIT_STATES = (0, 4, 10)
SYSTEMS = {"freertos": "FreeRTOS", "call": "HW-RTOS", "here": "HW-RTOS, receive is inlined"}
# What switch.S stamps, and the last: the datum is there.
STAGES = (
    "receive called, the port is empty",
    "the next task is known",
    "stored: {stored} words",
    "fetched, its datum received",
)

Row = dict[str, Any]


def image(name: str) -> Path:
    return PROGRAMS / f"switch_{name}.elf"


def measure(name: str, wait_states: int) -> list[list[int]]:
    """Of each sample the cycles in all, and at each stamp."""
    text = run(model(), image(name), wait_states)
    return [[int(word) for word in line.split()] for line in text.splitlines()]


def quantile(samples: list[int], part: float) -> int:
    return sorted(samples)[min(len(samples) - 1, int(part * len(samples)))]


def row(name: str, samples: list[int], against: str, peer: float) -> Row:
    p50 = statistics.median(samples)
    return {
        "bench": name,
        "unit": "cycles",
        "min": min(samples),
        "mean": statistics.mean(samples),
        **{f"p{str(q)[2:].ljust(2, '0')}": quantile(samples, q) for q in (0.9, 0.99, 0.999)},
        "p50": p50,
        "max": max(samples),
        "n": len(samples),
        "against": against,
        "against_p50": peer,
        "ratio": peer / p50,
    }


def rows_at(wait_states: int) -> list[Row]:
    """Every way of switching, against FreeRTOS."""
    samples = {name: [s[0] for s in measure(name, wait_states)] for name in SYSTEMS}
    peer = statistics.median(samples["freertos"])
    return [
        row(f"switch.{name}.{wait_states}ws", taken, "FreeRTOS", peer)
        for name, taken in samples.items()
    ]


KERNELS = {"whimbrel": costs_of.IMAGE, "whimbrel_hardware": costs_of.HARDWARE}


def kernel_rows(wait_states: int, hardware: float) -> list[Row]:
    """The kernels of kernels/riscv with the middleware's channels, against the HW-RTOS's ports."""
    found = []
    for name, image in KERNELS.items():
        samples = costs_of.measure(wait_states, "switch", image)["switch"]
        found.append(row(f"switch.{name}.{wait_states}ws", samples, "HW-RTOS", hardware))
    return found


def known_row(wait_states: int) -> Row:
    """Until the next task is known. The paper has no number, and 32 is what is wanted."""
    samples = [s[2] for s in measure("call_stages", wait_states)]
    return row(f"switch.next_known.{wait_states}ws", samples, "32 cycles", 32)


def stages(name: str, wait_states: int) -> list[tuple[str, float]]:
    """Figure 3a: the medians of what each stage takes, of a build that takes the time."""
    samples = measure(f"{name}_stages", wait_states)
    total, *stamps = (statistics.median(column) for column in zip(*samples, strict=True))
    stored = {"call": 15, "here": 2}[name]
    at = [0, *stamps, total]
    return [
        (text.format(stored=stored), end - begin)
        for text, begin, end in zip(STAGES, at, at[1:], strict=False)
    ]


def rows() -> list[Row]:
    programs = [image(name) for name in (*SYSTEMS, "call_stages", "here_stages")]
    build(model(), *KERNELS.values(), *programs)
    found = []
    for wait_states in WAIT_STATES:
        systems = rows_at(wait_states)
        hardware = systems[list(SYSTEMS).index("call")]["p50"]
        found += [*systems, *kernel_rows(wait_states, hardware), known_row(wait_states)]
    return found
