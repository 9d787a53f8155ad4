# SPDX-License-Identifier: Apache-2.0
"""A process outside a run sends to and receives from its channels.

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
from contextlib import suppress
from pathlib import Path

VERSION = 2
NAME_BYTES = 32
MESSAGE, END, REFUSED = range(3)
HEAD = struct.Struct("=II")  # the kind; the number of a message of the run's
WELCOME = struct.Struct("=iIII")
CREDENTIALS = struct.Struct("=iII")
HELLO = struct.Struct(f"=II{NAME_BYTES}s")
AGAIN_S = 0.01
ANSWER_S = 1.0  # for which an attempt to attach waits for its answer
OK, INVALID, GONE, BUSY, DENIED = 0, -4, -5, -6, -12
SILENT = 1  # no status: an answer did not come in time
REASONS = {
    INVALID: "the task has no such port",
    GONE: "the port is closed",
    BUSY: "another client has the port",
    SILENT: "the run does not answer",
    -9: "a message is larger than a socket of this machine takes",
}


class Over(EOFError):
    """The port is closed, or the run has ended: no more messages come."""


class Refused(ConnectionError):
    """The run does not let the client attach, or is another one than it was."""


def folder(run: str) -> Path:
    """Of a run, by its name or its path."""
    if "/" in run:
        return Path(run)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime) / "whimbrel" if runtime.startswith("/") else None
    return (base or Path(f"/tmp/whimbrel-{os.geteuid()}")) / run


class Client:
    """One port of a task that app.toml declares with `client = true`.

    `timeout` is the longest wait for the run and for a free port, in seconds; None: forever.
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
        # The run that it is attached to; the number of the last message of that run's.
        self._run: int | None = None
        self._number: int | None = None
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
        self._send(HEAD.pack(MESSAGE, 0) + message, _until(timeout))

    def end(self, timeout: float | None = None) -> None:
        """Closes the port for good: its receiver sees the end of the stream."""
        self._send(HEAD.pack(END, 0), _until(timeout))
        self.over = True

    def receive(self, timeout: float | None = None) -> bytes:
        """The next message; TimeoutError when none is there by then, Over at the end."""
        if not self.receives:
            raise ValueError("this port is sent to")
        until = _until(timeout)
        while not self.over:
            # One byte more, to see that a packet is too long.
            packet = self._now(lambda to: to.recv(HEAD.size + self.bytes + 1))
            if packet is None:
                self._await(select.POLLIN, until)
            elif not packet:
                self._attach_again(until)
            elif len(packet) == HEAD.size + self.bytes and HEAD.unpack_from(packet)[0] == MESSAGE:
                # One that comes again, from another kernel, has the number that it had.
                number, self._number = self._number, HEAD.unpack_from(packet)[1]
                if number != self._number:
                    return packet[HEAD.size :]
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
        raise Over("the receiver has ended")

    def _now(self, what):  # noqa: ANN001, ANN202
        """The result of an operation; None: not now; empty: the connection has ended."""
        try:
            return what(self.socket) if self.socket else b""
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _has_closed(self) -> bool:
        packet = self._now(lambda to: to.recv(HEAD.size)) or b""
        return len(packet) == HEAD.size and HEAD.unpack(packet)[0] != MESSAGE

    def _await(self, event: int, until: float | None) -> None:
        poll = select.poll()
        poll.register(self, event)
        left = None if until is None else max(until - time.monotonic(), 0)
        if not poll.poll(None if left is None else left * 1000) and left is not None:
            raise TimeoutError("the run is not ready by then")

    def _attach_once(self) -> int:
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        status = GONE
        try:
            # Anybody can make a folder in /tmp that is called like this user's; and it may change
            # hands before the connection is there.
            if self.path.parent.stat().st_uid != os.geteuid():
                return DENIED
            one.settimeout(ANSWER_S)
            one.connect(str(self.path))
            if _user(one) != os.geteuid():
                return DENIED
            one.send(self.hello)
            status = self._take_welcome(one, one.recv(WELCOME.size))
        except Refused:
            raise
        except TimeoutError:
            return SILENT
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG or "too long" in str(error):
                raise
        finally:
            if status != OK:
                one.close()
        return status

    def _take_welcome(self, one: socket.socket, answer: bytes) -> int:
        if len(answer) != WELCOME.size:
            return GONE
        status, slot_bytes, receives, run = WELCOME.unpack(answer)
        known = self._run is not None
        # A port that had a client is closed: the end of the stream did not arrive, for want of room
        # in the socket or because a kernel died.
        self.over = self.over or (known and status == GONE)
        if status != OK:
            return status
        if known and (slot_bytes, bool(receives)) != (self.bytes, self.receives):
            was, now = _words(self.bytes, self.receives), _words(slot_bytes, bool(receives))
            raise Refused(f"{self.path} is of another run now: its client {now}, and {was} before")
        self._number = self._number if run == self._run else None
        self.bytes, self.receives, self._run = slot_bytes, bool(receives), run
        if not receives:
            # Few messages: those in a socket are lost if the kernel of the client's task is killed.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * (HEAD.size + slot_bytes))
        one.setblocking(False)
        self.close()
        self.socket = one
        return OK

    def _attach(self, until: float | None) -> None:
        while (status := self._attach_once()) != OK:
            again = status in (GONE, BUSY, SILENT)
            if not again or (until is not None and time.monotonic() >= until):
                raise self._refusal(status)
            time.sleep(AGAIN_S)

    def _attach_again(self, until: float | None) -> None:
        """The task's kernel has died, and another has the task by now; or the port or the run is
        over. The old socket stays until there is a new one: it is ready for whoever polls it.
        """
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
        while (status := self._attach_once()) != OK:
            if status not in (GONE, BUSY, SILENT):
                raise self._refusal(status)
            if self.over or (status == GONE and not self.path.exists()):
                self.over = True
                return
            time.sleep(AGAIN_S)
            if until is not None and time.monotonic() >= until:
                raise TimeoutError("the run is not there again by then")

    def _refusal(self, status: int) -> Refused:
        if status == DENIED:
            return Refused(f"{self.path.parent} or its run belongs to another user")
        if not self.path.exists():
            return Refused(f"there is no {self.path}")
        return Refused(REASONS.get(status, f"the run answers {status}"))


def _user(one: socket.socket) -> int:
    """Of the process that listens at the other end."""
    peer = one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    return CREDENTIALS.unpack(peer)[1]


def _words(bytes_: int, receives: bool) -> str:
    return f"{'receives' if receives else 'sends'} {bytes_} bytes"


def _until(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout
