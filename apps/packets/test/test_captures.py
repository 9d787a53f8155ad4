# SPDX-License-Identifier: Apache-2.0
"""Captures as other programs leave them, made here; tcpdump and tshark read what comes out."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from driven import Ended, refusal, run
from scapy.all import ICMP, IP, TCP, UDP, Dot1AD, Dot1Q, Ether, IPv6, Raw
from test_packets import APP, LOOPBACK, PACKETS, QUIET, told

ETHERNET, SLL, SLL2 = 1, 113, 276
NULL, LOOP, RAW, RAW_12, IPV4, IPV6 = 0, 108, 101, 12, 228, 229
UDP_53 = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=5000, dport=53) / Raw(b"q" * 22)

Packet = tuple[int, int, int, bytes]  # seconds, fraction, bytes that it had, data


def pcap(
    packets: list[Packet], link: int = ETHERNET, magic: int = 0xA1B2C3D4, order: str = "<"
) -> bytes:
    file = struct.pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, 65535, link)
    for seconds, fraction, original, data in packets:
        file += struct.pack(f"{order}IIII", seconds, fraction, len(data), original) + data
    return file


def parsed(file: bytes) -> tuple[int, list[Packet]]:
    """The link type and the packets of a file that is little-endian."""
    at, found = 24, []
    while at < len(file):
        seconds, fraction, size, original = struct.unpack_from("<IIII", file, at)
        found.append((seconds, fraction, original, file[at + 16 : at + 16 + size]))
        at += 16 + size
    return struct.unpack_from("<I", file, 20)[0], found


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + size + body + size


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(link: int, options: bytes = b"", order: str = "<") -> bytes:
    return block(1, struct.pack(f"{order}HHI", link, 0, 262144) + options, order)


def enhanced(number: int, ticks: int, data: bytes, order: str = "<", options: bytes = b"") -> bytes:
    high, low = ticks >> 32, ticks & 0xFFFFFFFF
    head = struct.pack(f"{order}5I", number, high, low, len(data), len(data))
    return block(6, head + data + bytes(-len(data) % 4) + options, order)


def forwarded(
    folder: Path, file: bytes, rules: str = "forward greater 0", **more: Path
) -> tuple[Ended, Path]:
    """Runs the processor on a file: what was said, and what was forwarded."""
    capture, made = folder / "in.pcap", folder / "forward.pcap"
    capture.write_bytes(file)
    return run(APP, input=capture, rules=rules, forward=made, **more, **QUIET), made


def by_tcpdump(folder: Path, condition: str) -> list[Packet]:
    """The packets that match, where tcpdump has such a condition for the link type."""
    made = folder / "expected.pcap"
    words = ["tcpdump", "-n", "-r", str(folder / "in.pcap"), "-w", str(made), condition]
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    if "rejects all packets" in ended.stderr:
        return []
    assert ended.returncode == 0, ended.stderr
    return parsed(made.read_bytes())[1]


def by_tshark(capture: Path, *fields: str) -> list[list[str]]:
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed: make setup")
    words = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    words += [word for name in fields for word in ("-e", name)]
    ended = subprocess.run(words, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in ended.stdout.splitlines()]


# ---- Link types ---------------------------------------------------------------------------------


def a_datagram(draw: random.Random, link: int) -> tuple[int, bytes]:
    """IP, or of another kind where the link can carry it: its EtherType and its bytes."""
    ports = {"sport": draw.choice((53, 80)), "dport": draw.choice((53, 80, 90))}
    transport = draw.choice((TCP(**ports), UDP(**ports), ICMP())) / Raw(draw.randbytes(30))
    if link == IPV6 or (link != IPV4 and draw.random() < 0.4):
        return 0x86DD, bytes(IPv6(src="fe80::1", dst="fe80::2") / transport)
    return 0x0800, bytes(IP(src=f"10.0.{draw.randrange(3)}.1", dst="10.0.1.1") / transport)


def a_frame(draw: random.Random, link: int) -> bytes:
    kind, data = a_datagram(draw, link)
    family = 2 if kind == 0x0800 else 30
    head = {
        ETHERNET: bytes(12) + struct.pack(">H", kind),
        SLL: struct.pack(">HHH8sH", 0, 1, 6, b"\2\0\0\0\0\1", kind),
        SLL2: struct.pack(">HHIHBB8s", kind, 0, 1, 1, 0, 6, b"\2\0\0\0\0\1"),
        NULL: struct.pack("<I", family),
        LOOP: struct.pack(">I", family),
    }
    return head.get(link, b"") + data


CONDITIONS = ("ip", "ip6", "tcp", "not udp", "udp port 53", "tcp dst port 80", "port 90", "icmp")
CONDITIONS += ("ip net 10.0.1.0/24 and not tcp", "ip src host 10.0.2.1", "greater 70", "less 69")


@pytest.mark.parametrize("link", [ETHERNET, SLL, SLL2, NULL, LOOP, RAW, RAW_12, IPV4, IPV6])
def test_packets_of_every_link_type_are_routed_as_tcpdump_would(link: int, tmp_path: Path) -> None:
    draw = random.Random(link)
    frames = [a_frame(draw, link) for _ in range(60)]
    packets = [(1000 + n, n, len(frame), frame) for n, frame in enumerate(frames)]
    stored = tmp_path / "store.pcap"
    for first, second in zip(CONDITIONS[::2], CONDITIONS[1::2], strict=True):
        rules = f"forward {first}; store {second}"
        ended, made = forwarded(tmp_path, pcap(packets, link), rules, store=stored)
        assert told(ended)["received"] == len(frames)
        expected = by_tcpdump(tmp_path, first)
        assert parsed(made.read_bytes()) == (link, expected), first
        others = by_tcpdump(tmp_path, f"not ({first}) and ({second})")
        assert parsed(stored.read_bytes()) == (link, others), second
    assert len(by_tshark(stored, "frame.number")) == len(others)


TAGGED = [
    bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / layers / UDP_53)
    for layers in (Dot1Q(vlan=7), Dot1Q(vlan=8), Dot1AD(vlan=100) / Dot1Q(vlan=7), Dot1AD(vlan=7))
]
UNTAGGED = bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / UDP_53)


@pytest.mark.parametrize(
    "condition",
    [
        *("vlan", "vlan 7", "not vlan", "vlan and udp port 53", "vlan 100 and vlan 7 and ip"),
        *("vlan and vlan", "vlan and not udp", "udp port 53", "udp port 53 and vlan"),
        *("vlan 7 and ip src host 10.0.0.1", "not vlan 8", "vlan and ether multicast"),
    ],
)
def test_vlans_are_matched_as_tcpdump_does(condition: str, tmp_path: Path) -> None:
    packets = [(n, 0, len(frame), frame) for n, frame in enumerate([*TAGGED, UNTAGGED])]
    ended, made = forwarded(tmp_path, pcap(packets), f"forward {condition}")
    expected = by_tcpdump(tmp_path, condition)
    assert told(ended)["to forward"] == len(expected)
    assert parsed(made.read_bytes()) == (ETHERNET, expected)


# ---- Formats ------------------------------------------------------------------------------------

WHOLE = LOOPBACK.read_bytes()
ALL = parsed(WHOLE)[1]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_either_order_and_clock_are_read(order: str, magic: int, tmp_path: Path) -> None:
    ended, made = forwarded(tmp_path, pcap(ALL, magic=magic, order=order))
    assert told(ended)["received"] == PACKETS
    file = made.read_bytes()
    assert struct.unpack_from("<I", file)[0] == magic and parsed(file) == (ETHERNET, ALL)


def test_pcapng_of_wireshark_is_read_as_the_pcap_that_it_is_made_of(tmp_path: Path) -> None:
    if not shutil.which("editcap"):
        pytest.skip("tshark, with editcap, is not installed: make setup")
    made = tmp_path / "made.pcapng"
    subprocess.run(["editcap", "-F", "pcapng", str(LOOPBACK), str(made)], check=True)
    _, out = forwarded(tmp_path, made.read_bytes())
    assert parsed(out.read_bytes()) == (ETHERNET, ALL)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_of_either_order_with_nanoseconds_is_read(order: str, tmp_path: Path) -> None:
    file = section(order) + interface(ETHERNET, option(9, b"\x09", order), order)
    for seconds, fraction, _, data in ALL:
        file += enhanced(0, (seconds * 1000000 + fraction) * 1000 + 5, data, order)
        file += block(5, bytes(12), order) + block(0x0BAD, b"abc", order)
    ended, made = forwarded(tmp_path, file)
    assert told(ended)["received"] == PACKETS
    assert parsed(made.read_bytes())[1] == [(s, f * 1000 + 5, n, d) for s, f, n, d in ALL]


def test_sections_with_other_interfaces_follow_one_another(tmp_path: Path) -> None:
    file = b""
    for n, order in enumerate("<><"):
        file += section(order) + interface(RAW, order=order) * n + interface(ETHERNET, order=order)
        file += b"".join(enhanced(n, f, d, order) for _, f, _, d in ALL[12 * n : 12 * n + 12])
    _, made = forwarded(tmp_path, file)
    link, packets = parsed(made.read_bytes())
    assert link == ETHERNET and [p[3] for p in packets] == [p[3] for p in ALL]


@pytest.mark.parametrize("store", [False, True])
def test_unlike_link_types_come_out_as_pcapng(store: bool, tmp_path: Path) -> None:
    cooked = struct.pack(">HHH8sH", 0, 1, 6, b"\2\0\0\0\0\1", 0x0800) + bytes(UDP_53)
    file = section() + interface(ETHERNET) + interface(SLL) + interface(RAW) + interface(220)
    frames = [(1, cooked), (0, UNTAGGED), (2, bytes(UDP_53)), (1, cooked), (0, TAGGED[0])]
    file += b"".join(enhanced(n, 7000000 + i, data) for i, (n, data) in enumerate(frames))
    made = tmp_path / "made.pcap"
    (tmp_path / "in.pcap").write_bytes(file)
    action = "store" if store else "forward"
    params = {"rules": f"{action} udp port 53", action: made, "plays": 2, **QUIET}
    ended = run(APP, input=tmp_path / "in.pcap", **params)
    assert told(ended)["received"] == 10 and told(ended)["by a rule"] == 2
    assert "unlike link types: outputs are pcapng" in ended.stderr
    shown = by_tshark(made, "frame.encap_type", "udp.dstport", "frame.time_epoch", "frame.len")
    encap = {SLL: "25", ETHERNET: "1", RAW: "7"}
    sizes = {SLL: len(cooked), ETHERNET: len(UNTAGGED), RAW: len(bytes(UDP_53))}
    assert shown == 2 * [
        [encap[link], "53", f"7.{i:06}000", str(sizes[link])]
        for i, link in enumerate((SLL, ETHERNET, RAW, SLL))
    ]


# ---- What is not all there ----------------------------------------------------------------------


@pytest.mark.parametrize("network", [0x44000001, 0x24000001])
def test_an_fcs_in_the_capture_is_not_part_of_the_frame(network: int, tmp_path: Path) -> None:
    packets = [(s, f, n + 4, d + b"FCS!") for s, f, n, d in ALL]
    _, made = forwarded(tmp_path, pcap(packets, network))
    assert parsed(made.read_bytes()) == (ETHERNET, ALL)


def test_packets_that_were_truncated_keep_the_length_that_they_had(tmp_path: Path) -> None:
    packets = [(s, f, n, d[:80]) for s, f, n, d in ALL]
    for condition in ("udp port 5353", "tcp", "greater 100", "less 100", "not arp"):
        ended, made = forwarded(tmp_path, pcap(packets), f"forward {condition}")
        assert parsed(made.read_bytes()) == (ETHERNET, by_tcpdump(tmp_path, condition))
    cut = sum(len(d) > 80 for *_, d in ALL)
    assert f"{cut} of its 36 packets are truncated: capture whole packets" in ended.stderr


PCAPNG = section() + interface(ETHERNET)
PCAPNG += b"".join(enhanced(0, s * 1000000 + f, d) for s, f, _, d in ALL)


@pytest.mark.parametrize("file", [WHOLE, PCAPNG], ids=["pcap", "pcapng"])
@pytest.mark.parametrize("less", [1, 90, 150])
def test_a_capture_that_is_cut_off_is_read_to_there(less: int, file: bytes, tmp_path: Path) -> None:
    ended, made = forwarded(tmp_path, file[:-less])
    packets = parsed(made.read_bytes())[1]
    assert packets == ALL[: len(packets)] and 30 < len(packets) < PACKETS
    said = f'warning: input "{tmp_path}/in.pcap": it is cut off in packet {len(packets) + 1}: '
    assert said + "it is read to there" in ended.stderr


@pytest.mark.parametrize("file", [WHOLE, PCAPNG], ids=["pcap", "pcapng"])
def test_nulls_in_the_place_of_packets_end_a_capture(file: bytes, tmp_path: Path) -> None:
    ended, made = forwarded(tmp_path, file + bytes(4096))
    assert parsed(made.read_bytes()) == (ETHERNET, ALL)
    assert "it is cut off in packet 37: it is read to there" in ended.stderr


REFUSED = {
    "it is compressed by Zstandard: zstd -dc FILE": b"\x28\xb5\x2f\xfd" + bytes(100),
    "it has no packets: capture some": section() + interface(ETHERNET),
    "it has no packets: capture": pcap([]),
    "it has no packets": WHOLE[:50],
    "link type 105 (IEEE 802.11): capture Ethernet, Linux cooked or raw IP": section()
    + interface(105)
    + enhanced(0, 0, bytes(30)),
    "packet 1 is of an interface that is not described": section() + enhanced(0, 0, bytes(30)),
    "packet 2 is in a block that is damaged": PCAPNG[:48]
    + enhanced(0, 0, UNTAGGED)
    + b"\6\0\0\0\1\0\0\0"
    + bytes(40),
    "packet 1 has 10 bytes: Linux cooked has 16 or more": pcap([(0, 0, 10, bytes(10))], SLL),
    "packet 1 has 9019 bytes, more than 9018: editcap -s 9018": pcap([(0, 0, 9019, bytes(9019))]),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_be_read_is_refused_with_the_reason(reason: str, tmp_path: Path) -> None:
    ended, _ = forwarded(tmp_path, REFUSED[reason])
    assert reason in refusal(ended)
