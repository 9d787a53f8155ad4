# SPDX-License-Identifier: Apache-2.0
"""Table 3, and table 4 of a real call: the phone of apps/voip by each strategy of the paper.

With baresip, its packets captured where that gets them; and simulated on the DaVinci, where all
that is sent comes back.
"""

from __future__ import annotations

import json
import re
import signal
import statistics
import struct
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from command import ROOT, Failed, needs, settings, whimbrel
from lab import Lab
from published import Row, row

sys.path += [str(ROOT / "apps/voip/test"), str(ROOT / "apps/common")]
needs("scipy")  # the tests' phones hear by it

from driven import CORES, CPUS  # noqa: E402
from phones import APP, HOST, baresip, ours, speech  # noqa: E402

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
ON_ONE = ("--map", "encoder=0,decoder=0,canceller=0")
ON_FREERTOS = ("--cores", f"{CPUS[0]},virt_a64:0")


@dataclass(frozen=True)
class Strategy:
    """Where the codec runs, how the agent learns of its answers, and where messages lie."""

    name: str
    polled_ms: int = 0
    adaptive: bool = False
    internal: bool = False
    options: tuple[str, ...] = ()

    def app(self, folder: Path) -> Path:
        """Our app.toml with what is no parameter of it. Two calls are outstanding at most, so that
        all messages have room in the internal memory of the DaVinci."""
        text = APP.read_text().replace('"data/', f'"{APP.parent}/data/')
        more = ['answer_doorbell = "adaptive:1ms"'] if self.adaptive else []
        if self.internal:
            more += ['request_memory = "internal"', 'answer_memory = "internal"']
        (folder / "Makefile").write_text(
            f"sources:\n\t@$(MAKE) --silent --no-print-directory -C {APP.parent} sources\n"
        )
        made = folder / "voip.toml"
        made.write_text(re.sub(r"(?m)^calls = 8$", "\n".join(["calls = 2", *more]), text))
        return made

    def params(self, seconds: float) -> dict[str, int]:
        """An agent that waits for everything at once hears no doorbell but an interrupt's: so it
        waits for each answer where that is adaptive."""
        return {
            "hang_up_ms": round(seconds * 1000),
            "answers_us": self.polled_ms * 1000,
            "blocking": int(self.adaptive),
        }


TABLE3 = (
    Strategy("gpp only", options=ON_ONE),
    Strategy("dsp interrupt external"),
    Strategy("dsp polling external", polled_ms=20),
    Strategy("dsp interrupt internal", internal=True),
    Strategy("dsp polling internal", polled_ms=20, internal=True),
)
# And what the paper proposes: to look when the answer should be there.
TABLE4 = (
    Strategy("interrupt", internal=True),
    *(Strategy(f"{ms}ms", polled_ms=ms, internal=True) for ms in (5, 10, 15, 20)),
    Strategy("adaptive", adaptive=True, internal=True),
)


@dataclass
class Call:
    """One call that is over."""

    load_percent: float  # of the GPP
    between_ms: list[float]  # packets at the receiver
    answer_ms: float  # from the call of the decoder, the last of a frame, until its answer is there

    @classmethod
    def told(cls, load: float, between_ms: list[float], said: str) -> Call:
        found = re.search(r"the decoder after ([\d.]+) ms", said)
        if not found:
            raise Failed(f"no service answered: {said.strip()}")
        return cls(100 * load, between_ms, float(found[1]))


# ---- With baresip -------------------------------------------------------------------------------


ETHERNET_BYTES, UDP_BYTES = 14, 8


def packets(capture: Path) -> Iterator[tuple[float, int, bytes]]:
    """The UDP packets of a capture: when each came, in ms, from which port, and what is in it."""
    data = capture.read_bytes()
    scale = {0xA1B23C4D: 1e-6, 0xA1B2C3D4: 1e-3}[struct.unpack_from("<I", data)[0]]
    at = 24
    while at + 16 <= len(data):
        seconds, part, kept, _ = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16 + ETHERNET_BYTES : at + 16 + kept]
        udp = 4 * (packet[0] & 15)
        (source,) = struct.unpack_from(">H", packet, udp)
        yield seconds * 1e3 + part * scale, source, packet[udp + UDP_BYTES :]
        at += 16 + kept


def times_of(capture: Path, phone: int) -> list[float]:
    """When the sound of a phone came to the other, in ms: from the port that it has offered."""
    captured = list(packets(capture))
    said = b"".join(text for _, source, text in captured if source == phone)
    offer = re.search(rb"m=audio (\d+)", said)
    if offer is None:
        raise Failed(f"no invitation is among the {len(captured)} packets that were captured")
    return [ms for ms, source, _ in captured if source == int(offer[1])]


