# SPDX-License-Identifier: Apache-2.0
"""Whimbrel: simulate and explore streaming applications whose tasks migrate between cores.

See docs/python.md. Each part is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from . import _help

if TYPE_CHECKING:
    from . import plot
    from ._core import __version__
    from ._keys import (
        Barrier,
        Block,
        Bus,
        Cache,
        Channel,
        Condition,
        Core,
        Cost,
        Doorbell,
        IdleState,
        Leakage,
        Mailbox,
        Memory,
        Mesh,
        Mutex,
        Point,
        Semaphore,
        Service,
        Task,
        Thermal,
        Timer,
        Transition,
        Work,
    )
    from .errors import ClusterError, Error, InputError, PolicyError, RunError, Trouble
    from .exploration import Candidate, Exploration, explore
    from .model import Application, Platform
    from .policies import Move, SeenCore, SeenTask, SetPoint, Snapshot
    from .runs import Run, open_run, rerun
    from .search import Result, Search, Space
    from .simulation import simulate

__all__ = [
    "Application",
    "Barrier",
    "Block",
    "Bus",
    "Cache",
    "Candidate",
    "Channel",
    "ClusterError",
    "Condition",
    "Core",
    "Cost",
    "Doorbell",
    "Error",
    "Exploration",
    "IdleState",
    "InputError",
    "Leakage",
    "Mailbox",
    "Memory",
    "Mesh",
    "Move",
    "Mutex",
    "Platform",
    "Point",
    "PolicyError",
    "Result",
    "Run",
    "RunError",
    "Search",
    "SeenCore",
    "SeenTask",
    "Semaphore",
    "Service",
    "SetPoint",
    "Snapshot",
    "Space",
    "Task",
    "Thermal",
    "Timer",
    "Transition",
    "Trouble",
    "Work",
    "__version__",
    "explore",
    "open_run",
    "plot",
    "rerun",
    "simulate",
]

# Where a name is looked for when it is first used: figures need nothing that is compiled.
_PARTS = (
    *("errors", "policies", "model", "_keys", "runs", "simulation", "exploration", "search"),
    "_core",
)


def __getattr__(name: str) -> object:
    if name == "plot":  # for matplotlib is no small thing
        return import_module(".plot", __name__)
    for part in _PARTS if name in __all__ else ():
        found = getattr(import_module(f".{part}", __name__), name, None)
        if found is not None:
            if isinstance(found, type):
                _help.described(found)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
