# SPDX-License-Identifier: Apache-2.0
"""The launcher of a board: its protocol, and what it says when something goes wrong."""

from __future__ import annotations

import base64
import json
import socket
import struct
import time
from pathlib import Path

import emulated
import pytest
from emulated import COUNTED, THREADS, Launched
from line import Line

MODES = pytest.mark.parametrize("mode", [THREADS, COUNTED], ids=["threads", "counted"])
NUMBERS = 100
CORES = 4
LIMIT_MS = emulated.LIMIT_S * 1000


@pytest.fixture(scope="module", autouse=True)
def _board() -> None:
    if missing := emulated.missing(emulated.VEXPRESS):
        pytest.fail(f"the board cannot be emulated: {missing} is missing")


def channel(end: dict, name: str = "source_sink") -> dict:
    return next(c for c in end["status"]["channels"] if c["channel"] == name)


@MODES
def test_a_run_with_moves_is_told_as_on_linux(mode: tuple[str, ...]) -> None:
    with Launched("fault_injection", mode=mode) as board:
        board.inject("endless")
        started = board.hear("started")
        assert [k["core"] for k in started["kernels"]] == list(range(CORES))
        assert {k["pid"] for k in started["kernels"]} | {started["pid"]} == {0}
        for move in range(12):
            task = ("source", "sink")[move % 2]
            to = (move + 1) % CORES
            move_it = {"id": str(move), "task": task, "index": 0, "core": to}
            board.say(migrate={**move_it, "timeout_ms": LIMIT_MS})
            moved = board.hear("migrated")
            assert (moved["id"], moved["status"]) == (str(move), "ok")
        board.say(status={})
        assert {c["state"] for c in board.hear("status")["cores"]} == {"up"}
        board.say(policy={"id": "p", "policy": {"name": "balance", "params": []}})
        assert board.hear("set")["ok"]
        board.say(policy={"id": "s", "policy": {"name": "still", "params": []}})
        assert board.hear("set")["ok"]
        board.say(policy={"id": "q", "policy": {"name": "nobody", "params": []}})
        assert "no policy of this name" in board.hear("set")["why"]
        board.say(rate={"id": "r", "millihz": 25000})
        assert board.hear("set")["ok"]
        board.say(stop={})
        end = board.hear("end")
        assert end["ok"]
        assert channel(end)["received"] == channel(end)["sent"] > 0
        assert end["status"]["rate_millihz"] == 25000
        source = end["status"]["tasks"][0]
        assert source["heap_peak_bytes"] > source["heap_bytes"] == 0
        assert board.status() == 0


def test_a_stop_lets_the_stream_drain() -> None:
    with Launched("fault_injection") as board:
        board.inject("endless")
        board.hear("started")
        board.say(stop={})
        end = board.hear("end")
        assert end["ok"]
        assert channel(end)["depth"] == 0
        assert channel(end)["received"] == channel(end)["sent"]
        assert board.status() == 0


def test_a_kill_ends_it_at_once() -> None:
    with Launched("fault_injection") as board:
        board.inject("endless")
        board.hear("started")
        board.say(kill={})
        board.hear("end")
        board.status()


def test_event_streams_come_over_the_line() -> None:
    streams = [b""] * CORES
    with Launched("fault_injection") as board:
        board.start(record=True)
        board.hear("started")
        while "end" not in (message := board.next()):
            for piece in filter(None, [message.get("events")]):
                streams[piece["core"]] += base64.b64decode(piece["data"], validate=True)
        assert message["end"]["dropped_events"] == 0
    for core, stream in enumerate(streams):
        magic, version, record_bytes, of_core = struct.unpack_from("<8sIII", stream)
        assert (magic, version, record_bytes, of_core) == (b"WBEVENTS", 1, 24, core)
        assert (len(stream) - 32) % 24 == 0
    assert sum(map(len, streams)) > NUMBERS * 24


def test_events_that_the_line_cannot_take_are_dropped_and_counted() -> None:
    with Launched("fault_injection") as board:
        board.inject("flood", record=True)
        end = board.hear("end")
        assert end["ok"]
        assert end["dropped_events"] > 0
        assert channel(end)["received"] == NUMBERS


