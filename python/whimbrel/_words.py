# SPDX-License-Identifier: Apache-2.0
"""Parameters as texts of the command's options, whose parsers say what is wrong with them."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import wraps
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

from .errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

Time: TypeAlias = float | int | str | timedelta
# The words of options. The command says which are wrong; python/tests/test_py_words.py compares.
Compute: TypeAlias = Literal["real", "model"]
MigrationPoints: TypeAlias = Literal["checkpoints", "waits"]
Mode: TypeAlias = Literal["handoff", "replicate", "recreate", "reenter"]
Transport: TypeAlias = Literal["auto", "alias", "buffer"]
TraceFormat: TypeAlias = Literal["perfetto", "vcd", "btf"]
Objective: TypeAlias = Literal[
    "energy",
    "misses",
    "latency",
    "cores",
    "power",
    "energy_per_frame",
    "energy_per_task",
    "time",
    "frames",
]
Texts: TypeAlias = Mapping[str, Callable[[str, Any], str | list[str]]]


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lets a function take parameters by the names that they had before, with a warning: for a
    version, as the command takes the options."""

    def wrapper(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> R:
            for old in names.keys() & given.keys():
                new = names[old]
                if new in given:
                    raise TypeError(f"{old}= is {new}= now: give one of the two")
                warnings.warn(f"{old}= is {new}= now", DeprecationWarning, stacklevel=2)
                given[new] = given.pop(old)
            return function(*args, **given)

        return called

    return wrapper


def wrong(name: str, value: object, wanted: str) -> TypeError:
    """What to raise for a value of a wrong type."""
    return TypeError(f"{name}= takes {wanted}, not {type(value).__name__} ({value!r})")


def plain(value: Any) -> Any:
    """A value of numpy as one of Python: a number, a truth, or an array as a list. Its times have
    their own unit, and stay as they are."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return value.tolist() if kind and kind in "biuf" else value


def is_number(value: object, of: type = Real) -> bool:
    """Whether what plain() has made of a value is one."""
    return isinstance(value, of) and not isinstance(value, bool) and not hasattr(value, "dtype")


def time(name: str, value: Time) -> str:
    """Seconds, a timedelta, or text as the command takes it: "500ms"."""
    value = plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if not is_number(value):
        raise wrong(name, value, "seconds, a timedelta or a text as '500ms'")
    if not math.isfinite(value) or value < 0:
        raise InputError(
            f"{name}= is {value!r} s", "give a time from 0 on, in seconds or text such as '500ms'"
        )
    return f"{round(value * 1e9)}ns"


_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(name: str, value: Time) -> float:
    """The same as a number, for what is not the command's to read."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]+)", time(name, value).strip())
    if found is None or found[2] not in _UNITS:
        raise InputError(f"{name}= is {value!r}", "give a time in seconds, or text such as '500ms'")
    return float(found[1]) * _UNITS[found[2]]


def number(name: str, value: Any) -> str:
    """A number."""
    value = plain(value)
    if not is_number(value):
        raise wrong(name, value, "a number")
    return str(int(value)) if isinstance(value, Integral) else repr(float(value))


def integer(name: str, value: Any) -> str:
    """A whole number."""
    value = plain(value)
    if not is_number(value, Integral):
        raise wrong(name, value, "a whole number")
    return str(int(value))


def flag(name: str, value: Any) -> list[str]:
    """True, which is an option without a text, or False."""
    value = plain(value)
    if not isinstance(value, bool):
        raise wrong(name, value, "True or False")
    return ["true"] if value else []


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(name, value, "a text")
    return value


def path(name: str, value: Any) -> str:
    """A path."""
    if not isinstance(value, (str, PathLike)):
        raise wrong(name, value, "a path")
    found = fspath(value)
    if not isinstance(found, str):
        raise wrong(name, value, "a path that is text")
    return found


def mapping(name: str, value: Any) -> str:
    """Cores of tasks: {"lpf": 0, "bpf": [0, 1, 1], "bpf.2": 1}, or a text as the command's."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise wrong(name, value, "a text or a dict of tasks with their cores")
    return ",".join(
        f"{text(name, task)}{index}={integer(name, core)}"
        for task, cores in value.items()
        for index, core in _indexed(cores)
    )


def _indexed(cores: object) -> list[tuple[str, object]]:
    cores = plain(cores)
    if isinstance(cores, (list, tuple)):
        return [(f".{index}", core) for index, core in enumerate(cores)]
    return [("", cores)]


def core_points(name: str, value: Any) -> str:
    """Megahertz of each core, None for one that is off: [266, 133, None]; a text is taken as is."""
    value = plain(value)
    if isinstance(value, str):
        return value
    if not isinstance(value, Iterable):
        raise wrong(name, value, "a text as '266/133/-' or the megahertz of each core")
    return "/".join("-" if one is None else number(name, one) for one in value)


def per_channel(name: str, value: Any) -> str:
    """A value for all channels, or a dict of channels with theirs."""
    value = plain(value)
    if isinstance(value, Mapping):
        return " ".join(f"{text(name, key)}={plain(of)}" for key, of in value.items())
    return value if isinstance(value, str) else integer(name, value)


def policy(name: str, value: Any) -> str:
    """A policy's text, or its name with parameters: ("balance", {"settle_ms": 500})."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Mapping):
        params = ",".join(f"{key}={number(name, of)}" for key, of in value[1].items())
        return f"{text(name, value[0])}:{params}" if params else text(name, value[0])
    raise wrong(name, value, "a text, a pair of a name and a dict, or a function")


def settings(name: str, value: Any) -> list[tuple[str, str]]:
    """Parameters of an application with what replaces them."""
    if not isinstance(value, Mapping):
        raise wrong(name, value, "a dict of the application's parameters")
    return [(text(name, key), _setting(name, of)) for key, of in value.items()]


def _setting(name: str, value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(number(name, one) for one in value) + "]"
    if isinstance(value, PathLike):
        return path(name, value)
    if is_number(value):
        return number(name, value)
    if isinstance(value, str):
        return value
    raise wrong(name, value, "texts, numbers, booleans or lists of numbers")


def listed(of: Callable[[str, Any], str]) -> Callable[[str, Any], str]:
    """One or more, joined by commas; a text is taken as it is."""

    def joined(name: str, value: Any) -> str:
        value = plain(value)
        if isinstance(value, str):
            return value
        if isinstance(value, Iterable):
            return ",".join(of(name, one) for one in value)
        return of(name, value)

    return joined


def repeated(name: str, value: Any) -> list[str]:
    """One text, or several."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise wrong(name, value, "a text or several")
    return [text(name, one) for one in value]


def set_options(name: str, value: Any) -> list[str]:
    """`KEY=VALUE`, for each parameter of the application."""
    return [f"{key}={of}" for key, of in settings(name, value)]


def pins(name: str, value: Any) -> list[str]:
    """Tasks that stay on a core: {"lpf": 0, "bpf.2": 1}."""
    if not isinstance(value, Mapping):
        raise wrong(name, value, "a dict of tasks with their cores")
    return [f"{text(name, task)}={integer(name, core)}" for task, core in value.items()]


def budget(name: str, value: Any) -> str:
    """A number of candidates, a timedelta, or a text as the command's."""
    return time(name, value) if isinstance(value, timedelta) else str(plain(value))


def tolerance(name: str, value: Any) -> str:
    """A part of every objective, or {"energy": 0.01}; a text is taken as it is."""
    if isinstance(value, Mapping):
        return ",".join(f"{text(name, key)}={tolerance(name, of)}" for key, of in value.items())
    return value if isinstance(value, str) else number(name, value)


def given(texts: Texts, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The texts of all parameters that are given."""
    found = {name: of(name, values[name]) for name, of in texts.items() if values[name] is not None}
    return {name: [some] if isinstance(some, str) else some for name, some in found.items()}
