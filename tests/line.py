# SPDX-License-Identifier: Apache-2.0
"""Either end of a board's line, as docs/kernels-linux-protocol.md has it: numbered pieces with a
checksum, which are sent again until they came. Not the command's code nor the board's."""

from __future__ import annotations

import os
import select
import time
import zlib
from collections import deque

PIECE = 192
FLIGHT = 8
PATIENCE_S = 1.0


class Closed(Exception):
    """The other end has gone."""


class Line:
    """`session`: 0 for a board, until a command opens it."""

    def __init__(self, fd: int, session: int = 0) -> None:
        self.fd, self.session = fd, session
        self.is_open = False  # the other end has answered
        self.first, self.expected, self.seen, self.asked = 0, 0, 0, False
        self.pieces: deque[tuple[bytes, str]] = deque()  # from number `first` on
        self.sent = 0  # of them
        self.left, self.part = b"", b""
        self.lines: deque[bytes] = deque()
        self.noise: list[bytes] = []  # what was none of ours
        self.resend_s = 0.0

    # ---- Sending --------------------------------------------------------------------------------

    def frame(self, kind: str, number: int, text: bytes = b"") -> None:
        head = text + f"\t{kind}{number & 0xFFFF:04x}{self.expected & 0xFFFF:04x}".encode()
        os.write(self.fd, head + b"%08x\n" % zlib.crc32(head, self.session))

    def open(self) -> None:
        head = f"\t!{self.session:08x}".encode()
        os.write(self.fd, b"\n" + head + b"%08x\n" % zlib.crc32(head))

    def say(self, line: bytes) -> None:
        """One line, without its end."""
        parts = [line[at : at + PIECE] for at in range(0, len(line), PIECE)] or [b""]
        self.pieces.extend((part, "+") for part in parts[:-1])
        self.pieces.append((parts[-1], "."))
        self.fly()

    def fly(self) -> None:
        if not self.is_open:
            return
        while self.sent < min(FLIGHT, len(self.pieces)):
            text, kind = self.pieces[self.sent]
            self.frame(kind, self.first + self.sent, text)
            self.sent += 1
            self.resend_s = time.monotonic() + PATIENCE_S

    def again(self) -> None:
        self.sent = 0
        self.fly()

    def ask(self) -> None:
        self.asked = True
        self.frame("?", self.first + len(self.pieces))

    # ---- Receiving ------------------------------------------------------------------------------

    def pump(self, wait_s: float) -> None:
        """Takes what comes within this time. Raises `Closed`."""
        if select.select([self.fd], [], [], wait_s)[0]:
            came = os.read(self.fd, 4096)
            if not came:
                raise Closed
            *frames, self.left = (self.left + came).split(b"\n")
            for frame in filter(None, frames):
                self.take(frame)
        if time.monotonic() < self.resend_s:
            return
        self.resend_s = time.monotonic() + PATIENCE_S
        if self.session and not self.is_open:
            self.open()
        elif self.pieces:
            self.again()

    def take(self, frame: bytes) -> None:
        tail = frame[-18:]
        kind, is_opening = tail[1:2], tail[1:2] == b"!"
        whole = len(tail) == 18 and tail[:1] == b"\t"
        crc = b"%08x" % zlib.crc32(frame[:-8], 0 if is_opening else self.session)
        if not whole or tail[10:] != crc or (not self.session and not is_opening):
            self.noise.append(frame)
            if self.is_open and not self.asked:
                self.ask()
            return
        number, ack = int(tail[2:6], 16), int(tail[6:10], 16)
        if is_opening:
            self.session = self.session or number << 16 | ack
            self.is_open = True
            self.frame("=", self.first + len(self.pieces))
            self.fly()
            return
        self.is_open = True
        done = (ack - self.first) & 0xFFFF
        if 0 < done <= len(self.pieces):
            for _ in range(done):
                self.pieces.popleft()
            self.first, self.sent = ack, max(0, self.sent - done)
            self.resend_s = time.monotonic() + PATIENCE_S
        if kind == b"?":
            self.sent = 0
        self.fly()
        if kind in b".+":
            self.take_piece(kind, number, frame[:-18])

    def take_piece(self, kind: bytes, number: int, text: bytes) -> None:
        ahead = (number - self.expected) & 0xFFFF
        if ahead == 0:
            self.expected, self.asked = (self.expected + 1) & 0xFFFF, False
            self.part += text
            if kind == b".":
                self.lines.append(self.part)
                self.part = b""
        elif ahead < 0x8000:
            if not self.asked or ((number - self.seen) & 0xFFFF) in (0, *range(0x8000, 0x10000)):
                self.ask()
            self.seen = number
            return
        self.frame("=", self.first + len(self.pieces))

    # ---- What tests do --------------------------------------------------------------------------

    def hear(self, limit_s: float = 600) -> bytes:
        """The next line. Raises `Closed`, or `TimeoutError`."""
        end = time.monotonic() + limit_s
        while not self.lines:
            self.pump(0.05)
            if time.monotonic() > end:
                raise TimeoutError(f"nothing came for {limit_s} s; noise: {self.noise[-3:]}")
        return self.lines.popleft()

    def drain(self, limit_s: float = 5) -> None:
        """Waits until the other end has all that was said."""
        end = time.monotonic() + limit_s
        while self.pieces and time.monotonic() < end:
            self.pump(0.05)
