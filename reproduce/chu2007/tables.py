# SPDX-License-Identifier: Apache-2.0
"""The paper's tables, and what it leaves open, from measurements."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from measured import Run
from published import Row, row

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
TABLES = {
    ("light", "lame 40MB"): 1,
    ("light", "lame 100MB"): 1,
    ("light", "lame 400MB"): 1,
    ("light", "mpeg4 50MB"): 2,
    ("light", "mpeg4 350MB"): 3,
    ("heavy", "lame 40MB"): 4,
    ("heavy", "lame 100MB"): 4,
    ("heavy", "mpeg4 50MB"): 5,
    ("heavy", "mpeg4 350MB"): 6,
}
# What every load is measured with.
EVERYWHERE = ("lame 100MB", "mpeg4 50MB")
# A load of nothing.
IDLE = "idle"
GOAL = 1.05

Seconds = Callable[[Run], float]


def improvement(without: float, with_tool: float) -> float:
    """By how many percent the time is shorter, as the paper has it."""
    return 100 * (without - with_tool) / without


def phases(job: str) -> dict[str, Seconds]:
    """What of a job's time has a column of its own."""
    total = {"total": lambda run: run.total_s}
    if job.startswith("lame"):
        return total
    return {"pass1": lambda run: run.passes_s[0], "pass2": lambda run: run.passes_s[1]} | total


def published(load: str, job: str, phase: str) -> tuple[float, float, float] | None:
    """Seconds without and with the tool, and the improvement as printed."""
    if (load, job) not in TABLES:
        return None
    program, size = job.removesuffix("MB").split()
    without, with_tool = PUBLISHED[load][program][size][phase]
    return without, with_tool, PUBLISHED["improvement"][load][program][size][phase]


def named(runs: Iterable[Run], key: Callable[[Run], str]) -> list[str]:
    """The different names among runs, in order of their first."""
    return list(dict.fromkeys(key(run) for run in runs))


@dataclass(frozen=True)
class Measured:
    """All measurements; `scale`: our inputs' sizes over the paper's."""

    runs: list[Run]
    scale: float

    @staticmethod
    def read(path: Path) -> Measured:
        """Those of an earlier time."""
        kept = json.loads(path.read_text())
        return Measured([Run(**run) for run in kept["runs"]], kept["scale"])

    def write(self, path: Path) -> None:
        """For another time; a reader never sees half of it."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n")
        part.rename(path)

    def some(self, load: str, job: str, condition: str) -> list[Run]:
        """Those of all rounds."""
        wanted = (load, job, condition)
        return [run for run in self.runs if (run.load, run.job, run.condition) == wanted]

    def seconds(self, load: str, job: str, condition: str, phase: str = "total") -> float | None:
        """The median of all rounds."""
        runs = self.some(load, job, condition)
        return median(map(phases(job)[phase], runs)) if runs else None

    def alone(self, job: str) -> float | None:
        """On the idle machine, without any tool."""
        return self.seconds(IDLE, job, "default")

    def slowdown(self, load: str, job: str, condition: str) -> float | None:
        """How many times as long as alone."""
        alone, loaded = self.alone(job), self.seconds(load, job, condition)
        return loaded / alone if alone and loaded else None

    def improvement(self, load: str, job: str, condition: str, phase: str) -> float | None:
        """Over default scheduling, percent."""
        without = self.seconds(load, job, "default", phase)
        with_tool = self.seconds(load, job, condition, phase)
        return improvement(without, with_tool) if without and with_tool else None

    def loads(self) -> list[str]:
        """All but that of nothing."""
        return [load for load in named(self.runs, lambda run: run.load) if load != IDLE]

    def jobs(self, load: str) -> list[str]:
        """What was run under a load."""
        return named((run for run in self.runs if run.load == load), lambda run: run.job)

    def tools(self) -> list[str]:
        """All conditions but the default."""
        conditions = named(self.runs, lambda run: run.condition)
        return [condition for condition in conditions if condition != "default"]


def kept(rows: Iterable[tuple[str, Any, float | None, str, str]]) -> list[Row]:
    """Rows of what was measured."""
    return [row(what, paper, ours, *more) for what, paper, ours, *more in rows if ours is not None]


def paper_rows(m: Measured, load: str, job: str, phase: str) -> list[Row]:
    """A column of one of the tables 1 to 6."""
    numbers = published(load, job, phase)
    assert numbers is not None
    size = float(job.removesuffix("MB").split()[1]) * m.scale
    head = f"table {TABLES[load, job]}, {load}: {job}" + (f" {phase}" * (phase != "total"))
    note = f"ours converts {size:g} MB, on another machine"
    rows = [
        (f"{head}, default", numbers[0], m.seconds(load, job, "default", phase), "s", note),
        (f"{head}, occupy", numbers[1], m.seconds(load, job, "occupy", phase), "s", note),
    ]
    for tool in m.tools():
        ours = m.improvement(load, job, tool, phase)
        paper = numbers[2] if tool == "occupy" else None
        note = "theirs by SCHED_FIFO on ARTiS" if tool == "occupy" else "not in the paper"
        rows.append((f"{head}, improvement by {tool}", paper, ours, "%", note))
    return kept(rows)


def load_rows(m: Measured, load: str, job: str) -> list[Row]:
    """A job under one load: against alone, and against default scheduling."""
    rows = []
    for condition in ("default", *m.tools()):
        note = f"goal: at most {GOAL}" if condition == "occupy" else "median over median"
        ours = m.slowdown(load, job, condition)
        rows.append((f"{load}: {job}, {condition} against alone", None, ours, "times", note))
    if (load, job) in TABLES:
        return kept(rows)
    most = max(n for by in PUBLISHED["improvement"]["heavy"]["mpeg4"].values() for n in by.values())
    for tool in m.tools():
        ours = m.improvement(load, job, tool, "total")
        note = f"the paper's largest, under its heavy load, is {most:g}"
        rows.append((f"{load}: {job}, improvement by {tool}", None, ours, "%", note))
    return kept(rows)


def together_rows(m: Measured) -> list[Row]:
    """What occupy reaches under all loads together, where one load's few runs drown in noise."""
    rows = []
    for job in EVERYWHERE:
        runs = [r for r in m.runs if (r.job, r.condition) == (job, "occupy") and r.load != IDLE]
        alone = m.alone(job)
        ours = median(run.total_s for run in runs) / alone if runs and alone else None
        note = f"goal: at most {GOAL}; the median of {len(runs)} runs"
        rows.append((f"all loads: {job}, occupy against alone", None, ours, "times", note))
    return kept(rows)


