# SPDX-License-Identifier: Apache-2.0
"""A module of a crate and those below it may use each other, and these only one way."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

from rust_circles import load, uses, wrong  # noqa: E402


@pytest.mark.parametrize(
    ("b", "c", "expected"),
    [
        ("use super::Z;", "use super::{Z, b::X};", []),
        ("use super::c::d::X;", "pub mod d { use super::super::Z; }", []),
        ("use super::{Z, c::Y};", "use super::b::X;", [{"b", "c"}]),
        (
            "use super::{Z, c::d::X};",
            "use super::b::X; pub mod d { use super::Z; }",
            [{"b", "c", "c::d"}],
        ),
    ],
)
def test_circles(tmp_path: Path, b: str, c: str, expected: list[set[str]]) -> None:
    root = tmp_path / "lib.rs"
    root.write_text(f"mod a {{ use {{b::X, c::Y}}; mod b {{ {b} }} mod c {{ {c} }} }}")
    found = wrong(uses(load(root)))
    assert [{"::".join(name[1:]) for name in circle} for circle in found] == expected
