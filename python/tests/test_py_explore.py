# SPDX-License-Identifier: Apache-2.0
"""Explorations in this process: what the command finds, going on, and wrong parameters."""

from __future__ import annotations

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
    told: list[tuple[int, int | None, int]] = []
    explore(progress=lambda *how: told.append(how), **{**LONG, "budget": 20})
    assert told and all(of is None or done <= of for done, of, _ in told)


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
