# SPDX-License-Identifier: Apache-2.0
"""Variants of the FM radio and of its platform, and runs of them in the simulator."""

from __future__ import annotations

import copy
import functools
import json
import struct
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
WHIMBREL = ROOT / "bin/whimbrel"
RADIO = ROOT / "apps/fm_radio"
PLATFORM = ROOT / "platforms/mpsoc3.toml"
TASKS = ("lpf", "demodulator", "bpf", "bpf", "bpf", "sum")
# So often the recording is played that it does not end before its run.
ENDLESS = ["--set", "plays=100000", "--set", "output=", "--compute", "model"]

Table = dict[str, Any]
Mapping = tuple[int, ...]  # the core of each of TASKS


class SimulatorError(Exception):
    """A simulation that did not go well; its text is the simulator's."""


def toml(table: Table) -> str:
    """A table as TOML: lists of tables as [[...]], tables within these in one line."""
    plain, tables = [], []
    for key, value in table.items():
        if isinstance(value, dict):
            tables.append(f"[{key}]\n{lines_of(value)}")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            tables += [f"[[{key}]]\n" + lines_of(item) for item in value]
        else:
            plain.append(f"{key} = {inline(value)}\n")
    return "".join(plain) + "\n".join(tables)


def lines_of(table: Table) -> str:
    """The members of a table, one in a line."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in table.items())


def inline(value: object) -> str:
    """A value as TOML, in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(v)}" for key, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


@functools.cache
def operating_points() -> list[tuple[int, float]]:
    """Megahertz and milliwatts of a core of the platform, from the lowest."""
    points = tomllib.loads(PLATFORM.read_text())["core"][0]["point"]
    return [(point["mhz"], point["active_mw"]) for point in points]


def platform(mhz: list[int], shutdown: bool) -> Table:
    """The platform with cores that begin at these frequencies."""
    table = tomllib.loads(PLATFORM.read_text())
    core = table["core"][0] | {"count": 1, "idle": "off" if shutdown else "on"}
    # Copies: tables within tables have the form of tables of their own.
    table["core"] = [copy.deepcopy(core) | {"start_mhz": start} for start in mhz]
    return table


def radio(mapping: Mapping = (0,) * 6, slots: int | None = None, saturated: bool = False) -> Table:
    """The radio with its tasks on these cores.

    `slots` are those of the queues behind the demodulator. With `saturated` it works with full
    queues: its source runs ahead as far as they let it, its sink begins when they are full.
    """
    table = tomllib.loads((RADIO / "app.toml").read_text())
    table["params"]["input"] = str(RADIO / "data/cold_day_240k.cu8")
    place = iter(mapping)
    for task in table["task"]:
        count = task.get("count", 1)
        cores = [next(place) for _ in range(count)]
        task["core"] = cores if count > 1 else cores[0]
        if saturated and task["name"] == "lpf":
            del task["periodic"]
        if saturated and task["name"] == "sum":
            task["offset_frames"] = 14 + 3 * max(slots or 14, 14)
            task["priority"] = 9
    for channel in table["channel"]:
        if slots is not None and channel["from"] != "lpf.out":
            channel["slots"] = slots
    return table


def whimbrel(*arguments: str) -> str:
    """What the command prints."""
    done = subprocess.run([str(WHIMBREL), *arguments], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise SimulatorError(done.stderr.strip())
    return done.stdout


@dataclass(frozen=True)
class Bench:
    """A folder for variants of applications and platforms."""

    folder: Path

    def write(self, name: str, table: Table) -> str:
        """Keeps a table under a name; gives the path."""
        path = self.folder / name
        path.write_text(toml(table))
        return str(path)

    def sim(self, app: Table, hardware: Table, *arguments: str) -> Table:
        """One run in virtual time; gives its summary."""
        files = self.write("app.toml", app), "--platform", self.write("platform.toml", hardware)
        return json.loads(whimbrel("sim", *files, "--quiet", "--json", *arguments))


def records(folder: Path) -> Iterator[tuple[int, int, int, int]]:
    """Nanoseconds since the start, kind, object and value of a recorded run's events, by time.

    Of events at the same time on different cores the order is that of the cores.
    """
    found = []
    for number, path in enumerate(sorted(folder.glob("core-*.events"))):
        data = path.read_bytes()
        (start_ns,) = struct.unpack_from("<Q", data, 24)
        body = memoryview(data)[32 : 32 + (len(data) - 32) // 24 * 24]
        for place, (at, kind, _, _, thing, value) in enumerate(struct.iter_unpack("<QHHIII", body)):
            found.append((at - start_ns, number, place, kind, thing, value))
    found.sort()
    return ((at, kind, thing, value) for at, _, _, kind, thing, value in found)
