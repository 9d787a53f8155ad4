# SPDX-License-Identifier: Apache-2.0
"""What must hold of the simulated figures: shapes, and that they come from the runs."""

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

import daemons  # noqa: E402
import energy  # noqa: E402
import moving  # noqa: E402
import systems  # noqa: E402
from command import Failed  # noqa: E402
from energy import Configuration  # noqa: E402
from shapes import marks_in  # noqa: E402

# Lines without marks, one for each queue.
MARKS = {"figure15b": 3}


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plots")


@pytest.fixture(scope="module")
def rows(plots: Path) -> dict[str, dict[str, Any]]:
    command = [str(HERE / "run"), "--quick", "--json", "--only", "simulated"]
    command += ["--plots", str(plots)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return {row["what"]: row for row in json.loads(done.stdout)}


def one(rate: int, cores: int, mw: float) -> Configuration:
    return Configuration(rate, (0,) * 6, (100,) * cores, mw)


# ---- The whole ----------------------------------------------------------------------------------


def test_always_on_a_higher_rate_may_need_fewer_cores_and_with_shutdown_it_never_does(
    rows: dict[str, dict[str, Any]],
) -> None:
    head = "times that a higher rate needs fewer cores"
    assert rows[f"figure 11: {head}, always on"]["ours"] >= 1
    assert rows[f"figure 13: {head}, shutdown when idle"]["ours"] == 0


def test_a_core_that_shuts_down_never_consumes_more_than_one_that_is_always_on(
    rows: dict[str, dict[str, Any]],
) -> None:
    pairs = 0
    for what, row in rows.items():
        if what.startswith("figure 10:"):
            other = what.replace("figure 10", "figure 12").replace(
                "always on", "shutdown when idle"
            )
            assert rows[other]["ours"] <= row["ours"] * 1.001, what
            pairs += 1
    assert pairs >= 10


def test_configurations_sustain_the_rates_of_the_text(rows: dict[str, dict[str, Any]]) -> None:
    found = [row for what, row in rows.items() if what.startswith("section 6.3")]
    assert len(found) == 5
    one, two, fastest, alone, loaded = found
    assert one["ours"] >= one["paper"]
    assert two["ours"] >= two["paper"]
    assert fastest["ours"] == pytest.approx(fastest["paper"], rel=0.02)
    assert alone["ours"] > loaded["ours"]
    assert loaded["ours"] == pytest.approx(loaded["paper"], rel=0.05)


def test_shares_of_tasks_are_those_of_the_paper_within_three_percent(
    rows: dict[str, dict[str, Any]],
) -> None:
    found = [row for what, row in rows.items() if what.startswith("shares")]
    assert len(found) == len(systems.TASKS)
    assert all(abs(row["ours"] - row["paper"]) < 3 for row in found)


def test_the_demodulators_migration_costs_the_same_below_the_floor_of_the_voltage_and_more_above(
    rows: dict[str, dict[str, Any]],
) -> None:
    for mode in moving.MODES.values():
        head = f"figure 14: {mode}, 1 to 2 cores"
        # A copy waits for the tasks that have the bus meanwhile, at the power of its core.
        assert rows[f"{head}, largest over smallest up to 320 MHz"]["ours"] < 1.2
        assert rows[f"{head}, highest frequency"]["ours"] > 1.5
    always_on = [row["ours"] for what, row in rows.items() if "always on, 1 to 2 cores" in what]
    assert always_on == [pytest.approx(0, abs=1)]


def test_recreation_takes_more_energy_and_longer_queues_than_replication(
    rows: dict[str, dict[str, Any]],
) -> None:
    for name in moving.TRANSITIONS:
        dear, cheap = (
            rows[f"figure 14: {mode}, {name}, 100 MHz"]["ours"]
            for mode in ("recreation", "replication")
        )
        assert dear > cheap > 0
    for daemon in moving.DAEMONS.values():
        head = "figure 15 (a): {}, daemons at {}, that suffice"
        dear, cheap = (
            rows[head.format(mode, daemon)]["ours"] for mode in ("recreation", "replication")
        )
        assert dear >= cheap > 2


def test_the_last_queue_does_not_run_empty_while_the_demodulator_moves(
    rows: dict[str, dict[str, Any]],
) -> None:
    assert rows["figure 15 (b): bpf_sum_0, least"]["ours"] >= 1
    assert rows["figure 15 (b): demodulator_bpf_0, least"]["ours"] < 14


def test_daemons_take_more_the_oftener_they_run_and_the_agent_stays_below_what_is_stated(
    rows: dict[str, dict[str, Any]],
) -> None:
    for name in ("(a), simulated: coordinator", "(b), simulated: agent"):
        shares = [rows[f"figure 6 {name}, {hz} Hz, 16 tasks"]["ours"] for hz in (1, 10, 100)]
        assert 0 < shares[0] < shares[1] < shares[2] < 0.25


def test_plots_show_every_series(rows: dict[str, dict[str, Any]], plots: Path) -> None:
    assert rows
    assert len(list(plots.iterdir())) == 10
    for path in plots.iterdir():
        assert marks_in(path) >= MARKS.get(path.stem, 5), path.name


# ---- From rows to figures -----------------------------------------------------------------------


def test_a_path_takes_the_least_power_and_of_equals_the_fewest_cores() -> None:
    found = [one(300, 1, 84.2), one(300, 2, 84.0), one(600, 1, 200), one(600, 2, 150)]
    found += [one(600, 2, 170), one(900, 3, 180), one(900, 2, 180.1), one(1200, 1, 190)]
    path = energy.pareto_path(energy.cheapest(found))
    assert [(c.rate, c.cores) for c in path] == [(300, 1), (600, 2), (900, 2), (1200, 1)]
    assert energy.falls(path) == 1
    assert energy.falls(path[:3]) == 0


def test_a_configuration_with_misses_is_none() -> None:
    candidate = {"rate_millihz": 900000, "mapping": [0, 1, 0, 0, 0, 0], "points": [0, 2, 0]}
    outcome = {"misses": 0, "frames": 90, "time_ms": 200.0, "energy_mj": 18.0, "cores": 2}
    line = {"candidate": candidate, "verdict": {"Ok": outcome}}
    always_on, shut_down = (energy.configuration(line, shutdown) for shutdown in (False, True))
    assert always_on is not None
    assert (always_on.mhz, always_on.mw) == ((100, 200), 90)
    assert shut_down is not None
    assert shut_down.mw == pytest.approx(180)
    assert "demodulator at 200 MHz" in always_on.described()
    for bad in ({"Ok": outcome | {"misses": 1}}, {"Err": "deadlock"}):
        assert energy.configuration(line | {"verdict": bad}, False) is None
    assert energy.configuration({"version": 1}, False) is None


def test_the_largest_rate_is_found_by_bisection() -> None:
    assert energy.largest(lambda rate: rate <= 3007, 100, 8000, 10) == 3000
    assert energy.largest(lambda rate: False, 100, 8000, 10) == 0


def test_queues_suffice_from_where_larger_ones_avoid_no_more_than_a_stray_miss() -> None:
    assert moving.suffices({2: 9, 3: 4, 4: 2, 5: 1, 6: 0, 7: 1}) == 5
    assert moving.suffices({2: 9, 3: 1, 4: 7, 5: 1}) == 5


def test_energy_of_a_transition_is_what_more_of_them_take() -> None:
    def run(moves: int, energy_uj: int, frames: int = 900) -> systems.Table:
        return {
            "migrations": [{"status": "ok"}] * moves + [{"status": "timeout"}],
            "energy": {"cores_uj": energy_uj},
            "frames": frames,
        }

    assert moving.energy_of_one(run(80, 1000), run(40, 600), tasks=2) == pytest.approx(20)
    with pytest.raises(Failed):
        moving.energy_of_one(run(80, 1000, frames=899), run(40, 600), tasks=2)


def test_depths_begin_with_what_was_in_the_queue_before() -> None:
    names = list(moving.QUEUES)
    events = [(5, 5, 0, 3), (10_000_000, 6, 0, 2), (11_000_000, 1, 0, 7), (30_000_000, 5, 0, 9)]
    steps = moving.depths(iter(events), names, (9_000_000, 20_000_000))
    assert steps[names[0]] == [(1, 3), (1, 2)]
    assert steps[names[1]] == []


def test_shares_are_of_what_tasks_compute() -> None:
    tasks = [
        {"task": name, "index": 0, "busy_ns": busy}
        for name, busy in zip(("lpf", "demodulator"), (25, 75), strict=True)
    ]
    assert [row["ours"] for row in daemons.shares({"tasks": tasks})] == [25, 75]


def test_variants_say_the_same_as_the_files_they_are_made_from() -> None:
    files = systems.RADIO / "app.toml", systems.PLATFORM
    for path in files:
        table = tomllib.loads(path.read_text())
        assert tomllib.loads(systems.toml(table)) == table


def test_a_saturated_radio_has_queues_of_one_size_behind_its_demodulator() -> None:
    radio = systems.radio(slots=5, saturated=True)
    assert [channel["slots"] for channel in radio["channel"]] == [14, 5, 5]
    assert "periodic" not in radio["task"][0]
    assert systems.radio((0, 1, 2, 2, 0, 0))["task"][2]["core"] == [2, 2, 0]


def test_an_application_that_makes_no_sense_is_the_simulators_error(tmp_path: Path) -> None:
    bench = systems.Bench(tmp_path)
    with pytest.raises(Failed, match="core"):
        bench.sim(systems.radio((7,) * 6), systems.platform([100], False))
