#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plots a report of `whimbrel occupy --report=FILE.json`: gaps by length, interrupts by line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))

try:
    from whimbrel.plot.chart import Figure
except ModuleNotFoundError as missing:
    sys.exit(f"plot_quiet: {missing.name} is missing: make setup")

WHEN = {"before": "#c4451c", "during": "#1b6ca8"}
NAME = 34


def length(us: int) -> str:
    """Where a bucket begins."""
    return f"{us} µs" if us < 1000 else f"{us / 1000:.1f} ms"


def legible(name: str) -> str:
    """A name that fits beside its bars, in characters that XML has."""
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def plot_gaps(axes: Any, report: dict[str, Any]) -> None:  # noqa: ANN401
    """How many gaps of each length a spinning thread saw in a second, on a logarithmic scale."""
    noises = {when: report[f"noise_{when}"] for when in WHEN if report[f"noise_{when}"]}
    buckets = [bucket for noise in noises.values() for bucket in noise["buckets"]]
    starts = sorted({bucket["from_us"] for bucket in buckets})
    axes.set(
        title="gaps of a spinning thread, by their length",
        ylabel="gaps per second",
        xlabel="from this length to the double",
    )
    for side, (when, noise) in zip((-0.2, 0.2), noises.items(), strict=False):
        seconds = max(noise["watched_ns"], 1) / 1e9
        kept = [(b["from_us"], b["count"] / seconds) for b in noise["buckets"] if b["count"]]
        places = [starts.index(start) + side for start, _ in kept]
        bars = axes.bar(places, [rate for _, rate in kept], 0.4, color=WHEN[when], label=when)
        for bar in bars:
            bar.set_gid(f"bar {when}")
    # As many as there is room for.
    shown = range(0, len(starts), -(-len(starts) // 9) or 1)
    axes.set_xticks(shown, [length(starts[at]) for at in shown])
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    if axes.patches:
        # It begins below the least, so that its bar is to be seen.
        least = min(bar.get_height() for bar in axes.patches)
        axes.set_yscale("log")
        axes.set_ylim(bottom=least / 2)


def plot_interrupts(axes: Any, rows: list[dict[str, Any]]) -> None:  # noqa: ANN401
    """Interrupts of each line in a second, the first on top."""
    axes.set(title="interrupts, by line", xlabel="interrupts per second")
    for side, (when, colour) in zip((-0.2, 0.2), WHEN.items(), strict=True):
        places = [at + side for at in range(len(rows))]
        rates = [row[when] or 0.0 for row in rows]
        bars = axes.barh(places, rates, 0.4, color=colour, label=when)
        axes.bar_label(bars, [f"{rate:.3g}" for rate in rates], padding=3, fontsize="small")
        for bar, rate in zip(bars, rates, strict=True):
            bar.set_gid(f"bar {when}" if rate else None)
    names = [legible(row["name"]) for row in rows]
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))


def plotted(report: dict[str, Any]) -> Figure:
    """The figure; gaps are in it if a spinning thread has looked for them."""
    rows = [row for row in report["rows"] if row["group"] == "interrupts"]
    heights = [1.2 + 0.45 * max(len(rows), 1)]
    noisy = bool(report["noise_before"] or report["noise_during"])
    if noisy:
        heights.insert(0, 3.0)
    figure = Figure((8, sum(heights)))
    axes = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    before_s, during_s = report["before_s"], report["during_s"]
    title = f"processor {report['cpus']}: {before_s:.1f} s before, {during_s:.1f} s during"
    figure.suptitle(title, fontsize="medium")
    if noisy:
        plot_gaps(axes[0], report)
    plot_interrupts(axes[-1], rows)
    return figure


def main() -> None:
    """Reads the report and writes the plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("report", type=Path, help="what --report=FILE.json has written")
    parser.add_argument("plot", type=Path, help="the file for the plot: .svg, .png or .pdf")
    options = parser.parse_args()
    plotted(json.loads(options.report.read_text())).savefig(options.plot)


if __name__ == "__main__":
    main()
