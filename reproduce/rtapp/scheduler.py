# SPDX-License-Identifier: Apache-2.0
"""How Linux schedules ordinary threads on this machine, as keys of a platform's core."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable
from pathlib import Path

SLICE = Path("/sys/kernel/debug/sched/base_slice_ns")
SLACK = Path("/proc/self/timerslack_ns")
CONFIGS = (Path("/proc/config.gz"), Path(f"/boot/config-{os.uname().release}"))
# A slice is so long, once more for each doubling of processors, up to eight: kernel/sched/fair.c.
SLICE_US = 700
HZ = 250  # of most distributions


def core() -> str:
    """The keys."""
    return (
        'scheduling = "fair"\n'
        f"slice_us = {slice_us()}\n"
        f"tick_us = {1_000_000 // hz()}\n"
        f"timer_slack_us = {slack_us()}\n"
    )


def slice_us(file: Path = SLICE, processors: int | None = None) -> float:
    """As the kernel says, or as it computes it."""
    if os.access(file, os.R_OK):
        return int(file.read_text()) / 1000
    return SLICE_US * min(processors or os.cpu_count() or 1, 8).bit_length()


def slack_us(file: Path = SLACK) -> float:
    """By which the kernel may let a thread sleep longer."""
    return int(file.read_text()) / 1000 if os.access(file, os.R_OK) else 50


def hz(files: Iterable[Path] = CONFIGS) -> int:
    """Ticks in a second, as the kernel was configured: by the first file that says it."""
    for file in files:
        if os.access(file, os.R_OK):
            raw = file.read_bytes()
            text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()
            if found := re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE):
                return int(found[1])
    return HZ
