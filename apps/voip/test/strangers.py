# SPDX-License-Identifier: Apache-2.0
"""A phone that is not ours, message by message: it sends what a test says and nothing else."""

from __future__ import annotations

import itertools
import random
import re
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from phones import HOST, PATIENCE_S, HeldUp, rtp

FRAME_S = 0.02
SOUND = bytes(random.Random(1).randrange(256) for _ in range(160))
PCMU = "m=audio {port} RTP/AVP 0"
COPIED = ("via:", "from:", "call-id:", "cseq:")

numbers = itertools.count(1)


@dataclass(frozen=True)
class Message:
    """A message of SIP."""

    text: str

    @property
    def status(self) -> int:
        """0: it is a request."""
        found = re.match(r"SIP/2.0 (\d+)", self.text)
        return int(found[1]) if found else 0

    @property
    def body(self) -> str:
        return self.text.split("\r\n\r\n", 1)[1]

    def header(self, name: str) -> str:
        """All its values, with commas between them."""
        return ", ".join(re.findall(rf"(?im)^{name}: *(.*?)\r$", self.text))

    @property
    def media(self) -> list[str]:
        """Of each line of media its kind, whether it has a port, and its payload types."""
        found = re.findall(r"m=(\w+) (\d+) \S+ ([\d ]+)", self.body)
        return [f"{kind} {'-' if int(port) else 0} {types.strip()}" for kind, port, types in found]

    @property
    def direction(self) -> str:
        found = re.findall(r"a=(sendrecv|sendonly|recvonly|inactive)\r", self.body)
        return found[-1] if found else "sendrecv"

    @property
    def origin(self) -> tuple[int, int]:
        """The number and the version of its description."""
        found = re.search(r"o=\S+ (\d+) (\d+) ", self.body)
        assert found, self.text
        return int(found[1]), int(found[2])


def bound() -> socket.socket:
    some = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    some.bind((HOST, 0))
    some.settimeout(PATIENCE_S)
    return some


def waits_to_be_read(port: int) -> bool:
    """Whether a socket of that port has bytes that its program has not read yet."""
    sockets = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return any(int(s[1][-4:], 16) == port and int(s[4].split(":")[1], 16) for s in sockets)


def lines(text: str) -> str:
    return "".join(f"{line}\r\n" for line in text.splitlines() if line)


def paced(frames: int) -> Iterator[int]:
    """The numbers of frames, each at its time: what is late makes none of those after it late."""
    start = time.monotonic()
    for n in range(frames):
        yield n
        time.sleep(max(0.0, start + (n + 1) * FRAME_S - time.monotonic()))


