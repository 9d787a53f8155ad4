# SPDX-License-Identifier: Apache-2.0
"""Applications and platforms as objects.

Their fields are the keys of app.toml and platform.toml (docs/app-toml.md, docs/platform-toml.md):
what is None is left to its default. Whoever uses an object has it checked by the code that reads
those files; an exception names the line, in the file or in `to_toml()`.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from . import _keys, _shown, _toml, _words
from ._keys import (
    Barrier,
    Block,
    Bus,
    Channel,
    Condition,
    Core,
    Cost,
    Doorbell,
    Mailbox,
    Memory,
    Mesh,
    Mutex,
    Param,
    Semaphore,
    Service,
    Task,
    Thermal,
    Timer,
    Work,
)
from ._native import _core

# The arrays of tables of an app.toml, and the fields of an application for them.
_LISTS = {
    "task": "tasks",
    "mutex": "mutexes",
    "condition": "conditions",
    "barrier": "barriers",
    "semaphore": "semaphores",
    "timer": "timers",
    "channel": "channels",
    "mailbox": "mailboxes",
    "service": "services",
}


class _Described:
    """What a file or a text of TOML describes."""

    def to_toml(self) -> str:
        """As the text of its file."""
        raise NotImplementedError

    def path(self) -> str:
        """The path of a file with what this is: its own, or one that lives as long as it.

        Examples:
            >>> open(fast.path()).read() == fast.to_toml()
            True
        """
        source = getattr(self, "source", None)
        if source is not None:
            return str(source)
        written = self.__dict__.get("_written")
        if written is None:
            # Of two threads that come here one is first; what the other has written goes again.
            written = self.__dict__.setdefault("_written", self._write())
        return str(written[1])

    def _write(self) -> tuple[tempfile.TemporaryDirectory[str], Path]:
        folder = tempfile.TemporaryDirectory(prefix="whimbrel-")
        name = getattr(self, "name", None)
        known = name if isinstance(name, str) and name.isidentifier() else "unnamed"
        file = Path(folder.name) / f"{known}.toml"
        file.write_text(self.to_toml(), encoding="utf-8")
        return folder, file

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_written"}

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes it into a file for the command; gives the path.

        Raises:
            OSError: The file cannot be written.

        Examples:
            >>> player.save("player.toml").name
            'player.toml'
        """
        _core.write(path, self.to_toml().encode())
        return Path(path)


