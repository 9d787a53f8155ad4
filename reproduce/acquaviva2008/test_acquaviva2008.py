# SPDX-License-Identifier: Apache-2.0
"""What must hold of the measured figures on any machine, however busy."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import benches  # noqa: E402
import figures  # noqa: E402
from shapes import marks_in  # noqa: E402

PUBLISHED = tomllib.loads((HERE / "published.toml").read_text())
# Loose: the machine may be busy with other things.
STRAIGHT = 0.7
PLOTS = {"figure2", "figure6a", "figure6b", "figure7", "figure16b"}


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plots")


def measured(plots: Path, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    file = plots.parent / "benches.json"
    file.write_text(json.dumps(rows))
    command = [str(HERE / "run"), "--measured", str(file), "--json", "--only", "measured"]
    command += ["--plots", str(plots)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return {row["what"]: row for row in json.loads(done.stdout)}


def straight(rows: dict[str, dict[str, Any]]) -> bool:
    """Whether costs grow linearly."""
    modes = ("replication", "recreation")
    return min(rows[f"figure 2: {mode}, R²"]["ours"] for mode in modes) > STRAIGHT


def ratios(rows: dict[str, dict[str, Any]]) -> list[float]:
    """Recreation over replication, by size."""
    return [row["ours"] for what, row in rows.items() if "recreation over replication" in what]


@pytest.fixture(scope="module")
def rows(plots: Path) -> dict[str, dict[str, Any]]:
    """All is measured once more, longer, where a machine that was busy has bent the lines."""
    first = measured(plots, benches.measured())
    if straight(first) and min(ratios(first)) > 1:
        return first
    groups = ("migration", "agent", "checkpoint")
    return measured(plots, benches.measure(groups, rounds=3, samples=4000))


def test_every_row_has_what_was_published_and_what_was_measured(
    rows: dict[str, dict[str, Any]],
) -> None:
    for row in rows.values():
        assert list(row) == ["what", "paper", "ours", "unit", "note"]
        assert isinstance(row["ours"], float)
        assert isinstance(row["paper"], (str, int, float, type(None)))
    figures_named = {what.split(":")[0] for what in rows}
    assert figures_named == {f"figure {n}" for n in ("2", "6 (a)", "6 (b)", "7", "16 (b)")}


def test_recreation_is_dearer_than_replication_at_every_size(
    rows: dict[str, dict[str, Any]],
) -> None:
    assert len(ratios(rows)) == len(figures.SIZES_KIB)
    assert min(ratios(rows)) > 1


def test_recreation_has_the_larger_offset_and_the_larger_slope(
    rows: dict[str, dict[str, Any]],
) -> None:
    assert rows["figure 2: offsets"]["ours"] > 1
    assert rows["figure 2: slopes"]["ours"] > 1


def test_costs_grow_linearly(rows: dict[str, dict[str, Any]]) -> None:
    assert straight(rows), {what: row["ours"] for what, row in rows.items() if "R²" in what}


def test_what_was_published_stands_beside_what_was_measured(
    rows: dict[str, dict[str, Any]],
) -> None:
    cycles = PUBLISHED["figure7"]["intercept_cycles"]
    assert rows["figure 7: intercept"]["paper"] == cycles
    most = PUBLISHED["figure6"]["agent_most_percent"]
    assert rows["figure 6 (b): agent, 100 Hz, 16 tasks, at 100 MHz"]["paper"] == f"< {most}"


def test_the_plots_are_pictures_with_their_points(
    rows: dict[str, dict[str, Any]], plots: Path
) -> None:
    assert rows
    assert {path.stem for path in plots.iterdir()} == PLOTS
    for path in plots.iterdir():
        assert marks_in(path) >= 5, path.name


def test_a_line_through_points_of_a_line_is_that_line() -> None:
    line = figures.fit([(x, 104986 + 3.5 * x) for x in (64.0, 256.0, 1024.0, 16384.0)])
    assert line.offset == pytest.approx(104986)
    assert line.slope == pytest.approx(3.5)
    assert line.r2 == pytest.approx(1)


def test_a_line_through_points_of_no_line_fits_badly() -> None:
    assert figures.fit([(1, 5), (2, 1), (3, 5), (4, 1)]).r2 < 0.5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rows", "not what"),
        ("[1]", "not what"),
        ("[]", "has no rows of migration"),
        (None, "No such"),
    ],
)
def test_a_file_without_the_benchmarks_rows_is_refused(
    text: str | None, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "benches.json"
    if text is not None:
        file.write_text(text)
    command = [str(HERE / "run"), "--measured", str(file), "--only", "measured"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert why in done.stderr
