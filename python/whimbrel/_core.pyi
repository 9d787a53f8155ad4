# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path

__all__ = [
    "__version__",
    "application",
    "events",
    "explore",
    "helpers_are_in",
    "platform",
    "simulate",
    "work",
    "write",
]
__version__: str

def helpers_are_in(folder: str | PathLike[str]) -> None: ...
def application(path: str | PathLike[str], set: list[tuple[str, str]]) -> str: ...
def platform(wanted: str) -> Path: ...
def simulate(
    given: dict[str, list[str]],
    progress: Callable[[int, int], object] | None = None,
    decide: Callable[[str], tuple[list[tuple[int, int]], list[tuple[int, int]]]] | None = None,
) -> str: ...
def events(folder: str | PathLike[str]) -> tuple[dict[str, bytes], int]: ...
def explore(
    given: str | dict[str, list[str]],
    evaluate: Callable[[list[str]], Iterable[tuple[int, str] | None]] | None = None,
    progress: Callable[[int, int | None, int], object] | None = None,
) -> tuple[str, bytes, str, bool]: ...
def work(job: str) -> str: ...
def write(path: str | PathLike[str], contents: bytes) -> None: ...
