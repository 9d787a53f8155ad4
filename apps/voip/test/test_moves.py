# SPDX-License-Identifier: Apache-2.0
"""Work moves in the midst of a call, or its core is killed: the call goes on."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from driven import moved
from phones import PATIENCE_S, SPEECH, Baresip, Ours, baresip, lost_ms, ours, share_heard, speech

SAID_MS = 4000
LEAST = 0.75  # of what was said while the machine let the phones run


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the other phone says."""
    return speech(tmp_path_factory.mktemp("far") / "far.wav", seed=2)


# Each at another pace, so that they are now on one core, now on both. The canceller is
# only waiting here; in test_echo.py it works.
SHUTTLES = ("canceller=0,1@70ms", "encoder=0,1@90ms", "decoder=0,1@110ms")


def both_heard(far: Path, heard: Path, phone: Ours, other: Baresip, codec: str) -> None:
    shares = (
        share_heard(far, heard, SAID_MS - 200, codec),
        share_heard(SPEECH, other.heard(), SAID_MS - 200, codec),
    )
    lost = lost_ms(phone, other)
    print(f"heard {shares[0]:.3f}, heard there {shares[1]:.3f}; {lost} ms lost")
    assert min(shares) > LEAST - lost / SAID_MS


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
    print(f"{moves} moves; the longest gap in the sound {phone.gap_ms()} ms; {phone.said}")
    assert moves > 40 * (1 - lost_ms(phone) / SAID_MS)
    both_heard(far, heard, phone, other, codec)


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
    both_heard(far, heard, phone, other, codec)
    assert phone.told("packets sent") >= SAID_MS / 20 - 20 - lost_ms(phone) / 20


# ---- A frame that is half done ------------------------------------------------------------------

HEAVY = {"rate": 48000, "codecs": "opus", "opus_effort": 10, "opus_bits": 128000}
HEAVY |= {"cancel": 1, "suppress": 1, "tail_ms": 500, "echo_ms": 20, "echo_permille": 200}
LIBRARIES = ("libopus", "libspeexdsp")
CALLS = 10


def is_within(process: int, libraries: tuple[str, ...]) -> bool:
    """Whether a process that is stopped was computing there."""
    place = Path(f"/proc/{process}/syscall").read_text().split()
    if place[0] != "-1":
        return False
    at = int(place[2], 16)
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        start, end = (int(number, 16) for number in line.split()[0].split("-"))
        if start <= at < end:
            return any(library in line for library in libraries)
    return False


def kill_in_a_frame(phone: Ours) -> bool:
    """Kills the kernel of core 1 while a codec or a filter computes; false: the call was over
    before it was seen to."""
    kernel, deadline = phone.kernel(1), time.monotonic() + PATIENCE_S
    with suppress(ProcessLookupError, FileNotFoundError):
        while time.monotonic() < deadline:
            os.kill(kernel, signal.SIGSTOP)
            time.sleep(0.001)
            if is_within(kernel, LIBRARIES):
                os.kill(kernel, signal.SIGKILL)
                return True
            os.kill(kernel, signal.SIGCONT)
            time.sleep(0.0013)
    return False


def test_a_service_that_dies_in_a_frame_loses_that_frame_alone(tmp_path: Path) -> None:
    said, heard = speech(tmp_path / "wide.wav", seed=1, rate=48000), tmp_path / "heard.wav"
    params = {**HEAVY, "peer": "loop", "input": said, "hang_up_ms": SAID_MS, "output": heard}
    # A test that rarely gets a processor rarely looks, and the call ends meanwhile.
    for _ in range(CALLS):
        with ours(**params) as phone:
            time.sleep(1.5)
            if kill_in_a_frame(phone):
                break
    (death,) = phone.summary["deaths"]
    assert (death["lost"], death["restarted"], death["moved"]) == (0, 1, 2), phone.said
    print(f"the longest gap in the sound {phone.gap_ms()} ms; {phone.said}")
    lost = lost_ms(phone)
    assert 1 <= phone.told("dropped") < 20 + lost / 20
    assert phone.told("packets sent") >= SAID_MS / 20 - 20 - lost / 20
    assert phone.gap_ms() <= 500 + lost
