# SPDX-License-Identifier: Apache-2.0
"""The words that types have for an option are those that the command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import whimbrel
from whimbrel import _words, exploration, search
from whimbrel.plot import chart, series


def named(error: whimbrel.Error) -> set[str]:
    """The words that its cure names."""
    assert error.cure is not None
    return set(error.cure.rpartition(" one of ")[2].split(", "))


@pytest.mark.parametrize(
    ("option", "type_"),
    [
        ("compute", _words.Compute),
        ("migration_points", _words.MigrationPoints),
        ("mode", _words.Mode),
        ("transport", _words.Transport),
    ],
)
def test_words_of_a_simulation(player: whimbrel.Application, option: str, type_: Any) -> None:
    wrong: dict[str, Any] = {option: "none"}
    with pytest.raises(whimbrel.InputError) as raised:
        whimbrel.simulate(player, duration=1, **wrong)
    assert named(raised.value) == set(get_args(type_))


def test_words_of_an_exploration(player: whimbrel.Application) -> None:
    words = set(get_args(_words.Objective))
    wrong: Any = "none"
    with pytest.raises(whimbrel.InputError) as raised:
        whimbrel.explore(player, objectives=wrong)
    assert named(raised.value) == words
    assert set(exploration.OBJECTIVES) == set(search._COLUMNS) == words


def test_formats_of_traces(player: whimbrel.Application, tmp_path: Path) -> None:
    run = whimbrel.simulate(player, duration="10ms", record=True)
    wrong: Any = "none"
    with pytest.raises(whimbrel.InputError) as raised:
        run.trace(tmp_path / "trace", wrong)
    assert named(raised.value) == set(get_args(_words.TraceFormat))


def test_words_of_figures() -> None:
    assert set(chart.WIDTHS) == set(get_args(chart.Column))
    assert set(series.OBJECTIVES) == set(get_args(series.Column))
    assert set(series.OBJECTIVES) == set(exploration.OBJECTIVES.values())
    assert set(series.VALUES) == set(get_args(series.Value))


def test_a_task_takes_the_modes_of_a_simulation() -> None:
    hints = get_type_hints(whimbrel.Task)

    assert hints["mode"] == _words.Mode | None
    assert hints["move"] == _words.MigrationPoints | None
