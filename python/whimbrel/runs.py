# SPDX-License-Identifier: Apache-2.0
"""Results of runs: the summary, and tables of Arrow."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from copy import deepcopy
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _shown, _tables, _words
from ._native import _core
from .errors import InputError

if TYPE_CHECKING:
    import pyarrow

Json = dict[str, Any]

# Kinds of events in the order of their numbers, from 1: docs/recorded-run.md.
KINDS = [
    "run",
    "ready",
    "block",
    "end",
    "send",
    "receive",
    "miss",
    "park",
    "attach",
    "return",
    "sleep",
    "awake",
    "output",
    "frequency",
    "power",
    "temperature",
    "doorbell",
    "call",
]


class Run:
    """A run that has ended, simulated or real.

    Its tables are pyarrow's, which pandas and polars take as they are. The name of a column ends
    with its unit (`_mc`: thousandths of a degree Celsius; `_ppm`: millionths), and a value that a
    run does not have is null; docs/recorded-run.md explains each.

    Examples:
        >>> run.seconds, [core["core"] for core in run.cores.to_pylist()]
        (1.0, [0, 1])
    """

    def __init__(self, summary: Json, folder: Path | None = None, held: object = None) -> None:
        self.summary = summary
        """The summary.json as a dict: see docs/recorded-run.md."""
        self.folder = folder
        """Where it was recorded; None: it was not, or it has come from another process with its
        events, by pickle."""
        self._held = held  # a folder that goes with the last reference to it

    # A folder that goes with its result goes with the last of its copies. It is this process's, so
    # what is pickled takes the events along.

    def __copy__(self) -> Run:
        return self._copied(self.summary)

    def __deepcopy__(self, memo: dict[int, Any]) -> Run:
        return self._copied(deepcopy(self.summary, memo))

    def _copied(self, summary: Json) -> Run:
        other = Run(summary, self.folder, self._held)
        if "events" in vars(self):
            vars(other)["events"] = self.events  # nobody can change a table
        return other

    def __getstate__(self) -> Json:
        state: Json = {"summary": self.summary, "folder": self.folder, "_held": None}
        if self._held is not None or (self.folder is None and "events" in vars(self)):
            state |= {"folder": None, "events": self.events}
        return state

    @property
    def seconds(self) -> float:
        """How long the run took on its own clock, in seconds."""
        return float(self.summary["time_ns"]) / 1e9

    @property
    def frames(self) -> int | None:
        """Messages that arrived at the end of the application; None: it has no such end."""
        frames = self.summary["frames"]
        return None if frames is None else int(frames)

    @property
    def misses(self) -> int:
        """Deadlines that were missed."""
        return int(self.summary["deadline_misses"])

    @property
    def energy_mj(self) -> float:
        """What the cores consumed, in millijoules."""
        return float(self.summary["energy"]["cores_uj"]) / 1e3

    @property
    def time_ms(self) -> float:
        """The same as `seconds`, in milliseconds."""
        return float(self.summary["time_ns"]) / 1e6

    @property
    def power_mw(self) -> float | None:
        """The mean power of the cores, in milliwatts; None: no time has passed."""
        return self.energy_mj / self.time_ms * 1e3 if self.time_ms > 0 else None

    @property
    def energy_per_frame_mj(self) -> float | None:
        """Energy for each frame, in millijoules; None: no frame came to an end."""
        return self.energy_mj / self.frames if self.frames else None

    @property
    def energy_per_task_mj(self) -> float | None:
        """Energy for each firing of a task, in millijoules; None: no firing has ended."""
        firings = sum(task["firings"] for task in self.summary["tasks"])
        return self.energy_mj / firings if firings else None

    @property
    def latency_ms(self) -> float | None:
        """From the source of a frame to the end of the application, in milliseconds: the median.

        None: no frame came to its end.
        """
        latency = self.summary["latency_ns"]
        return None if latency is None else float(latency) / 1e6

    @cached_property
    def tasks(self) -> _tables.Table:
        """A row for each task, in the order of the application.

        Columns: `task`, `index`, `core`, `state`, `busy_ns`, `polling_ns`, `runs`, `preemptions`,
        `firings`, `jobs`, `misses`, `worst_late_ns`, `migrations`, `chosen`, `refused`, `restarts`,
        `heap_bytes`, `heap_peak_bytes`, `shared_bytes`, `shared_peak_bytes`, `shared_left`, `mode`,
        `reserved_bytes`, `context_bytes`, `load_ppm`, `images`, `damaged`, `replayed`, `skipped`,
        `script`, `firings_per_s`, `response`.
        """
        return _tables.table(self.summary["tasks"], _tables.TASKS)

    @cached_property
    def channels(self) -> _tables.Table:
        """A row for each channel and mailbox.

        Columns: `channel`, `slots`, `depth`, `high`, `low`, `sent`, `received`, `bytes`,
        `internal`, `doorbell`, `batch`, `within_us`, `waits`, `rings`, `polls`, `hits`, `mean_ns`,
        `spread_ns`, `noticed`, `late_ns`, `worst_ns`, `kernel_ns`.
        """
        return _tables.table(self.summary["channels"], _tables.CHANNELS)

    @cached_property
    def cores(self) -> _tables.Table:
        """A row for each core.

        Columns: `cpu`, `load`, `mean_hz`, `core`, `state`, `busy_ns`, `polling_ns`, `switches`,
        `sleeps`, `notes`, `hz`, `load_ppm`, `temperature_mc`, `energy_uj`, `points`.
        """
        return _tables.table(self.summary["cores"], _tables.CORES)

    @cached_property
    def moves(self) -> _tables.Table:
        """A row for each migration that ended, in that order.

        Columns: `task`, `index`, `source`, `target`, `status`, `request_ns`, `parked_ns`,
        `attached_ns`, `running_ns`, `output_ns`, `copied_ns`, `bytes`, `mode`, `by`.
        """
        return _tables.table(self.summary["migrations"], _tables.MOVES)

    @cached_property
    def events(self) -> _tables.Table:
        """A row for each recorded event, in the order of time.

        Columns: `time_ns`, `kind`, `core`, `task`, `object`, `value`.

        The time is since the start; the task is -1 for none. Events are read when they are first
        asked for: 37 bytes for each.

        Raises:
            InputError: The run was not recorded.
        """
        return _events(self._recorded())

    def trace(self, path: str | PathLike[str], format: _words.TraceFormat = "perfetto") -> Path:
        """Writes the recorded events in the format of a viewer, as `whimbrel trace` does.

        Args:
            path: The file to write.
            format: "perfetto" (for ui.perfetto.dev), "vcd" (for GTKWave) or "btf" (for Trace
                Compass).

        Returns:
            The path.

        Raises:
            InputError: The run was not recorded, or there is no such format.
            RunError: The file cannot be written.

        Examples:
            >>> run.trace("player.vcd", "vcd").name
            'player.vcd'
        """
        to = Path(_words.path("path", path))
        _core.trace(self._recorded(), _words.text("format", format), to)
        return to

    def report(self, path: str | PathLike[str] = "report.html") -> Path:
        """Writes the recorded run as one page of HTML, as `whimbrel report` does.

        Args:
            path: The file to write.

        Returns:
            The path.

        Raises:
            InputError: The run was not recorded.
            RunError: The file cannot be written.

        Examples:
            >>> run.report("player.html").name
            'player.html'
        """
        to = Path(_words.path("path", path))
        _core.report([self._recorded()], to)
        return to

    def _recorded(self) -> Path:
        if self.folder is None:
            cure = "give simulate(…, record=True), or record= with the path of a new folder"
            raise InputError("this run was not recorded", cure)
        return self.folder

    def __repr__(self) -> str:
        summary = self.summary
        name, platform = summary["app"]["name"], summary["platform"]
        ended = summary["ended"]
        return _shown.line(f"<Run of {name} on {platform}: {self.seconds:g} s, {ended}>")

    def _repr_html_(self) -> str:
        names = "seconds", "frames", "misses", "energy_mj", "latency_ms"
        facts = {name: getattr(self, name) for name in names} | {"moves": self.moves.num_rows}
        cores = [
            {
                "core": core["core"],
                "busy": _shown.Bar(core["busy_ns"] / 1e9 / self.seconds if self.seconds else 0),
                "MHz": core["hz"] / 1e6,
                "energy_mj": core["energy_uj"] / 1e3,
            }
            for core in self.cores.to_pylist()
        ]
        tasks = ("task", "index", "core", "state", "firings", "misses", "migrations")
        channels = ("channel", "slots", "high", "sent", "received")
        return _shown.page(
            repr(self).strip("<>"),
            _shown.table([facts]),
            _shown.table(cores, "cores"),
            _shown.table(self.tasks.to_pylist(), "tasks", tasks),
            _shown.table(self.channels.to_pylist(), "channels", channels),
        )


def open_run(folder: str | PathLike[str]) -> Run:
    """Opens a run that `--record` or `record=` has written.

    Args:
        folder: Where it was recorded.

    Returns:
        The run; its events are read when they are first asked for.

    Raises:
        InputError: The folder has no summary, or an invalid one, or one of another version.

    Examples:
        >>> recorded = whimbrel.simulate(player, fast, duration=1, record="player")
        >>> whimbrel.open_run("player").energy_mj == recorded.energy_mj
        True
    """
    path = Path(_words.path("folder", folder))
    file = path / "summary.json"
    try:
        summary = json.loads(file.read_text(encoding="utf-8"))
        version = summary["version"]
    except OSError as error:
        cure = "name the folder of a recorded run that ended: a killed one has no summary.json"
        raise InputError(f"{file} cannot be read: {error.strerror}", cure) from error
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{file} is not the summary of a run: {error}") from error
    if version != 1:
        raise InputError(f"{file} is of version {version}, and only 1 is known")
    return Run(summary, path)


def rerun(folder: str | PathLike[str]) -> dict[str, str | None]:
    """Repeats a recorded simulation or an exploration, as `whimbrel rerun` does.

    Blocks; Ctrl-C ends it. Needs nothing but the folder, which contains copies of the application,
    its module, its input files and the platform. The module is a program: repeat only what you
    would run.

    Args:
        folder: What `simulate(record=…)`, `explore(output=…)` or the command wrote.

    Returns:
        Each file of the result and how it differs from that of the second run; None: it is the same
        to the byte.

    Raises:
        RunError: It cannot be repeated, for example because its policy is a function, or it failed.

    Examples:
        >>> recorded = whimbrel.simulate(player, fast, duration=1, record="again")
        >>> set(whimbrel.rerun("again").values())
        {None}
    """
    return dict(_core.rerun(_words.path("folder", folder)))


def recorded(summary: Json, record: Path | tempfile.TemporaryDirectory[str] | None) -> Run:
    """A run that has just been recorded, perhaps into a folder that goes with it."""
    if isinstance(record, tempfile.TemporaryDirectory):
        return Run(summary, Path(record.name) / "run", record)
    return Run(summary, record)


def _events(folder: Path) -> _tables.Table:
    import pyarrow as pa

    columns, count = _core.events(folder)

    def column(name: str, kind: pyarrow.DataType) -> pyarrow.Array[Any]:
        return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(columns[name])])

    kinds = pa.DictionaryArray.from_arrays(column("kind", pa.int8()), pa.array(KINDS))
    numbers = {"core": pa.uint32(), "task": pa.int64(), "object": pa.int64(), "value": pa.int64()}
    events: _tables.Table = pa.table(
        {"time_ns": column("time_ns", pa.int64()), "kind": kinds}
        | {name: column(name, kind) for name, kind in numbers.items()}
    )
    return events


def names(run: Run) -> list[str]:
    """What people call each task, in the order of the table."""
    counts = Counter(task["task"] for task in run.summary["tasks"])
    return [
        f"{task['task']}.{task['index']}" if counts[task["task"]] > 1 else task["task"]
        for task in run.summary["tasks"]
    ]
