# SPDX-License-Identifier: Apache-2.0
"""Applications and platforms as objects: read and written, and refused if wrong."""

from __future__ import annotations

import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import whimbrel
from whimbrel import _keys, _words

ROOT = Path(__file__).resolve().parents[2]

APPS = [
    *sorted((ROOT / "apps").glob("*/app.toml")),
    *sorted((ROOT / "apps/synthetic").glob("[!a]*.toml")),
]
PLATFORMS = sorted((ROOT / "platforms").glob("*.toml"))


@pytest.mark.parametrize("path", APPS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_application_is_the_same_after_it_was_written_and_read(path: Path) -> None:
    read = whimbrel.Application.load(path)
    changed = read.changed(description="another")
    again = whimbrel.Application.parse(changed.to_toml())
    assert again == changed
    assert [task.name for task in again.tasks] == [task.name for task in read.tasks]
    assert Path(read.path()) == path


@pytest.mark.parametrize("path", PLATFORMS, ids=lambda path: path.stem)
def test_a_platform_is_the_same_after_it_was_written_and_read(path: Path) -> None:
    if path.stem == "host":
        pytest.skip("it is the machine itself, and has no cores")
    read = whimbrel.Platform.load(path)
    assert whimbrel.Platform.parse(read.to_toml()) == read.changed()
    assert whimbrel.Platform.load(path.stem) == read


def test_an_object_travels_to_another_process(player: whimbrel.Application) -> None:
    player.path()
    assert pickle.loads(pickle.dumps(player)) == player


def test_threads_that_share_an_object_share_its_file(
    player: whimbrel.Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, written = threading.Barrier(2), whimbrel.Application.to_toml

    def write(of: whimbrel.Application) -> str:
        at_once.wait(10)
        return written(of)

    monkeypatch.setattr(whimbrel.Application, "to_toml", write)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            shared = player.changed()
            one, other = pool.map(lambda _, shared=shared: Path(shared.path()), range(2))
            assert one == other and one.is_file()


def test_a_wrong_application_is_refused_with_its_line(player: whimbrel.Application) -> None:
    wrong = player.changed(tasks=(*player.tasks, whimbrel.Task(name="more", cycles=-1)))
    with pytest.raises(whimbrel.InputError) as told:
        wrong.check()
    error = told.value
    lines = wrong.to_toml().splitlines()
    assert error.line is not None and lines[error.line - 1] == "cycles = -1"
    assert error.file is not None and error.file.endswith("player.toml")
    assert str(error.line) in str(error)


def test_a_wrong_file_is_refused_with_its_line_and_what_to_write(tmp_path: Path) -> None:
    file = tmp_path / "app.toml"
    file.write_text('[app]\nname = "a"\n\n[[task]]\nname = "t"\ncycels = 5\n')
    with pytest.raises(whimbrel.InputError) as told:
        whimbrel.Application.load(file)
    assert (told.value.file, told.value.line) == (str(file), 6)
    assert "cycles" in str(told.value.cure)


def test_a_platform_out_of_range_is_refused() -> None:
    point = whimbrel.Point(mhz=-100, active_mw=10)
    with pytest.raises(whimbrel.InputError, match="mhz"):
        whimbrel.Platform(name="p", core=(whimbrel.Core(point=(point,)),)).check()


@pytest.mark.parametrize("path", ["missing.toml", "."])
def test_a_file_that_is_not_there_is_named(path: str) -> None:
    for load in (whimbrel.Application.load, whimbrel.Platform.load):
        with pytest.raises(whimbrel.InputError, match="cannot be read"):
            load(f"./{path}/none.toml")


@pytest.mark.parametrize("value", [object(), b"x", {1, 2}])
def test_a_value_of_a_wrong_type_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        whimbrel.Application(name="a", description=value).to_toml()
    with pytest.raises(TypeError):
        whimbrel.Platform.load(value)


def test_the_package_names_everything_that_objects_are_made_of() -> None:
    classes = {name for name, class_ in vars(_keys).items() if is_dataclass(class_)}
    assert classes - {"App"} <= set(whimbrel.__all__)


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    assert _words.number("rate", np.float64(2.5)) == "2.5"
    assert _words.integer("seed", np.int64(7)) == "7"
    point = whimbrel.Point(mhz=np.float64(800), active_mw=np.float32(1.5))
    core = whimbrel.Core(count=np.int64(2), point=(point,))
    platform = whimbrel.Platform(name="board", core=(core,))
    assert "float" not in platform.to_toml() and "count = 2" in platform.to_toml()
    task = whimbrel.Task(
        name="one",
        cycles=np.uint16(5),
        period_us=np.array(2.5),
        restart=np.bool_(True),
    )
    text = whimbrel.Application(name="app", tasks=(task,)).to_toml()
    assert {"cycles = 5", "period_us = 2.5", "restart = true"} <= set(text.splitlines())
    with pytest.raises(TypeError, match="cycles= takes no timedelta64"):
        whimbrel.Application(
            name="app",
            tasks=(whimbrel.Task(name="one", cycles=np.timedelta64(5, "s")),),
        ).to_toml()


def test_a_time_is_a_number_a_timedelta_or_a_text() -> None:
    for value in (90, 90.0, timedelta(seconds=90), "90s", "1.5m", "90000 ms"):
        assert _words.seconds("patience", value) == pytest.approx(90)
    with pytest.raises(whimbrel.InputError, match="patience= is 'soon'"):
        _words.seconds("patience", "soon")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a link to another user")
def test_nothing_is_saved_through_a_link_of_another_user(tmp_path: Path) -> None:
    shared, dear = tmp_path / "shared", tmp_path / "dear"
    dear.write_text("dear")
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to(dear)
    os.chown(shared / "link", 65534, 65534, follow_symlinks=False)
    with pytest.raises(PermissionError, match="is a link of user 65534"):
        whimbrel.Application.load(APPS[0]).save(shared / "link")
    assert dear.read_text() == "dear"
    found = whimbrel.Exploration("{}", b"parquet", "", True, APPS[0], "mpsoc3")
    with pytest.raises(PermissionError, match="is a link of user 65534"):
        found.save(shared / "link")
    assert dear.read_text() == "dear"
    with pytest.raises(FileNotFoundError):
        found.save(tmp_path / "none" / "file")
    assert found.save(shared / "new").read_bytes() == b"parquet"
