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


def explored(folder: Path, case: Case, *options: str) -> list[tuple[Json, Json]]:
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
    words += ["-o", folder / "found", *options]
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


# Of the radio: points by bisection, rates, a pin, policies that move and that set points, slots and
# channels; with deadlines that are missed and cores that are off.
SEARCH = (
    *("--frame-rates", "300,1500", "--points", "auto", "--pin", "lpf=0", "--slots", "2,14"),
    *("--policies", "static,balance,spread", "--channels", "interrupt,batch:2:1ms"),
    *("--set", "output=", "--duration", "150ms", "--seed", "5", "--budget", "70"),
    *("--exhaustive", "9", "--tolerance", "1%"),
)


def repeated(*words: str | Path) -> subprocess.CompletedProcess[str]:
    line = [WHIMBREL, "sim", "--quiet", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)


def figures(run: Json) -> dict[str, float]:
    """The columns of a row, of a run of its own; a value that there is not is missing."""
    energy_mj, time_ms = run["energy"]["cores_uj"] / 1000, run["time_ns"] / 1e6
    frames, firings = run["frames"], sum(task["firings"] for task in run["tasks"])
    found = {
        "energy_mj": energy_mj,
        "misses": run["deadline_misses"],
        "latency_ms": run["latency_ns"] and run["latency_ns"] / 1e6,
        "cores": sum(core["busy_ns"] > 0 for core in run["cores"]),
        "power_mw": energy_mj / time_ms * 1e3,
        "energy_per_frame_mj": energy_mj / frames if frames else None,
        "energy_per_task_mj": energy_mj / firings if firings else None,
        "time_ms": time_ms,
        "frames": frames or 0,
    }
    return {column: value for column, value in found.items() if value is not None}


def test_every_candidate_is_repeated_to_the_last_bit_from_each_file(tmp_path: Path) -> None:
    words = [WHIMBREL, "explore", "apps/fm_radio/app.toml", *SEARCH, "--quiet", "-o"]
    run = {"capture_output": True, "text": True, "timeout": 600, "check": False}
    done = subprocess.run([*words, tmp_path / "found"], cwd=ROOT, **run)
    assert done.returncode in (0, 1), done.stderr
    with (tmp_path / "found/explore.csv").open() as file:
        rows = list(csv.DictReader(file))
    front = [row["id"] for row in rows if row["pareto"] == "true"]
    for row in rows:
        file_of = {"0": "explore.parquet", "1": "front.json" if row["id"] in front else "."}
        file = tmp_path / "found" / file_of.get(row["id"][-1], "explore.csv")
        done = subprocess.run(
            [WHIMBREL, "sim", "--candidate", f"{file}:{row['id']}", "--json", "--quiet"],
            cwd=ROOT,
            **run,
        )
        assert done.returncode == 0, (row, done.stderr)
        again = json.loads(done.stdout)
        found = figures(again)
        assert found == {name: float(row[name]) for name in found}, row
        assert {name for name in figures(again) if not row[name]} == set()
        on = [core for core, mhz in enumerate(row["points"].split("/")) if mhz != "-"]
        assert [core["cpu"] for core in again["cores"]] == on
    assert len(front) >= 2
    for column, least in (("policy", 3), ("rate", 2), ("points", 4), ("slots", 2), ("channels", 2)):
        assert len({row[column] for row in rows}) >= least, column


def test_a_candidate_of_random_hardware_is_repeated_to_the_last_bit(tmp_path: Path) -> None:
    """With heat, buses, meshes, caches, and policies that see where a core is."""
    compared = 0
    for seed in range(31000, 31012):
        if not explored(tmp_path / str(seed), Case(seed), "--policies", "static,gossip,thermal"):
            continue  # no candidate keeps up
        table_of = tmp_path / str(seed) / "found/explore.csv"
        with table_of.open() as file:
            rows = list(csv.DictReader(file))
        for row in random.Random(seed).sample(rows, min(OF_EACH, len(rows))):
            done = repeated("--candidate", f"{table_of}:{row['id']}", "--json")
            assert done.returncode == 0, (row, done.stderr)
            found = figures(json.loads(done.stdout))
            assert found == {name: float(row[name]) for name in found}, (seed, row)
            compared += 1
    assert compared >= 3 * OF_EACH


def test_a_candidate_that_is_not_there_or_not_as_it_was_is_refused(tmp_path: Path) -> None:
    app, hardware = tmp_path / "app.toml", tmp_path / "platform.toml"
    app.write_text(TWO)
    hardware.write_text(platform(TWO_POINTS, TWO_POINTS))
    found = tmp_path / "found"
    words = [WHIMBREL, "explore", app, "--platform", hardware, "--duration", "50ms", "--quiet"]
    subprocess.run([*words, "-o", found], capture_output=True, timeout=600, check=False)
    rows = len((found / "explore.csv").read_text().splitlines()) - 1

    def said(*words: str | Path) -> str:
        done = repeated(*words)
        assert done.returncode == 2, done.stdout
        return " ".join(done.stderr.split())

    no_row = said("--candidate", f"{found}:{rows}")
    assert f"has no row {rows}" in no_row and "help: name a candidate that ran" in no_row
    assert "No such file" in said("--candidate", f"{tmp_path}/none.csv:0")
    assert "is not a result" in said("--candidate", f"{app}:0")
    assert "write FILE:ROW" in said("--candidate", "0")
    assert "is not a frequency" in said(app, "--points", "700/fast")
    assert "3 cores for the 2" in said(app, "--platform", hardware, "--points", "700/700/700")
    assert "no point of 900 MHz" in said(app, "--platform", hardware, "--points", "700/900")
    assert "every core is off" in said(app, "--platform", hardware, "--points=-/-")
    off = said(app, "--platform", hardware, "--points", "700/-", "--map", "small=1")
    assert "`small` starts on core 1, which is off" in off
    assert "no channel `a_b`" in said(app, "--platform", hardware, "--slots", "a_b=4")

    # Another application by name is taken, but it has no such tasks.
    other = tmp_path / "other.toml"
    other.write_text(TWO.replace('"small"', '"tiny"'))
    unknown = said(other, "--candidate", f"{found}/explore.csv:0")
    assert "the application has no task `small`" in unknown
    hello = said(ROOT / "apps/hello/app.toml", "--candidate", f"{found}/explore.parquet:0")
    assert "explored was `two`, not `hello`" in hello
    app.write_text(TWO.replace("6000000", "6000001"))
    assert "the application or the platform has changed" in said("--candidate", f"{found}:0")
    assert repeated(app, "--candidate", f"{found}:0", "--brief").returncode == 0
    app.unlink()
    assert "is not here" in said("--candidate", f"{found}:0")
    (found / "front.json").unlink()
    assert "has no front.json next to it" in said("--candidate", f"{found}:0")


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
