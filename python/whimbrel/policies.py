# SPDX-License-Identifier: Apache-2.0
"""Policies written in Python: what they see, and what they may decide."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from numbers import Integral
from traceback import walk_tb
from typing import Any, TypeVar

from .errors import PolicyError

T = TypeVar("T")


@dataclass(frozen=True)
class SeenCore:
    """A core as a policy sees it.

    Examples:
        >>> def lowest(seen: whimbrel.Snapshot):
        ...     return [whimbrel.SetPoint(at, 0) for at, core in enumerate(seen.cores) if core.up]
        >>> whimbrel.simulate(player, "mpsoc3", duration=1, policy=lowest).frames
        385
    """

    up: bool
    """It may be given tasks."""
    kind: int
    """What kind of core it is."""
    points_hz: tuple[int, ...]
    """The frequencies of its operating points in hertz, from the lowest to the highest; empty: it
    cannot be set."""
    point: int
    """The present one: a place in `points_hz`."""
    busy_ppm: int
    """Millionths of the last period in tasks, at the present frequency."""
    load_ppm: int
    """Load of its tasks, in millionths of a core at its highest frequency."""
    temperature_mc: int | None
    """Thousandths of a degree Celsius; None: it is not known."""


@dataclass(frozen=True)
class SeenTask:
    """A task as a policy sees it.

    Examples:
        >>> def gather(seen: whimbrel.Snapshot):
        ...     away = [at for at, task in enumerate(seen.tasks) if task.movable and task.core != 1]
        ...     return [whimbrel.Move(at, 1) for at in away]
        >>> whimbrel.simulate(player, fast, duration=1, policy=gather).moves.num_rows
        4
    """

    name: str
    """Its name."""
    index: int
    """Which one of that name."""
    core: int
    """Where it is."""
    last_core: int
    """Where it was before; `core` if it never moved."""
    movable: bool
    """It may move, is not over, and no migration of it is under way."""
    not_on: int
    """Bit k: it does not run on cores of kind k."""
    load_ppm: int
    """Its load, in millionths of a core at its highest frequency."""
    here_ns: int
    """How long it has been on its core, in nanoseconds."""
    away_ns: int
    """How long it has been off `last_core`, in nanoseconds; 0 if it never moved."""
    migration_ns: int
    """What a migration of it is expected to cost, all phases, in nanoseconds."""


@dataclass(frozen=True)
class Snapshot:
    """What a policy sees, as one of the middleware does (wb/policy.h).

    Examples:
        >>> times: list[int] = []
        >>> def watch(seen: whimbrel.Snapshot):
        ...     times.append(seen.now_ns)
        >>> whimbrel.simulate(player, fast, duration=1, policy=watch, agent_period="250ms").misses
        0
        >>> times[:2]
        [500000001, 750000001]
    """

    now_ns: int
    """Virtual time, in nanoseconds."""
    period_ns: int
    """How long the loads were measured, in nanoseconds."""
    rate_millihz: int
    """Thousandths of a frame per second; 0: none."""
    cores: tuple[SeenCore, ...]
    """Each core, in the order of the platform."""
    tasks: tuple[SeenTask, ...]
    """Each task, in the order of the application."""


@dataclass(frozen=True)
class Move:
    """A decision: a task goes to a core.

    Examples:
        >>> def first(seen: whimbrel.Snapshot):
        ...     return [whimbrel.Move(task=0, core=1)] if seen.tasks[0].core == 0 else None
        >>> whimbrel.simulate(player, fast, duration=1, policy=first).moves.num_rows
        1
    """

    task: int
    """Its place in `tasks` of the snapshot."""
    core: int
    """Where it goes."""


@dataclass(frozen=True)
class SetPoint:
    """A decision: a core goes to one of its operating points.

    Examples:
        >>> def slow(seen: whimbrel.Snapshot):
        ...     return [whimbrel.SetPoint(core=0, point=0)]
        >>> whimbrel.simulate(player, "mpsoc3", duration=1, policy=slow).frames
        385
    """

    core: int
    """Its place in `cores` of the snapshot."""
    point: int
    """The place of the operating point in its `points_hz`."""


_DECIDE = "give a list of whimbrel.Move and whimbrel.SetPoint, or nothing"

Decision = Iterable[Move | SetPoint] | None
Policy = Callable[[Snapshot], Decision]
Pairs = tuple[list[tuple[int, int]], list[tuple[int, int]]]


def asked(policy: Policy) -> Callable[[str], Pairs]:
    """What the compiled part calls: text in, numbers out."""

    def decide(text: str) -> Pairs:
        snapshot = _snapshot(json.loads(text))
        try:
            answer = policy(snapshot)
            decided = list(answer) if isinstance(answer, Iterable) else []
        except Exception as error:
            raise PolicyError(
                f"the policy raised {type(error).__name__} at {snapshot.now_ns} ns: {error}",
                place_of(error, policy),
            ) from error
        if answer is not None and not isinstance(answer, Iterable):
            raise PolicyError(f"the policy decided {answer!r}", _DECIDE)
        _check(decided)
        # What numpy calls a whole number is none to the compiled part.
        moves = [(int(one.task), int(one.core)) for one in decided if isinstance(one, Move)]
        points = [(int(one.core), int(one.point)) for one in decided if isinstance(one, SetPoint)]
        return moves, points

    return decide


def _snapshot(seen: dict[str, Any] | None) -> Snapshot:
    if seen is None:
        raise PolicyError(
            "the system has too many tasks for a policy in Python, which can have about 1000",
            "use a policy of the middleware, which has no such limit",
        )
    cores = tuple(_of(SeenCore, core, points_hz=tuple(core["points_hz"])) for core in seen["cores"])
    tasks = tuple(_of(SeenTask, task) for task in seen["tasks"])
    return Snapshot(seen["now_ns"], seen["period_ns"], seen["rate_millihz"], cores, tasks)


def _of(class_: type[T], known: dict[str, Any], **other: object) -> T:
    names = [field.name for field in fields(class_)]  # type: ignore[arg-type]
    return class_(**{name: other.get(name, known[name]) for name in names})


def _check(decided: list[Any]) -> None:
    for one in decided:
        if not isinstance(one, (Move, SetPoint)):
            raise PolicyError(f"the policy decided {one!r}", _DECIDE)
        for field in fields(one):
            number = getattr(one, field.name)
            whole = isinstance(number, Integral) and not isinstance(number, bool)
            if not whole or not 0 <= int(number) < 1 << 32:
                cure = f"{field.name} is a whole number from 0 on: a place in the snapshot"
                raise PolicyError(f"the policy decided {one!r}", cure)


def place_of(
    error: BaseException, policy: Callable[..., Any], given: str = "a whimbrel.Snapshot"
) -> str:
    """The last line in the policy's file, which what it calls may have raised below, or where it
    begins if it was not even called."""
    code = getattr(policy, "__code__", None)
    # But for that which called the policy.
    lines = [(f.f_code.co_filename, line) for f, line in walk_tb(error.__traceback__)][1:]
    if lines:
        own = [at for at in lines if code is not None and at[0] == code.co_filename]
        file, line = (own or lines[:1])[-1]
        return f"mend it at {file}, line {line}"
    where = f" at {code.co_filename}, line {code.co_firstlineno}" if code else ""
    return f"it is called with {given} alone: mend {policy!r}{where}"
