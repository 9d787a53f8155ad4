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

from . import _progress, _words, policies, runs
from ._native import _core
from ._words import Time
from .errors import InputError
from .exploration import Candidate
from .model import Application, Platform, path_of

# Parameters that are options of `whimbrel sim`, with what makes texts of them.
_OPTIONS: _words.Texts = {
    "duration": _words.time,
    "map": _words.mapping,
    "frame_rate": _words.number,
    "fast": _words.flag,
    "core_count": _words.integer,
    "points": _words.core_points,
    "pins": _words.pins,
    "slots": _words.per_channel,
    "channels": _words.per_channel,
    "seed": _words.integer,
    "set": _words.set_options,
    "compute": _words.text,
    "mode": _words.text,
    "migration_points": _words.text,
    "transport": _words.text,
    "moves": _words.repeated,
    "shuttles": _words.repeated,
    "frame_rate_changes": _words.repeated,
    "table": _words.path,
    "coordinator": _words.integer,
    "agent_period": _words.time,
    "max_time": _words.time,
    "max_events": _words.integer,
    "save": _words.text,
    "resume": _words.path,
}


@_words.renamed(
    cores="core_count",
    move_at="migration_points",
    rates="frame_rate_changes",
    agents="agent_period",
    limit="max_time",
)
def simulate(
    app: Application | str | PathLike[str] | None = None,
    platform: Platform | str | PathLike[str] | None = None,
    *,
    candidate: Candidate | str | None = None,
    duration: Time | None = None,
    map: str | Mapping[str, int | list[int]] | None = None,
    policy: str | tuple[str, Mapping[str, float]] | policies.Policy | None = None,
    frame_rate: float | None = None,
    fast: bool = False,
    core_count: int | None = None,
    points: str | Iterable[float | None] | None = None,
    pins: Mapping[str, int] | None = None,
    slots: int | str | Mapping[str, int] | None = None,
    channels: str | Mapping[str, str] | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    compute: _words.Compute | None = None,
    mode: _words.Mode | None = None,
    migration_points: _words.MigrationPoints | None = None,
    transport: _words.Transport | None = None,
    moves: str | Iterable[str] = (),
    shuttles: str | Iterable[str] = (),
    frame_rate_changes: str | Iterable[str] = (),
    table: str | PathLike[str] | None = None,
    coordinator: int | None = None,
    agent_period: Time | None = None,
    max_time: Time | None = None,
    max_events: int | None = None,
    save: str | None = None,
    resume: str | PathLike[str] | None = None,
    record: bool | str | PathLike[str] = False,
    progress: _progress.Progress | bool | None = None,
) -> runs.Run:
    """Simulates an application on a platform, as `whimbrel sim` does, until it has ended.

    Blocks; other threads keep running, including other simulations. Ctrl-C ends it. Times are
    seconds, a `timedelta`, or text such as "500ms".

    Args:
        app: The application, or the path of its app.toml or of a file that `whimbrel import` takes.
            May be omitted with `candidate`.
        platform: The hardware, or its name, or the path of its file; default: "mpsoc3".
        candidate: A candidate of an exploration, which is repeated with everything that it ran
            with: `found.best(rate=300)`, `found.candidate(12)`, or "FILE:ROW" with the path of an
            explore.csv, explore.parquet or front.json and an `id`. Other arguments have precedence.
        duration: Virtual time after which sources must end; without it the application ends on its
            own, or at `max_time`.
        map: Where tasks start: `{"lpf": 0, "bpf": [0, 1, 1], "bpf.2": 1}`, "round-robin", "load" or
            "any"; or as a table of an exploration has it: "lpf=0 bpf=0/1/1".
        policy: The policy that decides on moves and frequencies: a name, a name with parameters
            such as `("balance", {"settle_ms": 500})`, or a function from a `Snapshot` to moves.
        frame_rate: Frames per second, instead of the application's own rate.
        fast: No task has a period.
        core_count: The number of cores to use, from the first.
        points: Megahertz that each core begins at, None for one that is off; or as a table of an
            exploration has it: "266/133/-". The cores that are on have numbers without a gap.
        pins: Tasks that start on a core and stay there, such as `{"lpf": 0, "bpf.2": 1}`.
        slots: Slots of channels: a number for all, or `{"codec_phone": 4}`.
        channels: How channels notify, as `channels` of `explore`: "adaptive:1ms" for all, or
            `{"codec_phone": "adaptive:1ms"}`.
        seed: The seed of random numbers, default 0; the same seed gives the same result to the last
            bit.
        set: Parameters of the application with their new values.
        compute: "real" (tasks compute) or "model" (they only take the time).
        mode: How every task moves: "handoff", "replicate", "recreate" or
            "reenter".
        migration_points: Where in its code every task moves: "checkpoints" or "waits".
        transport: How the memory of replicated tasks travels: "auto", "alias" or "buffer".
        moves: Single moves, such as "demodulator=1@2s".
        shuttles: Moves back and forth, such as "demodulator=1,0@500ms".
        frame_rate_changes: Changes of the frame rate, such as "900@2s".
        table: The rows of the policy `table`: a table.toml.
        coordinator: The core that asks the policy.
        agent_period: The period in which each core reports its load and the policy decides;
            default: 100 ms.
        max_time: Virtual time after which a run that has not ended is an error; default: 1 h.
        max_events: The same, in events.
        save: Saves the simulation into a file at a time, such as "state@2s", and continues.
        resume: Resumes a saved simulation, with all options that it had.
        record: Keeps events: True in a folder that lives as long as the result, or the path of a
            new folder.
        progress: Gets the seconds of virtual time that have passed, and the seconds of the whole
            run or None; True draws a bar with tqdm.

    Returns:
        The result; equal to the summary that `whimbrel sim --json` prints.

    Raises:
        InputError: An argument is invalid; `file` and `line` state the place.
        PolicyError: A policy in Python raised, or returned an invalid decision.
        RunError: The run failed, for example by a deadlock or at `max_time`, or the policy is
            unknown.
        TypeError: A value is of a wrong type.

    Examples:
        >>> run = whimbrel.simulate(player, fast, duration=1, map={"work": [0, 1]})
        >>> run.frames, run.misses
        (1000, 0)
    """
    given = _words.given(_OPTIONS, locals())
    decide, policy_given = _policy(policy)
    if policy_given:
        given["policy"] = policy_given
    if isinstance(candidate, Candidate):
        app = candidate.app if app is None else app
        platform = candidate.platform if platform is None else platform
        given = _repeated(candidate, given)
    elif candidate is not None:
        given["candidate"] = [_words.text("candidate", candidate)]
    elif app is None:
        raise TypeError("there is nothing to simulate: give app= or candidate=")
    given["app"] = [] if app is None else [path_of("app", app, Application)]
    if platform is not None:
        given["platform"] = [path_of("platform", platform, Platform)]
    folder = _record(record)
    if folder is not None:
        path = (
            Path(folder.name) / "run" if isinstance(folder, tempfile.TemporaryDirectory) else folder
        )
        given["record"] = [str(path)]
    end = _seconds(duration)
    with _progress.shown(progress, "s") as told:
        tell = None if told is None else lambda time_ns, _: told(time_ns / 1e9, end)
        summary = _core.simulate(given, tell, decide)
    return runs.recorded(json.loads(summary), folder)


