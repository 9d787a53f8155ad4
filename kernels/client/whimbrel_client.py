# SPDX-License-Identifier: Apache-2.0
"""A process that is no kernel sends to and receives from channels of a run.

    with Client("fm_radio", "scope", "in") as scope:
        for frame in scope:
            draw(frame)

See docs/clients.md, and whimbrel_client.h for what is promised. Needs Python's standard library
alone.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

VERSION = 1
NAME_BYTES = 32
MESSAGE, END, REFUSED = range(3)
KIND = struct.Struct("=I")
WELCOME = struct.Struct("=iII")
HELLO = struct.Struct(f"=II{NAME_BYTES}s")
AGAIN_S = 0.01
OK, GONE, BUSY = 0, -5, -6
REASONS = {
    -4: "the task has no such port",
    GONE: "the port is closed",
    BUSY: "another client has the port",
    -9: "a message is larger than a socket of this machine takes",
}


class Over(EOFError):
    """The port is closed, or the run is over: nothing more comes."""


class Refused(ConnectionError):
    """The run does not let the client attach, or what it sent made no sense."""


def folder(run: str) -> Path:
    """Of a run, by its name or its path."""
    if "/" in run:
        return Path(run)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime) / "whimbrel" if runtime.startswith("/") else None
    return (base or Path(f"/tmp/whimbrel-{os.geteuid()}")) / run


class Client:
    """One port of a task that app.toml declares with `client = true`.

    `timeout` is in seconds: for how long to wait for the run, and for the port to be free; None:
    for ever.
    """

    def __init__(
        self, run: str, task: str, port: str, index: int = 0, timeout: float | None = 1.0
    ) -> None:
        if len(port.encode()) >= NAME_BYTES:
            raise Refused(f"the name of a port has fewer than {NAME_BYTES} bytes: {port}")
        self.path = folder(run) / f"{task}.client"
        self.hello = HELLO.pack(VERSION, index, port.encode())
        self.bytes = 0
        self.receives = False
        self.socket: socket.socket | None = None
        self.over = False
        self._attach(_until(timeout))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        while True:
            try:
                message = self.receive()
            except Over:
                return
            yield message

    def fileno(self) -> int:
        """For select, poll and selectors: readable or writable when it is worth a try."""
        return self.socket.fileno() if self.socket else -1

    def close(self) -> None:
        """Detaches; the port stays open for the next client."""
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def send(self, message: bytes, timeout: float | None = None) -> None:
        """Sends one message of `self.bytes`; TimeoutError when there is no room by then."""
        if len(message) != self.bytes or self.receives:
            raise ValueError(
                f"a message to send here has {0 if self.receives else self.bytes} bytes"
            )
        self._send(KIND.pack(MESSAGE) + message, _until(timeout))

    def end(self, timeout: float | None = None) -> None:
        """Closes the port for good: its receiver sees the end of the stream."""
        self._send(KIND.pack(END), _until(timeout))
        self.over = True

    def receive(self, timeout: float | None = None) -> bytes:
        """The next message; TimeoutError when none is there by then, Over at the end."""
        if not self.receives:
            raise ValueError("this port is sent to")
        until = _until(timeout)
        while not self.over:
            packet = self._now(lambda to: to.recv(KIND.size + self.bytes))
            if packet is None:
                self._await(select.POLLIN, until)
            elif len(packet) < KIND.size:
                self._attach_again(until)
            elif KIND.unpack_from(packet)[0] == MESSAGE:
                return packet[KIND.size :]
            else:
                self.over = True
        raise Over("nothing more comes")

    # ---- Inside ----------------------------------------------------------------------------------

    def _send(self, packet: bytes, until: float | None) -> None:
        while not self.over:
            sent = self._now(lambda to: to.send(packet))
            if sent is None:
                self._await(select.POLLOUT, until)
            elif sent:
                return
            elif self._has_closed():
                self.over = True
            else:
                self._attach_again(until)
        raise Over("the receiver is over")

    def _now(self, what):  # noqa: ANN001, ANN202
        """The result of an operation; None: not now; nothing: the connection is over."""
        try:
            return what(self.socket) if self.socket else b""
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _has_closed(self) -> bool:
        packet = self._now(lambda to: to.recv(KIND.size))
        return bool(packet) and KIND.unpack(packet)[0] != MESSAGE

    def _await(self, event: int, until: float | None) -> None:
        poll = select.poll()
        poll.register(self, event)
        left = None if until is None else max(until - time.monotonic(), 0)
        if not poll.poll(None if left is None else left * 1000) and left is not None:
            raise TimeoutError("the run is not ready by then")

    def _attach_once(self) -> int:
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            one.settimeout(1.0)
            one.connect(str(self.path))
            one.send(self.hello)
            answer = one.recv(WELCOME.size)
        except OSError as error:
            one.close()
            if error.errno == errno.ENAMETOOLONG or "too long" in str(error):
                raise
            return GONE
        status, slot_bytes, receives = (
            WELCOME.unpack(answer) if len(answer) == WELCOME.size else (GONE, 0, 0)
        )
        if status != OK:
            one.close()
            return status
        one.setblocking(False)
        self.socket, self.bytes, self.receives = one, slot_bytes, bool(receives)
        return OK

    def _attach(self, until: float | None) -> None:
        while (status := self._attach_once()) != OK:
            again = status in (GONE, BUSY)
            if not again or (until is not None and time.monotonic() >= until):
                there = self.path.exists()
                raise Refused(REASONS[status] if there else f"there is no {self.path}")
            time.sleep(AGAIN_S)

    def _attach_again(self, until: float | None) -> None:
        """The task's kernel has died, and another has the task by now; or the run is over."""
        self.close()
        while (status := self._attach_once()) != OK:
            late = until is not None and time.monotonic() >= until
            if late or (status != BUSY and not self.path.exists()):
                self.over = True
                return
            time.sleep(AGAIN_S)


def _until(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout
