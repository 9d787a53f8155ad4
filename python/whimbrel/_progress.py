# SPDX-License-Identifier: Apache-2.0
"""How far a simulation or an exploration is: a function that gets two numbers, or a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _words
from .errors import InputError

# Gets how much is done, and of how much if that is known.
Progress = Callable[[Any, Any], object]


@contextmanager
def shown(progress: Progress | bool | None, unit: str) -> Iterator[Progress | None]:
    """The function that is told; None: nobody is."""
    progress = _words.plain(progress)
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress is True:
        with _bar(unit) as bar:

            def show(done: float, total: float | None) -> None:
                bar.total, bar.n = total, done
                bar.refresh()

            yield show
    else:
        raise _words.wrong("progress", progress, "True or a function of two numbers")


def _bar(unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise InputError("progress=True needs tqdm", "pip install tqdm") from error
    return tqdm(unit=unit)
