# SPDX-License-Identifier: Apache-2.0
"""A board with two cores and no kernels: descriptor 3 is its line.

It speaks the protocol, and its second argument says what it does instead; the first is an image.
A third is how likely a bit is flipped on its line, in each direction. That it has booted is a file
in its folder.
"""

import base64
import contextlib
import json
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[4] / "tests"))

from line import Closed, Line

MODE = sys.argv[2]
FLIPS = float(sys.argv[3]) if len(sys.argv) > 3 else 0
STATUS = {
    "time_ns": 1,
    "live": 1,
    "cores": [
        {"core": core, "state": "up", "busy_ns": 5, "polling_ns": 0, "switches": 1, "sleeps": 1}
        | {"notes": 0, "hz": 0, "load_ppm": 0, "energy_uj": 0, "points": []}
        for core in range(2)
    ],
    "tasks": [],
    "channels": [],
    "policy": "",
    "coordinator": 0,
    "rate_millihz": 0,
    "energy_source": "",
    "machine_energy_uj": 0,
}


def flip(data: bytes, noise: random.Random) -> bytes:
    bits = int.from_bytes(data, "big")
    for bit in range(8 * len(data)):
        if noise.random() < FLIPS:
            bits ^= 1 << bit
    return bits.to_bytes(len(data), "big")


def noisy(fd: int) -> int:
    """The end of a line that flips bits on their way to `fd` and from there."""
    ours, theirs = (end.detach() for end in socket.socketpair())

    def carry(source: int, sink: int, seed: int) -> None:
        noise = random.Random(seed)
        while data := os.read(source, 4096):
            os.write(sink, flip(data, noise))
        os._exit(0)

    for source, sink in ((fd, ours), (ours, fd)):
        threading.Thread(target=carry, args=(source, sink, source), daemon=True).start()
    return theirs


def put(text: str) -> None:
    os.write(3, text.encode())


def tell(kind: str, /, **members: object) -> None:
    LINE.say(json.dumps({kind: members}).encode())


def leave(status: int) -> None:
    """Once all is told."""
    with contextlib.suppress(Closed):
        LINE.drain()
    os._exit(status)


def fail(kind: str, core: int | None, key: str, text: str) -> None:
    tell("error", kind=kind, task="", index=0, core=core, key=key, text=text)
    leave(2)


def start(asked: dict[str, object]) -> None:
    Path("start").write_text(json.dumps(asked))
    if MODE == "other":
        fail("image", None, "0123456789abcdef", "the image is of another plan")
    if MODE == "other stays":  # a device that waits for the next start
        tell("error", kind="image", task="", index=0, core=None, key="0123456789abcdef", text="")
        return
    if MODE == "core":
        fail("core", 1, "", "it has not booted")
    kernels = [{"core": core, "cpu": core, "pid": 0} for core in range(2)]
    tell("started", pid=0, kernels=kernels, gvm_bytes=1, start_ns=0, clock="counter")
    if MODE == "asserts":
        fail("kernel", 1, "", "configASSERT fails in line 7 of tasks.c")
    if MODE == "garbage":
        LINE.drain()
        put("\x00\xff~~ no line of ours\n")
        time.sleep(600)
    elif MODE == "leaves":
        leave(3)
    elif MODE == "silent":
        time.sleep(600)
    if asked["record"]:
        for part in (b"WBEV", b"ENTS"):
            tell("events", core=1, data=base64.b64encode(part).decode())
        if MODE == "events":
            tell("events", core=7, data="")
    if MODE == "short":
        end()


def end() -> None:
    tell("end", status=STATUS, dropped_events=0, dropped_migrations=0, ok=True)
    if MODE != "stays":
        leave(0)
    LINE.drain()
    begin()


def obey(verb: str, asked: dict[str, object]) -> None:
    if verb == "start":
        start(asked)
    elif verb == "status":
        tell("status", **STATUS)
    elif verb == "migrate":
        asked.pop("timeout_ms")
        tell("migrated", **asked, status="ok", why="")
    elif verb in ("policy", "rate"):
        tell("set", id=asked["id"], ok=True, why="")
    elif verb in ("stop", "kill"):
        end()


def begin() -> None:
    """As after a reset."""
    global LINE
    LINE = Line(FD)
    if MODE == "deaf":
        LINE.take = lambda _: setattr(LINE, "take", Line.take.__get__(LINE))  # misses one


FD = noisy(3) if FLIPS else 3
LINE: Line
Path("booted").touch()
if MODE == "mute":
    time.sleep(600)
if MODE == "complains":
    print("fake_board: no such machine", file=sys.stderr)
    print("printed by a task", file=sys.stderr, flush=True)
    sys.exit(1)
put("U-Boot 2023.01\r\n{ not ours\n")
begin()
try:
    while True:
        ((verb, asked),) = json.loads(LINE.hear()).items()
        obey(verb, asked)
except Closed:
    sys.exit(0)