def _repeated(candidate: Candidate, given: dict[str, list[str]]) -> dict[str, list[str]]:
    """The options of a candidate, of which those that are given are not taken."""
    known = candidate.options()
    for option, others in (("policy", ["table"]), ("frame_rate", ["fast"])):
        if any(given.get(other) for other in others):
            known.pop(option, None)
    own = {text.partition("=")[0] for text in given.get("set", [])}
    kept = [text for text in known["set"] if text.partition("=")[0] not in own]
    return known | given | {"set": [*kept, *given.get("set", [])]}


def _policy(policy: Any) -> tuple[Callable[[str], policies.Pairs] | None, list[str]]:
    if callable(policy):
        return policies.asked(policy), ["asked"]
    if policy == "asked":
        raise InputError("policy='asked' is not a function", "give the function: policy=decide")
    return None, [] if policy is None else [_words.policy("policy", policy)]


def _record(record: object) -> Path | tempfile.TemporaryDirectory[str] | None:
    record = _words.plain(record)
    if record is False:
        return None
    if record is True:
        return tempfile.TemporaryDirectory(prefix="whimbrel-")
    return Path(_words.path("record", record))


def _seconds(duration: Time | None) -> float | None:
    if duration is None:
        return None
    # An invalid time: the message of the command is better.
    with suppress(InputError):
        return _words.seconds("duration", duration)
    return None
