# SPDX-License-Identifier: Apache-2.0
"""The experiments on the board as rows beside what was published."""

from __future__ import annotations

import tomllib
from pathlib import Path

from costs import costs
from counted import CORES, Counted, Experiment
from experiments import RATE, SECONDS, over_time
from published import Row, row
from whimbrel.plot.chart import Plot

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
OTHERS = list(range(1, CORES))
TURN_US = 12500  # twenty rounds of four in a second


def crowded(quick: bool) -> Experiment:
    """Figure 5: four large videos on core 0, three move away."""
    at = [1.0, 2.0, 3.0] if quick else [float(s) for s in PUBLISHED["figure5"]["moved_at_s"]]
    seconds = 5 if quick else 20
    return Experiment("figure5", "large", [0] * 4, seconds, 1, [*at, -1], [1, 2, 3, 0], TURN_US)


def collected(quick: bool) -> Experiment:
    """Figure 6: four small ones, one on each core, are collected on core 0."""
    at = [1.0, 1.5, 2.0] if quick else [7.0, 9.5, 12.0]
    return Experiment("figure6", "small", [0, 1, 2, 3], 4 if quick else 18, 2, [-1, *at], [0] * 4)


def within(rates: list[list[int]], begin: float, end: float) -> list[int]:
    """Frames of every player in every whole second between two times."""
    return [frames for rate in rates for frames in rate[int(begin) : int(end)]]


def figure5(folder: Path, quick: bool) -> tuple[list[Row], Plot]:
    """Frame rates while three of four large videos leave core 0."""
    paper, experiment = PUBLISHED["figure5"], crowded(quick)
    ours = Counted.measure(folder, experiment)
    before = within(ours.rates, 0, experiment.move_s[0])
    after = within(ours.rates, experiment.seconds - 1, experiment.seconds)
    note = f"125 million instructions of a core a second; a frame takes {ours.frame():.2f}"
    plot = Plot("Figure 5 on four emulated Cortex-A9", SECONDS, RATE)
    for player, rate in enumerate(ours.rates, 1):
        plot.add(f"video {player}", over_time(rate))
    what = "board, figure 5"
    return [
        row(f"{what}: slowest player before", paper["before_fps"][0], min(before), "/s", note),
        row(f"{what}: fastest player before", paper["before_fps"][1], max(before), "/s", note),
        row(f"{what}: slowest player after", paper["after_fps"], min(after), "/s", "all decode"),
        row(f"{what}: fastest player after", paper["after_fps"], max(after), "/s", "all decode"),
        row(
            f"{what}: the player that stays, at most",
            paper["remaining_player"],
            max(ours.rates[3]),
            "/s",
            "it shows at once what is not too late yet",
        ),
        row(
            f"{what}: frames that were compared",
            None,
            sum(map(sum, ours.rates)),
            "",
            "to the bit with libjpeg-turbo's: one that differed would have failed the run",
        ),
    ], plot


def figure6(folder: Path, quick: bool) -> list[Row]:
    """Frame rates and wake-ups while four small videos are collected on core 0."""
    paper, experiment = PUBLISHED["figure6"], collected(quick)
    ours = Counted.measure(folder, experiment)
    first, last = experiment.move_s[1], experiment.move_s[3] + 1
    end = float(experiment.seconds)
    wakes = "tasks that a core began to run, of the busiest of cores 1 to 3"
    what = "board, figure 6"
    slowest = [
        ("before", paper["fps"], 0.0, first),
        ("meanwhile", paper["during"], first, last),
        ("after", paper["fps"], last, end),
    ]
    rows = [
        row(
            f"{what}: slowest player {when}",
            theirs,
            min(within(ours.rates, begin, until)),
            "/s",
            "four films take about half of what a core executes",
        )
        for when, theirs, begin, until in slowest
    ]
    return [
        *rows,
        row(f"{what}: wake-ups before", None, ours.wakes(OTHERS, 0, first), "/s", wakes),
        row(
            f"{what}: wake-ups after",
            "shut down",
            ours.wakes(OTHERS, last, end),
            "/s",
            "they wait in WFI, and wake for FreeRTOS's tick alone",
        ),
        row(
            f"{what}: sleeps of cores 1 to 3",
            None,
            sum(ours.sleeps(OTHERS)),
            "",
            f"of each: {', '.join(map(str, ours.sleeps(OTHERS)))}, all before their player left",
        ),
    ]


def table1(folder: Path) -> list[Row]:
    """What a migration takes, of a player that nobody disturbs."""
    paper = PUBLISHED["table1"]
    ours = Counted.measure(folder, Experiment("table1", "small", [0], 1, 0, [0.5], [1]))
    theirs = {
        "parked to attached": (paper["detach"] + paper["move"], "detach and move"),
        "attached to running": (paper["attach"], "attach"),
        "parked to running": (paper["total"], "total"),
    }
    note = "of all cores, by a clock that counts ten at once; the paper has milliseconds"
    return [
        row(f"board, table I: {name}", f"{ms} ms", ours.instructions(phase), "instructions", note)
        for phase, (ms, name) in theirs.items()
    ]


def on_board(folder: Path, quick: bool) -> tuple[list[Row], dict[str, Plot]]:
    """Every row, and the plot of figure 5."""
    rows5, plot = figure5(folder, quick)
    rows = rows5 + figure6(folder, quick) + table1(folder) + costs(folder)
    return rows, {"board_figure5": plot}
