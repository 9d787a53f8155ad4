# SPDX-License-Identifier: Apache-2.0
"""A bad network, a phone that vanishes, and packets that are none."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from phones import (
    HOST,
    PATIENCE_S,
    SOUND_PORT,
    SPEECH,
    HeldUp,
    Ours,
    baresip,
    lost_ms,
    ours,
    ports_of,
    rtp,
    share_heard,
    speech,
)
from proxy import Faults, proxy

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import audioop

SAID_MS = 4000
TRIES = int(os.environ.get("VOIP_FUZZ", "3000"))


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the other phone says."""
    return speech(tmp_path_factory.mktemp("far") / "far.wav", seed=2)


@pytest.mark.parametrize(
    ("faults", "least"),
    [
        (Faults(late=0.1, twice=0.1), 0.75),  # overtaken packets are put right: nothing is lost
        (Faults(lost=0.1), 0.65),
        (Faults(late=0.1, late_s=0.5), 0.65),
    ],
)
def test_what_the_network_loses_is_lost_and_nothing_else(
    faults: Faults, least: float, far: Path, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    with (
        baresip(tmp_path / "b", far, "PCMU") as other,
        proxy(other.port, faults) as between,
        ours(
            peer=f"sip:b@{HOST}:{between.port}", output=heard, hang_up_ms=SAID_MS, jitter_ms=60
        ) as phone,
    ):
        pass
    assert phone.process.returncode == 0
    share, lost = share_heard(far, heard, SAID_MS - 300), lost_ms(phone, other)
    print(f"heard {share:.3f}; {between.counts}; {phone.said}; {lost} ms lost")
    assert share >= least - lost / SAID_MS
    assert between.counts["all"] > 300 - 2 * lost / 20
    if faults.lost:
        assert phone.told("concealed") > 5 and phone.told("lost") > 5
    if faults.late_s > 0.1:
        assert phone.told("late") > 5


def test_a_phone_that_vanishes_is_hung_up_on(far: Path, tmp_path: Path) -> None:
    params = {"hang_up_ms": 0, "silence_ms": 1000}
    with baresip(tmp_path / "b", far, "PCMU") as other, ours(peer=other.uri(), **params) as phone:
        phone.wait_until("in a call")
        os.kill(other.process.pid, signal.SIGKILL)
    assert phone.process.returncode == 0
    assert "nothing is heard from the other phone" in phone.said


# ---- Packets that are none ----------------------------------------------------------------------

INVITE = """INVITE sip:whimbrel@{host}:{port} SIP/2.0
Via: SIP/2.0/UDP {host}:{own};branch=z9hG4bK{n};rport
From: <sip:x@{host}:{own}>;tag=f{n}
To: <sip:whimbrel@{host}:{port}>
Call-ID: c{n}@{host}
CSeq: 1 INVITE
Contact: <sip:x@{host}:{own}>
Max-Forwards: 70
Content-Type: application/sdp
Content-Length: {length}

"""
SDP = """v=0
o=x 1 1 IN IP4 {host}
s=-
c=IN IP4 {host}
t=0 0
m=audio 40000 RTP/AVP 0 8 101
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=ptime:20
"""
OTHERS = ("ACK", "BYE", "CANCEL", "OPTIONS", "REGISTER", "INFO", "UPDATE", "REFER", "NOTIFY")


def damaged(draw: random.Random, whole: bytes) -> bytes:
    """Some bytes are others, some are gone, a part is there twice, or lines are mixed up."""
    some = bytearray(whole)
    for _ in range(draw.randrange(1, 8)):
        at = draw.randrange(len(some))
        match draw.randrange(5):
            case 0 | 1:
                some[at] = draw.randrange(256)
            case 2:
                del some[at : at + draw.randrange(1, 40)]
            case 3:
                some[at:at] = some[at : at + draw.randrange(200)] * draw.randrange(1, 4)
            case 4:
                lines = bytes(some).split(b"\r\n")
                draw.shuffle(lines)
                some = bytearray(b"\r\n".join(lines))
        if not some:
            some = bytearray(b"\0")
    return bytes(some)


def a_message(draw: random.Random, number: int, there: dict[str, object]) -> bytes:
    sdp = SDP.format(**there).replace("\n", "\r\n")
    head = INVITE.format(**there, n=number, length=len(sdp)).replace("\n", "\r\n")
    if draw.random() < 0.3:
        head = head.replace("INVITE", draw.choice(OTHERS))
    if draw.random() < 0.2:
        head = head.replace(
            f"INVITE sip:whimbrel@{there['host']}:{there['port']} SIP/2.0",
            f"SIP/2.0 {draw.randrange(99, 700)} OK",
        )
    if draw.random() < 0.3:
        return (head + damaged(draw, sdp.encode()).decode("latin-1")).encode("latin-1")
    return damaged(draw, (head + sdp).encode())[:60000]


def drained(some: socket.socket) -> int:
    """How many answers have come."""
    count = 0
    with suppress(BlockingIOError):
        while some.recv(65536):
            count += 1
    return count


def a_whole_call(phone: Ours, far: Path, folder: Path) -> None:
    """Baresip calls until it is not told any more that the phone is busy with nonsense."""
    uri = f"sip:whimbrel@{HOST}:{phone.port}"
    # On a busy machine the other's sound may come later than the phone waits for it.
    outcomes = ("in a call", "nothing is heard")
    before = phone.log().count("in a call")
    for attempt in range(20):
        known = sum(map(phone.log().count, outcomes))
        with baresip(folder / str(attempt), far, "PCMU", dial=uri) as other:
            while "terminated" not in other.log() and "session closed" not in other.log():
                assert other.process.poll() is None, other.log()
                time.sleep(0.05)
        if "Call established" in other.log():
            phone.wait_until(*outcomes, times=known + 1)
        else:
            assert "486 Busy Here" in other.log(), other.log()
        if phone.log().count("in a call") > before:
            return
        time.sleep(0.3)
    raise AssertionError(phone.log())


@pytest.mark.parametrize("seed", [1, 2])
def test_a_phone_takes_calls_after_thousands_of_damaged_messages(
    seed: int, far: Path, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    with (
        ours(is_watched=True, calls=0, hang_up_ms=500, silence_ms=60) as phone,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some,
    ):
        some.bind((HOST, 0))
        some.setblocking(False)
        there = {"host": HOST, "port": phone.port, "own": some.getsockname()[1]}
        answers = 0
        for number in range(TRIES):
            some.sendto(a_message(draw, number, there), (HOST, phone.port))
            if number % 10 == 0:
                time.sleep(0.01)  # the phone looks for packets each 5 ms
            answers += drained(some)
        print(f"{answers} answers; {phone.log().count('refuses')} calls refused")
        assert answers > TRIES / 20
        log = phone.log()
        read = log.count("in a call") + log.count("refuses a call") - log.count("Busy Here")
        assert read > TRIES / 100, log
        a_whole_call(phone, far, tmp_path)
        phone.process.terminate()
        phone.end()
    assert phone.process.returncode == 0, phone.said


# ---- A caller that sends packets that are none --------------------------------------------------


def request(
    method: str, there: dict[str, object], tag: str = "", sdp: str = "", again: int = 0
) -> bytes:
    """A request of a call; `again`: which one after the first of its kind."""
    head = INVITE.format(**there, n=1, length=len(sdp.replace("\n", "\r\n")))
    head = head.replace("INVITE", method)
    if method != "INVITE":
        head = head.replace("Content-Type: application/sdp\n", "")
    if method == "BYE" and not again:
        head = head.replace("CSeq: 1", "CSeq: 2").replace("z9hG4bK1", "z9hG4bK2")
    if again:
        head = head.replace("CSeq: 1", f"CSeq: {9 + again}")
        head = head.replace("z9hG4bK1", f"z9hG4bK{9 + again}")
    if tag:
        head = head.replace(">\nCall-ID", f">;tag={tag}\nCall-ID")
    return (head + sdp).replace("\n", "\r\n").encode()


def answered(some: socket.socket) -> tuple[str, int]:
    """The tag and the RTP port of the answer to a call."""
    while True:
        answer = some.recv(65536).decode()
        if answer.startswith("SIP/2.0 200") and "CSeq: 1 INVITE" in answer:
            tag = re.search(r"^To:.*tag=(\S+)", answer, re.MULTILINE)
            port = re.search(r"m=audio (\d+)", answer)
            assert tag and port
            return tag[1], int(port[1])


def test_damaged_packets_of_rtp_and_rtcp_do_no_harm_to_a_call(tmp_path: Path) -> None:
    draw = random.Random(1)
    heard = tmp_path / "heard.wav"
    held_up = HeldUp(None)
    with (
        ours(is_watched=True, hang_up_ms=0, output=heard) as phone,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sip,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as media,
    ):
        sip.bind((HOST, 0))
        media.bind((HOST, 0))
        sip.settimeout(PATIENCE_S)
        there = {"host": HOST, "port": phone.port, "own": sip.getsockname()[1]}
        sdp = SDP.replace("40000", str(media.getsockname()[1])).format(**there)
        sip.sendto(request("INVITE", there, sdp=sdp), (HOST, phone.port))
        tag, port = answered(sip)
        sip.sendto(request("ACK", there, tag), (HOST, phone.port))
        phone.wait_until("in a call")
        for number in range(TRIES):
            packet = damaged(draw, rtp(number, draw.randbytes(160)))[:1500]
            media.sendto(packet, (HOST, port + draw.choice((0, 0, 0, 1))))
            if number % 10 == 0:
                time.sleep(0.005)
        time.sleep(0.3)
        frames = Path(SPEECH).read_bytes()[44 : 44 + 320 * 100]
        for number in range(100):
            payload = audioop.lin2ulaw(frames[320 * number : 320 * (number + 1)], 2)
            media.sendto(rtp(30000 + number, payload), (HOST, port))
            time.sleep(0.02)
        sip.sendto(request("BYE", there, tag), (HOST, phone.port))
    print(phone.said)
    assert phone.process.returncode == 0
    assert phone.told("received") < 0.95 * TRIES
    # A phone that has no processor finds the queue of its socket full.
    lost = lost_ms(phone, held_up)
    assert phone.told("received") > TRIES / 3 * (1 - lost / 5000)
    assert share_heard(SPEECH, heard, 1600) > 0.75 - lost / 2000


def test_sound_of_a_stranger_is_not_heard(far: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    with (
        baresip(tmp_path / "b", far, "PCMU") as other,
        ours(peer=other.uri(), output=heard, hang_up_ms=3000) as phone,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        phone.wait_until("in a call")
        # Those of sound are below those that the system gives, as to SIP and DNS.
        ports = [port for port in ports_of(phone.kernel(0)) if SOUND_PORT <= port < 32768]
        assert len(ports) == 2
        for number in range(200):
            for port in ports:
                stranger.sendto(rtp(number, bytes(160)), (HOST, port))
            time.sleep(0.01)
    print(phone.said)
    assert phone.told("unwanted") > 100
    assert share_heard(far, heard, 2600) > 0.75 - lost_ms(phone, other) / 3000


def status_of(some: socket.socket, cseq: str) -> int:
    """The final status that comes for a request."""
    while True:
        answer = some.recv(65536).decode()
        if f"CSeq: {cseq}" in answer and (status := int(answer.split()[1])) >= 200:
            return status


def test_a_call_is_offered_anew_by_the_same_codec_or_goes_on_as_it_was(tmp_path: Path) -> None:
    with (
        ours(hang_up_ms=0) as phone,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sip,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as second,
    ):
        for some in (sip, first, second):
            some.bind((HOST, 0))
            some.settimeout(PATIENCE_S)
        there = {"host": HOST, "port": phone.port, "own": sip.getsockname()[1]}
        ports = [str(some.getsockname()[1]) for some in (first, second)]
        offers = [SDP.replace("40000", port).format(**there) for port in ports]
        sip.sendto(request("INVITE", there, sdp=offers[0]), (HOST, phone.port))
        tag, _ = answered(sip)
        sip.sendto(request("ACK", there, tag), (HOST, phone.port))
        assert len(first.recv(2000)) == 172

        other = offers[1].replace("0 8 101", "9").replace("0 PCMU", "9 G722")
        sip.sendto(request("INVITE", there, tag, other, again=1), (HOST, phone.port))
        assert status_of(sip, "10 INVITE") == 488
        assert len(first.recv(2000)) == 172

        sip.sendto(request("INVITE", there, tag, offers[1], again=2), (HOST, phone.port))
        assert status_of(sip, "11 INVITE") == 200
        sip.sendto(request("ACK", there, tag, again=2), (HOST, phone.port))
        assert len(second.recv(2000)) == 172
        sip.sendto(request("BYE", there, tag, again=3), (HOST, phone.port))
        assert status_of(sip, "12 BYE") == 200
    assert phone.process.returncode == 0 and phone.told("calls") == 1
