# SPDX-License-Identifier: Apache-2.0
"""Reads recorded runs (docs/recorded-run.md)."""

from __future__ import annotations

import json
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from command import Failed, whimbrel

SEND, POWER, TEMPERATURE = 5, 15, 16

HEADER_BYTES = 32
RECORD = struct.Struct("<QHHIII")
TIME = struct.Struct("<Q")


class Event(NamedTuple):
    """A record; `at` in seconds since the start of the run."""

    at: float
    object: int
    value: int


class Steps:
    """What keeps its value until the next event; 0 before the first."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.times, self.values, self.integrals = [0.0], [0], [0.0]
        for event in events:
            self.integrals.append(self.integral(event.at))
            self.times.append(event.at)
            self.values.append(event.value)

    def integral(self, end: float) -> float:
        """The sum of value times time from the start to a time."""
        last = bisect_right(self.times, end, hi=len(self.integrals)) - 1
        return self.integrals[last] + self.values[last] * (end - self.times[last])

    def mean(self, begin: float, end: float) -> float:
        """Between two times."""
        return (self.integral(end) - self.integral(begin)) / (end - begin)


def record(folder: Path, *words: str, **more: object) -> tuple[Recorded, str]:
    """A run of the command that is recorded into a folder, and what it says of itself."""
    done = whimbrel(*words, "--record", str(folder), "--quiet", "--json", **more)
    if json.loads(done.stdout)["dropped_events"]:
        raise Failed(f"{folder.name}: events are missing")
    return Recorded(folder), done.stderr


class Recorded:
    """A run that was recorded into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
        self.start_ns: int = self.summary["start_ns"]
        self.seconds: float = self.summary["time_ns"] / 1e9
        self.cores = len(self.summary["cores"])

    def records(self, core: int, since: float = 0.0) -> Iterator[tuple[int, int, int, int]]:
        """Nanoseconds since the start, kind, object and value of a core's events, from a time on,
        in order."""
        data = memoryview((self.folder / f"core-{core}.events").read_bytes())[HEADER_BYTES:]
        first_ns = self.start_ns + round(since * 1e9)
        count = len(data) // RECORD.size
        first = bisect_left(
            range(count), first_ns, key=lambda i: TIME.unpack_from(data, i * RECORD.size)[0]
        )
        for ns, kind, _, _, about, value in RECORD.iter_unpack(data[first * RECORD.size :]):
            yield ns - self.start_ns, kind, about, value

    def events(self, core: int, kind: int, since: float = 0.0) -> Iterator[Event]:
        """Those of a kind in the stream of a core, from a time on, in order."""
        for at_ns, what, about, value in self.records(core, since):
            if what == kind:
                yield Event(at_ns / 1e9, about, value)

    def sent(self) -> dict[str, list[float]]:
        """When messages went into each channel, in order, by the channel's name."""
        names = [channel["channel"] for channel in self.summary["channels"]]
        times: dict[str, list[float]] = {name: [] for name in names}
        for core in range(self.cores):
            for event in self.events(core, SEND):
                times[names[event.object]].append(event.at)
        return {name: sorted(some) for name, some in times.items()}

    def power_mw(self, edges: list[float]) -> list[float]:
        """What all cores drew in the mean between each two times that follow each other."""
        cores = [Steps(self.events(core, POWER)) for core in range(self.cores)]
        return [
            sum(core.mean(begin, end) for core in cores) / 1e3 for begin, end in pairwise(edges)
        ]

    def temperatures_c(self, begin: float, end: float) -> list[float]:
        """Of each core, in the mean between two times."""
        return [self._core_c(core, begin, end) for core in range(self.cores)]

    def _core_c(self, core: int, begin: float, end: float) -> float:
        values = [e.value for e in self.events(core, TEMPERATURE, begin) if e.at < end]
        signed = [value - (1 << 32) if value >> 31 else value for value in values]
        return fmean(signed) / 1e3
