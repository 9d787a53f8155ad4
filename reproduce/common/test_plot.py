# SPDX-License-Identifier: Apache-2.0
"""What must hold of every plot."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from published import publish
from shapes import marks_in
from whimbrel.plot.chart import Axis, Chip, Floorplans, Plot

POINTS = [(1.0, 1.0), (10.0, 100.0), (20.0, 400.0)]


def some(logarithmic: bool = False) -> Plot:
    plot = Plot("t", Axis("x", logarithmic), Axis("y", logarithmic))
    plot.add("points", POINTS)
    plot.add("line", POINTS, line=True)
    plot.limit("limit", 50)
    return plot


@pytest.mark.parametrize("logarithmic", [False, True])
def test_larger_values_are_higher_and_further_right(logarithmic: bool) -> None:
    places = [some(logarithmic).axes.transData.transform(point) for point in POINTS]
    assert all((after > before).all() for before, after in pairwise(places))


def test_a_file_has_every_point_and_the_words_as_text(tmp_path: Path) -> None:
    path = tmp_path / "plot.svg"
    some().write(path)
    assert marks_in(path) == len(POINTS) + 2
    assert all(f">{word}</text>" in path.read_text() for word in ("points", "limit", "x", "y"))


def test_the_same_plot_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        some().write(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_was_not_measured_has_no_bar(tmp_path: Path) -> None:
    plot = Plot("t", Axis("x"), Axis("y"))
    plot.bars({"a": {"one": 1.0, "two": None}, "b": {"two": 3.0}})
    plot.write(tmp_path / "bars.svg")
    assert marks_in(tmp_path / "bars.svg") == 2


def test_a_chip_has_each_of_its_blocks(tmp_path: Path) -> None:
    blocks = [{"x_mm": x, "y_mm": 0.0, "width_mm": 1.0, "height_mm": 2.0} for x in range(3)]
    Floorplans("t", [Chip("chip", blocks, [40.0, 50.0, 60.0])]).write(tmp_path / "chip.svg")
    assert marks_in(tmp_path / "chip.svg") == 3


def test_the_folder_of_plots_is_named_for_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "some/plots"
    for as_json, said in ((False, ("the rows\n", f"\nfiles: {folder}\n")), (True, ("[]\n", ""))):
        publish([], {"figure5": some()}, "the rows", folder, as_json)
        assert capsys.readouterr() == said
    assert [path.name for path in folder.iterdir()] == ["figure5.svg"]
