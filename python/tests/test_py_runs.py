# SPDX-License-Identifier: Apache-2.0
"""Results as tables: those of the command's files, and taken by others without a copy."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
import whimbrel
from whimbrel import runs

FORK_JOIN = Path(__file__).resolve().parents[2] / "apps/synthetic/fork_join.toml"


@pytest.fixture(scope="module")
def folder(command: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that the command has recorded."""
    path = tmp_path_factory.mktemp("recorded") / "run"
    command("sim", str(FORK_JOIN), "--quiet", "--record", str(path), "--move=split=2@100ms")
    return path


def test_a_recorded_run_is_what_a_simulation_gives(folder: Path) -> None:
    opened = whimbrel.open_run(folder)
    made = whimbrel.simulate(FORK_JOIN, record=True, moves="split=2@100ms")
    assert opened.summary == made.summary
    assert opened.events.equals(made.events)
    assert opened.moves.column("task").to_pylist() == ["split"]


def test_events_are_the_records_of_the_streams(folder: Path) -> None:
    events = whimbrel.open_run(folder).events
    records = []
    for core in range(3):
        data = (folder / f"core-{core}.events").read_bytes()[32:]
        records += [
            (ns - 1, kind, *rest) for ns, kind, *rest in struct.iter_unpack("<QHHIII", data)
        ]
    sends = sorted((r[0], r[2], r[3], r[4], r[5]) for r in records if r[1] == 5)
    found = [e for e in events.to_pylist() if e["kind"] == "send"]
    columns = ("time_ns", "core", "task", "object", "value")
    assert sorted(tuple(e[c] for c in columns) for e in found) == sends
    assert events.num_rows == len(records)


def test_polars_and_pandas_take_a_table_as_it_is(folder: Path) -> None:
    run = whimbrel.open_run(folder)
    times = run.events["time_ns"].chunk(0)
    address = times.buffers()[1].address
    frame = pl.DataFrame(run.events)
    assert frame["time_ns"].to_arrow().buffers()[1].address == address
    series = pd.Series(pd.arrays.ArrowExtensionArray(run.events["time_ns"]))
    taken = series.array.__arrow_array__().chunk(0)
    assert taken.buffers()[1].address == address
    assert list(frame["kind"].cast(pl.String)[:3]) == run.events["kind"].to_pylist()[:3]
    assert hasattr(run.tasks, "__arrow_c_stream__")


def test_tables_have_what_the_summary_has(folder: Path) -> None:
    run = whimbrel.open_run(folder)
    assert run.tasks.to_pandas()["task"].tolist() == ["split", *["worker"] * 4, "join"]
    assert runs.names(run)[1:5] == [f"worker.{i}" for i in range(4)]
    assert run.channels.num_rows == 8 and run.cores.num_rows == 3
    assert str(run).startswith("<Run of fork_join on mpsoc3")


def test_a_run_that_was_not_recorded_has_no_events() -> None:
    with pytest.raises(whimbrel.InputError, match="record=True"):
        _ = whimbrel.simulate(FORK_JOIN).events


def test_what_is_no_recorded_run_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(whimbrel.InputError, match="cannot be read"):
        whimbrel.open_run(tmp_path)
    with pytest.raises(TypeError):
        whimbrel.open_run(5)  # type: ignore[arg-type]
    for text in ("{", "[]", '{"version": 2}', "{}"):
        (tmp_path / "summary.json").write_text(text)
        with pytest.raises(whimbrel.InputError, match=r"summary|version"):
            whimbrel.open_run(tmp_path)
    shutil.copy(folder / "summary.json", tmp_path)
    with pytest.raises(whimbrel.InputError, match=r"no core-N\.events"):
        _ = whimbrel.open_run(tmp_path).events
    (tmp_path / "core-0.events").write_bytes(b"NOEVENTS" + bytes(40))
    with pytest.raises(whimbrel.InputError, match="not an event stream"):
        _ = whimbrel.open_run(tmp_path).events


def test_a_recording_ends_with_its_run() -> None:
    run = whimbrel.simulate(FORK_JOIN, record=True)
    folder = run.folder
    assert folder is not None and folder.is_dir()
    del run
    assert not folder.exists()
