# SPDX-License-Identifier: Apache-2.0
"""Explorations in this process: what the command finds, going on, and wrong parameters."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import whimbrel

ROOT = Path(__file__).resolve().parents[2]
RADIO = ROOT / "apps/fm_radio/app.toml"
OPTIONS: dict[str, Any] = {
    "frame_rates": [300, 600],
    "points": "high",
    "pins": {"lpf": 0},
    "set": {"output": ""},
    "duration": "500ms",
}
# As long as it is told, for the recording goes on.
LONG: dict[str, Any] = {"set": {"output": "", "plays": 10**6}, "duration": "100s", "points": "all"}


def explore(**more: Any) -> whimbrel.Exploration:
    return whimbrel.explore(RADIO, "mpsoc3", **{**OPTIONS, **more})


def test_an_exploration_finds_what_the_command_finds(command: Any, tmp_path: Path) -> None:
    found = explore(output=tmp_path / "python")
    words = "--platform mpsoc3 --frame-rates 300,600 --points high --pin lpf=0 --set output="
    words += f" --duration 500ms --quiet --output {tmp_path}/command"
    command("explore", str(RADIO), *words.split())
    for name in ("front.json", "explore.csv", "explore.parquet"):
        of = [(tmp_path / by / name).read_bytes() for by in ("python", "command")]
        assert of[0] == of[1], name
    assert found.json.encode() == (tmp_path / "python/front.json").read_bytes()
    assert found.parquet == (tmp_path / "python/explore.parquet").read_bytes()
    assert found.complete and found.kept and "mapping" in str(found)
    assert found.front.num_rows == sum(len(rate["front"]) for rate in found.rates)


def test_an_exploration_goes_on_from_its_parquet_file(tmp_path: Path) -> None:
    part = explore(budget=20, output=tmp_path / "part")
    assert not part.complete
    whole = explore()
    file = part.save(tmp_path / "part.parquet")
    again = explore(resume=file, output=tmp_path / "again")
    assert again.json == whole.json and again.parquet == whole.parquet
    kept = (tmp_path / "again/evaluated.jsonl").read_text().splitlines()[1:]
    assert len(kept) == len(set(kept)) == whole.table.num_rows
    assert set((tmp_path / "part/evaluated.jsonl").read_text().splitlines()[1:]) <= set(kept)


def test_progress_is_told() -> None:
    told: list[tuple[int, int | None]] = []
    explore(progress=lambda done, of: told.append((done, of)), **{**LONG, "budget": 20})
    assert told and all(of is None or done <= of for done, of in told)


def test_progress_may_be_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    explore(progress=True, budget=20)
    assert "candidates" in capfd.readouterr().err


COLUMNS = ("energy_mj", "misses", "latency_ms", "power_mw", "energy_per_frame_mj")
COLUMNS += ("energy_per_task_mj", "time_ms", "frames")


def test_every_candidate_is_repeated_to_the_last_bit(tmp_path: Path) -> None:
    more: dict[str, Any] = {"points": "auto", "policies": ["static", ("balance", {})]}
    more |= {"slots": "4,14", "duration": "100ms", "budget": 75, "exhaustive": 9}
    found = explore(**more, output=tmp_path / "found")
    rows = found.table.to_pylist()
    assert len({row["points"] for row in rows}) > 3 and len({row["policy"] for row in rows}) == 2
    for row in rows:
        run = whimbrel.simulate(candidate=found.candidate(row["id"]))
        assert {name: getattr(run, name) for name in COLUMNS} == {
            name: row[name] for name in COLUMNS
        }
        outcome = json.loads(row["outcome"])
        load = {
            core["cpu"]: core["busy_ns"] / run.summary["time_ns"] for core in run.summary["cores"]
        }
        assert [load.get(core, 0) for core in range(3)] == outcome["load"]
        assert sum(core > 0 for core in load.values()) == row["cores"]
    for file in ("explore.csv", "explore.parquet"):
        run = whimbrel.simulate(candidate=f"{tmp_path}/found/{file}:{rows[-1]['id']}")
        assert run.energy_mj == rows[-1]["energy_mj"]


def test_no_policy_moves_a_pinned_task() -> None:
    """The exploration of before let policies move it."""
    more: dict[str, Any] = {"frame_rates": [900], "points": "high", "core_counts": [2, 3]}
    found = explore(**more, pins={"sum": 0}, policies=["balance", "spread"], budget=60)
    moved = 0
    for row in found.table.to_pylist():
        run = whimbrel.simulate(candidate=found.candidate(row["id"]))
        assert run.energy_mj == row["energy_mj"]
        assert "sum" not in run.moves["task"].to_pylist()
        moved += run.moves.num_rows
    assert moved > 0
    run = whimbrel.simulate(candidate=found.candidate(0), pins={"bpf.1": 1, "lpf": 0})
    tasks = {(task["task"], task["index"]): task["core"] for task in run.summary["tasks"]}
    assert tasks["bpf", 1] == 1 and tasks["lpf", 0] == 0
    for wrong, said in (
        ({"nobody": 0}, "pins=: the application has no task"),
        ({"lpf": 9}, "core 9"),
    ):
        with pytest.raises(whimbrel.InputError, match=said):
            whimbrel.simulate(RADIO, pins=wrong)


def test_the_best_candidate_of_a_rate_and_its_words() -> None:
    found = explore(frame_rates=[300, 600, 3000], points="all", budget=60)
    for rate in (300, 600, 3000):
        rows = [row for row in found.table.to_pylist() if row["rate"] == rate]
        fewest = min(row["misses"] for row in rows)
        kept = [row for row in rows if row["misses"] == fewest]
        for objective in ("energy", "latency", "power", "energy_per_frame", "time"):
            column = {"energy": "energy_mj", "latency": "latency_ms", "power": "power_mw"}
            name = column.get(objective, f"{objective}_{'mj' if 'energy' in objective else 'ms'}")
            best = found.best(rate=rate, objective=objective)
            assert best["misses"] == fewest and best[name] == min(row[name] for row in kept)
        most = found.best(rate=rate, objective="frames")
        assert most["frames"] == max(row["frames"] for row in kept)
    best = found.best(rate=300)
    # As the table has them, and as Python's own.
    mhz = [None if of == "-" else float(of) for of in best["points"].split("/")]
    words = {"map": best["mapping"], "policy": best["policy"], "frame_rate": 300, "seed": 1}
    words |= {"set": OPTIONS["set"], "duration": OPTIONS["duration"], "compute": "model"}
    for points in (best["points"], mhz):
        run = whimbrel.simulate(RADIO, **words, points=points, slots=best["slots"])
        assert run.energy_mj == best["energy_mj"]
    # What is given goes before what the candidate has.
    other = whimbrel.simulate(candidate=best, duration="200ms", frame_rate=600)
    assert other.seconds < run.seconds and other.summary["options"]["frame_rate"] == 600
    for channels in ("polling:1ms", {"lpf_demodulator": "polling:1ms"}):
        polled = whimbrel.simulate(candidate=best, channels=channels, slots={"lpf_demodulator": 3})
        assert polled.summary["channels"][0]["slots"] == 3
        assert polled.summary["channels"][0]["doorbell"].startswith("polling")


def test_a_candidate_of_objects_is_repeated(player: whimbrel.Application) -> None:
    point = whimbrel.Point(mhz=500, active_mw=100)
    platform = whimbrel.Platform(name="two", core=(whimbrel.Core(count=2, point=(point,)),))
    found = whimbrel.explore(player, platform, duration="100ms", seed=3)
    best = found.best()
    run = whimbrel.simulate(candidate=best)
    assert run.energy_mj == best["energy_mj"] and run.latency_ms == best["latency_ms"]
    assert run.summary["options"]["seed"] == 3


def test_a_candidate_that_is_not_there_is_told(player: whimbrel.Application) -> None:
    found = explore(budget=4, duration="50ms")
    for wrong, said in (
        (lambda: found.best(rate=300, objective="beauty"), "name one of energy, misses, latency"),
        (lambda: found.best(), "name one of 300, 600"),
        (lambda: found.best(rate=450), "rate=450 is not among the frame rates"),
        (lambda: found.candidate(found.table.num_rows), "there is no row"),
        (lambda: found.candidate(-1), "there is no row"),
        (lambda: whimbrel.simulate(candidate="none.csv:1"), "none.csv cannot be read"),
        (lambda: whimbrel.simulate(candidate="none.csv"), "write FILE:ROW"),
        (
            lambda: whimbrel.simulate(player, candidate=found.candidate(0)),
            "has no parameter `output`",
        ),
        (lambda: whimbrel.simulate(player, map=found.candidate(0)["mapping"]), "has no task `lpf`"),
        (lambda: whimbrel.simulate(RADIO, points="500/fast"), "is not a frequency"),
    ):
        with pytest.raises(whimbrel.InputError, match=said):
            wrong()
    for kind in (
        whimbrel.simulate,
        lambda: found.candidate("first"),  # type: ignore[arg-type]
        lambda: whimbrel.simulate(candidate=5),  # type: ignore[arg-type]
        lambda: whimbrel.simulate(RADIO, points=5),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            kind()


def test_a_tolerance_thins_the_front_and_changes_no_run() -> None:
    exact = explore(points="all", frame_rates=[300], core_counts=1)
    for tolerance in ("50%", 0.5, {"energy": 0.5, "latency": "50%", "misses": 0.5, "cores": 0.5}):
        thinned = explore(points="all", frame_rates=[300], core_counts=1, tolerance=tolerance)
        assert thinned.table.drop(["pareto"]) == exact.table.drop(["pareto"])
        ids, all_ids = ({row["id"] for row in of.front.to_pylist()} for of in (thinned, exact))
        assert ids < all_ids


def test_ctrl_c_ends_an_exploration_and_it_goes_on(tmp_path: Path) -> None:
    main = threading.main_thread().ident
    assert main is not None
    begun = threading.Event()

    def interrupt() -> None:
        begun.wait(60)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        explore(**LONG, output=tmp_path / "cut", progress=lambda *_: begun.set())
    thread.join()
    assert (tmp_path / "cut/evaluated.jsonl").stat().st_size > 0


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"frame_rates": "fast"}, whimbrel.InputError, "frame_rates="),
    ({"frame_rates": [0]}, whimbrel.InputError, "frame_rates="),
    ({"frame_rates": ["fast"]}, TypeError, "frame_rates="),
    ({"points": [-1]}, whimbrel.InputError, "points="),
    ({"points": [77]}, whimbrel.InputError, "77"),
    ({"pins": {"nobody": 0}}, whimbrel.InputError, "nobody"),
    ({"pins": {"lpf": 9}}, whimbrel.InputError, "core 9"),
    ({"pins": "lpf=0"}, TypeError, "pins="),
    ({"core_counts": 9}, whimbrel.InputError, "core_counts"),
    ({"slots": "0"}, whimbrel.InputError, "slots="),
    ({"channels": "sometimes"}, whimbrel.InputError, "channels="),
    ({"policies": ["nobody"]}, whimbrel.InputError, "nobody"),
    ({"policies": ["asked"]}, whimbrel.InputError, "asked"),
    ({"objectives": ["beauty"]}, whimbrel.InputError, "objectives="),
    ({"objectives": ["beauty"]}, whimbrel.InputError, "energy_per_frame"),
    ({"tolerance": 1.5}, whimbrel.InputError, "tolerance="),
    ({"tolerance": {"beauty": 0.1}}, whimbrel.InputError, "energy_per_task"),
    ({"tolerance": [1]}, TypeError, "tolerance="),
    ({"budget": "soon"}, whimbrel.InputError, "budget="),
    ({"exhaustive": "x"}, TypeError, "exhaustive="),
    ({"resume": "none"}, whimbrel.RunError, "none"),
    ({"resume": "none.parquet"}, whimbrel.RunError, "none.parquet"),
    ({"output": "/proc/none"}, whimbrel.RunError, "output="),
    ({"client": 5}, TypeError, "client="),
    ({"progress": 5}, TypeError, "progress="),
    ({"platform": "nothing"}, whimbrel.InputError, "nothing"),
]


@pytest.mark.parametrize(("given", "kind", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_told(
    given: dict[str, Any], kind: type[Exception], said: str
) -> None:
    known = {**OPTIONS, **given}
    with pytest.raises(kind) as told:
        whimbrel.explore(RADIO, known.pop("platform", "mpsoc3"), **known)
    assert said in str(told.value)
    # No option of the command is named.
    assert "--" not in str(told.value)


def test_the_file_of_another_exploration_is_refused(tmp_path: Path) -> None:
    file = explore(budget=2).save(tmp_path / "other.parquet")
    with pytest.raises(whimbrel.RunError, match="another application"):
        explore(resume=file, seed=5)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(whimbrel.RunError, match="it is not a whole explore"):
        explore(resume=file)
    explore(budget=1, output=tmp_path / "made")
    with pytest.raises(whimbrel.RunError, match="own folder"):
        explore(resume=tmp_path / "made", output=tmp_path / "more")
