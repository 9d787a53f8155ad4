# SPDX-License-Identifier: Apache-2.0
"""What must hold of the simulated figures: simulations give the same on every machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

import costs  # noqa: E402
import heat  # noqa: E402
import players  # noqa: E402
from command import Failed  # noqa: E402
from counted import Counted, Experiment  # noqa: E402
from gradients import Mapping  # noqa: E402
from players import CA9X4, LARGE_MS, SMALL_MS, Lab  # noqa: E402
from recorded import Event, Steps  # noqa: E402
from shapes import check_drawn, marks_in  # noqa: E402
from stated import check_words  # noqa: E402

README = "reproduce/holmbacka2013/README.md"


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plots")


@pytest.fixture(scope="module")
def rows(plots: Path) -> dict[str, dict[str, Any]]:
    command = [str(HERE / "run"), "--quick", "--json", "--plots", str(plots)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return {row["what"]: row for row in json.loads(done.stdout)}


def ours(rows: dict[str, dict[str, Any]], what: str) -> float:
    return rows[what]["ours"]


def test_every_row_has_what_was_published_and_a_note(rows: dict[str, dict[str, Any]]) -> None:
    for row in rows.values():
        assert list(row) == ["what", "paper", "ours", "unit", "note"]
        assert row["note"]
    named = {what.replace(",", ":").split(":")[0] for what in rows}
    assert named == {"figure 1", "figure 5", "figure 6", "table I", "64 cores"}


def test_a_crowded_core_plays_too_slowly_and_a_core_each_at_full_rate(
    rows: dict[str, dict[str, Any]],
) -> None:
    before, after = rows["figure 5: slowest player before"], rows["figure 5: slowest player after"]
    assert 6 <= before["ours"] <= rows["figure 5: fastest player before"]["ours"] <= 14
    assert after["ours"] == after["paper"] == 25
    assert ours(rows, "figure 5: the player that stays, at most") > 25


def test_spread_finds_the_mapping_of_the_paper(rows: dict[str, dict[str, Any]]) -> None:
    assert ours(rows, "figure 5, spread: players that moved") == 3
    assert ours(rows, "figure 5, spread: cores in use at the end") == 4


def test_collecting_saves_power_and_keeps_the_frame_rate(rows: dict[str, dict[str, Any]]) -> None:
    for what in ("figure 6: power before", "figure 6: power after"):
        assert ours(rows, what) == pytest.approx(rows[what]["paper"], rel=0.03)
    assert ours(rows, "figure 6: reduction") == pytest.approx(40, abs=5)
    assert ours(rows, "figure 6: slowest player after") == 25


def test_a_migration_takes_what_table_1_says(rows: dict[str, dict[str, Any]]) -> None:
    for part in ("detach and move", "attach", "total"):
        row = rows[f"table I: {part}"]
        assert row["paper"] <= row["ours"] <= row["paper"] + 0.5


def test_a_concentrated_mapping_has_the_steeper_gradient(rows: dict[str, dict[str, Any]]) -> None:
    for chip in ("ca9x4", "64 cores"):
        spread = ours(rows, f"figure 1, {chip}: gradient, spread")
        assert 0 <= spread < ours(rows, f"figure 1, {chip}: gradient, concentrated") / 5


def test_sixty_four_cores_play_sixty_four_videos(rows: dict[str, dict[str, Any]]) -> None:
    assert ours(rows, "64 cores: slowest player before spreading") < 25
    assert ours(rows, "64 cores: slowest player after spreading") == 25
    assert ours(rows, "64 cores: players that moved") == 48
    assert ours(rows, "64 cores: cores in use after") == 16
    assert ours(rows, "64 cores: slowest player after") == 25


def test_the_plots_are_pictures(rows: dict[str, dict[str, Any]], plots: Path) -> None:
    assert rows
    marks = {path.stem: marks_in(path) for path in plots.iterdir()}
    assert set(marks) >= {"figure1", "figure1_mesh", "figure5", "figure6_rates", "figure6_power"}
    assert min(marks.values()) >= 10
    assert marks["figure1_mesh"] == 2 * 64


@pytest.mark.parametrize("name", ["figure5", "figure6_power"])
def test_the_readme_shows_what_a_run_draws(
    rows: dict[str, dict[str, Any]], plots: Path, name: str
) -> None:
    assert rows
    check_drawn(HERE / f"plots/{name}.svg", plots / f"{name}.svg")


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Mapping:
    """Core 0 never rests, the others never work: constant power, but for leakage that settles."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    return Mapping.simulate(lab, "busy", CA9X4, [0] * 4, 400, LARGE_MS)


