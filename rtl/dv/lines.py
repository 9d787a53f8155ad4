# SPDX-License-Identifier: Apache-2.0
"""Which lines of a unit a simulation ran, by Verilator, beside the events that the tests count."""

import re
from collections import Counter
from pathlib import Path

from bench import sources

FLOOR = 95  # percent
POINT = re.compile(r"C '(.*)' (\d+)")


def counts(data: Path) -> Counter[tuple[str, int]]:
    """How often each line was run, by what Verilator wrote: `\\1key\\2value` of each point."""
    found: Counter[tuple[str, int]] = Counter()
    for content, count in POINT.findall(data.read_text()):
        point = dict(pair.split("\2") for pair in content.split("\1")[1:])
        for part in filter(None, point.get("S", "").split(",")):
            first, _, last = part.partition("-")
            for number in range(int(first), int(last or first) + 1):
                found[Path(point["f"]).name, number] += int(count)
    return found


def check_lines(where: Path, top: str) -> None:
    """Raises where the last simulation of a model left out too many lines of the unit."""
    found = counts(where / "coverage.dat")
    missed = sorted(line for line, count in found.items() if count == 0)
    percent = 100 * (1 - len(missed) / len(found))
    print(f"{where.name}: {percent:.1f} % of {len(found)} lines; not {missed}")
    assert percent >= FLOOR
    modules = {file.name for file in sources(top) if "always" in file.read_text()}
    # A size has its buffers in flip-flops or in RAM.
    left_out = modules - {name for name, _ in found} - {"flops_1r1w.sv", "ram_1r1w.sv"}
    assert left_out == set(), "modules were not counted"
