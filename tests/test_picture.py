# SPDX-License-Identifier: Apache-2.0
"""docs/moving.svg, the picture of README, is what `make picture` draws."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

from documents import ROOT

PICTURE = ROOT / "docs/moving.svg"
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_that_of_the_simulator(tmp_path: Path) -> None:
    drawn = tmp_path / "moving.svg"
    subprocess.run([ROOT / "tools/picture.py", drawn], check=True)
    assert drawn.read_text() == PICTURE.read_text(), "make picture"


def test_the_demodulator_visits_each_core_and_the_sound_goes_on() -> None:
    picture = ElementTree.parse(PICTURE)
    (move,) = picture.iter(f"{SVG}animateTransform")
    places = [place.split()[0] for place in move.get("values", "").split(";")]
    assert sorted(set(places), key=int) == ["0", "310", "620"]
    (played,) = picture.iterfind(f".//{SVG}rect[@class='played']/{SVG}animate")
    widths = [int(width) for width in played.get("values", "").split(";")]
    assert widths == sorted(set(widths)) and len(widths) > 50