def noise_rows(m: Measured) -> list[Row]:
    """How far the runs on the idle machine differ, and what others took of it."""
    rows: list[tuple[str, Any, float | None, str, str]] = []
    for job in m.jobs(IDLE):
        times = [run.total_s for run in m.some(IDLE, job, "default")]
        spread = 100 * (max(times) - min(times)) / median(times)
        note = f"largest less smallest of {len(times)} runs, over their median"
        rows.append((f"idle: {job}, spread", None, spread, "%", note))
        rows.append((f"idle: {job}, alone", None, median(times), "s", "the median"))
    for name, runs in (("idle", [r for r in m.runs if r.load == IDLE]), ("all runs", m.runs)):
        note = "of all processors; the worst run's is "
        for what, share in (("steal", lambda r: r.steal), ("other processes", lambda r: r.others)):
            shares = [100 * share(run) for run in runs]
            mean = fmean(shares) if shares else None
            worst = note + f"{max(shares, default=0):.1f} %"
            rows.append((f"{name}: {what}, mean", None, mean, "%", worst))
    return kept(rows)


def tool_rows(m: Measured) -> list[Row]:
    """What the command of each condition takes before the program begins and after it has ended."""
    rows = []
    for condition in ("default", *m.tools()):
        runs = [run for run in m.runs if run.condition == condition and run.load != IDLE]
        times = [1e3 * besides for run in runs for besides in run.besides_s]
        note = "of one command; not in the times above"
        if condition == "cset":
            note += ", nor is the shield's own beginning"
        ours = median(times) if times else None
        rows.append((f"besides the program: {condition}", None, ours, "ms", note))
    return kept(rows)


def every_row(m: Measured) -> list[Row]:
    """The paper's tables, every load, and the noise."""
    rows = []
    for load, job in TABLES:
        if job in m.jobs(load):
            for phase in phases(job):
                rows += paper_rows(m, load, job, phase)
    for load in m.loads():
        for job in m.jobs(load):
            rows += load_rows(m, load, job)
    return rows + together_rows(m) + tool_rows(m) + noise_rows(m)
