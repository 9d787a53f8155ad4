# SPDX-License-Identifier: Apache-2.0
"""Spaces of candidates for optimisers of others, and our own search step by step."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeAlias

from . import _words
from ._native import _core
from ._words import Time
from .errors import InputError
from .model import Application, Platform, path_of

Value: TypeAlias = str | float | int | bool | None
Candidate: TypeAlias = Mapping[str, Value]

# Parameters of a space that are options of `whimbrel explore`, with what makes texts of them.
OPTIONS: _words.Texts = {
    "frame_rates": _words.listed(_words.number),
    "points": _words.listed(_words.number),
    "slots": _words.repeated,
    "channels": _words.repeated,
    "policies": _words.listed(_words.policy),
    "pins": _words.pins,
    "set": _words.set_options,
    "duration": _words.time,
    "seed": _words.integer,
    "budget": _words.budget,
    "exhaustive": _words.integer,
    "objectives": _words.listed(_words.text),
}
# Candidates that run between two looks for Ctrl-C.
_CHUNK = 64


@dataclass(frozen=True)
class Result:
    """What came of a candidate.

    Examples:
        >>> space = whimbrel.Space(player, fast, duration="200ms")
        >>> result = space.evaluate(space.candidate([0] * len(space.variables)))
        >>> len(result.objectives), result.failed
        (2, None)
    """

    candidate: Candidate
    """The value of each variable."""
    row: dict[str, Any] = field(repr=False)
    """The row of `Exploration.table` without `id` and `pareto`, and `jobs`, `frames`, `time_ms` and
    `load`; docs/explore.md has the units."""
    objectives: tuple[float, ...]
    """The values to minimise, in the order of the space's `objectives`; infinite if it failed."""
    failed: str | None = None
    """Why it could not run, for example because it deadlocks."""


