#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the gates of the HW-RTOS and the Lock Unit: areas in NANDs with two inputs.

Yosys maps the modules to the cells of cells.lib, optimised for area. The words of the buffers are a
separate module, of flip-flops; "without buffers" is what remains where they are in a RAM.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
RTL = HERE.parent
sys.path.append(str(RTL / "dv"))

from yosys import BUILD, yosys  # noqa: E402

from bench import LISTS, listed  # noqa: E402

SCRIPT = """\
read_verilog -sv -I{common} {files}
blackbox ram_1r1w
{parameters}
hierarchy -check -top {top}
proc
{flatten}
opt -full
memory_map
opt -full
techmap
opt -full
simplemap
opt
{clock_gates}
dfflegalize -cell $_DFF_P_ 01 -cell $_DFF_PN0_ 01 -cell $_DFF_PN1_ 01
opt
dfflibmap -liberty {cells}
opt
abc -liberty {cells} -script {abc}
opt_clean -purge
tee -o stat.json stat -json -liberty {cells}
"""


@dataclass(frozen=True)
class Size:
    """A configuration; the paper's has two cores, and does not say how many tasks and ports."""

    cores: int = 2
    tasks: int = 16
    ports: int = 16
    words: int = 1

    def name(self) -> str:
        return f"{self.cores}_{self.tasks}_{self.ports}_{self.words}"


SIZES = (
    Size(),
    Size(cores=1),
    Size(cores=3),
    Size(cores=4),
    Size(tasks=8),
    Size(tasks=32),
    Size(tasks=64),
    Size(ports=8),
    Size(ports=32),
    Size(ports=64),
    Size(words=4),
)


@dataclass(frozen=True)
class Part:
    """A module that is synthesized: flattened, or with every module within it apart."""

    top: str
    parameters: tuple[tuple[str, int], ...]
    flat: bool = True
    gated: bool = (
        False  # registers that are written together by a gated clock, as synthesis tools may
    )

    def name(self) -> str:
        how = "flat" if self.flat else "apart"
        words = [self.top, *(f"{value}" for _, value in self.parameters), how]
        return "_".join([*words, *(["gated"] if self.gated else [])])


@dataclass(frozen=True)
class Count:
    gates: float
    flip_flops: int
    modules: dict[str, float]  # gates of each, with those within it


def synthesize(part: Part) -> Count:
    files = listed(LISTS["axi_lite"])  # that is both units, too
    sets = " ".join(f"-set {key} {value}" for key, value in part.parameters)
    where = BUILD / "rtl/synth" / part.name()
    script = SCRIPT.format(
        common=RTL / "common",
        files=" ".join(dict.fromkeys(map(str, files))),
        parameters=f"chparam {sets} {part.top}" if sets else "",
        top=part.top,
        flatten="flatten" if part.flat else "",
        clock_gates=f"clockgate -liberty {HERE / 'cells.lib'}" if part.gated else "",
        cells=HERE / "cells.lib",
        abc=HERE / "area.abc",
    )
    yosys(script, where)
    text = (where / "stat.json").read_text()
    found = json.loads(text[text.index("{") :])
    cells = found["design"]["num_cells_by_type"]
    left = [cell for cell in cells if cell.startswith("$") and not cell.startswith("$paramod")]
    assert left == [], f"not mapped: {left}"
    return Count(
        found["design"]["area"],
        sum(count for cell, count in cells.items() if cell.startswith("DFF")),
        {module_name(name): module["area"] for name, module in found["modules"].items()},
    )


def module_name(name: str) -> str:
    """Without the parameters that Yosys adds to it."""
    return next(part for part in reversed(name.split("\\")) if "=" not in part)


def rtos(size: Size, in_ram: bool = True, flat: bool = True) -> Part:
    """The HW-RTOS; a RAM is not counted."""
    parameters = (
        ("NumCores", size.cores),
        ("NumTasks", size.tasks),
        ("NumPorts", size.ports),
        ("WordsPerPort", size.words),
        ("BuffersInRam", int(in_ram)),
    )
    return Part("hw_rtos", parameters, flat)


def buffers(size: Size) -> Part:
    return Part("flops_1r1w", (("NumWords", 2 * size.ports * size.words),))


def lock_unit(size: Size) -> Part:
    return Part("lock_unit", (("NumCores", size.cores),))


AXI_LITE_PORT = Part("axi_lite_port", ())  # of each core, where a unit has AXI4-Lite


def count(sizes: tuple[Size, ...], gated: bool = False) -> list[dict]:
    """A row for each size. What several are made of is synthesized once."""
    of_each = [
        [replace(part, gated=gated) for part in (rtos(size), buffers(size), lock_unit(size))]
        for size in sizes
    ]
    parts = list(dict.fromkeys(part for parts in of_each for part in parts))
    jobs = int(os.environ.get("PROCESSORS") or os.cpu_count() or 1)
    with ThreadPoolExecutor(jobs) as pool:
        counts = dict(zip(parts, pool.map(synthesize, parts), strict=True))
    return [
        row(size, *(counts[part] for part in parts))
        for size, parts in zip(sizes, of_each, strict=True)
    ]


def row(size: Size, unit: Count, words: Count, lock: Count) -> dict:
    return {
        "cores": size.cores,
        "tasks": size.tasks,
        "ports": size.ports,
        "words": size.words,
        "hw_rtos": round(unit.gates),
        "buffers": round(words.gates),
        "lock_unit": round(lock.gates),
        "without_buffers": round(unit.gates + lock.gates),
        "with_buffers": round(unit.gates + words.gates + lock.gates),
        "flip_flops": unit.flip_flops + words.flip_flops + lock.flip_flops,
    }


COLUMNS = ("cores", "tasks", "ports", "words", "hw_rtos", "buffers", "lock_unit")
COLUMNS += ("without_buffers", "with_buffers", "flip_flops")


def table(rows: list[dict], apart: dict[str, float]) -> str:
    """For people: one line per configuration, then one per module."""
    lines = ["| " + " | ".join(name.replace("_", " ") for name in COLUMNS) + " |"]
    lines.append("|" + "---|" * len(COLUMNS))
    lines += ["| " + " | ".join(str(one[name]) for name in COLUMNS) + " |" for one in rows]
    lines += ["", "| module, with those within it | gates |", "|---|---|"]
    lines += [f"| `{name}` | {gates:.0f} |" for name, gates in sorted(apart.items())]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print an object for programs")
    parser.add_argument("--quick", action="store_true", help="only 2 cores, 16 tasks, 16 ports")
    parser.add_argument("--clock-gates", action="store_true", help="gated clocks for registers")
    asked = parser.parse_args()
    rows = count(SIZES[:1] if asked.quick else SIZES, asked.clock_gates)
    apart = synthesize(rtos(Size(), in_ram=False, flat=False)).modules
    apart |= synthesize(AXI_LITE_PORT).modules
    if asked.json:
        print(json.dumps({"rows": rows, "modules": apart}, indent=2))
    else:
        print(table(rows, apart))


if __name__ == "__main__":
    main()
