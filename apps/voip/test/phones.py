# SPDX-License-Identifier: Apache-2.0
"""Phones for the tests, ours and baresip, and what is heard of what was said.

All of it is on 127.0.0.1, at ports that were free a moment before.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import randrange
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
from driven import APPS, CORES, Param, command, kernels_of
from numpy.typing import NDArray
from scipy import signal as filters
from tones import first_channel

APP = APPS / "voip/app.toml"
CONFERENCE = APPS / "voip/conference.toml"
SPEECH = APPS / "voip/data/speech.wav"
PATIENCE_S = 600
HOST = "127.0.0.1"
RATE = 8000
FRAME = 160
LOUD = 200

Sound = NDArray[Any]

SOUND_PORT = 16384  # from here on a phone takes ports for sound


def free_port(count: int = 2) -> int:
    """The first of some UDP ports that nobody has; below those that Linux usually gives away."""
    for _ in range(1000):
        first = randrange(1024, SOUND_PORT - count, 2)
        with ExitStack() as held, suppress(OSError):
            for port in range(first, first + count):
                some = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                some.bind((HOST, port))
            return first
    raise AssertionError(f"no {count} free UDP ports were found")


def rtp(number: int, payload: bytes, kind: int = 0) -> bytes:
    """A packet of sound, or of another payload type."""
    return struct.pack("!BBHII", 0x80, kind, number & 0xFFFF, number * 160, 7) + payload


def speech(path: Path, seed: int, rate: int = RATE) -> Path:
    words = ["/usr/bin/python3", APPS / "voip/data/speech.py", path, str(rate), str(seed)]
    subprocess.run(words, check=True)
    return path


# ---- What the machine does ----------------------------------------------------------------------


class HeldUp:
    """For how long the threads that sound goes through were ready and had no processor.

    What a phone has not heard in that time it could not hear.
    """

    def __init__(
        self,
        process: subprocess.Popen[str] | None,
        through: Callable[[], list[int]] | None = None,
    ) -> None:
        """`through`: processes that have a call now; `None`: `process`, or the test itself."""
        self.process, self.is_over = process, False
        self.through = through or (lambda: [process.pid if process else os.getpid()])
        self.first_ns: dict[str, int] = {}
        self.last_ns: dict[str, int] = {}
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def ms(self) -> float:
        """All of it, once the process is over."""
        self.is_over = self.process is None
        self.thread.join(PATIENCE_S)
        return sum(last - self.first_ns[one] for one, last in self.last_ns.items()) / 1e6

    def _watch(self) -> None:
        while not self.is_over and (self.process is None or self.process.poll() is None):
            processes: list[int] = []
            with suppress(OSError):  # the files of a call go with it
                processes = self.through()
            for process in processes:
                # A thread may be over, or its process.
                with suppress(OSError, IndexError):
                    for times in Path(f"/proc/{process}/task").glob("*/schedstat"):
                        waited_ns = int(times.read_text().split()[1])
                        self.first_ns.setdefault(str(times), waited_ns)
                        self.last_ns[str(times)] = waited_ns
            time.sleep(0.05)


# ---- Our phone ----------------------------------------------------------------------------------


@dataclass
class Ours:
    """A run of the phone that is under way, and what it said once it has ended."""

    port: int
    process: subprocess.Popen[str]
    runtime: Path
    held_up: HeldUp
    said: str = ""
    summary: dict[str, Any] = field(default_factory=dict)

    def log(self) -> str:
        return (self.runtime / "said").read_text(errors="replace")

    def wait_until(self, *words: str, times: int = 1) -> None:
        """Until it has said any of these words so often."""
        deadline = time.monotonic() + PATIENCE_S
        while sum(map((text := self.log()).count, words)) < times:
            assert self.process.poll() is None and time.monotonic() < deadline, text
            time.sleep(0.01)

    def kernel(self, core: int) -> int:
        """The number of the process of a core's kernel, which is there."""
        processes = kernels_of(self.runtime)
        process = processes[core] if core < len(processes) else None
        assert process, f"core {core} has no kernel: {self.log()}"
        return int(process["pid"])

    def end(self) -> None:
        """Waits until it ends by itself."""
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        self.said = self.log()
        self.summary = json.loads(out) if out.strip() else {}

    def told(self, what: str) -> float:
        """A number that it told in the end, by the words after it: `packets sent`."""
        found = re.search(rf"([\d.]+) {what}", self.said)
        assert found, self.said
        return float(found[1])

    def gap_ms(self) -> float:
        found = re.search(r"gap in the sound (\d+) ms", self.said)
        assert found, self.said
        return float(found[1])


