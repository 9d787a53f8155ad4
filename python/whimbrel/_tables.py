# SPDX-License-Identifier: Apache-2.0
"""The columns of a run's tables: the same for every run, and for a table without rows.

What a run does not say of a row is null there: the script of a task without one, say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow

    # Pyarrow has no types. Those of what examples call are therefore stated here.
    class Table(pyarrow.Table):
        """A table of pyarrow."""

        num_rows: int
        num_columns: int
        column_names: list[str]

        def to_pandas(self) -> pandas.DataFrame: ...
        def to_pylist(self) -> list[dict[str, Any]]: ...


# Of a column: a type's name, a list of one kind, or a struct.
Kind = Any
Columns = Mapping[str, Kind]

_INT, _REAL, _TEXT, _TRUTH = "int64", "float64", "string", "bool"


def _all(kind: Kind, names: str) -> dict[str, Kind]:
    return dict.fromkeys(names.split(), kind)


TASKS: Columns = {
    "task": _TEXT,
    **_all(_INT, "index core"),
    "state": _TEXT,
    **_all(_INT, "busy_ns polling_ns runs preemptions firings jobs misses worst_late_ns"),
    **_all(_INT, "migrations chosen refused restarts heap_bytes heap_peak_bytes"),
    **_all(_INT, "shared_bytes shared_peak_bytes shared_left"),
    "mode": _TEXT,
    **_all(_INT, "reserved_bytes context_bytes load_ppm images damaged replayed skipped"),
    "script": {"loops": _INT, **_all(_REAL, "period_us run_us slack_us wakeup_us")},
    "firings_per_s": _REAL,
    "response": {
        **_all(_INT, "n min_ns mean_ns p50_ns p99_ns max_ns"),
        "histogram": [[_INT]],
    },
}
CHANNELS: Columns = {
    "channel": _TEXT,
    **_all(_INT, "slots depth high low sent received bytes"),
    "internal": _TRUTH,
    "doorbell": _TEXT,
    **_all(_INT, "batch within_us"),
    **_all(_INT, "waits rings polls hits mean_ns spread_ns noticed late_ns worst_ns kernel_ns"),
}
CORES: Columns = {
    "cpu": _INT,
    **_all(_REAL, "load mean_hz"),
    "core": _INT,
    "state": _TEXT,
    **_all(_INT, "busy_ns polling_ns switches sleeps notes hz load_ppm temperature_mc energy_uj"),
    "points": [_all(_INT, "hz active_ns idle_ns")],
}
MOVES: Columns = {
    "task": _TEXT,
    **_all(_INT, "index source target"),
    "status": _TEXT,
    **_all(_INT, "request_ns parked_ns attached_ns running_ns output_ns copied_ns bytes"),
    **_all(_TEXT, "mode by"),
}


def table(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Table:
    """Rows of a summary as a table."""
    import pyarrow as pa

    schema = pa.schema([(name, _type(kind)) for name, kind in columns.items()])
    made: Table = pa.Table.from_pylist(list(rows), schema)
    return made


def _type(kind: Kind) -> pyarrow.DataType:
    import pyarrow as pa

    if isinstance(kind, list):
        return pa.list_(_type(kind[0]))
    if isinstance(kind, Mapping):
        return pa.struct([(name, _type(of)) for name, of in kind.items()])
    return pa.type_for_alias(kind)
