# SPDX-License-Identifier: Apache-2.0
"""Dataclasses as tables of TOML, and back. What a value means is checked by the compiled part."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from numbers import Integral
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from . import _words

T = TypeVar("T")


def key_of(name: str) -> str:
    """The key of a field: `from` and the like are words of Python, and end in `_` there."""
    return name.rstrip("_")


def table(of: Any) -> dict[str, Any]:
    """What a dataclass says, without what it leaves open."""
    found = {key_of(field.name): getattr(of, field.name) for field in fields(of) if field.init}
    return {
        key: value for key, value in found.items() if value is not None and not _is_empty(value)
    }


def document(head: str, of: Any) -> str:
    """A dataclass as a document; its plain values become the table `head`."""
    all_of = table(of)
    plain = {key: value for key, value in all_of.items() if not _is_table(value)}
    tables = {key: value for key, value in all_of.items() if _is_table(value)}
    lines = [f"[{head}]", *(f"{key} = {_value(key, value)}" for key, value in plain.items())]
    for key, value in tables.items():
        lines += _tables(key, value)
    return "\n".join(lines) + "\n"


def _is_empty(value: object) -> bool:
    return isinstance(value, tuple) and not value


def rows(name: str, some: Any) -> list[str]:
    """Dataclasses as an array of tables."""
    return [line for one in some for line in _body(f"[[{name}]]", name, one)]


def _is_table(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(is_dataclass(one) for one in value)
    return is_dataclass(value) or (isinstance(value, Mapping) and not isinstance(value, Inline))


class Inline(dict[str, Any]):
    """A mapping that is written in one line, such as `{ arm9 = 1000 }`."""


def _tables(name: str, value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return rows(name, value)
    return _body(f"[{name}]", name, value)


def _body(head: str, name: str, of: Any) -> list[str]:
    entries = dict(of) if isinstance(of, Mapping) else table(of)
    entries = {key: Inline(v) if _inline(of, key, v) else v for key, v in entries.items()}
    plain = [f"{k} = {_value(k, v)}" for k, v in entries.items() if not _is_table(v)]
    below = [line for k, v in entries.items() if _is_table(v) for line in _tables(f"{name}.{k}", v)]
    alone = isinstance(of, Mapping) and below and not plain
    return [*([] if alone else ["", head]), *plain, *below]


def _inline(of: object, key: str, value: object) -> bool:
    """Tables of numbers by kind of core stand in one line; [params] has no tables."""
    return isinstance(value, Mapping) and is_dataclass(of) and key == "cycles"


def _value(key: str, value: Any) -> str:
    value = _words.plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _words.is_number(value, Integral):
        return str(int(value))
    if _words.is_number(value):
        return repr(float(value)) if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(key, one) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_value(k, v)}" for k, v in value.items()) + " }"
    raise TypeError(f"{key}= takes no {type(value).__name__} ({value!r})")


def filled(class_: type[T], of: Mapping[str, Any]) -> T:
    """A dataclass from a table that was checked before; keys that it does not know are left."""
    hints = get_type_hints(class_)
    known = {key_of(field.name): field.name for field in fields(class_)}  # type: ignore[arg-type]
    taken = {known[key]: _taken(hints[known[key]], v) for key, v in of.items() if key in known}
    return class_(**taken)


def _taken(hint: Any, value: Any) -> Any:
    choices = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for choice in choices:
        if is_dataclass(choice) and isinstance(value, Mapping):
            return filled(choice, value)  # type: ignore[arg-type]
        args = get_args(choice)
        if get_origin(choice) is tuple and args and is_dataclass(args[0]):
            many = value if isinstance(value, list) else [value]
            return tuple(filled(args[0], one) for one in many)  # type: ignore[arg-type]
        if get_origin(choice) is dict and args and is_dataclass(args[1]):
            return {k: filled(args[1], one) for k, one in value.items()}  # type: ignore[arg-type]
    return tuple(value) if isinstance(value, list) else value
