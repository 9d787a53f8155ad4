# SPDX-License-Identifier: Apache-2.0
"""Table 1 of nacul2007 in the simulator: both benchmarks on one core and on two."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import ROOT, Failed, settings, whimbrel
from published import Row, row

HERE = Path(__file__).resolve().parent
PUBLISHED = tomllib.loads((HERE / "published.toml").read_text())
SMP2 = ROOT / "platforms/smp2.toml"
PIXEL = HERE / "pixel.toml"  # what a pixel takes
FREERTOS = HERE / "freertos.toml"  # what is different with the scheduler in software

# One million cycles of a core of smp2, and how many millions are simulated.
MILLION_NS, MILLIONS = 10_000_000, 20


@dataclass(frozen=True)
class Benchmark:
    """An application: what is counted in which task, and where its tasks are on two cores."""

    name: str
    task: str
    params: dict[str, object]
    second: tuple[str, ...]  # tasks on core 1

    def app(self) -> Path:
        return ROOT / f"apps/{self.name}/app.toml"


IMAGE = Benchmark("image_filter", "filter", {"piece": 1, "plays": 1000}, ("filter",))
PACKETS = Benchmark(
    "packets",
    "enqueue",
    {"plays": 10000},
    ("decoder.1", "crc.1", "enqueue", "classifier", "forward", "store", "discard"),
)


@dataclass(frozen=True)
class Measured:
    """In one million cycles: firings of the task that is counted, idle cycles; moves in all."""

    firings: float
    idle_cycles: float
    moves: int


def cost_tables(text: str) -> dict[str, str]:
    """The tables of costs in a platform, by their headers."""
    tables = re.findall(r"^\[costs\.\w+\]\n(?:[a-z].*\n)+", text, re.MULTILINE)
    return {table.split("\n")[0]: table for table in tables}


def hardware(folder: Path) -> Path:
    """The platform, and what the image filter takes with a pixel in a message."""
    file = folder / "hardware.toml"
    file.write_text(SMP2.read_text() + "\n" + PIXEL.read_text())
    return file


def software(folder: Path) -> Path:
    """The platform with FreeRTOS in the place of the hardware's scheduler."""
    text = hardware(folder).read_text()
    there = cost_tables(text)
    for header, table in cost_tables(FREERTOS.read_text()).items():
        if header not in there:
            raise Failed(f"{SMP2} has no {header}")
        text = text.replace(there[header], table)
    file = folder / "software.toml"
    file.write_text(text)
    return file


def simulate(benchmark: Benchmark, platform: Path, *options: str) -> dict[str, Any]:
    """The summary of a run in which tasks only take their time."""
    words = ["sim", str(benchmark.app()), "--json", "--quiet", "--fast"]
    words += ["--platform", str(platform), "--compute", "model"]
    words += ["--duration", f"{MILLIONS * MILLION_NS}ns", *options, *settings(benchmark.params)]
    return json.loads(whimbrel(*words).stdout)


def measure(benchmark: Benchmark, platform: Path, cores: int, *options: str) -> Measured:
    """`cores`: those that tasks may be on; what is left in the channels in the end drains."""
    if cores == 2:
        options = ("--map", ",".join(f"{task}=1" for task in benchmark.second), *options)
    summary = simulate(benchmark, platform, *options)
    millions = summary["time_ns"] / MILLION_NS
    firings = sum(t["firings"] for t in summary["tasks"] if t["task"] == benchmark.task)
    idle_ns = sum(point["idle_ns"] for core in summary["cores"][:cores] for point in core["points"])
    moves = sum(move["status"] == "ok" for move in summary["migrations"])
    return Measured(firings / millions, idle_ns / 10 / millions, moves)


DYNAMIC = ("--policy", "gossip", "--agent-period", "1ms")


def table1(folder: Path) -> list[Row]:
    """Every entry of the table."""
    slow, fast = software(folder), hardware(folder)
    rows = []
    for benchmark, what in ((IMAGE, "image filter, pixels"), (PACKETS, "packets")):
        measured = [
            measure(benchmark, slow, 1),
            measure(benchmark, fast, 1),
            measure(benchmark, fast, 2),
            measure(benchmark, fast, 2, *DYNAMIC),
        ]
        key = "image_filter_pixels" if benchmark is IMAGE else "packets"
        rows += rows_of(what, PUBLISHED["table1"][key], measured)
        if benchmark is PACKETS:
            rows += idle_rows(measured)
    return rows


NOTES = (
    "published of eCos, here FreeRTOS",
    "",
    "",
    "a policy moves tasks each millisecond, not each switch",
)


def rows_of(what: str, published: list[float], measured: list[Measured]) -> list[Row]:
    columns = PUBLISHED["table1"]["columns"]
    rows = [
        row(f"{what}, {column}", paper, m.firings, "in 1e6 cycles", note)
        for column, paper, m, note in zip(columns, published, measured, NOTES, strict=True)
    ]
    for column in (2, 3):
        rows.append(
            row(
                f"{what}, {columns[column]} / single",
                published[column] / published[1],
                measured[column].firings / measured[1].firings,
                "",
                f"{measured[column].moves} moves" if column == 3 else "",
            )
        )
    return rows


def idle_rows(measured: list[Measured]) -> list[Row]:
    return [
        row(f"packets, idle cycles, {column}", paper, m.idle_cycles, "in 1e6 cycles", "")
        for column, paper, m in zip(
            PUBLISHED["table1"]["columns"],
            PUBLISHED["table1"]["packet_idle_cycles"],
            measured,
            strict=True,
        )
    ]
