# SPDX-License-Identifier: Apache-2.0
"""Simulations: `whimbrel sim` as a function."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from . import _words, policies, runs
from ._native import _core
from ._words import Time
from .errors import InputError
from .model import Application, Platform, path_of

Progress = Callable[[float, float | None], object]

# Options of `whimbrel sim` that are passed on, with what they take.
_OPTIONS: dict[str, Callable[[str, Any], str]] = {
    "duration": _words.time,
    "map": _words.mapping,
    "frame_rate": _words.number,
    "cores": _words.integer,
    "seed": _words.integer,
    "compute": _words.text,
    "mode": _words.text,
    "move_at": _words.text,
    "transport": _words.text,
    "table": _words.path,
    "coordinator": _words.integer,
    "agents": _words.time,
    "limit": _words.time,
    "max_events": _words.integer,
    "save": _words.text,
    "resume": _words.path,
}
_REPEATED = {"moves": "move", "shuttles": "shuttle", "rates": "rate"}


def simulate(
    app: Application | str | PathLike[str],
    platform: Platform | str | PathLike[str] = "mpsoc3",
    *,
    duration: Time | None = None,
    map: str | Mapping[str, int | list[int]] | None = None,
    policy: str | tuple[str, Mapping[str, float]] | policies.Policy | None = None,
    frame_rate: float | None = None,
    fast: bool = False,
    cores: int | None = None,
    seed: int = 0,
    set: Mapping[str, Any] | None = None,
    compute: str | None = None,
    mode: str | None = None,
    move_at: str | None = None,
    transport: str | None = None,
    moves: str | Iterable[str] = (),
    shuttles: str | Iterable[str] = (),
    rates: str | Iterable[str] = (),
    table: str | PathLike[str] | None = None,
    coordinator: int | None = None,
    agents: Time | None = None,
    limit: Time | None = None,
    max_events: int | None = None,
    save: str | None = None,
    resume: str | PathLike[str] | None = None,
    record: bool | str | PathLike[str] = False,
    progress: Progress | bool | None = None,
) -> runs.Run:
    """Simulates an application on a platform; `whimbrel sim --help` describes the options.

    `policy` may be a function from a Snapshot to moves. `record=True` records events into a folder
    that lives as long as the result. `progress` is told the seconds of virtual time that have
    passed, and those that there are to be if `duration` says so; True draws a bar by tqdm.

    Raises InputError for what makes no sense, PolicyError for a policy that raises, RunError for a
    run that failed.
    """
    given = locals()
    words = [word for name, of in _OPTIONS.items() for word in _words.option(name, given[name], of)]
    words += ["--fast"] if _flag("fast", fast) else []
    words += _words.set_options(set)
    for name, flag in _REPEATED.items():
        words += _words.options(name, flag, given[name])
    words.append(f"--platform={path_of('platform', platform, Platform)}")
    decide, named = _policy(policy)
    words += named
    folder = _record(record)
    if folder is not None:
        path = (
            Path(folder.name) / "run" if isinstance(folder, tempfile.TemporaryDirectory) else folder
        )
        words.append(f"--record={path}")
    with _shown(progress, duration) as told:
        summary = _core.simulate([*words, "--", path_of("app", app, Application)], told, decide)
    return runs.recorded(json.loads(summary), folder)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _words.wrong(name, value, "True or False")
    return value


def _policy(policy: Any) -> tuple[Callable[[str], policies.Pairs] | None, list[str]]:
    if callable(policy):
        return policies.asked(policy), ["--policy=asked"]
    if policy == "asked":
        raise InputError("policy='asked' asks nobody", "give the function itself: policy=decide")
    return None, _words.option("policy", policy, _words.policy)


def _record(record: object) -> Path | tempfile.TemporaryDirectory[str] | None:
    if record is False:
        return None
    if record is True:
        return tempfile.TemporaryDirectory(prefix="whimbrel-")
    return Path(_words.path("record", record))


class _shown:
    """Has somebody told of the progress meanwhile."""

    def __init__(self, progress: Progress | bool | None, duration: Time | None) -> None:
        self.progress, self.bar = progress, None
        self.end = _seconds(duration)
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise _words.wrong("progress", progress, "True or a function of two numbers")

    def __enter__(self) -> Callable[[int, int], None] | None:
        if self.progress is True:
            self.bar = _bar(self.end)
        return self.tell if self.progress else None

    def tell(self, time_ns: int, _live: int) -> None:
        seconds = time_ns / 1e9
        if callable(self.progress):
            self.progress(seconds, self.end)
        elif self.bar is not None:
            self.bar.update(seconds - self.bar.n)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _bar(end: float | None) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise InputError("progress=True needs tqdm", "pip install tqdm") from error
    return tqdm(total=end, unit="s")


def _seconds(duration: Time | None) -> float | None:
    if duration is None:
        return None
    # What is no time, the command says better.
    with suppress(InputError):
        return _words.seconds("duration", duration)
    return None
