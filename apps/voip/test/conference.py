# SPDX-License-Identifier: Apache-2.0
"""Three phones in a conference, each of which says a tone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from phones import HOST, Ours, ours
from tones import levels, loudest_levels, tones

INPUT_S = 60  # longer than phones take to start
TONES = {8000: (440, 1000, 2300), 16000: (440, 2300, 5500)}  # Hz, by the samples in a second


def three(
    folder: Path, bridge: Ours, codecs: tuple[str, ...], rate: int, calls: ExitStack
) -> list[Ours]:
    """Three phones that are in a call with the bridge, by these codecs; each says a tone."""
    phones = []
    for place, (codec, hz) in enumerate(zip(codecs, TONES[rate], strict=True)):
        said = tones(folder / f"said_{place}.wav", rate, INPUT_S, hz)
        params: dict[str, Any] = {"input": said, "rate": rate}
        params |= {"output": folder / f"{place}.wav", "capture": folder / f"{place}.pcap"}
        peer = f"sip:all@{HOST}:{bridge.port}"
        phones.append(calls.enter_context(ours(peer=peer, codecs=codec, hang_up_ms=0, **params)))
        phones[-1].wait_until("in a call")
    return phones


def hang_up(phones: list[Ours]) -> None:
    for phone in phones:
        phone.process.terminate()


def each_hears_all_others(folder: Path, rate: int, late_ms: float) -> None:
    """Late packets are gaps: on a busy machine a tone is weaker, and has noise. Where phones are
    held up for long, one of them may have hung up while others still are in the call."""
    hz = TONES[rate]
    weaker = min(12.0, late_ms / 20)
    for place, own in enumerate(hz):
        path = folder / f"{place}.wav"
        found = levels(path, *hz, last_s=2) if late_ms < 500 else loudest_levels(path, *hz)
        heard = dict(zip(hz, found, strict=True))
        print(f"phone {place}: " + ", ".join(f"{at} Hz {db:.1f} dB" for at, db in heard.items()))
        others = [db for at, db in heard.items() if at != own]
        assert min(others) > -25 - weaker and max(others) - min(others) < 6 + weaker
        assert heard[own] < min(others) - 15 + weaker