def test_the_steady_state_is_where_the_equations_of_the_network_lead(busy: Mapping) -> None:
    thermal, blocks = CA9X4.description()["thermal"], busy.run.summary["floorplan"]["blocks"]
    # A hundred seconds: cores that look around for a moment do not count.
    begin, end = 299.0, 399.0
    expected = heat.steady_c(thermal, blocks, busy.core_w(begin, end))
    celsius = busy.run.temperatures_c(begin, end)
    assert celsius == pytest.approx(expected[: len(celsius)], abs=2e-3)


def test_energy_is_power_times_time(busy: Mapping) -> None:
    run = busy.run
    recorded_uj = run.power_mw([0.0, run.seconds])[0] * run.seconds * 1e3
    assert recorded_uj == pytest.approx(run.summary["energy"]["cores_uj"], rel=1e-6)


def test_two_blocks_settle_where_the_closed_form_says() -> None:
    thermal = {
        "ambient_c": 25,
        "thickness_mm": 0.5,
        "conductivity_w_per_m_k": 100,
        "sink_k_per_w": 2,
    }
    blocks = [
        {"core": i, "x_mm": 2.0 * i, "y_mm": 0.0, "width_mm": 2.0, "height_mm": 2.0}
        for i in range(2)
    ]
    # 1.25 K/W down from each, 20 K/W from one to the other.
    mean, half = 25 + 4 * 2 + 2 * 1.25, (3 - 1) / (1 / 1.25 + 2 / 20) / 2
    assert heat.steady_c(thermal, blocks, [3.0, 1.0]) == pytest.approx([mean + half, mean - half])


def test_a_step_function_has_its_mean() -> None:
    steps = Steps([Event(1.0, 0, 100), Event(3.0, 0, 200)])
    assert steps.mean(0.0, 1.0) == 0
    assert steps.mean(1.0, 3.0) == 100
    assert steps.mean(2.0, 4.0) == 150
    assert steps.mean(0.0, 5.0) == 120


def test_playback_is_steady_from_the_first_second_after_the_last_irregular_one() -> None:
    assert players.steady_from([[10, 25, 25], [25, 40, 26]], 25) == 2
    assert players.steady_from([[25, 24], [25, 26]], 25) == 0


def test_the_application_has_a_player_for_each_core_that_is_named() -> None:
    assert players.app(2).count("count = 2\n") == 2
    assert players.mapping([3, 1]) == "video.0=3,video.1=1"
    assert SMALL_MS * 4 < 1000 / 25 < LARGE_MS * 4


def test_a_checkpoint_adds_less_to_an_application_than_the_papers(tmp_path: Path) -> None:
    size, instructions = costs.added(tmp_path)
    assert 0 < size <= costs.PUBLISHED["size"]["application_bytes"]
    assert 0 < instructions <= costs.PUBLISHED["size"]["application_instructions"]
    check_words(README, "3; {} and {}; ", [size, instructions], within=0)
    lines = {row["what"]: row["ours"] for row in costs.sizes(tmp_path)}
    counted = [lines["library"], lines["in the kernel's own file"]]
    words = "{}, of which {} are compiled into FreeRTOS's `tasks.c`"
    check_words(README, words, counted, within=0.05)


def test_an_experiment_whose_events_are_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "whimbrel"
    script.write_text('#!/bin/sh\necho "{\\"dropped_events\\": 1}"\n')
    script.chmod(0o755)
    monkeypatch.setattr("command.WHIMBREL", script)
    with pytest.raises(Failed, match=r"^run_figure6: events are missing$"):
        Counted.measure(tmp_path, Experiment("figure6", "small", [0], 1, 0, [-1], [0]))
