# SPDX-License-Identifier: Apache-2.0
"""Phones that call a bridge: each hears all others and not itself, while the mixer moves, and after
its core was killed."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from driven import CORES, command, ended, moved
from phones import CONFERENCE, HOST, PATIENCE_S, Ours, lost_ms, ours
from test_network import SDP, a_message, drained, request, status_of
from tones import levels, tones
from tshark import streams

TOGETHER_S = 3
INPUT_S = 60  # longer than phones take to start
HZ = (440, 1000, 2300)
WIDE_HZ = (440, 2300, 5500)
SHUTTLE = "--shuttle=mixer=0,1@90ms"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("said")
    for rate, every in ((8000, HZ), (16000, WIDE_HZ)):
        for place, hz in enumerate(every):
            tones(folder / f"{rate}_{place}.wav", rate, INPUT_S, hz)
    return folder


def three(
    folder: Path, said: Path, bridge: Ours, codecs: tuple[str, ...], rate: int, calls: ExitStack
) -> list[Ours]:
    """Three phones that are in a call with the bridge, by these codecs."""
    phones = []
    for place, codec in enumerate(codecs):
        params: dict[str, Any] = {"input": said / f"{rate}_{place}.wav", "rate": rate}
        params |= {"output": folder / f"{place}.wav", "capture": folder / f"{place}.pcap"}
        peer = f"sip:all@{HOST}:{bridge.port}"
        phones.append(calls.enter_context(ours(peer=peer, codecs=codec, hang_up_ms=0, **params)))
        phones[-1].wait_until("in a call")
    return phones


def hang_up(phones: list[Ours]) -> None:
    for phone in phones:
        phone.process.terminate()


def each_hears_all_others(folder: Path, hz: tuple[int, ...]) -> None:
    for place, own in enumerate(hz):
        heard = dict(zip(hz, levels(folder / f"{place}.wav", *hz, last_s=2), strict=True))
        print(f"phone {place}: " + ", ".join(f"{at} Hz {db:.1f} dB" for at, db in heard.items()))
        others = [db for at, db in heard.items() if at != own]
        assert min(others) > -25 and max(others) - min(others) < 6
        assert heard[own] < min(others) - 15


@pytest.mark.parametrize(
    ("codecs", "rate", "hz"),
    [
        (("PCMU", "PCMA", "PCMU"), 8000, HZ),
        (("G722", "opus", "G722"), 16000, WIDE_HZ),
    ],
    ids=["narrow", "wide"],
)
def test_three_hear_each_other_while_the_mixer_moves(
    codecs: tuple[str, ...], rate: int, hz: tuple[int, ...], said: Path, tmp_path: Path
) -> None:
    params = {"calls": 3, "rate": rate, "codecs": ", ".join(sorted(set(codecs)))}
    capture = tmp_path / "bridge.pcap"
    with (
        ours(SHUTTLE, app=CONFERENCE, capture=capture, **params) as bridge,
        ExitStack() as calls,
    ):
        phones = three(tmp_path, said, bridge, codecs, rate, calls)
        time.sleep(TOGETHER_S)
        hang_up(phones)
    late = lost_ms(bridge, *phones)
    print(bridge.said, f"{moved(bridge.summary)} moves; {late} ms lost")
    assert bridge.process.returncode == 0
    assert moved(bridge.summary) > 20 * (1 - late / 1000 / TOGETHER_S)
    each_hears_all_others(tmp_path, hz)
    captures = [capture, *(tmp_path / f"{place}.pcap" for place in range(3))]
    for found in map(streams, captures):
        assert len(found) in (2, 6) and not any(stream.lost for stream in found)
    for phone in phones:
        assert phone.process.returncode == 0 and phone.told("lost") <= late / 20
        assert phone.gap_ms() <= 20 + late


def test_a_conference_goes_on_though_the_core_of_its_mixer_is_killed(
    said: Path, tmp_path: Path
) -> None:
    with ours(app=CONFERENCE, calls=3) as bridge, ExitStack() as calls:
        phones = three(tmp_path, said, bridge, ("PCMU",) * 3, 8000, calls)
        os.kill(bridge.kernel(1), signal.SIGKILL)
        time.sleep(TOGETHER_S)
        hang_up(phones)
    assert "kernel of core 1 was killed" in bridge.said
    assert bridge.summary["deaths"][0]["lost"] == 0
    each_hears_all_others(tmp_path, HZ)
    for place in range(3):
        assert not any(stream.lost for stream in streams(tmp_path / f"{place}.pcap"))


# ---- Callers that are no phones -----------------------------------------------------------------


def a_caller(calls: ExitStack) -> socket.socket:
    some = calls.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    some.bind((HOST, 0))
    some.settimeout(PATIENCE_S)
    return some


def test_a_ninth_caller_is_told_that_the_bridge_is_busy() -> None:
    with ours(app=CONFERENCE) as bridge, ExitStack() as calls:
        for number in range(1, 10):
            some = a_caller(calls)
            there = {"host": HOST, "port": bridge.port, "own": some.getsockname()[1]}
            invite = request("INVITE", there, sdp=SDP.format(**there))
            some.sendto(invite.replace(b"c1@", b"c%d@" % number), (HOST, bridge.port))
            assert status_of(some, "1 INVITE") == (200 if number < 9 else 486)
        bridge.process.terminate()
    assert bridge.process.returncode == 0


def test_a_bridge_takes_calls_after_thousands_of_damaged_messages() -> None:
    draw = random.Random(3)
    with (
        ours(is_watched=True, app=CONFERENCE, silence_ms=60) as bridge,
        ExitStack() as calls,
    ):
        some = a_caller(calls)
        some.setblocking(False)
        there = {"host": HOST, "port": bridge.port, "own": some.getsockname()[1]}
        answers = 0
        for number in range(1000):
            some.sendto(a_message(draw, number, there), (HOST, bridge.port))
            if number % 10 == 0:
                time.sleep(0.01)
            answers += drained(some)
        assert answers > 50
        deadline = time.monotonic() + PATIENCE_S
        status = 0
        while status != 200 and time.monotonic() < deadline:
            other = a_caller(calls)
            there["own"] = other.getsockname()[1]
            invite = request("INVITE", there, sdp=SDP.format(**there))
            name = b"last%d@" % there["own"]
            other.sendto(invite.replace(b"c1@", name), (HOST, bridge.port))
            with suppress(TimeoutError):
                status = status_of(other, "1 INVITE")
            time.sleep(0.1)
        assert status == 200
        bridge.process.terminate()
    assert bridge.process.returncode == 0, bridge.said


def test_a_conference_whose_codec_is_none_is_refused() -> None:
    refused = ended(command("run", CONFERENCE, CORES, {"codecs": "G729"}))
    assert refused.returncode != 0 and '"G729" is none' in refused.stderr
