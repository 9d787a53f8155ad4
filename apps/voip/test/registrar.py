# SPDX-License-Identifier: Apache-2.0
"""A SIP server that answers REGISTER with what a test wants it to, good or not."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HOST = "127.0.0.1"

# An answer: its status line, and lines of header; "" for none.
Answer = tuple[str, str]
OK = ("200 OK", "Expires: 300")
CHALLENGE = (
    "401 Unauthorized",
    'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", algorithm=MD5',
)


@dataclass
class Registrar:
    """`answer` is given the number of the request; one that is sent again is still that."""

    answer: Callable[[int, str], Answer | None]
    damage: Callable[[bytes], list[bytes]] = lambda _: []  # sent before the answer
    socket: socket.socket = field(
        default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    )
    requests: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    pings: int = 0
    is_over: bool = False

    def uri(self) -> str:
        return f"sip:{HOST}:{self.socket.getsockname()[1]}"

    def work(self) -> None:
        while not self.is_over:
            try:
                data, source = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            request = data.decode(errors="replace")
            if request == "\r\n\r\n":
                self.pings += 1
            if not request.startswith("REGISTER "):
                continue
            is_first = request not in self.requests
            if is_first:
                self.requests.append(request)
                self.times.append(time.monotonic())
            answer = self.answer(len(self.requests), request)
            if answer is None:
                continue
            whole = written(answer, request)
            for some in [*(self.damage(whole) if is_first else []), whole]:
                self.socket.sendto(some, source)


def written(answer: Answer, request: str) -> bytes:
    named = "|".join(("Via", "From", "To", "Call-ID", "CSeq"))
    kept = [line for line in request.split("\r\n") if re.match(f"({named}):", line)]
    more = [answer[1]] if answer[1] else []
    lines = [f"SIP/2.0 {answer[0]}", *kept, *more, "Content-Length: 0", "", ""]
    return "\r\n".join(lines).encode()


@contextmanager
def registrar(
    answer: Callable[[int, str], Answer | None],
    damage: Callable[[bytes], list[bytes]] = lambda _: [],
) -> Iterator[Registrar]:
    server = Registrar(answer, damage)
    server.socket.bind((HOST, 0))
    server.socket.settimeout(0.1)
    thread = threading.Thread(target=server.work)
    thread.start()
    try:
        yield server
    finally:
        server.is_over = True
        thread.join()
        server.socket.close()