@contextmanager
def captured(capture: Path) -> Iterator[None]:
    """What phones say to each other, in packets."""
    words = ["tcpdump", "-i", "lo", "-n", "-U", "--time-stamp-precision", "nano"]
    words += ["-w", str(capture), f"udp and src host {HOST} and dst host {HOST}"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    said = process.stderr.readline()
    if "listening on" not in said:
        raise Failed(f"nothing is captured: {said.strip()}")
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def called(
    strategy: Strategy, seconds: float, folder: Path, cores: tuple[str, ...] = CORES
) -> Call:
    """A call with baresip, on this machine; what is said is captured from before it begins."""
    far, capture = speech(folder / "far.wav", seed=2), folder / "call.pcap"
    with (
        captured(capture),
        baresip(folder / "baresip", far, "PCMU") as other,
        ours(
            *strategy.options,
            app=strategy.app(folder),
            cores=cores,
            peer=other.uri(),
            **strategy.params(seconds),
        ) as phone,
    ):
        phone.end()
    if phone.process.returncode != 0:
        raise Failed(phone.said.strip())
    between = [after - before for before, after in pairwise(times_of(capture, phone.port))]
    core = phone.summary["cores"][0]
    return Call.told(core["busy_ns"] / phone.summary["time_ns"], between, phone.said)


def crossed(strategy: Strategy, seconds: float, folder: Path) -> Call:
    """The same with core 1 on FreeRTOS under QEMU."""
    return called(strategy, seconds, folder, ON_FREERTOS)


# ---- Simulated ----------------------------------------------------------------------------------


def simulated(strategy: Strategy, seconds: float, folder: Path) -> Call:
    """A call in which all comes back, on the ARM and the DSP of the paper."""
    words = ["sim", str(strategy.app(folder)), "--json", "--quiet", "--platform", "davinci"]
    params = {"peer": "loop"} | strategy.params(seconds)
    ended = whimbrel(*words, *strategy.options, *settings(params), cwd=folder)
    (point,) = json.loads(ended.stdout)["cores"][0]["points"]
    active = point["active_ns"] / (point["active_ns"] + point["idle_ns"])
    return Call.told(active, [], ended.stderr)


# ---- Rows ---------------------------------------------------------------------------------------

Way = Callable[[Strategy, float, Path], Call]
IN_TASKS = "time in tasks, without polling"
LOADS = {called: IN_TASKS, crossed: IN_TASKS, simulated: "time that the ARM is active"}
# An emulator has no internal memory.
EXTERNAL3 = tuple(strategy for strategy in TABLE3 if not strategy.internal)
EXTERNAL4 = tuple(replace(strategy, internal=False) for strategy in TABLE4)


def made(lab: Lab, way: Way, where: str, what: str, strategy: Strategy, s: float) -> Call | Row:
    """A call, or the row that says why there is none."""
    folder = lab.folder / f"{where}_{what}_{strategy.name}".replace(" ", "_")
    folder.mkdir()
    try:
        return way(strategy, s, folder)
    except (Failed, AssertionError) as failed:  # the tests' phones assert that they live
        reason = str(failed).strip().splitlines()[0].strip(" ×")
        return row(f"{what}, {where}: {strategy.name} left out", None, 0.0, "calls", reason)


def table3(
    lab: Lab, way: Way, where: str, seconds: float, strategies: tuple[Strategy, ...] = TABLE3
) -> list[Row]:
    """Load of the GPP, and how regularly packets come, by strategy."""
    rows = []
    for strategy in strategies:
        call = made(lab, way, where, "table 3", strategy, seconds)
        if not isinstance(call, Call):
            rows.append(call)
            continue
        load, mean, deviation = PUBLISHED["voip"][strategy.name]
        what = f"table 3, {where}: {strategy.name},"
        rows.append(row(f"{what} load of the GPP", load, call.load_percent, "%", LOADS[way]))
        if len(call.between_ms) > 1:
            note = f"{len(call.between_ms) + 1} packets, where the receiver gets them"
            between = call.between_ms
            rows.append(row(f"{what} packets", mean, statistics.fmean(between), "ms", note))
            rows.append(row(f"{what} deviation", deviation, statistics.stdev(between), "ms", note))
    return rows


def table4(
    lab: Lab, way: Way, where: str, seconds: float, strategies: tuple[Strategy, ...] = TABLE4
) -> list[Row]:
    """Load of the GPP, and how late it learns of answers, in a call of the phone."""
    rows = []
    for strategy in strategies:
        call = made(lab, way, where, "table 4", strategy, seconds)
        if not isinstance(call, Call):
            rows.append(call)
            continue
        load, latency = PUBLISHED["polling_interval"].get(strategy.name, (None, None))
        what = f"table 4, {where}: {strategy.name},"
        note = "from the call of the decoder, the last of a frame, until the agent has its answer"
        rows.append(row(f"{what} load of the GPP", load, call.load_percent, "%", LOADS[way]))
        rows.append(row(f"{what} latency of a call", latency, call.answer_ms, "ms", note))
    return rows