class Space:
    """What there is to choose from when an application is mapped to a platform.

    An optimiser draws a value for each of the `variables`, and `evaluate` simulates that candidate:
    the same one gives the same figures as an exploration, to the last bit.

    Args:
        app: The application, or the path of its app.toml or of a file that `whimbrel import` takes.
        platform: The hardware, or its name, or the path of its file.
        frame_rates: Frames per second; a variable chooses one of them.
        points: "all", "high" or frequencies in MHz, of which a variable of each core chooses one.
        slots: Slots of channels, such as "8,14" or "demodulator_bpf=4,8".
        channels: How channels notify, such as "interrupt,polling:20ms".
        policies: The policies to choose from.
        pins: Tasks that stay on a core, such as `{"lpf": 0}`.
        set: Parameters of the application with their new values.
        duration: The virtual time of each candidate, in seconds, a `timedelta`, or text such as
            "500ms"; default: 2 s.
        objectives: The quantities to minimise, of "energy", "misses", "latency", "cores", "power",
            "energy_per_frame", "energy_per_task" and "time"; "frames" is maximised.
        seed: The seed of the draws of cycles, and of `Search`.
        budget: The candidates of each frame rate after which `Search` ends.
        exhaustive: The maximum number of candidates of a frame rate of which `Search` asks for all.

    Raises:
        InputError: An argument is invalid; `file` and `line` state the place.
        TypeError: A value is of a wrong type.

    Examples:
        >>> space = whimbrel.Space(player, fast, duration="200ms")
        >>> list(space.variables), space.size
        (['mapping.source', 'mapping.work.0', 'mapping.work.1', 'mapping.sink'], 16)
    """

    def __init__(
        self,
        app: Application | str | PathLike[str],
        platform: Platform | str | PathLike[str] = "mpsoc3",
        *,
        frame_rates: float | str | Iterable[float] | None = None,
        points: str | Iterable[float] | None = None,
        slots: str | Iterable[str] = (),
        channels: str | Iterable[str] = (),
        policies: str | Iterable[str | tuple[str, Mapping[str, float]]] | None = None,
        pins: Mapping[str, int] | None = None,
        set: Mapping[str, Any] | None = None,
        duration: Time | None = None,
        objectives: str | Iterable[_words.Objective] = ("energy", "misses"),
        seed: int | None = None,
        budget: int | None = None,
        exhaustive: int | None = None,
    ) -> None:
        given = _words.given(OPTIONS, locals())
        given["app"] = [path_of("app", app, Application)]
        given["platform"] = [path_of("platform", platform, Platform)]
        self._inner = _core.Candidates(given)
        described = json.loads(self._inner.described())
        self._all: dict[str, list[Value]] = {
            variable["name"]: variable["values"] for variable in described["variables"]
        }
        self.variables: dict[str, tuple[Value, ...]] = {
            name: tuple(values) for name, values in self._all.items() if len(values) > 1
        }
        """The values of each variable: "rate" (frames per second), "policy", "mapping.TASK" (a
        core), "points.CORE" (megahertz), "available.CORE", "slots…" and "channels…". One with a
        single value is left out."""
        self.objectives: tuple[_words.Objective, ...] = tuple(described["objectives"])
        """The names of the objectives."""

    @property
    def size(self) -> int:
        """The number of candidates, those included that are alike or that cannot keep up."""
        return math.prod(len(values) for values in self.variables.values())

    def candidate(self, places: Sequence[int]) -> dict[str, Value]:
        """The candidate whose values have these places in the `variables`, for optimisers of
        integers: each place from 0 to the number of values less 1.

        Raises:
            InputError: There are too few or too many places, or one has no value.
            TypeError: A place is not a whole number.

        Examples:
            >>> whimbrel.Space(player, fast).candidate([0, 1, 1, 0])
            {'mapping.source': 0, 'mapping.work.0': 1, 'mapping.work.1': 1, 'mapping.sink': 0}
        """
        places = _words.plain(places)
        if len(places) != len(self.variables):
            cure = f"give a place for each of the {len(self.variables)} variables"
            raise InputError(f"the candidate has {len(places)} places", cure)
        chosen = {}
        for place, (name, values) in zip(places, self.variables.items(), strict=True):
            number = int(_words.integer(name, place))
            if not 0 <= number < len(values):
                cure = f"give a place from 0 to {len(values) - 1}"
                raise InputError(f"{name!r} has no value at place {number}", cure)
            chosen[name] = values[number]
        return chosen

    def evaluate(self, candidate: Candidate) -> Result:
        """Simulates a candidate.

        Raises:
            InputError: It lacks a variable, or has an unknown one, or an unknown value.
            RunError: No candidate can run.

        Examples:
            >>> space = whimbrel.Space(player, fast, duration="200ms")
            >>> space.evaluate(space.candidate([0, 1, 1, 0])).row["cores"]
            2
        """
        return self.evaluate_all([candidate])[0]

    def evaluate_all(self, candidates: Iterable[Candidate]) -> list[Result]:
        """Simulates candidates on all processors; gives the results in their order.

        Raises what `evaluate` does.

        Examples:
            >>> space = whimbrel.Space(player, fast, duration="200ms")
            >>> some = [space.candidate([0, 0, 0, core]) for core in (0, 1)]
            >>> [result.row["misses"] for result in space.evaluate_all(some)]
            [0, 0]
        """
        all_of_them = list(candidates)
        places = [self._places(candidate) for candidate in all_of_them]
        told = [
            json.loads(row)
            for begin in range(0, len(places), _CHUNK)
            for row in self._inner.evaluate(places[begin : begin + _CHUNK])
        ]
        return [self._result(*pair) for pair in zip(all_of_them, told, strict=True)]

    def _places(self, candidate: Candidate) -> list[int]:
        if not isinstance(candidate, Mapping):
            raise _words.wrong("candidate", candidate, "a dict of variables with their values")
        unknown = candidate.keys() - self._all.keys()
        if unknown:
            cure = f"name variables of the space: {', '.join(self.variables)}"
            raise InputError(f"the candidate has {min(unknown)!r}, which is unknown", cure)
        return [self._place(name, candidate) for name in self._all]

    def _place(self, name: str, candidate: Candidate) -> int:
        values = self._all[name]
        if name not in candidate and len(values) > 1:
            raise InputError(f"the candidate has no {name!r}", "give a value for each variable")
        value = _words.plain(candidate.get(name, values[0]))
        if value not in values:
            known = ", ".join(map(repr, values))
            raise InputError(f"{name!r} of the candidate is {value!r}", f"give one of {known}")
        return values.index(value)

    def _result(self, candidate: Candidate, told: dict[str, Any]) -> Result:
        failed, outcome = told.pop("failed"), told.pop("outcome") or {}
        values = told.pop("objectives") or [None] * len(self.objectives)
        objectives = tuple(math.inf if value is None else value for value in values)
        rate = candidate.get("rate", self._all["rate"][0])
        return Result(candidate, {**told, "rate": rate, **outcome}, objectives, failed)