WATCHED = APPS.parent / "build/obj/voip/watched.so"


def watched(folder: Path, module: Path = WATCHED, of: Path = APP) -> Path:
    """Our phone under the sanitizers, which end it where it touches what is not its own; or by
    another module."""
    app = folder / "app.toml"
    app.write_text(of.read_text().replace('"data/', f'"{APP.parent}/data/'))
    (folder / "voip.so").symlink_to(module)
    return app


def sanitizers() -> dict[str, str]:
    """Their libraries come before all others."""
    names = ("libasan.so", "libubsan.so")
    words = [["gcc", f"-print-file-name={name}"] for name in names]
    found = [subprocess.check_output(word, text=True).strip() for word in words]
    return {"LD_PRELOAD": ":".join(found), "ASAN_OPTIONS": "detect_leaks=0"}


@contextmanager
def ours(
    *options: str,
    app: Path = APP,
    cores: tuple[str, ...] = CORES,
    is_watched: bool = False,
    **params: Param,
) -> Iterator[Ours]:
    """Our phone; it has ended when this does, by itself or not."""
    port = free_port()
    with TemporaryDirectory(dir="/tmp") as runtime:  # a socket's path has 107 bytes at most
        environment = {**os.environ, "XDG_RUNTIME_DIR": runtime}
        if is_watched:
            app = watched(Path(runtime), of=app)
            environment |= sanitizers()
        words = command("run", app, (*cores, *options), {"listen": f"{HOST}:{port}", **params})
        with (Path(runtime) / "said").open("w") as said:
            process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=said, text=True, env=environment
            )
        said_by, place = Path(runtime) / "said", Path(runtime)

        def kernels() -> list[int]:
            is_in_call = "in a call" in said_by.read_text(errors="replace")
            return [int(one["pid"]) for one in kernels_of(place) if one] if is_in_call else []

        phone = Ours(port, process, place, HeldUp(process, kernels))
        try:
            phone.wait_until("in a call" if params.get("peer") == "loop" else "listens at")
            yield phone
            phone.end()
        finally:
            stop(process)


def ports_of(process: int) -> list[int]:
    """The UDP ports that a process has on this address."""
    links = [str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir()]
    rows = [row.split() for row in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return [int(row[1].split(":")[1], 16) for row in rows if f"socket:[{row[9]}]" in links]


def stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=10)
    if process.poll() is None:
        process.kill()
        process.communicate()


# ---- Baresip ------------------------------------------------------------------------------------

# The interface is named by its address: baresip passes over `lo`.
CONFIG = """
poll_method epoll
sip_listen {host}:{port}
audio_source aufile,{sound}
audio_player aubridge,nil
audio_alert aubridge,nil
ausrc_srate {rate}
auplay_srate {rate}
ausrc_channels 1
auplay_channels 1
net_interface {host}
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module opus.so
module aufile.so
module aubridge.so
module sndfile.so
module_app account.so
module uuid.so
module_app menu.so
snd_path {folder}
opus_bitrate 32000
opus_stereo no
opus_sprop_stereo no
"""
ACCOUNT = (
    "<sip:b@{host}:{port};transport=udp>;regint=0;audio_codecs={codecs};answermode=auto;ptime=20"
)
CODECS = {
    "PCMU": "PCMU/8000/1",
    "PCMA": "PCMA/8000/1",
    "G722": "G722/16000/1",
    "opus": "opus/48000/2",
}