def test_a_task_that_computes_for_long_is_alive() -> None:
    # In turns: as threads, its core may wait for a processor of the host.
    with Launched("fault_injection", mode=COUNTED) as board:
        board.inject("compute", watchdog_ms=300)
        end = board.hear("end")
        assert end["ok"], end


# In turns a core that spins takes most of the emulator's time: its death comes soon. As threads, in
# `make soak`, the others may wait for a processor of the host.
SPINS = [(COUNTED, 50), *([(THREADS, 20_000)] if emulated.LONGER != 1 else [])]


@pytest.mark.parametrize(("mode", "watchdog_ms"), SPINS)
def test_a_core_that_takes_no_interrupts_is_dead(mode: tuple[str, ...], watchdog_ms: int) -> None:
    with Launched("fault_injection", mode=mode) as board:
        board.inject("spin", watchdog_ms=watchdog_ms)
        board.hear("started")
        died = board.hear("core_died")
        assert (died["core"], died["by"], died["running"]) == (2, "watchdog", "faulty")
        assert (died["lost"], died["pid"], died["signal"]) == (1, 0, 0)
        end = board.hear("end")
        assert not end["ok"]
        assert channel(end)["received"] == NUMBERS
        assert [c["state"] for c in end["status"]["cores"]][2] == "dead"
        assert board.status() == 2


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        ("crash", "fault", "it touched memory that is not its at address 0x10"),
        ("open", "fault", "it touched memory that is not its at address 0x10"),
        ("assert", "kernel", "configASSERT fails in line "),
        ("overflow", "stack", "it overflowed its stack of 8192 bytes"),
        ("heap", "heap", "bytes had no room for 1048576 more"),
        ("port", "port", "it has no port `outt`; its ports are `out`, `in`"),
        ("slot", "port", "it sends messages of 8 bytes by its port `out`, and the slots of"),
        ("wait", "deadlock", "faulty waits for a message in faulty_faulty (empty)"),
    ],
)
def test_what_a_task_does_ends_the_run(fault: str, kind: str, text: str) -> None:
    with Launched("fault_injection") as board:
        board.inject(fault)
        error = board.hear("error")
        assert error["kind"] == kind
        assert text in error["text"]
        assert not board.hear("end")["ok"]
        assert board.status() == 2


def test_a_core_that_never_booted_is_named() -> None:
    with Launched("fault_injection", cores=3) as board:
        board.start()
        error = board.hear("error")
        assert (error["kind"], error["core"]) == ("core", 3)
        assert "has not booted" in error["text"]
        assert board.status() == 2


