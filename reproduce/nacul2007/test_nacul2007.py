# SPDX-License-Identifier: Apache-2.0
"""What must hold of the simulated table: simulations give the same on every machine."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

import gates  # noqa: E402
import table1  # noqa: E402
from command import Failed  # noqa: E402
from published import Row  # noqa: E402
from stated import check, check_words, stated  # noqa: E402

README = "reproduce/nacul2007/README.md"
EVERY = ("eCos single", "HW-RTOS single", "HW-RTOS SMP static", "HW-RTOS SMP dynamic")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    return {r["what"]: r for r in table1.table1(tmp_path_factory.mktemp("table1"))}


@pytest.mark.parametrize("what", ["image filter, pixels", "packets", "packets, idle cycles"])
def test_every_entry_of_the_table_is_there_as_it_was_published(
    rows: dict[str, Row], what: str
) -> None:
    key = {"packets": "packets", "packets, idle cycles": "packet_idle_cycles"}
    published = table1.PUBLISHED["table1"][key.get(what, "image_filter_pixels")]
    assert [rows[f"{what}, {column}"]["paper"] for column in EVERY] == published


@pytest.mark.parametrize(
    ("what", "label"),
    [
        ("image filter, pixels", "pixels"),
        ("packets", "packets"),
        ("packets, idle cycles", "idle cycles, packets"),
    ],
)
def test_the_readme_states_what_is_simulated(rows: dict[str, Row], what: str, label: str) -> None:
    counted = [rows[f"{what}, {column}"]["ours"] for column in EVERY]
    check(README, (label, "simulated"), counted, within=0.01)
    published = [rows[f"{what}, {column}"]["paper"] for column in EVERY]
    check(README, (label, "published"), published, within=0)


def errors(label: str) -> list[float]:
    """How many percent more is simulated than counted on the RTL, by the README's own rows."""
    simulated, counted = (stated(README, label, row) for row in ("simulated", "RTL, mean"))
    return [
        100 * (ours / theirs - 1) if theirs >= 1 else 0
        for ours, theirs in zip(simulated, counted, strict=True)
    ]


def test_the_readme_states_errors_that_follow_from_its_rows() -> None:
    page = (HERE / "README.md").read_text()
    brackets = [
        float(one)
        for row in re.findall(r"^\| \| simulated \|.*$", page, re.MULTILINE)
        for one in re.findall(r"\(([+-][\d.]+) %\)", row)
    ]
    every = [errors(label) for label in ("pixels", "packets", "idle cycles, packets")]
    assert brackets == pytest.approx([*every[0], *every[1], *every[2][2:]], abs=0.51)
    check_words(README, "*Packets with FreeRTOS*, {} % too many", [every[1][0]], within=0.02)
    check_words(README, "*Pixels with FreeRTOS*, {} % too many", [every[0][0]], within=0.02)
    (counted, *_), (simulated, *_) = (
        stated(README, "packets", row) for row in ("RTL, mean", "simulated")
    )
    lacks = 1e6 / counted - 1e6 / simulated
    words = "about 5700 of the {} cycles that the simulator lacks"
    check_words(README, words, [lacks], within=0.02)
    words = "*Idle cycles with dynamic scheduling*, {} % too many"
    check_words(README, words, [every[2][3]], within=0.01)


@pytest.mark.parametrize("what", ["image filter, pixels", "packets"])
def test_the_hardwares_scheduler_and_a_second_core_do_more(rows: dict[str, Row], what: str) -> None:
    software, single, static, _ = (rows[f"{what}, {column}"]["ours"] for column in EVERY)
    assert software < single < static


def test_packets_that_may_be_moved_are_more_and_leave_fewer_cycles_idle(
    rows: dict[str, Row],
) -> None:
    _, _, static, dynamic = (rows[f"packets, {column}"]["ours"] for column in EVERY)
    assert static < dynamic
    _, _, static, dynamic = (rows[f"packets, idle cycles, {column}"]["ours"] for column in EVERY)
    assert static > dynamic


def test_one_core_is_never_idle(rows: dict[str, Row]) -> None:
    assert rows["packets, idle cycles, eCos single"]["ours"] == 0
    assert rows["packets, idle cycles, HW-RTOS single"]["ours"] == 0


def test_a_simulation_that_does_not_run_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"does not exist|cannot be read|No such file"):
        table1.simulate(table1.IMAGE, tmp_path / "nowhere.toml")


def test_what_software_costs_takes_the_place_of_what_hardware_does(tmp_path: Path) -> None:
    hardware = tomllib.loads(table1.SMP2.read_text())["costs"]
    software = tomllib.loads(table1.software(tmp_path).read_text())["costs"]
    assert hardware.keys() == software.keys()
    assert software["switch"]["cycles"] > 5 * hardware["switch"]["cycles"]
    assert software["park"] == hardware["park"]


def test_a_firing_takes_what_was_counted(tmp_path: Path) -> None:
    works = tomllib.loads(table1.hardware(tmp_path).read_text())["work"]
    assert {(work["app"], work["task"]) for work in works} >= {
        ("image_filter", "filter"),
        ("packets", "packetizer"),
    }
    assert all(work["cycles"] > 1 for work in works)


def test_gates_are_shown_and_no_folder_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    size = {"cores": 2, "tasks": 16, "ports": 16, "words": 1}
    counts = [size | {"with_buffers": 30000, "without_buffers": 20000}]
    monkeypatch.setattr(gates, "counted", lambda _: counts)
    monkeypatch.setattr(sys, "argv", ["gates.py"])
    gates.main()
    said = capsys.readouterr()
    assert "gates, 2 cores, 16 tasks, 16 ports" in said.out
    assert said.err == ""
