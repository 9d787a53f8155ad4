# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: each exception says what, in which file and line, and what to do."""

from __future__ import annotations

from dataclasses import dataclass


def plain(text: str) -> str:
    """A text that a terminal may be given: names in it may be a stranger's.

    Control characters and those of direction are shown as Python writes them in strings.
    """
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else ascii(sign)[1:-1] for sign in text
    )


@dataclass(frozen=True)
class Trouble:
    """One thing that is wrong. Its text is what the command prints of it.

    Examples:
        >>> print(whimbrel.Trouble("the rate is 0", "app.toml", line=3, column=1, cure="remove it"))
        app.toml:3:1: the rate is 0
          remove it
    """

    message: str
    """What, in one sentence."""
    file: str | None = None
    """The file that it is in."""
    line: int | None = None
    """The line to change, from 1."""
    column: int | None = None
    """The column to change, from 1."""
    text: str | None = None
    """The text of that line."""
    cure: str | None = None
    """What to do about it."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        text = f"\n    {self.text.strip()}" if self.text else ""
        cure = f"\n  {self.cure}" if self.cure else ""
        return plain(f"{place}{self.message}{text}{cure}")


class Error(Exception):
    """The base of all exceptions of this package.

    Exceptions are `TypeError`, `KeyError` of an index and `OSError` of `save`.

    It can be pickled, so it comes from workers unchanged.

    Examples:
        >>> try:
        ...     whimbrel.simulate(player, fast, map={"work": 7})
        ... except whimbrel.Error as error:
        ...     print(error.message)
        map=: core 7 does not exist
    """

    def __init__(self, message: str, cure: str | None = None, *more: Trouble) -> None:
        self.troubles = more or (Trouble(message, cure=cure),)
        """All that is wrong; the attributes below are those of the first."""
        super().__init__("\n".join(map(str, self.troubles)))

    @property
    def message(self) -> str:
        """The failure, in one sentence."""
        return self.troubles[0].message

    @property
    def file(self) -> str | None:
        """The file that it is in."""
        return self.troubles[0].file

    @property
    def line(self) -> int | None:
        """The line to change, from 1."""
        return self.troubles[0].line

    @property
    def column(self) -> int | None:
        """The column to change, from 1."""
        return self.troubles[0].column

    @property
    def cure(self) -> str | None:
        """What to do about it."""
        return self.troubles[0].cure

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.cure, *self.troubles)


class InputError(Error, ValueError):
    """An argument is invalid: an application, a platform, a value of a parameter.

    Examples:
        >>> player.changed(tasks=()).check()
        Traceback (most recent call last):
            ...
        whimbrel.errors.InputError: ...: the file has no `task`
        ...
    """


class RunError(Error, RuntimeError):
    """A simulation or an exploration could not be made, or failed.

    Examples:
        >>> whimbrel.simulate(player, fast, max_time="1ms")
        Traceback (most recent call last):
            ...
        whimbrel.errors.RunError: it has not ended after 0.001 s of virtual time
          raise max_time= or max_events=, or end the sources with duration=
    """


class PolicyError(RunError):
    """A policy in Python raised, or returned an invalid decision.

    Examples:
        >>> def wrong(seen: whimbrel.Snapshot):
        ...     return [whimbrel.Move(task=0, core=-1)]
        >>> whimbrel.simulate(player, fast, duration=1, policy=wrong)
        Traceback (most recent call last):
            ...
        whimbrel.errors.PolicyError: the policy decided Move(task=0, core=-1)
          core is a whole number from 0 on: a place in the snapshot
    """


class ClusterError(RunError):
    """A cluster disconnected, or a worker of it cannot run candidates.

    Examples:
        >>> try:
        ...     raise whimbrel.ClusterError("the cluster disconnected")
        ... except whimbrel.RunError as error:
        ...     error.message
        'the cluster disconnected'
    """


def made(
    kind: str,
    troubles: list[tuple[str, str | None, tuple[int, int] | None, str | None, str | None]],
) -> Error:
    """The exception for what the compiled part found."""
    found = []
    for message, file, place, text, cure in troubles:
        line, column = place or (None, None)
        found.append(Trouble(message, file, line, column, text, cure))
    return (InputError if kind == "InputError" else RunError)("", None, *found)
