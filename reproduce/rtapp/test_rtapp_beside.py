# SPDX-License-Identifier: Apache-2.0
"""That the three agree where they must, in a short run; how well they do is no test's matter."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import threads

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    folder = tmp_path_factory.mktemp("plots")
    command = [str(HERE / "run"), "--quick", "--rounds", "1", "--json", "--plots", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in folder.iterdir()} == {"period.svg", "run_time.svg"}
    return json.loads(done.stdout)


def values(rows: list[Row], workload: str, what: str) -> dict[str, Row]:
    return {r["thread"]: r for r in rows if (r["workload"], r["what"]) == (workload, what)}


def test_every_thread_of_rt_app_is_run_and_simulated(rows: list[Row]) -> None:
    assert {row["workload"] for row in rows} == {"mp3-short", "spreading-tasks", "barriers"}
    for row in rows:
        keys = ["workload", "thread", "what", "rt-app", "run", "sim", "unit", "error"]
        assert list(row) == keys
        assert row["run"] is not None, row
        assert row["sim"] is not None, row


def test_timers_of_all_three_have_the_period_of_the_file(rows: list[Row]) -> None:
    for thread in ("thread1", "thread2"):
        row = values(rows, "spreading-tasks", "period")[thread]
        assert row["sim"] == pytest.approx(10_000, rel=0.01)
        # A busy machine makes a real one late, and never early on average.
        assert row["rt-app"] > 9_500
        assert row["run"] > 9_500


def test_a_buffer_is_played_each_thirty_milliseconds(rows: list[Row]) -> None:
    for thread, row in values(rows, "mp3-short", "period").items():
        expected = 6_000 if thread == "AudioTick" else 30_000
        assert row["sim"] == pytest.approx(expected, rel=0.05), thread


def test_what_has_no_timer_has_no_slack(rows: list[Row]) -> None:
    assert set(values(rows, "mp3-short", "slack")) == {"AudioTick"}
    assert not values(rows, "barriers", "wake-up latency")


def test_a_missing_command_is_told_before_rt_app_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(HERE / "run"))["main"]
    monkeypatch.setattr("command.WHIMBREL", tmp_path / "none")
    monkeypatch.setattr(threads, "RT_APP", sys.executable)
    monkeypatch.setattr(threads, "ns_per_loop", lambda *_: pytest.fail("it was measured"))
    monkeypatch.setattr(sys, "argv", ["run"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "reproduce/rtapp: bin/whimbrel is missing: make build\n"
