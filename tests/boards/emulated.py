# SPDX-License-Identifier: Apache-2.0
"""Runs a program on an emulated board."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from line import Closed, Line  # noqa: E402


@dataclass(frozen=True)
class Board:
    """A board that QEMU has."""

    name: str
    qemu: str
    machine: tuple[str, ...]

    @property
    def build(self) -> Path:
        """The folder of its programs."""
        return ROOT / "build" / "boards" / self.name


HEADLESS = ("-display", "none", "-monitor", "none")
VEXPRESS = Board(
    "vexpress_a9",
    "qemu-system-arm",
    ("-M", "vexpress-a9", "-m", "128M", *HEADLESS, "-audiodev", "none,id=a0"),
)
REALVIEW = Board(
    "realview_pbx_a9",
    "qemu-system-arm",
    ("-M", "realview-pbx-a9", "-m", "128M", *HEADLESS, "-audiodev", "none,id=a0"),
)
SABRELITE = Board(
    "sabrelite",
    "qemu-system-arm",
    ("-M", "sabrelite", "-m", "128M", *HEADLESS),
)
# QEMU 7.2 has one of its two cores.
ZYNQ = Board(
    "zynq_7000",
    "qemu-system-arm",
    ("-M", "xilinx-zynq-a9", "-m", "128M", *HEADLESS, "-nic", "none"),
)
VIRT = Board(
    "virt_a64",
    "qemu-system-aarch64",
    ("-M", "virt,gic-version=2", "-cpu", "cortex-a53", "-m", "256M", *HEADLESS, "-nic", "none"),
)
BUILD = VEXPRESS.build
# Each core a thread of the host: real races. And all in turns, by counting instructions: the same
# each time. QEMU takes 2^shift nanoseconds for an instruction.
THREADS = ()
COUNTED = ("-icount", "shift=5,sleep=off")
INSTRUCTIONS = ("-icount", "shift=0,sleep=off")

USUAL_SCALE = 0.2  # of boards.mk
# How many times as long as usual, in `make soak`.
LONGER = float(os.environ.get("BOARD_SCALE", USUAL_SCALE)) / USUAL_SCALE
LIMIT_S = int(os.environ.get("BOARD_LIMIT_S", "600"))


@dataclass
class Run:
    """How a program on the board ended."""

    status: int  # of the program; 124: it was not over in time
    text: str  # all that it printed


def run(
    *words: str,
    mode: tuple[str, ...] = THREADS,
    cores: int = 4,
    limit_s: int = LIMIT_S,
    board: Board = VEXPRESS,
    program: str | Path = "conform",
) -> Run:
    """Runs a program, the conformance suite by default, with these arguments, until it ends."""
    words = (Path(program).name, *words)
    arguments = ",".join(["enable=on,target=native", *(f"arg={word}" for word in words)])
    command = [
        board.qemu,
        *board.machine,
        "-serial",
        "null",
        "-smp",
        str(cores),
        *mode,
        "-semihosting-config",
        arguments,
    ]
    command += ["-kernel", str(board.build / program)]
    try:
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s
        )
    except subprocess.TimeoutExpired as late:
        return Run(124, (late.stdout or b"").decode())
    lines = ended.stdout.splitlines(keepends=True)
    return Run(ended.returncode, "".join(line for line in lines if not line.startswith("audio:")))


def patient(board: str) -> Path:
    """The file of a board that may be silent for a minute: a busy host lets its emulator wait."""
    folder = ROOT / "boards" / board
    text = (folder / "board.toml").read_text()
    minute = "[start]\nsilence_s = 60"
    for old, new in (('cmake = "."', f'cmake = "{folder}"'), ("[start]", minute)):
        assert old in text
        text = text.replace(old, new)
    path = ROOT / "build/boards/patient" / board / "board.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


MOVES = 10


def move_enough(run_for: Callable[[int], int], moves: int = MOVES) -> None:
    """Runs for 1, 4 and 16 times the usual, until `run_for` returns at least so many moves.

    A machine that has other things to do leaves less time for moves.
    """
    assert any(run_for(times) >= moves for times in (1, 4, 16)), f"fewer than {moves} moves"


def missing(board: Board) -> str | None:
    """What is not there that a run needs."""
    if shutil.which(board.qemu) is None:
        return f"{board.qemu} (make setup)"
    conform = board.build / "conform"
    return None if conform.exists() else f"{conform} (make test-freertos)"


def run_each(
    cases: list[str], mode: tuple[str, ...], slow: dict[str, float], board: Board = VEXPRESS
) -> dict[str, Run]:
    """Runs each case by itself, as many at once as there are processors.

    What the counts of slow cases are multiplied by grows as that of all others does.
    """

    def run_one(case: str) -> Run:
        words = [f"scale={slow[case] * LONGER}"] if case in slow else []
        return run("=" + case, *words, mode=mode, board=board)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(cases, pool.map(run_one, cases), strict=True))


class Watched:
    """A program without a debugger: what memory and registers hold, by physical addresses."""

    def __init__(self, board: Board, program: str, *options: str) -> None:
        command = [board.qemu, *board.machine, *options, "-serial", "null", "-qmp", "stdio"]
        command += ["-kernel", str(board.build / program)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ask("qmp_capabilities")

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, command: str, **arguments: str) -> str:
        """What QEMU's monitor returns."""
        self.process.stdin.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        while "return" not in (answer := json.loads(self.process.stdout.readline())):
            assert "error" not in answer, answer
        return answer["return"]

    def word(self, address: int) -> int:
        read = self.ask("human-monitor-command", **{"command-line": f"xp /1wx {address:#x}"})
        return int(read.split(": ")[1], 16)

    def wait_for(self, address: int, value: int) -> None:
        """Waits until the program has written it."""
        end = time.monotonic() + LIMIT_S
        while (found := self.word(address)) != value:
            assert time.monotonic() < end, f"{address:#x} is {found:#x}, not {value:#x}"
            time.sleep(0.05)