@dataclass
class Baresip:
    port: int
    folder: Path
    process: subprocess.Popen[str]
    held_up: HeldUp

    def heard(self) -> Path:
        """What it played, in a file."""
        (found,) = self.folder.glob("dump-*-dec.wav")
        return found

    def uri(self) -> str:
        return f"sip:b@{HOST}:{self.port}"

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def until(self, words: str) -> bool:
        """Waits until it says so; false if it has ended without."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in (text := self.log()):
            assert time.monotonic() < deadline, text
            if self.process.poll() is not None:
                return words in self.log()
            time.sleep(0.01)
        return True


@contextmanager
def baresip(
    folder: Path,
    sound: Path,
    *codecs: str,
    dial: str = "",
    rate: int = RATE,
    account: str = ACCOUNT,
    more: str = "",
) -> Iterator[Baresip]:
    """A phone that answers, or dials; it says `sound` and hangs up at its end.

    `more`: lines of its configuration.
    """
    port = free_port()
    folder.mkdir()
    there = {"host": HOST, "port": port, "folder": folder, "sound": sound, "rate": rate}
    (folder / "config").write_text(CONFIG.format(**there) + more)
    named = ",".join(CODECS[codec] for codec in codecs)
    (folder / "accounts").write_text(account.format(**there, codecs=named))
    (folder / "contacts").touch()
    words = ["baresip", "-f", str(folder), "-t", "60"]
    if dial:
        words += ["-e", f"/dial {dial}"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True
        )

    def talks() -> list[int]:
        return [process.pid] if "Call established" in (folder / "log").read_text() else []

    phone = Baresip(port, folder, process, HeldUp(process, talks))
    try:
        deadline = time.monotonic() + PATIENCE_S
        while "baresip is ready" not in phone.log():
            assert process.poll() is None and time.monotonic() < deadline, phone.log()
            time.sleep(0.01)
        yield phone
    finally:
        stop(process)


# ---- What is heard ------------------------------------------------------------------------------


def samples(path: Path) -> Sound:
    """The sound of a file, at our rate; of two channels the first."""
    rate, one = first_channel(path)
    return one if rate == RATE else filters.resample_poly(one.astype(float), 1, rate // RATE)


def delay_of(said: Sound, heard: Sound) -> int:
    match = filters.correlate(heard.astype(float), said.astype(float), mode="full", method="fft")
    return int(np.argmax(match)) - (len(said) - 1)


@dataclass(frozen=True)
class Fidelity:
    """What is asked of a piece of sound that counts as heard."""

    piece: int  # samples
    correlation: float
    frames: int  # that it may come early or late, by a gap before it
    shift: int  # samples besides


# G.711 keeps the wave: its noise is 30 dB below loud speech. Opus keeps what is heard of it.
WAVE = Fidelity(FRAME, 0.998, 25, 0)
LIKENESS = Fidelity(10 * FRAME, 0.45, 4, 8)
FIDELITY = {"PCMU": WAVE, "PCMA": WAVE, "opus": LIKENESS}


def likeness(one: Sound, other: Sound) -> float:
    power = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / power) if power > 0 else 0.0


def is_heard(piece: Sound, heard: Sound, at: int, asked: Fidelity) -> bool:
    """Whether a piece is in a sound: at its place, or some frames before or after it."""
    for moved in range(-asked.frames * FRAME, (asked.frames + 1) * FRAME, FRAME):
        for start in range(at + moved - asked.shift, at + moved + asked.shift + 1):
            there = heard[max(0, start) : max(0, start) + len(piece)]
            if len(there) == len(piece) and likeness(piece, there) >= asked.correlation:
                return True
    return False


def share_heard(said_file: Path, heard_file: Path, ms: int, codec: str = "PCMU") -> float:
    """Which part of the loud pieces of the first `ms` of a sound was heard."""
    asked = FIDELITY[codec]
    said = samples(said_file)[: ms * RATE // 1000].astype(float)
    heard = samples(heard_file).astype(float)
    delay = delay_of(said, heard)
    pieces = {at: said[at : at + asked.piece] for at in range(0, len(said), asked.piece)}
    loud = {at: piece for at, piece in pieces.items() if np.mean(piece**2) > LOUD**2}
    intact = sum(is_heard(piece, heard, at + delay, asked) for at, piece in loud.items())
    assert len(loud) > 10
    return intact / len(loud)


class IsHeldUp(Protocol):
    """A phone of a test, whoever it is."""

    held_up: HeldUp


def lost_ms(*phones: IsHeldUp | HeldUp) -> float:
    """What may be missing of a call because the machine held up its phones. After each time the
    frame that was under way and what comes late besides are lost as well."""
    every = (one if isinstance(one, HeldUp) else one.held_up for one in phones)
    return 2 * sum(one.ms() for one in every)