class Search:
    """The search of `whimbrel.explore` step by step: you run the candidates.

    Few candidates are all asked for, those alike once; of many, a genetic search (NSGA-II) asks.

    Examples:
        >>> space = whimbrel.Space(player, fast, duration="200ms")
        >>> search = whimbrel.Search(space)
        >>> while batch := search.ask():
        ...     for candidate, result in zip(batch, space.evaluate_all(batch)):
        ...         search.tell(candidate, result)
        >>> len(search.front)
        1
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._inner = _core.Search(space._inner)
        self._waiting: dict[tuple[Value, ...], int] = {}
        self._batch: list[dict[str, Value]] = []
        self.results: list[Result] = []
        """All results that were told, in that order."""

    def ask(self) -> list[dict[str, Value]]:
        """The candidates to run next, in any order; those of the last call whose results were not
        told come again. Empty: the search is over.

        Examples:
            >>> search = whimbrel.Search(whimbrel.Space(player, fast))
            >>> search.ask()[0]
            {'mapping.source': 0, 'mapping.work.0': 0, 'mapping.work.1': 0, 'mapping.sink': 0}
        """
        if not self._waiting:
            space = self._space
            places = self._inner.ask() or []
            self._batch = [
                {
                    name: values[place]
                    for (name, values), place in zip(space._all.items(), one, strict=True)
                    if len(values) > 1
                }
                for one in places
            ]
            self._waiting = {self._key(one): place for place, one in enumerate(self._batch)}
        return [self._batch[place] for place in self._waiting.values()]

    def tell(self, candidate: Candidate, result: Result | Mapping[str, float] | None) -> None:
        """Tells what came of a candidate that was asked for.

        Args:
            candidate: As `ask` gave it.
            result: That of `Space.evaluate`; or what you have measured: `energy_mj`, `misses`,
                `latency_ms`, `cores`, `time_ms`, `frames` and `firings`, of which only those are
                needed that the objectives of the space are made of. None: it cannot run.

        Raises:
            InputError: The candidate does not wait for a result, or a number is missing or is not
                finite.

        Examples:
            >>> search = whimbrel.Search(whimbrel.Space(player, fast))
            >>> search.tell(search.ask()[0], {"energy_mj": 12.5, "misses": 0})
            >>> search.results[0].objectives
            (12.5, 0.0)
        """
        key = self._key(candidate)
        if key not in self._waiting:
            cure = "tell a candidate of the last ask(), once"
            raise InputError("the candidate does not wait for a result", cure)
        outcome = self._outcome(result)
        objectives = tuple(self._inner.tell(self._waiting.pop(key), outcome))
        if not isinstance(result, Result):
            failed = None if outcome else "it could not run"
            result = Result(candidate, dict(result or {}), objectives, failed)
        self.results.append(result)

    @property
    def front(self) -> list[Result]:
        """The results of which no other one of their frame rate is better in all objectives."""
        return [
            one
            for one in self.results
            if one.failed is None and not any(_beats(other, one) for other in self.results)
        ]

    def _key(self, candidate: Candidate) -> tuple[Value, ...]:
        return tuple(_words.plain(candidate.get(name)) for name in self._space.variables)

    def _outcome(
        self, result: Result | Mapping[str, float] | None
    ) -> tuple[float, int, float | None, int, float, int, int] | None:
        if result is None or (isinstance(result, Result) and result.failed is not None):
            return None
        row = result.row if isinstance(result, Result) else result
        for column in dict.fromkeys(name for of in self._space.objectives for name in _COLUMNS[of]):
            value: Any = row.get(column)
            # A latency is unknown where no frame came to its end.
            fine = column == "latency_ms" and column in row and value is None
            if not fine and not (_words.is_number(value) and 0 <= float(value) < math.inf):
                cure = "give a finite number from 0 on"
                raise InputError(f"the result's {column} is {value!r}", cure)
        latency = row.get("latency_ms")
        return (
            float(row.get("energy_mj", 0)),
            int(row.get("misses", 0)),
            None if latency is None else float(latency),
            int(row.get("cores", 0)),
            float(row.get("time_ms", 0)),
            int(row.get("frames", 0)),
            int(row.get("firings", 0)),
        )


# What each objective is made of.
_COLUMNS: dict[_words.Objective, tuple[str, ...]] = {
    "energy": ("energy_mj",),
    "misses": ("misses",),
    "latency": ("latency_ms",),
    "cores": ("cores",),
    "power": ("energy_mj", "time_ms"),
    "energy_per_frame": ("energy_mj", "frames"),
    "energy_per_task": ("energy_mj", "firings"),
    "time": ("time_ms",),
    "frames": ("frames",),
}


def _beats(one: Result, other: Result) -> bool:
    pairs = list(zip(one.objectives, other.objectives, strict=True))
    same_rate = one.candidate.get("rate") == other.candidate.get("rate")
    return (
        one.failed is None
        and same_rate
        and all(a <= b for a, b in pairs)
        and any(a < b for a, b in pairs)
    )
