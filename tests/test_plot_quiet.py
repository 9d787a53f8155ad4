# SPDX-License-Identifier: Apache-2.0
"""Plots of what `whimbrel occupy --report=FILE.json` writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from shapes import marks_in

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

import plot_quiet  # noqa: E402

# The report that the tests of crates/occupy compare with, below the head of a snapshot.
(SNAPSHOT,) = (ROOT / "crates/occupy/src/quiet/snapshots").glob("*__the_json_*.snap")


def report() -> dict[str, Any]:
    return json.loads(SNAPSHOT.read_text().split("---\n", 2)[2])


def plotted(report: dict[str, Any], folder: Path) -> Path:
    path = folder / "report.svg"
    plot_quiet.plotted(report).savefig(path)
    return path


def test_there_is_a_bar_for_each_length_and_each_line_before_and_during(tmp_path: Path) -> None:
    source, path = tmp_path / "report.json", tmp_path / "report.svg"
    source.write_text(json.dumps(report()))
    subprocess.run([ROOT / "tools/plot_quiet.py", source, path], check=True)
    # Two lengths before, one during; of three lines, two before and two during.
    assert marks_in(path) == 3 + 4
    words = [node.text for node in ElementTree.parse(path).iter() if node.text]
    assert "37 a <late> & driver" in words


@pytest.mark.parametrize("name", ["", "$x^$ $", "<&>", "\x00\x1b", "a" * 99, "\u200b"])
@pytest.mark.parametrize("lengths", [[], [0], [1 << bits for bits in range(0, 64, 3)]])
def test_any_name_and_any_gaps_make_a_picture(
    name: str, lengths: list[int], tmp_path: Path
) -> None:
    some = report()
    interrupts = [row for row in some["rows"] if row["group"] == "interrupts"]
    interrupts[0]["name"] = name
    some["noise_before"]["buckets"] = [
        {"from_us": us, "below_us": 2 * us, "count": us % 3, "lost_ns": 1} for us in lengths
    ]
    some["noise_during"] = None
    text = plotted(some, tmp_path).read_text()
    assert ElementTree.fromstring(text) is not None
    assert "NaN" not in text
    assert "inf" not in text


def test_a_report_without_a_spinning_thread_has_interrupts_alone(tmp_path: Path) -> None:
    quiet = report() | {"noise_before": None, "noise_during": None}
    assert marks_in(plotted(quiet, tmp_path)) == 4
    quiet["rows"] = []
    assert marks_in(plotted(quiet, tmp_path)) == 0
