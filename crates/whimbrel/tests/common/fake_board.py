# SPDX-License-Identifier: Apache-2.0
"""A board with two cores and no kernels: descriptor 3 is its line.

It speaks the protocol, and its second argument says what it does instead; the first is an image.
That it has booted is a file in its folder.
"""

import base64
import json
import os
import sys
import time
from pathlib import Path

MODE = sys.argv[2]
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


def put(text: str) -> None:
    os.write(3, text.encode())


def tell(kind: str, /, **members: object) -> None:
    put(json.dumps({kind: members}) + "\n")


def fail(kind: str, core: int | None, key: str, text: str) -> None:
    tell("error", kind=kind, task="", index=0, core=core, key=key, text=text)
    sys.exit(2)


def start(asked: dict[str, object]) -> None:
    Path("start").write_text(json.dumps(asked))
    if MODE == "other":
        fail("plan", None, "0123456789abcdef", "the command wants another one")
    if MODE == "core":
        fail("core", 1, "", "it has not booted")
    kernels = [{"core": core, "cpu": core, "pid": 0} for core in range(2)]
    tell("started", pid=0, kernels=kernels, gvm_bytes=1, start_ns=0, clock="counter")
    if MODE == "asserts":
        fail("kernel", 1, "", "configASSERT fails in line 7 of tasks.c")
    if MODE == "garbage":
        put("\x00\xff~~ no line of ours\n")
    elif MODE == "leaves":
        sys.exit(3)
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
        sys.exit(0)


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


def lines():  # noqa: ANN201
    """The lines that come."""
    left = b""
    while part := os.read(3, 4096):
        *whole, left = (left + part).split(b"\n")
        yield from whole


Path("booted").touch()
if MODE == "mute":
    time.sleep(600)
if MODE == "complains":
    print("fake_board: no such machine", file=sys.stderr)
    print("printed by a task", file=sys.stderr, flush=True)
    sys.exit(1)
put("U-Boot 2023.01\r\n{ not ours\n")
started = False
for line in lines():
    if line.strip():
        ((verb, asked),) = json.loads(line).items()
        if MODE == "deaf" and verb == "start" and not started:
            started = True  # it was reset when its line was opened, and has missed this one
        elif verb != "kill" or started:
            started = started or verb == "start"
            obey(verb, asked)
