# SPDX-License-Identifier: Apache-2.0
"""Figures 5 and 6 and table I of holmbacka2013, simulated."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import players
from players import CA9X4, LARGE_MS, MESH64, SMALL_MS, Lab, Platform
from published import Row, row
from recorded import Recorded
from whimbrel.plot.chart import Axis, Plot

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
FPS = PUBLISHED["figure5"]["after_fps"]
SECONDS, RATE = Axis("time, s"), Axis("frames per second")

# On 64 cores: four players on each of these 16, a corner of the mesh.
CORNER = [8 * row_ + column for row_ in range(4) for column in range(4)]
CROWDED = [core for core in CORNER for _ in range(4)]


# A policy is asked once every core has reported. On crowded cores that is at their first look, the
# busy core 0 being the last; otherwise core 0 comes first, and its second look is the first that
# counts. In 3.52 s each player shows as many frames as the others.
SPREAD = ("--policy=spread", "--agent-period=3s", "--duration=15s")
COLLECT = ("--policy=consolidate:limit_ppm=1000000", "--agent-period=3520ms", "--duration=30s")


def over_time(values: Iterable[float]) -> list[tuple[float, float]]:
    """Values of whole seconds as points of a plot, in their middle."""
    return [(second + 0.5, float(value)) for second, value in enumerate(values)]


def rate_plot(title: str, rates: list[list[int]]) -> Plot:
    """Frames per second of each player; no more players than there are colours."""
    plot = Plot(title, SECONDS, RATE)
    for number, rate in enumerate(rates, 1):
        plot.add(f"video {number}", over_time(rate))
    plot.limit(f"published at the end: {FPS}", FPS)
    return plot


def extremes(rates: list[list[int]], begin: int, end: int) -> tuple[int, int]:
    """The least and the most that any player shows in one of these seconds."""
    frames = [frames for rate in rates for frames in rate[begin:end]]
    return min(frames), max(frames)


def figure5(lab: Lab) -> tuple[list[Row], dict[str, Plot]]:
    """Four large videos on core 0, three move away: at the paper's times, or as a policy says."""
    paper = PUBLISHED["figure5"]
    at = paper["moved_at_s"]
    moves = [f"--move=video.{i}={i + 1}@{second}s" for i, second in enumerate(at)]
    by_hand = lab.play("figure5", CA9X4, [0] * 4, LARGE_MS, *moves, "--duration=30s")
    rates = players.frame_rates(by_hand)
    stable = players.steady_from(rates, FPS)
    before, after = extremes(rates, 0, at[0]), extremes(rates, stable, len(rates[0]))
    note = "theirs differ from each other; ours take turns frame by frame. 25 ms of a core for a "
    note += "frame are chosen for the middle of theirs, 10"
    rows = [
        row("figure 5: slowest player before", paper["before_fps"][0], before[0], "/s", note),
        row("figure 5: fastest player before", paper["before_fps"][1], before[1], "/s", "as above"),
        row(
            "figure 5: slowest player after",
            paper["after_fps"],
            after[0],
            "/s",
            "one player per core",
        ),
        row("figure 5: fastest player after", paper["after_fps"], after[1], "/s", "as above"),
        row(
            "figure 5: the player that stays, at most",
            paper["remaining_player"],
            max(rates[3]),
            "/s",
            "both drop what is late; a player whose core is free shows the rest of it at once",
        ),
        row(
            "figure 5: stable from",
            paper["stable_at_s"],
            stable,
            "s",
            "a second after the last move, as all but one player are steady before",
        ),
    ]
    spread = lab.play("figure5_spread", CA9X4, [0] * 4, LARGE_MS, *SPREAD)
    spread_rates = players.frame_rates(spread)
    note = "the policy spread decides on all three at its first look, after 3 s; theirs by hand"
    rows += [
        row("figure 5, spread: players that moved", len(at), moved(spread), "", note),
        row(
            "figure 5, spread: cores in use at the end",
            PUBLISHED["platform"]["cores"],
            len({task["core"] for task in spread.summary["tasks"]}),
            "",
            "a player on each, as theirs",
        ),
        row(
            "figure 5, spread: stable from",
            paper["stable_at_s"],
            players.steady_from(spread_rates, FPS),
            "s",
            "earlier, as nobody waits for 13 s with the last move",
        ),
    ]
    plots = {
        "figure5": rate_plot("Figure 5: three of four large videos leave core 0", rates),
        "figure5_spread": rate_plot("The same, as the policy spread decides", spread_rates),
    }
    return rows, plots


def moved(run: Recorded) -> int:
    """How many migrations went well."""
    return sum(migration["status"] == "ok" for migration in run.summary["migrations"])


@dataclass(frozen=True)
class Collected:
    """Small videos, one on each core, that the policy consolidate collects on fewer."""

    run: Recorded
    power_mw: list[float]
    rates: list[list[int]]
    first_s: int

    @staticmethod
    def simulate(lab: Lab, name: str, platform: Platform, cores: int) -> Collected:
        """The policy decides after 7 s, when the paper's migrations begin."""
        first_s = PUBLISHED["figure6"]["collected_s"][0]
        run = lab.play(name, platform, list(range(cores)), SMALL_MS, *COLLECT)
        edges = [float(second) for second in range(int(run.seconds) + 1)]
        return Collected(run, run.power_mw(edges), players.frame_rates(run), first_s)

    def before_mw(self) -> float:
        """Mean power, without the first second, in which nothing has been waited for yet."""
        return fmean(self.power_mw[1 : self.first_s])

    def after_mw(self) -> float:
        """Mean power in the last ten seconds."""
        return fmean(self.power_mw[-10:])

    def reduction(self) -> float:
        """By how many percent the power went down."""
        return 100 * (1 - self.after_mw() / self.before_mw())

    def took_s(self) -> float:
        """From the first request to the last player that runs where it went."""
        migrations = self.run.summary["migrations"]
        asked = min(migration["request_ns"] for migration in migrations)
        return (max(migration["running_ns"] for migration in migrations) - asked) / 1e9

    def in_use(self) -> int:
        """How many cores have a player at the end."""
        tasks = self.run.summary["tasks"]
        return len({task["core"] for task in tasks if task["task"] == "video"})

    def plot(self, title: str) -> Plot:
        """Power over time."""
        plot = Plot(title, SECONDS, Axis("power of all cores, mW"))
        plot.add("simulated", over_time(self.power_mw))
        return plot