class Debugger:
    """QEMU's own, by which single cores go on."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + emulated.LIMIT_S
        while self.socket.connect_ex(str(path)) != 0:
            assert time.monotonic() < end, f"nobody listens at {path}"
            time.sleep(0.05)
        self.file = self.socket.makefile("rb", buffering=0)

    def go_on(self, words: str) -> None:
        """`c` is all cores, `c:1` the first."""
        packet = f"vCont;{words}"
        self.socket.sendall(f"+${packet}#{sum(packet.encode()) % 256:02x}".encode())

    def stop(self) -> None:
        """All cores have stopped when it returns."""
        self.socket.sendall(b"\x03")
        while self.file.read(1) != b"T":
            pass


def test_a_core_that_its_host_holds_up_is_waited_for(tmp_path: Path) -> None:
    listen = f"unix:{tmp_path / 'gdb'},server=on,wait=off"
    with Launched("fault_injection", mode=("-S", "-gdb", listen)) as board:
        debugger = Debugger(tmp_path / "gdb")
        debugger.go_on("c:1;c:2;c:3")
        board.start()
        board.line.drain(emulated.LIMIT_S)
        time.sleep(2)  # the board's clock goes on as well
        debugger.stop()
        debugger.go_on("c")
        assert len(board.hear("started")["kernels"]) == CORES


@pytest.mark.parametrize(
    ("image", "task", "text"),
    [
        ("fault_injection_heap", "sink", "there is no room for its heap"),
        ("fault_injection_stack", "sink", "there is no room for its stack"),
    ],
)
def test_memory_that_does_not_suffice(image: str, task: str, text: str) -> None:
    with Launched(image) as board:
        board.start()
        error = board.hear("error")
        assert (error["kind"], error["task"]) == ("memory", task)
        assert text in error["text"]
        assert board.status() == 2


def test_a_start_of_another_image_is_refused() -> None:
    with Launched("fault_injection") as board:
        board.say(start={"plan": "0123"})
        error = board.hear("error")
        assert (error["kind"], error["key"]) == ("image", "fault_injection")
        assert board.status() == 2


@pytest.mark.parametrize(
    ("members", "key", "text"),
    [
        ({"record": 7}, "start.record", "is neither true nor false"),
        ({"params": [{"key": "nobody", "text": ""}]}, "nobody", "no parameter of this name"),
        ({"policy": {"name": "nobody", "params": []}}, "nobody", "no policy of this name"),
    ],
)
def test_a_start_that_is_wrong_is_refused(members: dict, key: str, text: str) -> None:
    with Launched("fault_injection") as board:
        board.start(**members)
        error = board.hear("error")
        assert error["key"] == key
        assert text in error["text"]
        assert board.status() == 2


def test_an_application_may_refuse() -> None:
    with Launched("fault_injection") as board:
        board.inject("refuse")
        error = board.hear("error")
        assert (error["kind"], error["text"]) == ("setup", "the injected fault is that it refuses")
        assert board.status() == 2


def test_garbage_on_the_line_is_passed_over() -> None:
    with Launched("fault_injection") as board:
        board.send(bytes(range(1, 256)) * 80)
        board.inject("endless")
        board.hear("started")
        board.send(b'\xff\x00\n{}\n[]\n{"kill":{}}\n')
        for line in (b"\xff\x00", b"{}", b"[]", b'{"status":7}', b'{"nothing":{}}'):
            board.line.say(line)
        board.say(migrate={"id": "m", "task": "nobody", "index": 0, "core": 1, "timeout_ms": 1})
        assert board.hear("migrated")["why"] == "there is no such task"
        board.say(rate={"id": "r"})
        assert not board.hear("set")["ok"]
        board.say(status={})
        board.hear("status")
        board.say(stop={})
        assert board.hear("end")["ok"]


def test_bytes_that_come_too_fast_are_sent_again() -> None:
    with Launched("fault_injection_overrun") as board:
        board.inject("endless")
        board.hear("started")
        for number in range(20):
            board.say(rate={"id": f"{number}", "millihz": number})
        assert [board.hear("set")["id"] for _ in range(20)] == [f"{n}" for n in range(20)]
        board.say(stop={})
        assert board.hear("end")["ok"]
        assert board.status() == 0


def test_a_command_that_knows_no_checksums_is_told_so() -> None:
    with Launched("fault_injection", session=0) as board:
        board.send(b'{"start":{"plan":"fault_injection"}}\n')
        while not board.line.noise:
            board.line.pump(0.1)
        error = json.loads(board.line.noise[0])["error"]
        assert (error["kind"], error["text"]) == (
            "line",
            "this image sends checksums: take the whimbrel that built it",
        )


def test_a_run_ends_whose_line_another_command_opens() -> None:
    with Launched("fault_injection") as board:
        board.inject("endless")
        board.hear("started")
        other = Line(board.socket.fileno(), session=0xBEE)
        other.open()
        end = board.hear("end")
        assert board.status() in (0, 2)
        assert end["status"]["live"] > 0


def test_a_line_without_an_end_is_an_error() -> None:
    with Launched("fault_injection") as board:
        board.inject("endless")
        board.hear("started")
        board.line.say(b"x" * (16 << 10))
        error = board.hear("error")
        assert (error["kind"], error["text"]) == ("line", "a line of the command is too long")
        assert not board.hear("end")["ok"]
        assert board.status() == 2
