# SPDX-License-Identifier: Apache-2.0
"""Calls with phones that are not ours: set up by either, heard by both, and hung up."""

from __future__ import annotations

from pathlib import Path

import pytest
from phones import HOST, SPEECH, Baresip, Ours, baresip, lost_ms, ours, share_heard, speech

SAID_MS = 4000
LEAST = 0.75  # of what was said while the machine let the phones run


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the other phone says."""
    return speech(tmp_path_factory.mktemp("far") / "far.wav", seed=2)


def both_heard(far: Path, heard: Path, phone: Ours, other: Baresip, codec: str) -> None:
    # What is said last is still on its way when the call is over.
    shares = (
        share_heard(far, heard, SAID_MS - 200, codec),
        share_heard(SPEECH, other.heard(), SAID_MS - 200, codec),
    )
    lost = lost_ms(phone, other)
    print(f"heard of the other phone {shares[0]:.3f}, heard there {shares[1]:.3f}; {lost} ms lost")
    assert min(shares) >= LEAST - lost / SAID_MS


@pytest.mark.parametrize("codec", ["PCMU", "opus"])
def test_what_another_says_is_not_taken_for_it(codec: str, far: Path) -> None:
    assert share_heard(SPEECH, far, SAID_MS, codec) < 0.4
    assert share_heard(SPEECH, SPEECH, SAID_MS, codec) == 1


@pytest.mark.parametrize("codec", ["PCMU", "PCMA"])
def test_baresip_is_called_and_both_hear_each_other(codec: str, far: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    with (
        baresip(tmp_path / "b", far, codec) as other,
        ours(peer=other.uri(), output=heard, hang_up_ms=SAID_MS) as phone,
    ):
        pass
    assert phone.process.returncode == 0 and f"in a call by: {codec}" in phone.said
    lost = lost_ms(phone) / 20
    assert abs(phone.told("packets sent") - 200) <= 10 + lost
    assert phone.told("dropped") < 20 + lost
    both_heard(far, heard, phone, other, codec)


@pytest.mark.parametrize("codec", ["PCMU", "PCMA"])
def test_baresip_calls_and_both_hear_each_other(codec: str, far: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    with ours(output=heard, hang_up_ms=0, codecs=codec) as phone:
        uri = f"sip:whimbrel@{HOST}:{phone.port}"
        with baresip(tmp_path / "b", far, "PCMU", "PCMA", dial=uri) as other:
            phone.end()
    assert phone.process.returncode == 0 and f"in a call by: {codec}" in phone.said
    both_heard(far, heard, phone, other, codec)


def test_baresip_is_called_by_opus(far: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    with (
        baresip(tmp_path / "b", far, "opus") as other,
        ours(peer=other.uri(), output=heard, hang_up_ms=SAID_MS, codecs="opus, PCMU") as phone,
    ):
        pass
    assert phone.process.returncode == 0 and "in a call by: opus" in phone.said
    both_heard(far, heard, phone, other, "opus")
