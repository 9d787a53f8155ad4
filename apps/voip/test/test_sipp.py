# SPDX-License-Identifier: Apache-2.0
"""Calls with sipp, which sends what its scenario says and nothing else."""

from __future__ import annotations

import subprocess
import warnings
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phones import (
    HOST,
    PATIENCE_S,
    SPEECH,
    HeldUp,
    free_port,
    lost_ms,
    ours,
    share_heard,
    speech,
    stop,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import audioop

SCENARIO = Path(__file__).parent / "sipp_calls.xml"
SAID_MS = 4000


@contextmanager
def sipp(folder: Path, *words: str) -> Iterator[HeldUp]:
    where = ("-i", HOST, "-mi", HOST, "-nostdin", "-timeout", str(PATIENCE_S))
    with (folder / "sipp.log").open("w") as log:
        process = subprocess.Popen(
            ["sipp", *where, *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
        )
    try:
        yield HeldUp(process)
        assert process.wait(timeout=PATIENCE_S) == 0, (folder / "sipp.log").read_text()
    finally:
        stop(process)


def test_sipp_calls_and_is_heard_call_after_call(tmp_path: Path) -> None:
    far, heard = speech(tmp_path / "far.wav", seed=2), tmp_path / "heard.wav"
    with wave.open(str(far)) as recording:
        frames = recording.readframes(SAID_MS * 8)
    (tmp_path / "far.alaw").write_bytes(audioop.lin2alaw(frames, 2))
    scenario = tmp_path / "calls.xml"
    scenario.write_text(SCENARIO.read_text().replace("[said]", "far.alaw"))
    with ours(calls=2, hang_up_ms=0, output=heard) as phone:
        there = ("-s", "whimbrel", f"{HOST}:{phone.port}")
        calls = ("-sf", str(scenario), "-m", "2", "-l", "1", "-p", str(free_port()))
        with sipp(tmp_path, *calls, *there) as other:
            phone.end()
    assert phone.process.returncode == 0 and phone.said.count("in a call by: PCMA") == 2
    assert phone.told("calls") == 2
    # The output has both calls; what was said in each is found in the whole of it.
    assert share_heard(far, heard, SAID_MS - 300) > 0.75 - lost_ms(phone, other) / SAID_MS


def test_sipp_is_called_and_gives_back_what_it_hears(tmp_path: Path) -> None:
    # It takes the three ports after that of its sound as well.
    heard, port, media = tmp_path / "heard.wav", free_port(), free_port(4)
    answers = ("-sn", "uas", "-rtp_echo", "-m", "1", "-p", str(port), "-mp", str(media))
    with (
        sipp(tmp_path, *answers) as other,
        ours(peer=f"sip:x@{HOST}:{port}", output=heard, hang_up_ms=SAID_MS) as phone,
    ):
        pass
    lost = lost_ms(phone, other)
    assert phone.process.returncode == 0
    assert abs(phone.told("packets sent") - SAID_MS / 20) <= 10 + lost / 20
    assert share_heard(SPEECH, heard, SAID_MS - 300) > 0.75 - lost / SAID_MS
