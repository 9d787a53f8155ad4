# SPDX-License-Identifier: Apache-2.0
"""Candidates of an exploration know nothing of each other."""

from __future__ import annotations

import csv
import itertools
import json
import os
import random
import re
import subprocess
import tomllib
from pathlib import Path

from random_sims import SOURCE, THERMAL, Case, table
from simulated import ROOT, ROWS, TURNS, WHIMBREL, Json, command, platform, simulate

MODULE = ROOT / "build/test-apps/cpp.so"
APP = f"""
[app]
name = "newborn"
module = "{MODULE}"

[[task]]
name = "newborn"
cycles = 1000
"""


def test_each_candidate_finds_the_variables_of_its_module_new(tmp_path: Path) -> None:
    points = "".join(f"[[core.point]]\nmhz = {mhz}\nactive_mw = 9\n" for mhz in (100, 200, 300))
    (tmp_path / "app.toml").write_text(APP)
    (tmp_path / "platform.toml").write_text(platform(points))
    command = [str(WHIMBREL), "explore", str(tmp_path / "app.toml"), "--platform"]
    command += [str(tmp_path / "platform.toml"), "--points", "all", "--duration", "1ms"]
    command += ["--output", str(tmp_path / "found"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    (table,) = (tmp_path / "found").glob("*.csv")
    with table.open() as file:
        assert len(list(csv.DictReader(file))) == 3


SLOW_AND_QUICK = """
[app]
name = "two"

[[task]]
name = "long"
period_us = 10000
cycles = 5000000

[[task]]
name = "short"
priority = 9
period_us = 1000
cycles = 200000
"""


def test_cores_that_are_scheduled_differently_are_not_taken_for_alike(tmp_path: Path) -> None:
    """Both tasks on the core that preempts meet their deadlines, and on the other one they do not:
    of two cores that are alike one of these candidates would be left out."""
    (tmp_path / "app.toml").write_text(SLOW_AND_QUICK)
    (tmp_path / "platform.toml").write_text(platform('scheduling = "preemptive"\n', ""))
    command = [str(WHIMBREL), "explore", str(tmp_path / "app.toml"), "--platform"]
    command += [str(tmp_path / "platform.toml"), "--duration", "50ms"]
    command += ["--output", str(tmp_path / "found"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "found/explore.csv").open() as file:
        misses = {row["mapping"]: int(row["misses"]) for row in csv.DictReader(file)}
    assert len(misses) == 4
    assert misses["long=0 short=0"] == 0
    assert misses["long=1 short=1"] > 0


# As many as `make soak` compares, or a part.
CANDIDATES = int(os.environ.get("EXPLORED", "60"))
OF_EACH = 6
DURATION = "230ms"  # agents report twice
LEAKAGE = table("core.leakage", reference_c=25, slope_c=30) + f"\n{SOURCE}\n"
COSTS = "".join(table(f"costs.{of}", cycles=900) + f"\n{SOURCE}\n" for of in ("report", "decide"))


def explored(folder: Path, case: Case) -> list[tuple[Json, Json]]:
    """Candidates of a random application, each with its outcome; the frame rate is 5000."""
    folder.mkdir()
    app = re.sub(r"\nframe_rate = .*", "", case.app)
    (folder / "app.toml").write_text(app.replace("[app]\n", "[app]\nframe_rate = 5000\n", 1))
    hardware = case.platform
    if "[thermal]" in hardware:
        hardware = re.sub(r"(\n\[\[core\]\][^\[]*)", rf"\1{LEAKAGE}", hardware)
    if case.seed % 2 == 0:
        known = tomllib.loads(hardware).get("costs", {})
        hardware += COSTS if not {"report", "decide"} & known.keys() else ""
    (folder / "platform.toml").write_text(hardware)
    words = [WHIMBREL, "explore", folder / "app.toml", "--platform", folder / "platform.toml"]
    words += ["--duration", DURATION, "--budget", "24", "--seed", str(case.seed), "--quiet"]
    words += ["-o", folder / "found"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (0, 1) or "nothing to explore" in done.stderr, done.stderr
    lines = folder / "found/evaluated.jsonl"
    known = [json.loads(line) for line in lines.read_text().splitlines()] if lines.is_file() else []
    ran = [
        (line["candidate"], line["verdict"]["Ok"]) for line in known[1:] if "Ok" in line["verdict"]
    ]
    ran.sort(key=lambda one: json.dumps(one[0]))
    return random.Random(case.seed).sample(ran, min(OF_EACH, len(ran)))


def row(candidate: Json, app: Json, hardware: Json) -> str:
    """The row of a table that a candidate is written as."""
    cores = [core for core in hardware["core"] for _ in range(core.get("count", 1))]
    names = [task["name"] for task in app["task"] for _ in range(task.get("count", 1))]
    of_name = {
        name: [to for task, to in zip(names, candidate["mapping"], strict=True) if task == name]
        for name in dict.fromkeys(names)
    }
    mapping = ", ".join(f"{name} = {of}" for name, of in of_name.items())
    places = zip(cores, candidate["available"], candidate["points"], strict=True)
    mhz = [str(core["point"][point]["mhz"]) if on else '"off"' for core, on, point in places]
    return (
        f"[[row]]\nframe_rate = {candidate['rate_millihz'] / 1e3}\n"
        f"mapping = {{ {mapping} }}\nfrequency_mhz = [{', '.join(mhz)}]\n"
    )


def test_a_row_of_a_table_is_simulated_as_its_candidate_was_explored(tmp_path: Path) -> None:
    """Unused cores were off in the one and at 100 MHz in the other, which began at 500 MHz."""
    compared, with_off, late = 0, 0, 0
    for seed in range(20000, 20000 + 10 * CANDIDATES):
        if compared >= CANDIDATES:
            break
        folder = tmp_path / str(seed)
        for candidate, outcome in explored(folder, Case(seed)):
            app = tomllib.loads((folder / "app.toml").read_text())
            hardware = tomllib.loads((folder / "platform.toml").read_text())
            (folder / "table.toml").write_text(row(candidate, app, hardware))
            words = ("--platform", str(folder / "platform.toml"), "--duration", DURATION)
            words += (
                "--table",
                str(folder / "table.toml"),
                "--compute",
                "model",
                "--seed",
                str(seed),
            )
            done = command(folder / "app.toml", *words)
            assert done.returncode == 0, (folder, done.stderr)
            run = json.loads(done.stdout)
            tasks = run["tasks"]
            found = {
                "energy_mj": run["energy"]["cores_uj"] / 1000,
                "time_ms": run["time_ns"] / 1e6,
                "misses": sum(task["misses"] for task in tasks),
                "jobs": sum(task["jobs"] for task in tasks),
                "frames": run["frames"] or 0,
                "latency_ms": None if run["latency_ns"] is None else run["latency_ns"] / 1e6,
                "load": [core["busy_ns"] / run["time_ns"] for core in run["cores"]],
            }
            expected = {key: outcome[key] for key in found}
            assert found == expected, (folder, candidate)
            assert run["migrations"] == []
            compared += 1
            with_off += False in candidate["available"]
            late += outcome["misses"] > 0
    print(f"{compared} candidates, {with_off} with cores that are off, {late} with misses")
    assert compared >= CANDIDATES
    assert with_off > CANDIDATES / 10


POINT = "[[core.point]]\nmhz = 1000\nactive_mw = 100\nidle_mw = 50\n"


def test_a_core_is_off_while_a_row_says_so_and_on_again_by_the_next(tmp_path: Path) -> None:
    """On for 2 s of 3, and what moving takes: it goes within two periods of the agents."""
    (tmp_path / "table.toml").write_text(ROWS)
    options = (
        "--table",
        str(tmp_path / "table.toml"),
        "--agent-period",
        "10ms",
        "--duration",
        "3s",
    )
    rates = ("--frame-rate-change", "20@1s", "--frame-rate-change", "10@2s")
    app = f'[app]\nname = "turns"\n{TURNS}'
    run = simulate(tmp_path, app, platform(POINT, POINT), *options, *rates)
    on_s = run["cores"][1]["energy_uj"] / 50_000
    assert 2.0 <= on_s < 2.2
    assert [move["target"] for move in run["migrations"]] == [0, 1]
    assert run["tasks"][1]["firings"] >= 39

    always = simulate(tmp_path, app, platform(POINT, POINT), *options, "--frame-rate", "20")
    assert always["cores"][1]["energy_uj"] == 0
    assert always["migrations"] == []


TWO = """
[app]
name = "two"
frame_rate = 100

[[task]]
name = "large"
periodic = true
cycles = 6000000

[[task]]
name = "small"
periodic = true
cycles = 3000000
"""
TWO_POINTS = "".join(
    f"[[core.point]]\nmhz = {mhz}\nactive_mw = {mw}\nidle_mw = {mw // 4}\n"
    for mhz, mw in ((700, 900), (1000, 2000))
)
SINK = {"step_ms": 10, "sink_k_per_w": 10, "sink_j_per_k": 0.02}


def unlike_places() -> str:
    """Three cores in a row, of 4, 4 and 1 mm² and equal but for that."""
    hardware = platform(TWO_POINTS, TWO_POINTS, TWO_POINTS)
    hardware += table("thermal", **{**THERMAL, **SINK}) + f"\n{SOURCE}\n"
    left_mm = 0.0
    for core, width_mm in enumerate((2, 2, 0.5)):
        place = {"x_mm": left_mm, "y_mm": 0, "width_mm": width_mm, "height_mm": 2}
        hardware += table("[block]", name=f"b{core}", core=core, **place)
        left_mm += width_mm
    return hardware


def test_with_thermal_the_best_of_all_placements_is_found(tmp_path: Path) -> None:
    """Cores at unlike places of a floorplan were taken for alike: the best was not tried."""
    policy = ("--duration", "3s", "--seed", "1")
    thermal = "thermal:limit_mc=40000,recover_mc=5000,settle_ms=200"
    placed = {}
    for large, small in itertools.product(range(3), repeat=2):
        place = ("--map", f"large={large},small={small}")
        words = (*policy, "--policy", thermal, "--compute", "model", *place)
        run = simulate(tmp_path, TWO, unlike_places(), *words)
        misses = sum(task["misses"] for task in run["tasks"])
        placed[f"large={large} small={small}"] = (misses, run["energy"]["cores_uj"] / 1000)
    words = [WHIMBREL, "explore", tmp_path / "app.toml", "--platform", tmp_path / "platform.toml"]
    words += [
        *policy,
        "--policies",
        thermal,
        "--core-counts",
        "3",
        "--quiet",
        "-o",
        tmp_path / "found",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (0, 1), done.stderr
    with (tmp_path / "found/explore.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = {row["mapping"]: (int(row["misses"]), float(row["energy_mj"])) for row in rows}
    assert found.items() <= placed.items()
    assert min(found.values()) == min(placed.values())
    # The first of cores that are alike would have stood for the last.
    assert min(placed.values()) < min(placed[of] for of in placed if "large=2" not in of)
