# SPDX-License-Identifier: Apache-2.0
"""Work moves in the midst of a call, or its core is killed: the call goes on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from driven import moved
from phones import SPEECH, Baresip, baresip, ours, share_heard, speech

SAID_MS = 4000


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the other phone says."""
    return speech(tmp_path_factory.mktemp("far") / "far.wav", seed=2)


# Each at another pace, so that they are now on one core, now on both.
SHUTTLES = ("canceller=0,1@70ms", "encoder=0,1@90ms", "decoder=0,1@110ms")


def both_heard(far: Path, heard: Path, other: Baresip, codec: str) -> float:
    """Which part was heard by the one who heard less."""
    shares = (
        share_heard(far, heard, SAID_MS - 200, codec),
        share_heard(SPEECH, other.heard(), SAID_MS - 200, codec),
    )
    print(f"heard {shares[0]:.3f}, heard there {shares[1]:.3f}")
    return min(shares)


@pytest.mark.parametrize("codec", ["PCMU", "opus"])
@pytest.mark.parametrize("mode", ["handoff", "replicate"])
def test_no_frame_is_lost_though_all_work_moves_again_and_again(
    codec: str, mode: str, far: Path, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    options = ["--mode", mode, *(f"--shuttle={shuttle}" for shuttle in SHUTTLES)]
    params = {"output": heard, "hang_up_ms": SAID_MS, "codecs": codec}
    with (
        baresip(tmp_path / "b", far, codec) as other,
        ours(*options, peer=other.uri(), **params) as phone,
    ):
        pass
    assert phone.process.returncode == 0
    moves = moved(phone.summary)
    print(f"{moves} moves; the longest gap in the sound {phone.gap_ms()} ms")
    assert moves > 60 and both_heard(far, heard, other, codec) > 0.95
    assert abs(phone.told("packets sent") - SAID_MS / 20) <= 2


@pytest.mark.parametrize("codec", ["PCMU", "opus"])
def test_a_call_goes_on_though_the_core_of_its_work_is_killed(
    codec: str, far: Path, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    params = {"output": heard, "hang_up_ms": SAID_MS, "codecs": codec}
    with (
        baresip(tmp_path / "b", far, codec) as other,
        ours(peer=other.uri(), **params) as phone,
    ):
        phone.wait_until("in a call")
        time.sleep(SAID_MS / 2000)
        os.kill(phone.kernel(1), signal.SIGKILL)
    assert "kernel of core 1 was killed" in phone.said
    assert phone.summary["deaths"][0]["lost"] == 0
    print(f"the longest gap in the sound {phone.gap_ms()} ms; {phone.said}")
    assert both_heard(far, heard, other, codec) > 0.85
    assert phone.told("packets sent") >= SAID_MS / 20 - 10
