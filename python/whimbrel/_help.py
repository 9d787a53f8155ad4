# SPDX-License-Identifier: Apache-2.0
"""What `help()` says of a class: its fields too, whose texts Python itself drops."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def described(of: type[T]) -> type[T]:
    """Completes the text of a class by those of its fields, its bases' first."""
    texts: dict[str, str] = {}
    for base in reversed(of.__mro__):
        if base.__module__.startswith("whimbrel."):
            texts |= _fields(base.__module__).get(base.__name__, {})
    if texts and of.__doc__:
        rows = [f"    {name}: {text}" for name, text in texts.items()]
        of.__doc__ = "\n".join([inspect.cleandoc(of.__doc__), "", "Attributes:", *rows])
    return of


@cache
def _fields(module: str) -> dict[str, dict[str, str]]:
    """The texts of the fields of each class of a module."""
    # Where there are no sources, there are no texts.
    with suppress(OSError, TypeError):
        tree = ast.parse(inspect.getsource(sys.modules[module]))
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        return {node.name: dict(_of_class(node)) for node in classes}
    return {}


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    yield from _below(node.body)
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            yield from _below(one.body)


def _below(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Names that are set, with the text in the line below."""
    for field, text in pairwise(body):
        if not isinstance(field, (ast.Assign, ast.AnnAssign)) or not isinstance(text, ast.Expr):
            continue
        target = field.targets[0] if isinstance(field, ast.Assign) else field.target
        name = ast.unparse(target).removeprefix("self.")
        if isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
            yield name, " ".join(text.value.value.split())
