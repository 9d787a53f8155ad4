# SPDX-License-Identifier: Apache-2.0
"""Figures 3b and 3c: what each core runs, and when its scheduling module chooses, as VCD for
GTKWave and as JSON for ui.perfetto.dev."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from columns import ENDLESS, PAPER, WAIT_STATES, Column, image
from model import model, run

CYCLES = 200_000

# By their numbers in the HW-RTOS, which are those of the tables in app/.
TASKS = {
    "image_filter": ("control", "decoder", "filter"),
    "packets": (
        *("packetizer", "enqueue", "classifier", "forward", "store", "discard"),
        *("decoder.0", "crc.0", "decoder.1", "crc.1"),
    ),
}
FIGURES = {"static": PAPER[2], "dynamic": PAPER[3]}


@dataclass(frozen=True)
class Trace:
    """The files, and which tasks have been on which cores."""

    vcd: Path
    perfetto: Path
    cores: dict[str, set[int]]
    done: int  # pixels or packets

    def moved(self) -> list[str]:
        """The tasks that have been on several cores."""
        return [task for task, cores in self.cores.items() if len(cores) > 1]


def name_tasks(path: Path, app: str) -> dict[str, set[int]]:
    """Writes the names of tasks in place of their numbers; where each has been."""
    text = re.sub(
        r'"name":"task (\d+)"', lambda m: f'"name":"{TASKS[app][int(m[1])]}"', path.read_text()
    )
    path.write_text(text)
    cores: dict[str, set[int]] = {task: set() for task in TASKS[app]}
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "X" and event["name"] in cores:
            cores[event["name"]].add(event["tid"])
    return cores


def run_trace(app: str, column: Column, name: str, cycles: int, folder: Path) -> Trace:
    """Runs an application for some cycles, and stores its trace."""
    folder.mkdir(parents=True, exist_ok=True)
    vcd, perfetto = (folder / f"{name}.{kind}" for kind in ("vcd", "json"))
    options = ["--vcd", str(vcd), "--perfetto", str(perfetto)]
    line = f"{column.mapping} 2 {ENDLESS} {cycles} 0\n"
    text = run(model(), image(app, column.system), WAIT_STATES, *options, line=line)
    return Trace(vcd, perfetto, name_tasks(perfetto, app), int(text.split()[1]))


def trace(app: str, figure: str, folder: Path) -> Trace:
    """Figure 3b or 3c of an application."""
    return run_trace(app, FIGURES[figure], f"{app}.{figure}", CYCLES, folder)