class Launched:
    """An image with a launcher, and its line; `session` 0: nobody opens that."""

    def __init__(
        self,
        image: str,
        *,
        mode: tuple[str, ...] = THREADS,
        cores: int = 4,
        session: int = 0x5EED,
        semihosting: bool = True,
    ) -> None:
        ours, its = socket.socketpair()
        command = [VEXPRESS.qemu, *VEXPRESS.machine, "-smp", str(cores), *mode]
        if semihosting:
            command += ["-semihosting-config", "enable=on,target=native"]
        command += ["-chardev", f"socket,id=line,fd={its.fileno()}", "-serial", "chardev:line"]
        command += ["-kernel", str(BUILD / image)]
        self.process = subprocess.Popen(
            command, pass_fds=[its.fileno()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        its.close()
        self.socket = ours
        self.line = Line(ours.fileno(), session)
        if session:
            self.line.open()

    def __enter__(self) -> Launched:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self.socket.close()

    def say(self, **message: object) -> None:
        self.line.say(json.dumps(message).encode())

    def send(self, raw: bytes) -> None:
        """Bytes that are none of a line's."""
        self.socket.sendall(raw)

    def start(self, **members: object) -> None:
        self.say(start={"plan": "fault_injection", **members})

    def inject(self, name: str, **members: object) -> None:
        """Starts with a value of the parameter that says what goes wrong."""
        self.start(params=[{"key": "fault", "text": name, "numbers": []}], **members)

    def next(self) -> dict[str, dict[str, Any]]:
        """The next message; empty at the end."""
        try:
            return json.loads(self.line.hear(LIMIT_S))
        except Closed:
            return {}

    def hear(self, kind: str) -> dict[str, Any]:
        """The next message of this kind; others are passed over."""
        heard = []
        while message := self.next():
            heard.append(message)
            if kind in message:
                return message[kind]
            assert "end" not in message or kind == "end", f"it ended: {heard[-3:]}"
        raise AssertionError(f"the line was closed after {heard[-3:]}")

    def status(self) -> int:
        """How the program has ended. The line is served until then: what was lost comes again."""
        end = time.monotonic() + LIMIT_S
        try:
            while time.monotonic() < end:
                self.line.pump(0.05)
        except (Closed, OSError):
            pass
        return self.process.wait(max(1.0, end - time.monotonic()))
