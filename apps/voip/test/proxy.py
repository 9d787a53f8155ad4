# SPDX-License-Identifier: Apache-2.0
"""A network between two phones that loses, delays and doubles packets of RTP.

It forwards SIP as it is but for the ports of SDP, behind which it puts its own.
"""

from __future__ import annotations

import heapq
import random
import re
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HOST = "127.0.0.1"
Address = tuple[str, int]


def bound() -> socket.socket:
    some = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        some.bind((HOST, 0))
        if some.getsockname()[1] >= 10000:  # of five digits, as the port that it stands for
            return some
        some = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


@dataclass(frozen=True)
class Faults:
    lost: float = 0.0
    late: float = 0.0  # overtaken by the next one
    twice: float = 0.0
    late_s: float = 0.03


@dataclass
class Proxy:
    callee: int  # its port of SIP
    faults: Faults
    seed: int = 1
    sip: socket.socket = field(default_factory=bound)
    # What each side sends to, and whom that stands for.
    media: dict[str, socket.socket] = field(
        default_factory=lambda: {"caller": bound(), "callee": bound()}
    )
    real: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("all", "lost", "late"), 0)
    )

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.caller: Address | None = None
        self.waiting: list[tuple[float, int, bytes, str]] = []
        self.over = threading.Event()

    @property
    def port(self) -> int:
        return self.sip.getsockname()[1]

    def hide(self, message: bytes, whose: str) -> bytes:
        """Puts our port where the SDP of one side has its own."""
        if found := re.search(rb"m=audio (\d+) ", message):
            self.real[whose] = int(found[1])
            ours = self.media[whose].getsockname()[1]
            return message.replace(found[0], b"m=audio %d " % ours)
        return message

    def forward_sip(self) -> None:
        message, source = self.sip.recvfrom(65536)
        if source[1] == self.callee:
            if self.caller:
                self.sip.sendto(self.hide(message, "callee"), self.caller)
        else:
            self.caller = source
            self.sip.sendto(self.hide(message, "caller"), (HOST, self.callee))

    def disturb(self, to: str) -> None:
        packet, _ = self.media[to].recvfrom(65536)
        self.counts["all"] += 1
        lot = self.draw.random()
        if lot < self.faults.lost:
            self.counts["lost"] += 1
            return
        is_late = lot < self.faults.lost + self.faults.late
        self.counts["late"] += is_late
        self.send(packet, to, self.faults.late_s if is_late else 0)
        if self.draw.random() < self.faults.twice:
            self.send(packet, to, 0.001)

    def send(self, packet: bytes, to: str, after: float) -> None:
        heapq.heappush(self.waiting, (time.monotonic() + after, self.counts["all"], packet, to))

    def flush(self) -> None:
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, packet, to = heapq.heappop(self.waiting)
            if to in self.real:
                self.media[to].sendto(packet, (HOST, self.real[to]))

    def work(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self.sip, selectors.EVENT_READ, self.forward_sip)
            for to, some in self.media.items():
                selector.register(some, selectors.EVENT_READ, lambda to=to: self.disturb(to))
            while not self.over.is_set():
                for key, _ in selector.select(0.001 if self.waiting else 0.1):
                    key.data()
                self.flush()


@contextmanager
def proxy(callee: int, faults: Faults) -> Iterator[Proxy]:
    some = Proxy(callee, faults)
    thread = threading.Thread(target=some.work)
    thread.start()
    try:
        yield some
    finally:
        some.over.set()
        thread.join()
        for socket_ in (some.sip, *some.media.values()):
            socket_.close()
