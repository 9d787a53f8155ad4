# SPDX-License-Identifier: Apache-2.0
"""A call as a capture: tshark finds its streams by its SDP, whole, also while the work moves and
after the phone is killed."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest
from driven import kernels_of, moved
from phones import HOST, SPEECH, baresip, free_port, lost_ms, ours
from tshark import Stream, fields, streams, tshark

SAID_MS = 2500
SHUTTLES = ("canceller=0,1@70ms", "encoder=0,1@90ms", "decoder=0,1@110ms")


def is_clean(found: list[Stream], late_ms: float) -> None:
    """Both ways, and nothing is missing; an RFC 3550 jitter of a few milliseconds."""
    assert len(found) == 2
    assert found[0].source == found[1].sink and found[0].sink == found[1].source
    for stream in found:
        assert stream.lost == 0 and stream.codec == "g711U"
        assert stream.jitter_ms < 10 + late_ms
        assert not stream.has_problems or late_ms > 0


@pytest.mark.parametrize("options", [(), SHUTTLES], ids=["still", "moving"])
def test_a_call_with_baresip_is_captured_whole(options: tuple[str, ...], tmp_path: Path) -> None:
    capture, began = tmp_path / "call.pcap", time.time()
    with (
        baresip(tmp_path / "b", SPEECH, "PCMU") as other,
        ours(
            *(f"--shuttle={one}" for one in options),
            peer=other.uri(),
            hang_up_ms=SAID_MS,
            capture=capture,
        ) as phone,
    ):
        pass
    late = lost_ms(phone, other)
    assert phone.process.returncode == 0
    assert not options or moved(phone.summary) > 20 * (1 - late / SAID_MS)
    found = streams(capture)
    is_clean(found, late)
    # What comes when the call is over is captured, too.
    packets = sum(stream.packets for stream in found)
    assert packets >= phone.told("packets sent") + phone.told("received") > 150 - late / 10
    methods = [row[0] for row in fields(capture, "sip.Method", "sip.Method")]
    assert methods[0] == "INVITE" and "ACK" in methods and methods[-1] == "BYE"
    assert fields(capture, "sip.Status-Code == 200", "udp.srcport")[0] == [str(other.port)]
    times = [float(row[0]) for row in fields(capture, "udp", "frame.time_epoch")]
    assert began - 1 < times[0] and times == sorted(times) and times[-1] < time.time() + 1
    assert "Severity" not in tshark(capture, "-q", "-z", "expert,warn")


def test_a_phone_that_is_killed_leaves_whole_packets(tmp_path: Path) -> None:
    capture = tmp_path / "call.pcap"
    with (
        baresip(tmp_path / "b", SPEECH, "PCMU") as other,
        ours(peer=other.uri(), hang_up_ms=0, capture=capture) as phone,
    ):
        phone.wait_until("in a call")
        while capture.stat().st_size < 25000:
            assert phone.process.poll() is None
            time.sleep(0.01)
        processes = [int(kernel["pid"]) for kernel in kernels_of(phone.runtime) if kernel]
        for process in (phone.process.pid, *processes):
            with suppress(ProcessLookupError):  # a kernel ends with its launcher
                os.kill(process, signal.SIGKILL)
    found = streams(capture)
    is_clean(found, lost_ms(phone, other))
    assert sum(one.packets for one in found) > 50


def test_a_call_over_ipv6_has_headers_of_ipv6(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as some:
        try:
            some.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    capture, ports = tmp_path / "call.pcap", (free_port(), free_port())
    with (
        ours(listen=f"[::1]:{ports[0]}", hang_up_ms=0) as called,
        ours(
            listen=f"[::1]:{ports[1]}",
            peer=f"sip:b@[::1]:{ports[0]}",
            hang_up_ms=800,
            capture=capture,
        ) as phone,
    ):
        pass
    assert phone.process.returncode == 0
    is_clean(streams(capture), lost_ms(phone, called))
    assert fields(capture, "rtp", "ipv6.src", "ip.version")[0] == ["::1", "6"]
    assert "Severity" not in tshark(capture, "-q", "-z", "expert,warn")


def test_addresses_are_those_of_the_sockets(tmp_path: Path) -> None:
    capture = tmp_path / "call.pcap"
    with (
        baresip(tmp_path / "b", SPEECH, "PCMU") as other,
        ours(peer=other.uri(), hang_up_ms=500, capture=capture) as phone,
    ):
        pass
    request = fields(capture, "sip.Method == INVITE", "ip.src", "udp.srcport", "udp.dstport")[0]
    assert request == [HOST, str(phone.port), str(other.port)]
    (offered,) = {row[0] for row in fields(capture, "sip.Method == INVITE", "sdp.media.port")}
    assert int(offered) in {stream.source[1] for stream in streams(capture)}
