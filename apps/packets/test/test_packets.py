# SPDX-License-Identifier: Apache-2.0
"""The packet processor end to end, against tcpdump, scapy and zlib."""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest
from driven import APPS, Ended, move_enough, moved, refusal, run, simulate, with_a_kernel_killed
from scapy.all import ARP, ICMP, IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw, rdpcap, wrpcap
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6ExtHdrFragment

APP = APPS / "packets/app.toml"
LOOPBACK = APPS / "packets/data/loopback.pcap"
PACKETS = 36
ACTIONS = ("forward", "store", "discard")
QUIET = {"bit_errors": 0}


def told(ended: Ended) -> dict[str, int]:
    """What the application said in the end, by its words."""
    assert ended.returncode == 0, ended.stderr
    return told_in(ended.stderr)


def told_in(said: str) -> dict[str, int]:
    words = r"(\d+) (received|bits corrected|to forward|to store|by a rule|damaged|for lack)"
    found = {name: int(number) for number, name in re.findall(words, said)}
    crcs = re.findall(r"CRC-32 ([0-9a-f]{8})", said)
    return found | {"forward crc": int(crcs[0], 16), "store crc": int(crcs[1], 16)}


def outputs(folder: Path) -> dict[str, Path]:
    return {action: folder / f"{action}.pcap" for action in ACTIONS}


def records(capture: Path) -> list[tuple[int, int, bytes]]:
    """Its packets with their times, by scapy."""
    packets = rdpcap(str(capture))
    return [(int(p.time), round(float(p.time) % 1 * 1e6), p.original) for p in packets]


# ---- Which packets go where, by tcpdump ---------------------------------------------------------


def by_tcpdump(capture: Path, rules: str, otherwise: str, folder: Path) -> dict[str, list[Any]]:
    """What tcpdump makes of rules: of those that match none before, those that match one."""
    found: dict[str, list[Any]] = {action: [] for action in ACTIONS}
    before: list[str] = []
    table = [rule.strip().split(" ", 1) for rule in rules.split(";") if rule.strip()]
    for action, condition in [*table, [otherwise, "greater 0"]]:
        filters = " and ".join([*(f"not ({rule})" for rule in before), f"({condition})"])
        some = folder / "some.pcap"
        words = ["tcpdump", "-n", "-r", str(capture), "-w", str(some), filters]
        ended = subprocess.run(words, check=False, capture_output=True, text=True)
        if "rejects all packets" not in ended.stderr:
            assert ended.returncode == 0, ended.stderr
            found[action] += records(some)
        before.append(condition)
    return {action: sorted(packets) for action, packets in found.items()}


def compare_with_tcpdump(capture: Path, rules: str, otherwise: str, folder: Path) -> None:
    made = outputs(folder)
    params = {"input": capture, "rules": rules, "otherwise": otherwise, **made, **QUIET}
    said = told(run(APP, **params))
    expected = by_tcpdump(capture, rules, otherwise, folder)
    for action in ACTIONS:
        assert records(made[action]) == expected[action], (action, rules)
    forwarded = b"".join(packet for _, _, packet in expected["forward"])
    assert said["forward crc"] == zlib.crc32(forwarded)
    assert said["to store"] == len(expected["store"])


def test_a_capture_of_tcpdump_is_routed_as_tcpdump_would(tmp_path: Path) -> None:
    rules = "forward udp port 5353; store tcp src port 8080 and greater 100; discard tcp"
    compare_with_tcpdump(LOOPBACK, rules, "discard", tmp_path)