@dataclass
class Stranger:
    port: int = 0  # of our phone
    sip: socket.socket = field(default_factory=bound)
    media: socket.socket = field(default_factory=bound)
    number: int = field(default_factory=lambda: next(numbers))
    cseq: int = 0
    tag: str = ""  # of our phone
    target: int = 0  # its port of RTP
    sequence: int = 100
    held_up: HeldUp = field(default_factory=lambda: HeldUp(None))

    @property
    def own(self) -> int:
        return self.sip.getsockname()[1]

    def sdp(self, media: str = PCMU, extra: str = "", head: str = "", address: str = HOST) -> str:
        """A description: `extra` in its media, `head` before them."""
        media = media.format(port=self.media.getsockname()[1])
        return lines(
            f"v=0\no=x 1 1 IN IP4 {HOST}\ns=-\nc=IN IP4 {address}\nt=0 0\n{head}\n{media}\n{extra}"
        )

    # ---- Requests ---------------------------------------------------------------------------

    def send(
        self,
        method: str,
        body: str = "",
        headers: str = "",
        kind: str = "application/sdp",
        cseq: int = 0,
        length: int | None = None,
    ) -> bytes:
        """`cseq`: of a request that is not the next one."""
        if not cseq:
            self.cseq += 1
        number = cseq or self.cseq
        branch = f"{self.number}x{number}{'a' if method == 'ACK' else ''}"
        there = f"sip:whimbrel@{HOST}:{self.port}"
        head = f"""{method} {there} SIP/2.0
Via: SIP/2.0/UDP {HOST}:{self.own};branch=z9hG4bK{branch};rport
From: <sip:x@{HOST}:{self.own}>;tag=f{self.number}
To: <{there}>{f";tag={self.tag}" if self.tag else ""}
Call-ID: s{self.number}@{HOST}
CSeq: {number} {method}
Contact: <sip:x@{HOST}:{self.own}>
Max-Forwards: 70
{headers}
{f"Content-Type: {kind}" if body else ""}
Content-Length: {len(body) if length is None else length}
"""
        whole = f"{lines(head)}\r\n{body}".encode()
        self.sip.sendto(whole, (HOST, self.port))
        return whole

    def answer(self, least: int = 200) -> Message:
        """The answer to the last request, of at least that status."""
        while True:
            message = Message(self.sip.recv(65536).decode())
            if message.status >= least and message.header("CSeq").startswith(f"{self.cseq} "):
                self._learn(message)
                return message

    def request(self) -> Message:
        """The next request of our phone."""
        while True:
            data, (_, self.port) = self.sip.recvfrom(65536)
            message = Message(data.decode())
            if not message.status:
                self._learn(message)
                return message

    def _learn(self, message: Message) -> None:
        tag = re.search(r"(?im)^to:.*?;tag=([^;\s]+)", message.text)
        port = re.search(r"m=audio ([1-9]\d*)", message.body)
        if message.status and tag and (200 <= message.status < 300):
            self.tag = tag[1]
        if port:
            self.target = int(port[1])

    def ask(self, method: str, body: str = "", headers: str = "", **how: str) -> Message:
        self.send(method, body, headers, **how)  # type: ignore[arg-type]
        return self.answer()

    def invite(
        self, body: str = "", headers: str = "", agreed: str = "", kind: str = "application/sdp"
    ) -> Message:
        """A call, or an offer in it, whose answer is confirmed: with a description, `agreed`."""
        answer = self.ask("INVITE", body, headers, kind=kind)
        self.send("ACK", agreed, cseq=self.cseq)
        return answer

    def reply(self, request: Message, status: str, body: str = "", headers: str = "") -> None:
        """Answers a request of our phone."""
        kept = [one for one in request.text.split("\r\n") if one.lower().startswith(COPIED)]
        to = f"To: {request.header('To')}"
        head = [f"SIP/2.0 {status}", *kept, to if ";tag=" in to else f"{to};tag=s{self.number}"]
        if "Contact" not in headers:
            head += [f"Contact: <sip:x@{HOST}:{self.own}>"]
        head += [headers, "Content-Type: application/sdp" if body else ""]
        whole = f"{lines(chr(10).join(head))}Content-Length: {len(body)}\r\n\r\n{body}"
        self.sip.sendto(whole.encode(), (HOST, self.port))

    # ---- Packets ----------------------------------------------------------------------------

    def packet(
        self, payload: bytes = SOUND, kind: int = 0, stamp: int = 0, number: int | None = None
    ) -> None:
        self.sequence += 1
        whole = rtp(self.sequence if number is None else number, payload, kind)
        if stamp:
            whole = whole[:4] + struct.pack("!I", stamp) + whole[8:]
        self.media.sendto(whole, (HOST, self.target))

    def talk(self, frames: int, kind: int = 0, payload: bytes = SOUND) -> None:
        for _ in paced(frames):
            self.packet(payload, kind)

    def press(self, key: int, kind: int = 101, packets: int = 10) -> None:
        """A telephone event, whose end comes three times (RFC 4733, 2.5)."""
        stamp = 160 * self.sequence
        for n in paced(packets):
            end = 0x80 if n >= packets - 3 else 0
            self.packet(struct.pack("!BBH", key, end | 10, 160 * (n + 1)), kind, stamp)

    def packets(self, seconds: float) -> list[bytes]:
        """What comes in that time from now on."""
        for _ in received(self.media, 0.0):
            pass
        return list(received(self.media, seconds))

    def hears(self, kind: int = 0, least: int = 5) -> None:
        """Waits until packets of that payload type have come anew."""
        for _ in received(self.media, 0.0):
            pass
        for _ in range(least):
            while self.media.recv(2000)[1] & 0x7F != kind:
                pass

    def hang_up(self) -> Message:
        """Hangs up, once our phone has read what was sent: a BYE may overtake packets."""
        deadline = time.monotonic() + PATIENCE_S
        while waits_to_be_read(self.target):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        return self.ask("BYE")

    def hang_up_called(self, invite: Message) -> None:
        """Hangs up a call that our phone has made."""
        body = f"""BYE sip:whimbrel@{HOST}:{self.port} SIP/2.0
Via: SIP/2.0/UDP {HOST}:{self.own};branch=z9hG4bK{self.number}bye;rport
From: {invite.header("To")};tag=s{self.number}
To: {invite.header("From")}
Call-ID: {invite.header("Call-ID")}
CSeq: 1 BYE
Max-Forwards: 70
Content-Length: 0
"""
        self.sip.sendto(f"{lines(body)}\r\n".encode(), (HOST, self.port))


def received(some: socket.socket, seconds: float) -> Iterable[bytes]:
    end = time.monotonic() + seconds
    while True:
        some.settimeout(max(0.0, end - time.monotonic()) or 1e-6)
        try:
            yield some.recv(2000)
        except (TimeoutError, BlockingIOError):
            some.settimeout(PATIENCE_S)
            return


@contextmanager
def stranger(port: int = 0) -> Iterator[Stranger]:
    one = Stranger(port)
    with one.sip, one.media:
        yield one
    one.held_up.is_over = True
