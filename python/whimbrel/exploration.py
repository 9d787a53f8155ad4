# SPDX-License-Identifier: Apache-2.0
"""Explorations: `whimbrel explore` as a function, here or on a Dask cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _progress, _shown, _tables, _words, search
from ._native import _core
from ._words import Time
from .errors import InputError
from .model import Application, Platform, path_of

if TYPE_CHECKING:
    from . import cluster

# What is to be low, and the column that has it; of frames there are to be many.
OBJECTIVES: dict[_words.Objective, str] = {
    "energy": "energy_mj",
    "misses": "misses",
    "latency": "latency_ms",
    "cores": "cores",
    "power": "power_mw",
    "energy_per_frame": "energy_per_frame_mj",
    "energy_per_task": "energy_per_task_mj",
    "time": "time_ms",
    "frames": "frames",
}

# Those of a space, and those that only an exploration has.
_OPTIONS: _words.Texts = {
    **search.OPTIONS,
    "core_counts": _words.listed(_words.integer),
    "tolerance": _words.tolerance,
    "output": _words.path,
    "resume": _words.path,
    "write_table": _words.path,
}


@dataclass(frozen=True)
class Candidate:
    """A row of an exploration, with all that `simulate(candidate=…)` needs to repeat it.

    Examples:
        >>> best = found.best()
        >>> best["energy_mj"] == whimbrel.simulate(candidate=best).energy_mj
        True
    """

    row: Mapping[str, Any]
    """The columns of `Exploration.table`, by their names."""
    settings: Mapping[str, Any]
    """What it ran with: `settings` of docs/explore.md."""
    app: Application | str | PathLike[str]
    """The application, as it was given to `explore`."""
    platform: Platform | str | PathLike[str]
    """The platform, as it was given to `explore`."""

    def __getitem__(self, column: str) -> Any:
        """The value of a column, such as `candidate["energy_mj"]`.

        Raises:
            KeyError: There is no such column.

        Examples:
            >>> found.candidate(0)["mapping"]
            'source=0 work=0/0 sink=0'
        """
        return self.row[column]

    def options(self) -> dict[str, list[str]]:
        """The options of `whimbrel sim` that repeat it.

        Examples:
            >>> found.candidate(0).options()["duration"]
            ['200000000ns']
        """
        row, settings = self.row, self.settings
        names = {"mapping": "map", "points": "points", "slots": "slots", "channels": "channels"}
        texts = {option: row[column] for column, option in names.items() if row[column]}
        texts |= {"policy": row["policy"], "compute": "model"}
        texts |= {"duration": f"{settings['duration_ns']}ns", "seed": str(settings["seed"])}
        if row["rate"] is not None:
            texts["frame_rate"] = repr(row["rate"])
        known = {name: [text] for name, text in texts.items()}
        if row["policy"] != "static":  # under which no task moves
            index = [
                f".{pin['index']}" if pin["index"] is not None else "" for pin in settings["pins"]
            ]
            pins = zip(settings["pins"], index, strict=True)
            known["pins"] = [f"{pin['task']}{of}={pin['core']}" for pin, of in pins]
        return known | {"set": [f"{of['key']}={of['value']}" for of in settings["set"]]}


class Exploration:
    """What an exploration has found.

    `print` shows the fronts as the command does.

    Examples:
        >>> found
        <Exploration: 6 candidates, 2 on the front>
        >>> found.front.num_rows <= found.table.num_rows
        True
    """

    def __init__(
        self,
        front: str,
        parquet: bytes,
        tables: str,
        kept: bool,
        app: Application | str | PathLike[str],
        platform: Platform | str | PathLike[str],
    ) -> None:
        self._app, self._platform = app, platform
        self.json = front
        """The content of front.json."""
        self.parquet = parquet
        """The content of explore.parquet."""
        self.kept = kept
        """Whether at every frame rate some candidate missed no deadline."""
        self._tables = tables

    @property
    def rates(self) -> list[dict[str, Any]]:
        """For each frame rate its front, and what was explored for it.

        Keys: `rate`, `method`, `complete`, `ran`, `bounded`, `failed`, `first_failure`, `front`;
        docs/explore.md explains them.
        """
        return list(json.loads(self.json)["rates"])

    @property
    def complete(self) -> bool:
        """Whether nothing cut it short."""
        return bool(json.loads(self.json)["complete"])

    @cached_property
    def table(self) -> _tables.Table:
        """A row for each candidate that ran; docs/explore.md explains the columns.

        Columns: `id`, `policy`, `mapping`, `points`, `slots`, `channels`, `rate`, `energy_mj`,
        `misses`, `latency_ms`, `cores`, `power_mw`, `energy_per_frame_mj`, `energy_per_task_mj`,
        `time_ms`, `frames`, `pareto`, `outcome`.

        The rate is in frames per second, `points` in megahertz; `outcome` is JSON.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        table: _tables.Table = pq.read_table(pa.BufferReader(self.parquet))
        return table

    @property
    def front(self) -> _tables.Table:
        """The rows of `table` that no other row of their frame rate beats."""
        front: _tables.Table = self.table.filter(self.table["pareto"])
        return front

    def candidate(self, id: int) -> Candidate:
        """The candidate of a row, for `simulate(candidate=…)`.

        Args:
            id: The row's number, its `id`.

        Raises:
            InputError: There is no such row.

        Examples:
            >>> found.candidate(0)["misses"]
            0
        """
        count = self.table.num_rows
        if not _words.is_number(_words.plain(id), Integral):
            raise _words.wrong("id", id, "a whole number")
        if not 0 <= id < count:
            raise InputError(f"there is no row {id}", f"name one of the {count} rows from 0 on")
        (row,) = self.table.slice(int(id), 1).to_pylist()
        return Candidate(row, json.loads(self.json)["settings"], self._app, self._platform)

    def best(
        self, *, rate: float | None = None, objective: _words.Objective = "energy"
    ) -> Candidate:
        """The best candidate of a frame rate: of those with the fewest missed deadlines, the one
        with the lowest objective (the most frames); the first of several.

        Args:
            rate: The frame rate, in frames per second; it may be omitted if there is only one.
            objective: "energy", "misses", "latency", "cores", "power", "energy_per_frame",
                "energy_per_task", "time" or "frames".

        Returns:
            The candidate, for `simulate(candidate=…)`.

        Raises:
            InputError: There is no such rate or objective, or no candidate that has it.

        Examples:
            >>> found.best(objective="cores")["cores"]
            1
        """
        if objective not in OBJECTIVES:
            cure = f"name one of {', '.join(OBJECTIVES)}"
            raise InputError(f"there is no objective {objective!r}", cure)
        rates = [of_rate["rate"] for of_rate in self.rates]
        if rate is None and len(rates) == 1:
            (rate,) = rates
        elif rate not in rates:
            cure = "name one of " + ", ".join(f"{known:g}" for known in rates if known)
            raise InputError(f"rate={rate!r} is not among the frame rates", cure)
        column, sign = OBJECTIVES[objective], -1 if objective == "frames" else 1
        table = self.table.select(["id", "rate", "misses", column]).to_pylist()
        there = [row for row in table if row["rate"] == rate and row[column] is not None]
        if not there:
            raise InputError(f"no candidate has a value of {objective}", "name another objective")
        best = min(there, key=lambda row: (row["misses"], sign * row[column], row["id"]))
        return self.candidate(best["id"])

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes its Parquet file, from which `resume=` resumes; gives the path.

        Raises:
            OSError: The file cannot be written.

        Examples:
            >>> found.save("player.parquet").name
            'player.parquet'
        """
        _core.write(path, self.parquet)
        return Path(path)

    def __str__(self) -> str:
        return str(self._tables.rstrip())

    def __repr__(self) -> str:
        rates = self.rates
        front = sum(len(rate["front"]) for rate in rates)
        of = f" of {len(rates)} frame rates" if len(rates) > 1 else ""
        cut = "" if self.complete else ", cut short"
        return (
            f"<Exploration: {_shown.counted(self.table.num_rows, 'candidate')}, "
            f"{front} on the front{of}{cut}>"
        )

    def _repr_html_(self) -> str:
        import pyarrow.compute as pc

        parts = list[str]()
        columns = ("id", "energy_mj", "misses", "latency_ms", "cores", "points", "mapping")
        for rate in self.table["rate"].unique().to_pylist():
            rates = self.table["rate"]
            here = pc.is_null(rates) if rate is None else pc.equal(rates, rate)
            of_rate = self.table.filter(here).select([*columns, "pareto"])
            front = of_rate.filter(of_rate["pareto"]).to_pylist()
            some = of_rate.take(list(range(0, of_rate.num_rows, of_rate.num_rows // 1000 + 1)))
            points, marked = (
                [
                    (row["latency_ms"], row["energy_mj"])
                    for row in rows
                    if None not in (row["latency_ms"], row["energy_mj"])
                ]
                for rows in (some.to_pylist(), front)
            )
            if points:
                parts.append(_shown.plot(points, marked, ("latency, ms", "energy, mJ")))
            title = "the front" if rate is None else f"the front of {rate:g} frames per second"
            parts.append(_shown.table(front, title, columns))
        return _shown.page(repr(self).strip("<>"), *parts)


@_words.renamed(cores="core_counts", rates="frame_rates", limit="exhaustive", table="write_table")
def explore(
    app: Application | str | PathLike[str],
    platform: Platform | str | PathLike[str] = "mpsoc3",
    *,
    core_counts: int | str | Iterable[int] | None = None,
    frame_rates: float | str | Iterable[float] | None = None,
    points: str | Iterable[float] | None = None,
    slots: str | Iterable[str] = (),
    channels: str | Iterable[str] = (),
    policies: str | Iterable[str | tuple[str, Mapping[str, float]]] | None = None,
    pins: Mapping[str, int] | None = None,
    set: Mapping[str, Any] | None = None,
    duration: Time | None = None,
    seed: int | None = None,
    budget: int | str | None = None,
    exhaustive: int | None = None,
    objectives: str | Iterable[_words.Objective] | None = None,
    tolerance: float | str | Mapping[_words.Objective, float | str] | None = None,
    output: str | PathLike[str] | None = None,
    resume: str | PathLike[str] | None = None,
    write_table: str | PathLike[str] | None = None,
    client: Any = None,
    patience: Time = 60,
    progress: _progress.Progress | bool | None = None,
) -> Exploration:
    """Searches mappings, operating points, queue sizes and policies, as `whimbrel explore` does.

    Blocks; other threads keep running. Candidates run on all processors of this machine, or on the
    workers of a cluster: the result is the same to the byte. Ctrl-C ends it; with `output`,
    `resume` resumes it. Times are seconds, a `timedelta`, or text such as "500ms".

    Args:
        app: The application, or the path of its app.toml or of a file that `whimbrel import` takes.
        platform: The hardware, or its name, or the path of its file.
        core_counts: How many cores to use: a number, several, or "1-3"; default: every number.
        frame_rates: Frame rates, in frames per second; each has a separate front.
        points: Operating points that cores begin at: "all", "high", "auto" (the lowest without a
            missed deadline, by bisection), or megahertz.
        slots: Slots of channels: "4,8,14" for every channel, "demodulator_bpf=4,8" for some.
        channels: Transports of channels, such as "interrupt,polling:20ms", in the same form.
        policies: Policies, each like `policy` of `simulate`; default: "static".
        pins: Tasks that stay on a core, such as `{"lpf": 0, "bpf.2": 1}`.
        set: Parameters of the application with their new values.
        duration: Virtual time of each candidate; default: 2 s.
        seed: The seed of the search and of the draws of cycles.
        budget: Candidates for each frame rate, or the time after which it ends, such as "10m".
        exhaustive: The maximum number of candidates of a frame rate that are all run; more are
            searched (NSGA-II).
        objectives: The quantities to minimise, of "energy", "misses", "latency", "cores", "power",
            "energy_per_frame", "energy_per_task" and "time"; "frames" is maximised. Default: the
            first four.
        tolerance: Leaves out of a front what is about as good as one of it (ε-dominance): 0.01 or
            "1%" of every objective, or `{"energy": 0.01}`.
        output: A new folder that keeps the results, and each candidate as soon as it has run.
        resume: The folder of an earlier `output`, or an explore.parquet, to resume.
        write_table: Where to write a table.toml: for each rate, the candidate that keeps every
            deadline with the least energy.
        client: A `distributed.Client`: candidates run on the workers of its cluster, which may join
            and leave.
        patience: The longest time without a worker in the cluster; default: 60 s.
        progress: Gets the number of finished candidates, and the number of all or None; at most
            ten times per second. True draws a bar with tqdm.

    Returns:
        The result.

    Raises:
        InputError: An argument is invalid; `file` and `line` state the place.
        ClusterError: The cluster disconnected or has no workers, or one lacks this package.
        RunError: Candidates could not run.
        TypeError: A value is of a wrong type.

    Examples:
        >>> found = whimbrel.explore(player, fast, duration="1s", objectives=["energy", "latency"])
        >>> found.complete
        True
    """
    given = _words.given(_OPTIONS, locals())
    given["app"] = [path_of("app", app, Application)]
    given["platform"] = [path_of("platform", platform, Platform)]
    with _farm(client, patience) as farm, _progress.shown(progress, "candidates") as told:
        return Exploration(*_core.explore(given, farm, told), app, platform)


def _farm(client: Any, patience: Time) -> AbstractContextManager[cluster.Farm | None]:
    if client is None:
        return nullcontext()
    from . import cluster

    return cluster.farm(client, patience)
