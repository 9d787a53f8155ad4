# SPDX-License-Identifier: Apache-2.0
"""What is run, in which order, and the plots of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from conditions import Condition, Failed
from inputs import Inputs
from loads import Load
from measured import Job, Run, lame, measure, mencoder, wait_for_calm
from namespace import put_back, sets
from tables import EVERYWHERE, GOAL, IDLE, TABLES, Measured, published
from whimbrel.plot.chart import Axis, Plot

# How often a run is repeated that was disturbed, and how long a calm moment is waited for.
TRIES, PATIENCE_S = 10, 600.0
NOTHING = Load(IDLE, ())


def every_job(inputs: Inputs, scale: float) -> dict[str, Job]:
    """The paper's conversions, of inputs that are smaller by a factor."""
    sizes = {"lame": (40, 100, 400), "mpeg4": (50, 350)}
    jobs = []
    for program, megabytes in sizes.items():
        for size in megabytes:
            ours = size * scale
            passes = lame(inputs.wave(ours)) if program == "lame" else mencoder(inputs.video(ours))
            jobs.append(Job(f"{program} {size}MB", ours, passes))
    return {job.name: job for job in jobs}


@dataclass(frozen=True)
class Experiment:
    """Loads, jobs and conditions; `quick` leaves out all sizes but those that every load has.

    With `calm` a run begins when others take no larger share of the processors, and is repeated
    when they did meanwhile.
    """

    loads: list[Load]
    jobs: dict[str, Job]
    conditions: list[Condition]
    rounds: int
    quick: bool
    calm: float | None

    def under(self, load: str) -> list[Job]:
        """What is run under a load."""
        every = [job for of, job in TABLES if of == load] if not self.quick else []
        return [self.jobs[name] for name in every or EVERYWHERE]

    def steps(self) -> Iterator[tuple[int, Load, Job, Condition]]:
        """Interleaved, so that what changes with time touches all alike: each job alone, then in
        every way, another one first each time."""
        for number in range(self.rounds):
            turn = number % len(self.conditions)
            turned = self.conditions[turn:] + self.conditions[:turn]
            for load in self.loads:
                for job in self.under(load.name):
                    yield number, NOTHING, job, Condition("default")
                    for condition in turned:
                        yield number, load, job, condition

    def runs(self) -> Iterator[Run]:
        """All measurements, as they come; one that fails is left out, and said.

        A quick experiment tries once more: it has no other round.
        """
        foreign = set(sets())
        for number, load, job, condition in self.steps():
            for _ in range(2 if self.quick else 1):
                try:
                    yield self.calmest(number, load, job, condition)
                    break
                except Failed as failed:
                    what = f"{load.name}, {job.name}, {condition.name}, round {number + 1}"
                    print(f"reproduce/chu2007: {what}: {failed}", file=sys.stderr)
                    # A shield could not be ended while the load made new processes in it.
                    with suppress(OSError):
                        put_back(foreign)

    def calmest(self, number: int, load: Load, job: Job, condition: Condition) -> Run:
        """A run that is calm enough, or the calmest of some. Which is taken depends on what others
        did, never on how long the program took."""
        tries: list[Run] = []
        while not tries or (tries[-1].disturbed > (self.calm or 1.0) and len(tries) < TRIES):
            if self.calm is not None:
                wait_for_calm(self.calm, PATIENCE_S)
            tries.append(measure(number, load, job, condition))
        return min(tries, key=lambda run: run.disturbed)


def compared(m: Measured, figure: int, load: str) -> Plot:
    """Figure 7 or 8: time with a tool over time without."""
    groups = {}
    for job in m.jobs(load):
        numbers = published(load, job, "total")
        assert numbers is not None
        values: dict[str, float | None] = {"published": 100 * numbers[1] / numbers[0]}
        for tool in m.tools():
            gained = m.improvement(load, job, tool, "total")
            values[tool] = None if gained is None else 100 - gained
        groups[job] = values
    title = f"Figure {figure}: {load} load, time with a tool"
    plot = Plot(title, Axis("program"), Axis("time, % of default scheduling"))
    plot.bars(groups)
    plot.limit("default", 100)
    return plot


def slowed(m: Measured, job: str) -> Plot:
    """Every load, against alone."""
    plot = Plot(f"{job} under every load", Axis("load"), Axis("time, as many times as alone"))
    conditions = ("default", *m.tools())
    plot.bars({load: {c: m.slowdown(load, job, c) for c in conditions} for load in m.loads()})
    plot.limit(f"goal: {GOAL}", GOAL)
    return plot


def every_plot(m: Measured) -> dict[str, Plot]:
    """By the name of its file."""
    figures = [(7, "light"), (8, "heavy")]
    plots = {f"figure{n}": compared(m, n, load) for n, load in figures if load in m.loads()}
    return plots | {f"loads_{job.split()[0]}": slowed(m, job) for job in EVERYWHERE}