def figure6(lab: Lab) -> tuple[list[Row], dict[str, Plot]]:
    """Four small videos, one on each core, are collected on core 0."""
    paper = PUBLISHED["figure6"]
    ours = Collected.simulate(lab, "figure6", CA9X4, PUBLISHED["platform"]["cores"])
    quiet, busy = extremes(ours.rates, 0, ours.first_s), (ours.first_s, ours.first_s + 3)
    began, ended = paper["collected_s"]
    note = "an idle core's 116.7 mW follow from their 900 and 550; ours has 4 % of a core to spare"
    rows = [
        row("figure 6: power before", paper["before_mw"], ours.before_mw(), "mW", note),
        row("figure 6: power after", paper["after_mw"], ours.after_mw(), "mW", "as above"),
        row(
            "figure 6: reduction",
            paper["reduction_percent"],
            ours.reduction(),
            "%",
            "three cores are shut down; theirs is 39 % of 900 mW, given as 40 %",
        ),
        row("figure 6: slowest player before", paper["fps"], quiet[0], "/s", "the same"),
        row(
            "figure 6: slowest player meanwhile",
            paper["during"],
            extremes(ours.rates, *busy)[0],
            "/s",
            "three attachments of 45 ms take turns with four players on core 0",
        ),
        row(
            "figure 6: slowest player after",
            paper["fps"],
            extremes(ours.rates, len(ours.rates[0]) - 10, len(ours.rates[0]))[0],
            "/s",
            "one core plays all four",
        ),
        row(
            "figure 6: time to collect",
            ended - began,
            ours.took_s(),
            "s",
            "theirs moves one at a time, by hand; the policy decides once, and cores work at once",
        ),
    ]
    plots = {
        "figure6_rates": rate_plot("Figure 6: frame rates", ours.rates),
        "figure6_power": ours.plot("Figure 6: four small videos are collected on core 0"),
    }
    for when in ("before", "after"):
        plots["figure6_power"].limit(f"published {when}", paper[f"{when}_mw"])
    return rows, plots


def table1(lab: Lab) -> list[Row]:
    """What a migration takes, of the three of figure 5."""
    paper = PUBLISHED["table1"]
    run = Recorded(lab.folder / "figure5")
    phases = {phase["phase"]: phase["p50_ns"] / 1e6 for phase in run.summary["migration_latency"]}
    note = "the platform's costs are theirs, so what comes on top is ours: "
    return [
        row(
            "table I: detach and move",
            paper["detach"] + paper["move"],
            phases["parked to attached"],
            "ms",
            note + "a note and a doorbell",
        ),
        row(
            "table I: attach",
            paper["attach"],
            phases["attached to running"],
            "ms",
            note + "a switch, and a cold cache",
        ),
        row(
            "table I: total",
            paper["total"],
            phases["parked to running"],
            "ms",
            "from the suspension to the resumption, as theirs",
        ),
    ]


def many_cores(lab: Lab) -> tuple[list[Row], dict[str, Plot]]:
    """Figures 5 and 6 with 16 times as many players, on 64 cores."""
    spread = lab.play("mesh_spread", MESH64, CROWDED, LARGE_MS, *SPREAD)
    rates = players.frame_rates(spread)
    before, after = extremes(rates, 0, 3), extremes(rates, len(rates[0]) - 3, len(rates[0]))
    ours = Collected.simulate(lab, "mesh_consolidate", MESH64, len(CROWDED))
    last = extremes(ours.rates, len(ours.rates[0]) - 10, len(ours.rates[0]))
    none = "64 players; the paper has four"
    rows = [
        row("64 cores: slowest player before spreading", None, before[0], "/s", none),
        row("64 cores: slowest player after spreading", None, after[0], "/s", "one per core"),
        row(
            "64 cores: players that moved",
            None,
            moved(spread),
            "",
            "the least there is: one stays on each of the 16 cores",
        ),
        row(
            "64 cores: stable from",
            None,
            players.steady_from(rates, FPS),
            "s",
            "one decision for all, after 3 s",
        ),
        row("64 cores: power before consolidating", None, ours.before_mw(), "mW", none),
        row(
            "64 cores: power after consolidating",
            None,
            ours.after_mw(),
            "mW",
            "here an idle core sleeps between two frames anyway",
        ),
        row("64 cores: reduction", None, ours.reduction(), "%", "as above: little is left to save"),
        row("64 cores: cores in use after", None, ours.in_use(), "", "of 64"),
        row("64 cores: slowest player after", None, last[0], "/s", "of the last 10 s"),
    ]
    plot = Plot("64 large videos on 16 of 64 cores spread over all", SECONDS, RATE)
    plot.add("slowest of 64", over_time(min(some) for some in zip(*rates, strict=True)))
    plot.add("fastest of 64", over_time(max(some) for some in zip(*rates, strict=True)))
    power = ours.plot("64 small videos are collected on fewer of 64 cores")
    return rows, {"mesh_spread": plot, "mesh_consolidate": power}
