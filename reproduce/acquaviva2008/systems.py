# SPDX-License-Identifier: Apache-2.0
"""Variants of the FM radio and of its platform, and runs of them in the simulator."""

from __future__ import annotations

import functools
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import ROOT, settings, whimbrel

RADIO = ROOT / "apps/fm_radio"
PLATFORM = ROOT / "platforms/mpsoc3.toml"
TASKS = ("lpf", "demodulator", "bpf", "bpf", "bpf", "sum")
# So often the recording is played that it does not end before its run.
ENDLESS = [*settings({"plays": 100000, "output": ""}), "--compute", "model"]

Table = dict[str, Any]
Mapping = tuple[int, ...]  # the core of each of TASKS


def toml(table: Table) -> str:
    """A table as TOML, each of its members in a line."""
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
    table["core"] = [core | {"start_mhz": start} for start in mhz]
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
        done = whimbrel("sim", *files, "--quiet", "--json", *arguments, fine=(0, 1))
        return json.loads(done.stdout)