def a_packet(draw: random.Random) -> Ether:
    """One of many kinds; few ports and addresses, so that rules meet them."""
    address = {"src": f"10.0.{draw.randrange(3)}.{draw.randrange(3)}", "dst": "10.0.1.1"}
    ports = {"sport": draw.choice((53, 80, 5000)), "dport": draw.choice((53, 80, 5000))}
    transport = draw.choice((TCP(**ports), UDP(**ports), ICMP()))
    fragment = {"frag": draw.choice((0, 0, 40)), "options": draw.choice(([], [b"\1" * 4]))}
    v6 = {"src": "fe80::1", "dst": "fe80::2"}
    payload = draw.choice(
        (
            IP(**address, **fragment) / transport,
            IP(**address) / UDP(**ports),
            IPv6(**v6) / (transport if not isinstance(transport, ICMP) else ICMPv6EchoRequest()),
            IPv6(**v6) / IPv6ExtHdrFragment() / UDP(**ports),
            ARP(psrc="10.0.0.1", pdst="10.0.0.2"),
            Dot1Q(vlan=3) / IP(**address) / UDP(**ports),
        )
    )
    there = draw.choice(("ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "02:00:00:00:00:02"))
    filler = Raw(draw.randbytes(draw.choice((50, 90, 700))))
    return Ether(src="02:00:00:00:00:01", dst=there) / payload / filler


def a_condition(draw: random.Random) -> str:
    direction = draw.choice(("", "src ", "dst "))
    net, number = draw.choice(("10.0.1.0/24", "10.0.0.0/8", "0.0.0.0/0")), draw.choice((53, 80, 90))
    some = draw.choice(
        (
            *("ip", "ip6", "arp", "tcp", "udp", "icmp", "icmp6"),
            *("ether broadcast", "ether multicast", f"less {number + 30}", f"greater {number}"),
            f"{direction}port {number}",
            f"tcp {direction}port {number}",
            f"udp {direction}port {number}",
            f"ip {direction}host 10.0.1.1",
            f"ip {direction}net {net}",
        )
    )
    return draw.choice(("", "", "not ")) + some


@pytest.mark.parametrize("seed", range(8))
def test_random_packets_are_routed_by_random_rules_as_tcpdump_would(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    packets = [a_packet(draw) for _ in range(80)]
    for number, packet in enumerate(packets):
        packet.time = 1_700_000_000 + number
    capture = tmp_path / "in.pcap"
    wrpcap(str(capture), packets)
    rules = []
    for _ in range(draw.randint(2, 6)):
        conditions = " and ".join(a_condition(draw) for _ in range(draw.randint(1, 2)))
        rules.append(f"{draw.choice(ACTIONS)} {conditions}")
    compare_with_tcpdump(capture, "; ".join(rules), draw.choice(ACTIONS), tmp_path)


# ---- The medium ---------------------------------------------------------------------------------


def test_packets_that_cannot_be_corrected_are_discarded_and_counted(tmp_path: Path) -> None:
    made = outputs(tmp_path)
    params = {"rules": "forward tcp", "otherwise": "store", "plays": 30, "store_bytes": 100000}
    said = told(run(APP, bit_errors=4000, **params, **made))
    assert (
        said["received"]
        == 30 * PACKETS
        == said["to forward"] + said["to store"] + (said["damaged"])
    )
    assert 50 < said["damaged"] < 500 and said["bits corrected"] > 1000
    # Those that came through have not one wrong bit.
    originals = {packet for _, _, packet in records(LOOPBACK)}
    for action in ("forward", "store"):
        assert {packet for _, _, packet in records(made[action])} <= originals


def test_on_a_medium_without_errors_nothing_is_corrected() -> None:
    said = told(run(APP, **QUIET))
    assert (said["received"], said["bits corrected"], said["damaged"]) == (PACKETS, 0, 0)


def test_a_store_that_is_full_takes_no_more(tmp_path: Path) -> None:
    made = tmp_path / "store.pcap"
    params = {"rules": "", "otherwise": "store", "store_bytes": 3000, "store": made}
    said = told(run(APP, **params, **QUIET))
    assert said["to store"] + said["for lack"] == PACKETS and said["for lack"] > 0
    kept = records(made)
    assert len(kept) == said["to store"] and sum(16 + len(packet) for *_, packet in kept) <= 3000


# ---- Moves and deaths ---------------------------------------------------------------------------

TASKS = ("packetizer", "decoder.0", "crc.1", "enqueue", "classifier", "forward", "store")
SHUTTLES = [f"--shuttle={task}=1,0@1ms" for task in TASKS]
NOISY = {"plays": 40, "bit_errors": 2000, "store_bytes": 50000}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What comes out when nothing moves."""
    return came_out(run(APP, **NOISY, **outputs(tmp_path_factory.mktemp("undisturbed"))))


def came_out(ended: Ended) -> dict[str, bytes]:
    """What was said, and the bytes of the outputs."""
    assert ended.returncode == 0, ended.stderr
    made = json.loads(ended.stdout)["app"]["params"]
    said = "\n".join(line for line in ended.stderr.splitlines() if line.startswith("packets: "))
    return {"said": said.encode()} | {action: Path(made[action]).read_bytes() for action in ACTIONS}


@pytest.mark.parametrize(("mode", "least"), [("handoff", 50), ("replicate", 50), ("recreate", 3)])
def test_no_packet_is_lost_though_all_tasks_move(
    mode: str, least: int, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    shuttles = SHUTTLES if mode != "recreate" else ["--shuttle=enqueue=1,0@1ms"]

    def moving() -> dict[str, Any]:
        ended = run(APP, "--mode", mode, *shuttles, **NOISY, **outputs(tmp_path))
        assert came_out(ended) == undisturbed
        return json.loads(ended.stdout)

    move_enough(moving, least)


def test_the_simulator_makes_the_same_while_tasks_move(
    undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    ended = simulate(APP, "--platform", "smp2", *SHUTTLES, **NOISY, **outputs(tmp_path))
    assert came_out(ended) == undisturbed
    assert moved(json.loads(ended.stdout)) >= 100


@pytest.mark.parametrize("task", ["packetizer", "decoder.1", "classifier", "forward"])
def test_no_packet_is_lost_or_comes_twice_though_a_kernel_is_killed(
    task: str, tmp_path: Path
) -> None:
    made, undisturbed = outputs(tmp_path), tmp_path / "undisturbed.pcap"
    params = {**NOISY, "plays": 300}
    summary, _ = with_a_kernel_killed(
        APP,
        lambda: made["forward"].exists() and made["forward"].stat().st_size > 10000,
        f"--move={task}=1@1ms",
        **params,
        **made,
    )
    assert summary["deaths"][0]["lost"] == 0
    told(run(APP, **params, forward=undisturbed))
    assert made["forward"].read_bytes() == undisturbed.read_bytes()


def test_modelled_tasks_process_nothing_and_take_their_time() -> None:
    ended = simulate(APP, "--platform", "smp2", "--compute", "model")
    assert told(ended)["received"] == PACKETS
    assert json.loads(ended.stdout)["time_ns"] > 1e6


# ---- Refusals -----------------------------------------------------------------------------------

WHOLE = LOOPBACK.read_bytes()
REFUSED = {
    "it is empty": b"",
    "it is not a pcap file; tcpdump -r FILE": b"GIF89a" + bytes(100),
    "it is compressed by gzip: gzip -dc FILE > NAME.pcap": gzip.compress(WHOLE),
    "it ends inside its header": WHOLE[:20],
    "it has no packets": WHOLE[:24],
    "packet 2 is damaged: get a complete copy": WHOLE[:24] + WHOLE[24:114] + b"\xff" * 99,
    "have link type 105 (IEEE 802.11)": WHOLE[:20] + struct.pack("<I", 105) + WHOLE[24:],
    "packet 1 has 4 bytes: Ethernet has 14": WHOLE[:24]
    + struct.pack("<IIII", 1, 1, 4, 4)
    + b"abcd",
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_is_no_whole_capture_is_refused_with_the_reason(reason: str, tmp_path: Path) -> None:
    capture = tmp_path / "in.pcap"
    capture.write_bytes(REFUSED[reason])
    assert reason in refusal(run(APP, input=capture))


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"input": "/nowhere.pcap"}, "No such file or directory"),
        ({"input": "/"}, "it is not a regular file"),
        ({"forward": "out.txt"}, "end its name in .pcap"),
        ({"store": "/nowhere/out.pcap"}, "No such file or directory"),
        ({"frame_bytes": 1000}, "more than frame_bytes: --set frame_bytes=1266"),
        ({"frame_bytes": 10000}, "frame_bytes is 10000: give a whole number from 14 to 9018"),
        ({"plays": 0}, "plays is 0: give a whole number from 1"),
        ({"bit_errors": -1}, "bit_errors is -1: give a whole number"),
        ({"store_bytes": 1000000}, "memory of [app] is too small"),
        ({"rules": "forward tpc"}, 'this is not a condition at "tpc"'),
        ({"otherwise": "drop"}, 'otherwise is "drop": give forward, store or discard'),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(params: dict[str, Any], reason: str) -> None:
    assert reason in refusal(run(APP, **params))
