# SPDX-License-Identifier: Apache-2.0
"""What three of them say of the same threads, beside each other."""

from __future__ import annotations

import statistics

from ours import plain
from published import Row, aligned
from threads import Thread
from whimbrel.plot.chart import Axis, Plot

MEASURES = {"period": "period", "run": "run time", "slack": "slack", "latency": "wake-up latency"}
LIMIT = 5.0  # percent


def median(found: list[dict[str, Thread]], name: str, measure: str) -> float | None:
    """The median over rounds of what one measure of one thread was on average."""
    values = [getattr(threads[name], measure) for threads in found if name in threads]
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def of_workload(
    workload: str,
    by_rt_app: list[dict[str, Thread]],
    by_run: list[dict[str, Thread]],
    simulated: list[dict[str, Thread]],
) -> list[Row]:
    """A row for each thread and measure that rt-app has of it."""
    rows = []
    for name in dict.fromkeys(name for threads in by_rt_app for name in threads):
        for measure, what in MEASURES.items():
            reference = median(by_rt_app, name, measure)
            if reference is None:
                continue
            sim = median(simulated, plain(name), measure)
            error = None
            if sim is not None and reference > 0 and measure in ("period", "run"):
                error = 100 * (sim - reference) / reference
            rows.append(
                {
                    "workload": workload,
                    "thread": name,
                    "what": what,
                    "rt-app": reference,
                    "run": median(by_run, plain(name), measure),
                    "sim": sim,
                    "unit": "us",
                    "error": error,
                }
            )
    return rows


def table(rows: list[Row]) -> str:
    """The rows for people, with how many of them are within the limit."""
    lines = [("workload", "thread", "", "rt-app", "run", "sim", "error")]
    for row in rows:
        shown = [("-" if row[k] is None else f"{row[k]:.0f}") for k in ("rt-app", "run", "sim")]
        error = "" if row["error"] is None else f"{row['error']:+.1f} %"
        lines.append((row["workload"], row["thread"], row["what"], *shown, error))
    text = aligned(lines, "<<<>>>>")
    return "\n".join([text, "", "means over loops in µs, medians over rounds", *within(rows)])


def within(rows: list[Row]) -> list[str]:
    """How many errors are within the limit."""
    lines = []
    for what in ("period", "run time"):
        known = [row["error"] for row in rows if row["what"] == what and row["error"] is not None]
        good = sum(abs(error) <= LIMIT for error in known)
        lines.append(f"{what} simulated within {LIMIT:.0f} %: {good} of {len(known)}")
    return lines


def errors(rows: list[Row]) -> dict[str, Plot]:
    """What was simulated over what rt-app took, of all threads."""
    plots = {}
    for what in ("period", "run time"):
        axis = Axis(f"{what} by rt-app, µs", logarithmic=True)
        plot = Plot(f"Mean {what} of each thread", axis, Axis("simulated, µs", logarithmic=True))
        for workload in dict.fromkeys(row["workload"] for row in rows):
            points = [
                (row["rt-app"], row["sim"])
                for row in rows
                if (row["workload"], row["what"]) == (workload, what) and row["error"] is not None
            ]
            if points:
                plot.add(workload, points)
        ends = [row["rt-app"] for row in rows if row["what"] == what and row["error"] is not None]
        if ends:
            plot.add("equal", [(min(ends), min(ends)), (max(ends), max(ends))], line=True)
        plots[what.replace(" ", "_")] = plot
    return plots
