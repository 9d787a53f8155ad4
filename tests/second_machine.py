# SPDX-License-Identifier: Apache-2.0
"""The simulator of an AArch64 machine, under QEMU, against that of this one: the same bytes.

`make test-aarch64` builds it and runs this.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import ROOT, recorded_bytes
from test_sim_determinism import CASES, run

SECOND = ROOT / "build/second/bin"


@pytest.mark.parametrize("case", CASES)
def test_two_machines_give_the_same_bytes(case: str, tmp_path: Path) -> None:
    run(case, tmp_path / "first", "--seed", "9")
    run(case, tmp_path / "second", "--seed", "9", libexec=SECOND)
    first, second = recorded_bytes(tmp_path / "first"), recorded_bytes(tmp_path / "second")
    differ = [name for name in first if first[name] != second.get(name)]
    assert not differ
    assert first.keys() == second.keys()
