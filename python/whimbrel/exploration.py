# SPDX-License-Identifier: Apache-2.0
"""Explorations: `whimbrel explore` as a function, here or on a Dask cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _words, cluster
from ._native import _core
from ._words import Time
from .model import Application, Platform, path_of

if TYPE_CHECKING:
    import pyarrow

# Told how many candidates are done, of how many if that is known, and the size of the front.
Progress = Callable[[int, int | None, int], object]

_OPTIONS: dict[str, Callable[[str, Any], str]] = {
    "cores": _words.listed(_words.integer),
    "rates": _words.listed(_words.number),
    "points": _words.listed(_words.number),
    "policies": _words.listed(_words.policy),
    "duration": _words.time,
    "seed": _words.integer,
    "limit": _words.integer,
    "objectives": _words.listed(_words.text),
    "output": _words.path,
    "resume": _words.path,
    "table": _words.path,
}


class Exploration:
    """What an exploration has found."""

    def __init__(self, front: str, parquet: bytes, tables: str, kept: bool) -> None:
        self.json = front  # the content of front.json
        self.parquet = parquet  # the content of explore.parquet
        self.kept = kept  # at every frame rate some candidate missed no deadline
        self._tables = tables

    @property
    def rates(self) -> list[dict[str, Any]]:
        """For each frame rate its front, and what was explored for it (docs/explore.md)."""
        return list(json.loads(self.json)["rates"])

    @property
    def complete(self) -> bool:
        """Whether nothing cut it short."""
        return bool(json.loads(self.json)["complete"])

    @cached_property
    def table(self) -> pyarrow.Table:
        """A row for each candidate that ran."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.read_table(pa.BufferReader(self.parquet))

    @property
    def front(self) -> pyarrow.Table:
        """The rows that nothing else of their frame rate beats."""
        table = self.table
        return table.filter(table["pareto"])

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes its Parquet file, which `resume=` goes on from."""
        Path(path).write_bytes(self.parquet)
        return Path(path)

    def __repr__(self) -> str:
        return self._tables.rstrip()


def explore(
    app: Application | str | PathLike[str],
    platform: Platform | str | PathLike[str],
    *,
    cores: int | str | Iterable[int] | None = None,
    rates: float | str | Iterable[float] | None = None,
    points: str | Iterable[float] | None = None,
    slots: str | Iterable[str] = (),
    channels: str | Iterable[str] = (),
    policies: str | Iterable[str | tuple[str, Mapping[str, float]]] | None = None,
    pins: Mapping[str, int] | None = None,
    set: Mapping[str, Any] | None = None,
    duration: Time | None = None,
    seed: int | None = None,
    budget: int | str | None = None,
    limit: int | None = None,
    objectives: str | Iterable[str] | None = None,
    output: str | PathLike[str] | None = None,
    resume: str | PathLike[str] | None = None,
    table: str | PathLike[str] | None = None,
    client: Any = None,
    patience: Time = 60,
    progress: Progress | None = None,
) -> Exploration:
    """Explores an application on a platform; `whimbrel explore --help` describes the options.

    Candidates run on all cores of this machine, or on the workers of the cluster of `client`, a
    `distributed.Client`: the result is the same to the byte. Workers may come and go; when there is
    none for `patience`, it is a ClusterError. Ctrl-C ends it; with `output`, `resume` goes on.
    """
    given = locals()
    words = [word for name, of in _OPTIONS.items() for word in _words.option(name, given[name], of)]
    words += _words.options("slots", "slots", slots)
    words += _words.options("channels", "channels", channels)
    words += [
        f"--pin={_words.text('pins', k)}={_words.integer('pins', v)}" for k, v in _pairs(pins)
    ]
    words += _words.set_options(set)
    words += [] if budget is None else [f"--budget={budget}"]
    words.append(f"--platform={path_of('platform', platform, Platform)}")
    words += ["--", path_of("app", app, Application)]
    farm = None if client is None else cluster.farm(client, patience)
    if progress is not None and not callable(progress):
        raise _words.wrong("progress", progress, "a function of three numbers")
    return Exploration(*_core.explore(words, farm, progress))


def _pairs(pins: object) -> list[tuple[Any, Any]]:
    if pins is None:
        return []
    if not isinstance(pins, Mapping):
        raise _words.wrong("pins", pins, "a dict of tasks with their cores")
    return list(pins.items())
