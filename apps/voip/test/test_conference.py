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

import pytest
from conference import each_hears_all_others, hang_up, three
from driven import CORES, command, ended, moved
from phones import CONFERENCE, HOST, PATIENCE_S, lost_ms, ours
from strangers import stranger
from test_network import SDP, a_message, drained, request, status_of
from tshark import streams

TOGETHER_S = 3
SHUTTLE = "--shuttle=mixer=0,1@90ms"


@pytest.mark.parametrize(
    ("codecs", "rate"),
    [(("PCMU", "PCMA", "PCMU"), 8000), (("G722", "opus", "G722"), 16000)],
    ids=["narrow", "wide"],
)
def test_three_hear_each_other_while_the_mixer_moves(
    codecs: tuple[str, ...], rate: int, tmp_path: Path
) -> None:
    params = {"calls": 3, "rate": rate, "codecs": ", ".join(sorted(set(codecs)))}
    capture = tmp_path / "bridge.pcap"
    with (
        ours(SHUTTLE, app=CONFERENCE, capture=capture, **params) as bridge,
        ExitStack() as calls,
    ):
        phones = three(tmp_path, bridge, codecs, rate, calls)
        time.sleep(TOGETHER_S)
        hang_up(phones)
    late = lost_ms(bridge, *phones)
    print(bridge.said, f"{moved(bridge.summary)} moves; {late} ms lost")
    assert bridge.process.returncode == 0
    assert moved(bridge.summary) > 20 * (1 - late / 1000 / TOGETHER_S)
    each_hears_all_others(tmp_path, rate, late)
    captures = [capture, *(tmp_path / f"{place}.pcap" for place in range(3))]
    for found in map(streams, captures):
        assert len(found) in (2, 6) and not any(stream.lost for stream in found)
    for phone in phones:
        assert phone.process.returncode == 0 and phone.told("lost") <= late / 20
        assert phone.gap_ms() <= 20 + late


def test_a_conference_goes_on_though_the_core_of_its_mixer_is_killed(
    tmp_path: Path,
) -> None:
    with ours(app=CONFERENCE, calls=3) as bridge, ExitStack() as calls:
        phones = three(tmp_path, bridge, ("PCMU",) * 3, 8000, calls)
        os.kill(bridge.kernel(1), signal.SIGKILL)
        time.sleep(TOGETHER_S)
        hang_up(phones)
    assert "kernel of core 1 was killed" in bridge.said
    assert bridge.summary["deaths"][0]["lost"] == 0
    each_hears_all_others(tmp_path, 8000, lost_ms(bridge, *phones))
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


def test_a_bridge_keeps_the_rules_of_sip_as_a_phone_does() -> None:
    with ours(app=CONFERENCE) as bridge, stranger(bridge.port) as other:
        assert other.ask("OPTIONS").status == 200 and other.ask("REFER").status == 405
        assert other.ask("UPDATE").status == 481
        body = other.sdp()
        required = other.ask("INVITE", body, "Require: 100rel")
        assert required.status == 420 and required.header("Unsupported") == "100rel"
        other.send("ACK", cseq=other.cseq)
        other.tag = ""
        refused = other.invite(other.sdp("m=audio {port} RTP/AVP 18"))
        assert refused.status == 488 and "no codec in common" in refused.header("Warning")
        other.tag = ""
        assert other.invite(body).status == 200
        other.hears(0)
        assert other.ask("UPDATE", other.sdp("m=audio {port} RTP/AVP 8")).status == 200
        other.hears(8)
        assert other.ask("UPDATE", other.sdp("m=audio {port} RTP/AVP 18")).status == 488
        assert other.invite(other.sdp(extra="a=sendonly")).direction == "recvonly"
        other.hang_up()
        bridge.process.terminate()
    assert bridge.process.returncode == 0, bridge.said


def test_a_conference_whose_codec_is_none_is_refused() -> None:
    refused = ended(command("run", CONFERENCE, CORES, {"codecs": "G729"}))
    assert refused.returncode != 0 and '"G729" is none' in refused.stderr
