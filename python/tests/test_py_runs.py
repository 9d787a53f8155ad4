# SPDX-License-Identifier: Apache-2.0
"""Results as tables: those of the command's files, and taken by others without a copy."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import whimbrel
from whimbrel import _tables, runs

ROOT = Path(__file__).resolve().parents[2]
FORK_JOIN = ROOT / "apps/synthetic/fork_join.toml"


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


def test_a_run_is_repeated_and_written_for_viewers(folder: Path, tmp_path: Path) -> None:
    again = whimbrel.rerun(folder)
    assert list(again) == ["summary.json", "core-0.events", "core-1.events", "core-2.events"]
    assert set(again.values()) == {None}
    run = whimbrel.simulate(FORK_JOIN, record=True)
    assert set(whimbrel.rerun(str(run.folder)).values()) == {None}
    assert run.trace(tmp_path / "it.vcd", "vcd").read_text().startswith("$")
    assert run.trace(tmp_path / "it.pftrace").stat().st_size > 1000
    page = run.report(tmp_path / "it.html").read_text()
    assert page.startswith("<!doctype html>")
    with pytest.raises(whimbrel.InputError, match="name one of perfetto, vcd, btf"):
        run.trace(tmp_path / "x", "svg")  # type: ignore[arg-type]
    with pytest.raises(whimbrel.InputError, match="was not recorded"):
        whimbrel.simulate(FORK_JOIN).report()
    with pytest.raises(whimbrel.RunError, match="cannot be written"):
        run.report(tmp_path / "nowhere/it.html")


def test_what_cannot_be_repeated_says_why(tmp_path: Path) -> None:
    whimbrel.simulate(FORK_JOIN, record=tmp_path / "run", policy=lambda _: None)
    with pytest.raises(whimbrel.RunError, match="its policy is a function of Python"):
        whimbrel.rerun(tmp_path / "run")
    with pytest.raises(whimbrel.RunError, match=r"experiment\.json"):
        whimbrel.rerun(tmp_path)


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


def _pickled(run: whimbrel.Run) -> whimbrel.Run:
    return pickle.loads(pickle.dumps(run))  # type: ignore[no-any-return]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_a_copy_of_a_recorded_run_has_its_events_when_the_run_has_gone(
    copied: Callable[[whimbrel.Run], whimbrel.Run],
) -> None:
    run = whimbrel.simulate(FORK_JOIN, record=True)
    folder, events, summary = run.folder, run.events, run.summary
    other = copied(run)
    del run
    assert folder is not None and folder.exists() == (other.folder is not None)
    assert other.summary == summary and other.events.equals(events)
    assert _pickled(other).events.equals(events)
    del other
    assert not folder.exists()


def test_a_run_that_stays_where_it_was_recorded_is_pickled_without_its_events(folder: Path) -> None:
    run = whimbrel.open_run(folder)
    events = run.events
    assert len(pickle.dumps(run)) < 100_000
    assert _pickled(run).folder == folder and _pickled(run).events.equals(events)


def test_tables_have_the_same_columns_whatever_a_run_had(folder: Path, tmp_path: Path) -> None:
    run = whimbrel.open_run(folder)
    lists = {"tasks": "tasks", "channels": "channels", "cores": "cores", "moves": "migrations"}
    empty = whimbrel.Run({**run.summary, **{name: [] for name in lists.values()}})
    for name in lists:
        table = getattr(run, name)
        assert table.num_rows and getattr(empty, name).num_rows == 0
        assert getattr(empty, name).schema == table.schema
        assert not [field for field in table.schema if field.type == pa.null()]
    few = tmp_path / "few"
    few.mkdir()
    shutil.copy(folder / "summary.json", few)
    for core in folder.glob("core-*.events"):
        (few / core.name).write_bytes(core.read_bytes()[:32])
    nothing = whimbrel.open_run(few).events
    assert nothing.num_rows == 0 and nothing.schema == run.events.schema


def test_tables_have_every_member_of_a_summary() -> None:
    """What the command learns to say of a task or a core has a column."""
    ran = [
        whimbrel.simulate(FORK_JOIN, "ca9x4", moves="split=2@100ms"),
        whimbrel.simulate(ROOT / "apps/synthetic/script.toml", duration=1),
        whimbrel.simulate(_told(doorbell="adaptive:1ms")),
        whimbrel.simulate(_told(batch="4:5ms")),
    ]
    known = {
        "tasks": _tables.TASKS,
        "channels": _tables.CHANNELS,
        "cores": _tables.CORES,
        "migrations": _tables.MOVES,
    }
    for name, columns in known.items():
        rows = [row for run in ran for row in run.summary[name]]
        assert {key for row in rows for key in row} <= set(columns)
        made = _tables.table(rows, columns)
        for row, of in zip(rows, made.to_pylist(), strict=True):
            assert {key: of[key] for key in row} == row
    (adaptive,), (batched,) = (run.channels.to_pylist() for run in ran[2:])
    assert (adaptive["doorbell"], adaptive["batch"]) == ("adaptive", None)
    assert (batched["doorbell"], batched["batch"], batched["within_us"]) == (None, 4, 5000)
    assert ran[1].tasks["script"].null_count < ran[1].tasks.num_rows


def _told(**how: str) -> whimbrel.Application:
    """An application with a channel whose receiver is told of messages so."""
    tasks = (
        whimbrel.Task(name="source", cycles=20_000, period_us=1000, firings=50),
        whimbrel.Task(name="sink", cycles=10_000),
    )
    channel = whimbrel.Channel(from_="source.out", to="sink.in", slots=8, slot_bytes=64, **how)
    return whimbrel.Application(name="told", tasks=tasks, channels=(channel,))


def test_times_are_signed(folder: Path) -> None:
    """So that one may be taken from another."""
    events = whimbrel.open_run(folder).events
    assert events.schema.field("time_ns").type == pa.int64()
    earlier = events["time_ns"].to_pandas().diff().dropna()
    assert (earlier >= 0).all()


def test_what_strangers_wrote_is_shown_without_what_a_terminal_obeys(
    folder: Path, tmp_path: Path
) -> None:
    evil = "e\x1b]0;t\x07\x9b8m\u202ev"
    summary = json.loads((folder / "summary.json").read_text())
    summary["app"]["name"] = evil
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    shown = "e\\x1b]0;t\\x07\\x9b8m\\u202ev"
    assert repr(whimbrel.open_run(tmp_path)).startswith(f"<Run of {shown} on ")
    with pytest.raises(whimbrel.InputError) as refused:
        whimbrel.simulate(tmp_path / f"{evil}.toml")
    said = str(refused.value)
    assert all(sign.isprintable() or sign == "\n" for sign in said), ascii(said)
