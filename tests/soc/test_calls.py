# SPDX-License-Identifier: Apache-2.0
"""Calls between two cores of the SoC, and what their phases take: figure 8 of lee2009 in cycles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import soc

sys.path += [str(soc.ROOT / f"reproduce/{folder}") for folder in ("common", "lee2009")]

from lab import Lab, Setting

CALLS = 8
COPY_IN, NOTIFY, COPY_OUT = 0, 1, 4


@pytest.mark.skipif(not soc.MODEL.exists(), reason="make rtl-soc")
def test_copies_grow_with_the_block_and_notifications_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    small, large = (Lab(tmp_path).count(f"of_{size}", Setting(size, CALLS)) for size in (128, 2048))
    assert len(small.steps()) == len(large.steps()) == CALLS
    for copy in (COPY_IN, COPY_OUT):
        assert large.phases_us()[copy] > 2 * small.phases_us()[copy]
    assert large.phases_us()[NOTIFY] < 1.5 * small.phases_us()[NOTIFY]