@dataclass(frozen=True, kw_only=True, repr=False)
class Application(_keys.App, _Described):
    """Tasks and the channels between them; its plain fields are `[app]` of docs/app-toml.md.

    Of this class and those of its fields: a name ends with the unit of its quantity; a size is in
    bytes, or text such as "64KiB".

    Examples:
        >>> one = whimbrel.Task(name="one", cycles=1000, period_us=100)
        >>> whimbrel.Application(name="alone", tasks=(one,))
        <Application alone: 1 task, 0 channels>
    """

    tasks: tuple[Task, ...] = ()
    """The tasks, each perhaps several times."""
    channels: tuple[Channel, ...] = ()
    """Queues from outputs of tasks to inputs."""
    mailboxes: tuple[Mailbox, ...] = ()
    """Channels with many senders."""
    services: tuple[Service, ...] = ()
    """Tasks that others call."""
    mutexes: tuple[Mutex, ...] = ()
    """Mutexes that scripts lock."""
    conditions: tuple[Condition, ...] = ()
    """Conditions that scripts wait for and signal."""
    barriers: tuple[Barrier, ...] = ()
    """Barriers at which scripts wait for each other."""
    semaphores: tuple[Semaphore, ...] = ()
    """Semaphores whose permits scripts take and give."""
    timers: tuple[Timer, ...] = ()
    """Timers that several scripts use."""
    params: dict[str, Param] = field(default_factory=dict)
    """`[params]`: the application's own."""
    source: Path | None = field(default=None, repr=False, compare=False)
    """Its file, if it was loaded and is as it was."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Application:
        """Reads an app.toml, or a file of another tool that `whimbrel import` takes.

        Raises:
            InputError: It cannot be read, or is wrong; `file` and `line` say where.

        Examples:
            >>> player.save("app.toml").name
            'app.toml'
            >>> whimbrel.Application.load("app.toml")
            <Application player: 4 tasks, 2 channels>
        """
        file = _words.path("path", path)
        known = json.loads(_core.application(file, []))
        tables = tomllib.loads(known["text"])
        head = tables.pop("app")
        lists = {_LISTS[key]: value for key, value in tables.items() if key in _LISTS}
        found = _toml.filled(cls, {**head, **lists, "params": tables.get("params", {})})
        return replace(found, source=Path(known["path"]))

    @classmethod
    def parse(cls, text: str) -> Application:
        """Reads the text of an app.toml; paths in it are those of the current folder.

        Raises:
            InputError: The text is wrong; `line` says where.

        Examples:
            >>> whimbrel.Application.parse(player.to_toml()) == player
            True
        """
        with tempfile.TemporaryDirectory(prefix="whimbrel-") as folder:
            file = Path(folder) / "app.toml"
            file.write_text(_words.text("text", text), encoding="utf-8")
            return replace(cls.load(file), source=None)

    def changed(self, **fields: Any) -> Application:
        """The same with some fields changed, and paths of its file made whole.

        It is checked when it is used, or by `check`.

        Examples:
            >>> player.changed(name="recorder").name
            'recorder'
        """
        return replace(self._whole(), **fields)

    def _whole(self) -> Application:
        if self.source is None:
            return self
        folder, params = self.source.parent, dict(self.params)
        for key in self.paths or ():
            if params.get(key):
                params[key] = str(folder / str(params[key]))
        beside = folder / self.module if self.module else None
        module = str(beside) if beside and beside.exists() else self.module
        return replace(self, source=None, params=params, module=module)

    def __repr__(self) -> str:
        tasks = _shown.counted(sum(task.count or 1 for task in self.tasks), "task")
        channels = _shown.counted(len(self.channels), "channel")
        return _shown.line(f"<Application {self.name}: {tasks}, {channels}>")

    def _repr_html_(self) -> str:
        lists = [_shown.table(getattr(self, name), name) for name in _LISTS.values()]
        params = [{"parameter": name, "value": value} for name, value in self.params.items()]
        return _shown.page(
            f"{self.name}: {self.description}" if self.description else self.name,
            *lists,
            _shown.table(params, "params"),
        )

    def to_toml(self) -> str:
        """As an app.toml.

        Examples:
            >>> player.to_toml().splitlines()[:2]
            ['[app]', 'name = "player"']
        """
        of = self._whole()
        nothing: dict[str, Any] = dict.fromkeys(_LISTS.values(), ())
        text = _toml.document("app", replace(of, **nothing))
        some = {key: getattr(of, field) for key, field in _LISTS.items()}
        rows = [line for key, of_key in some.items() for line in _toml.rows(key, of_key)]
        return text + "\n".join([*rows, ""])

    def check(self, **set: Any) -> None:
        """Checks it as the command does, also with some parameters replaced.

        Raises:
            InputError: It is invalid; `line` is that of `to_toml()`, or of its file.

        Examples:
            >>> player.check()
            >>> player.changed(tasks=()).check()
            Traceback (most recent call last):
                ...
            whimbrel.errors.InputError: ...: the file has no `task`
            ...
        """
        _core.application(self.path(), _words.settings("set", set))


@dataclass(frozen=True, kw_only=True, repr=False)
class Platform(_keys.Platform, _Described):
    """Simulated hardware; its plain fields are `[platform]` of docs/platform-toml.md.

    Of this class and those of its fields: a name ends with the unit of its quantity; a size is in
    bytes, or text such as "64KiB".

    Examples:
        >>> core = whimbrel.Core(count=2, point=(whimbrel.Point(mhz=800, active_mw=300),))
        >>> whimbrel.Platform(name="pair", core=(core,))
        <Platform pair: 2 cores>
    """

    core: tuple[Core, ...] = ()
    """The cores, each perhaps several times."""
    costs: dict[str, Cost] = field(default_factory=dict)
    """What actions cost, by their names, on every core."""
    memory: tuple[Memory, ...] = ()
    """The memories."""
    bus: Bus | None = None
    """The bus that all cores share."""
    mesh: Mesh | None = None
    """Links between neighbours, instead of a bus."""
    doorbell: Doorbell | None = None
    """The signal from one core to another."""
    thermal: Thermal | None = None
    """The thermal model of the chip."""
    block: tuple[Block, ...] = ()
    """The floorplan."""
    work: tuple[Work, ...] = ()
    """Measured cycles of firings, instead of those of the application."""
    source: Path | None = field(default=None, repr=False, compare=False)
    """Its file, if it was loaded and is as it was."""

    @classmethod
    def load(cls, wanted: str | PathLike[str]) -> Platform:
        """Reads a platform: the name of one that comes with Whimbrel, or a path.

        Raises:
            InputError: There is none, or it is wrong; `file` and `line` say where.

        Examples:
            >>> whimbrel.Platform.load("mpsoc3")
            <Platform mpsoc3: 3 cores>
        """
        path = Path(_core.platform(_words.path("wanted", wanted)))
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        found = _toml.filled(cls, {**tables.pop("platform"), **tables})
        return replace(found, source=path.absolute())

    @classmethod
    def parse(cls, text: str) -> Platform:
        """Reads the text of a platform's file.

        Raises:
            InputError: The text is wrong; `line` says where.

        Examples:
            >>> whimbrel.Platform.parse(fast.to_toml()) == fast
            True
        """
        with tempfile.TemporaryDirectory(prefix="whimbrel-") as folder:
            file = Path(folder) / "platform.toml"
            file.write_text(_words.text("text", text), encoding="utf-8")
            return replace(cls.load(file), source=None)

    def changed(self, **fields: Any) -> Platform:
        """The same with some fields changed. It is checked when it is used, or by `check`.

        Examples:
            >>> fast.changed(name="faster").name
            'faster'
        """
        return replace(self, **{"source": None, **fields})

    def __repr__(self) -> str:
        cores = _shown.counted(sum(core.count or 1 for core in self.core), "core")
        return _shown.line(f"<Platform {self.name}: {cores}>")

    def _repr_html_(self) -> str:
        points = [
            (float(point.mhz), float(point.active_mw))
            for core in self.core
            for point in core.point
            if point.mhz is not None and point.active_mw is not None
        ]
        words = "frequency, MHz", "power of a busy core, mW"
        return _shown.page(
            self.name,
            _shown.table(self.core, "core"),
            _shown.plot([], points, words) if points else "",
            _shown.table(self.memory, "memory"),
            _shown.table(self.block, "block"),
        )

    def to_toml(self) -> str:
        """As a platform's file.

        Examples:
            >>> fast.to_toml().splitlines()[:2]
            ['[platform]', 'name = "fast"']
        """
        return _toml.document("platform", replace(self, source=None))

    def check(self) -> None:
        """Checks it as the command does.

        Raises:
            InputError: It is invalid; `line` is that of `to_toml()`, or of its file.

        Examples:
            >>> fast.check()
            >>> fast.changed(core=()).check()
            Traceback (most recent call last):
                ...
            whimbrel.errors.InputError: the platform fast has no [[core]]: ...
        """
        _core.platform(self.path())


def path_of(name: str, value: object, class_: type[_Described]) -> str:
    """The file of an object, a path, or the name of a platform."""
    if isinstance(value, class_):
        return value.path()
    if isinstance(value, (str, PathLike)):
        return fspath(value)
    raise _words.wrong(name, value, f"a path or an object of the class {class_.__name__}")
