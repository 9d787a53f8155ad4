# SPDX-License-Identifier: Apache-2.0
"""Table 1 four times: published, on the model of the SoC, there in the mean, and simulated."""

from __future__ import annotations

import sys

from command import ROOT

sys.path.append(str(ROOT / "reproduce/nacul2007/rtl"))

import columns
from published import Row, aligned, row, shown
from table1 import PUBLISHED

Table = dict[tuple[str, str], columns.Measured]
Means = dict[tuple[str, str], columns.Mean]

LEAST = 0.5  # below, as the idle cycles of a core that never is, a percentage says nothing
NOTES = {
    "FreeRTOS single": "published of eCos",
    "HW-RTOS SMP static": "which task is where is not published",
}
# What a row is called where it is simulated, of which benchmark, and its key in published.toml.
WHATS = (
    ("image filter, pixels", "image_filter", "image_filter_pixels"),
    ("packets", "packets", "packets"),
    ("packets, idle cycles", "packets", "packet_idle_cycles"),
)


def value(what: str, measured: columns.Measured | columns.Mean, cores: int) -> float:
    """Idle cycles are those of the cores that tasks may be on."""
    return sum(measured.idle[:cores]) if "idle" in what else measured.done


def paper_rows(measured: Table, means: Means, simulated: dict[str, Row]) -> list[Row]:
    """The entries of the paper; `simulated`: the rows of the simulator by their names."""
    rows = []
    for what, app, key in WHATS:
        entries = zip(PUBLISHED["table1"][key], columns.PAPER, strict=True)
        for i, (published, column) in enumerate(entries):
            cores = 1 if column.mapping == "1" else 2
            ours = value(what, measured[app, column.name], cores)
            found = row(f"{what}, {column.name}", published, ours, "in 1e6 cycles", "")
            name = f"{what}, {PUBLISHED['table1']['columns'][i]}"
            found["simulated"] = simulated[name]["ours"]
            found["mean"] = value(what, means[app, column.name], cores)
            found["note"] = NOTES.get(column.name, "")
            rows.append(found)
        rows += ratios(what, app, key, measured, means, simulated)
    return rows


def ratios(
    what: str, app: str, key: str, measured: Table, means: Means, simulated: dict[str, Row]
) -> list[Row]:
    """What the hardware gains, what a second core does, and what it is that tasks may be on any."""
    if "idle" in what:
        return []
    names = PUBLISHED["table1"]["columns"]
    published = PUBLISHED["table1"][key]
    rows = []
    for i, j in ((1, 0), (2, 1), (3, 2)):
        a, b = columns.PAPER[i].name, columns.PAPER[j].name
        ours = measured[app, a].done / measured[app, b].done
        found = row(f"{what}, {a} / {b}", published[i] / published[j], ours, "times", "")
        top, bottom = (simulated[f"{what}, {names[k]}"]["ours"] for k in (i, j))
        mean = means[app, a].done / means[app, b].done
        rows.append({**found, "mean": mean, "simulated": top / bottom})
    return rows


def beyond_rows(measured: Table) -> list[Row]:
    """What the paper leaves to the future."""
    rows = []
    for column in columns.BEYOND:
        pixels, packets = (measured[app, column.name] for app in ("image_filter", "packets"))
        for what, ours in (
            ("image filter, pixels", pixels.done),
            ("packets", packets.done),
            ("packets, idle cycles", sum(packets.idle)),
        ):
            rows.append(row(f"{what}, {column.name}", None, ours, "in 1e6 cycles", ""))
    return rows


def scaling_rows() -> list[Row]:
    """What more cores, tasks and ports do for packets; the paper leaves it to the future."""
    rows = []
    for (cores, lanes), measured in columns.scaling().items():
        what = f"packets, dynamic, {cores} cores, {6 + 2 * lanes} tasks, {8 + 6 * lanes} ports"
        idle = f"{sum(measured.idle)} idle cycles"
        rows.append(row(what, None, measured.done, "in 1e6 cycles", idle))
    return rows


def error(found: Row) -> str:
    """Of what is simulated, against the mean on the hardware."""
    simulated = found.get("simulated")
    if simulated is None or found["mean"] < LEAST:
        return ""
    return f"{100 * (simulated / found['mean'] - 1):+.1f} %"


TITLES = ("", "published", "RTL", "RTL, mean", "simulated", "error", "unit", "note")


def text(rows: list[Row]) -> str:
    """The rows for people."""
    lines = [TITLES]
    for r in rows:
        numbers = (shown(r.get(key)) for key in ("paper", "ours", "mean", "simulated"))
        lines.append((r["what"], *numbers, error(r), r["unit"], r["note"]))
    return aligned(lines, "<>>>>><<")
