# SPDX-License-Identifier: Apache-2.0
"""What the phone does with a server's answers to its registration, and says of them."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from driven import command, ended, refusal
from kamailio import certificate, free_ports
from phones import APP, CORES, HOST, Param, free_port, ours
from registrar import CHALLENGE, OK, Answer, registrar

SECRET = "a secret"


def secret(folder: Path) -> Path:
    path = folder / "secret"
    path.write_text(SECRET + "\n")
    return path


def said(**params: Param) -> str:
    """What a run said that was refused, in one line."""
    listen = f"{HOST}:{free_port()}"
    return refusal(ended(command("run", APP, CORES, {"listen": listen, "user": "a", **params})))


@pytest.mark.parametrize(
    ("answer", "cause", "cure"),
    [
        (("403 Forbidden", ""), "the server forbids it: 403 Forbidden", "check user, domain"),
        (("404 Not Found", ""), "does not know the address: 404", "check user and domain"),
        (("405 Method Not Allowed", ""), "takes no registrations", "leave out registrar"),
        (("423 Interval Too Brief", ""), "wants a longer time", "raise expires_s"),
        (("302 Moved", "Contact: <sip:x@192.0.2.1>"), "is elsewhere: 302", "that it names"),
        (("606 Not Acceptable", ""), "refuses it: 606", "the log of the server"),
        (CHALLENGE, "refuses the user or the password: 401", "password_file"),
        (
            ("407 Proxy Authentication Required", CHALLENGE[1].replace("WWW", "Proxy")),
            "refuses the user or the password: 407",
            "password_file",
        ),
        (
            (CHALLENGE[0], CHALLENGE[1].replace("MD5", "SHA-256")),
            "asks for a digest other than MD5",
            "allow MD5 there",
        ),
    ],
)
def test_a_refusal_ends_the_run_with_cause_and_cure(
    tmp_path: Path, answer: Answer, cause: str, cure: str
) -> None:
    with registrar(lambda _n, _r: answer) as server:
        words = said(registrar=server.uri(), password_file=secret(tmp_path))
    assert "voip: not registered: the server" in words and cause in words
    assert cure in words.split("help:", 1)[1]
    assert SECRET not in words and "debug" not in words.lower()


def test_a_server_that_asks_for_a_password_that_none_gave_is_told_of() -> None:
    with registrar(lambda _n, _r: CHALLENGE) as server:
        words = said(registrar=server.uri())
    assert "the server asks for a password: 401 Unauthorized" in words
    assert "give that as password_file" in words


def test_after_a_damaged_challenge_the_server_is_asked_again() -> None:
    with (
        registrar(lambda n, _r: OK if n > 1 else ("401 Unauthorized", "")) as server,
        ours(user="a", registrar=server.uri()) as phone,
    ):
        phone.wait_until("the server's challenge is damaged: 401 Unauthorized")
        phone.wait_until("registered as")
        phone.process.send_signal(signal.SIGTERM)
    assert phone.process.returncode == 0


def test_a_longer_time_that_the_server_wants_is_asked_for() -> None:
    with (
        registrar(
            lambda n, _r: OK if n > 1 else ("423 Interval Too Brief", "Min-Expires: 900")
        ) as server,
        ours(user="a", registrar=server.uri(), expires_s=20) as phone,
    ):
        phone.wait_until("registered as: sip:a@127.0.0.1, for 300 s")
        phone.process.send_signal(signal.SIGTERM)
    assert "\r\nExpires: 20\r\n" in server.requests[0]
    assert "\r\nExpires: 900\r\n" in server.requests[1]


def test_a_server_that_is_not_available_is_asked_again_when_it_says() -> None:
    def answer(n: int, _request: str) -> Answer:
        busy = ("503 Service Unavailable", "Retry-After: 3")
        return OK if n > 2 else busy if n == 2 else ("500 Server Internal Error", "")

    with registrar(answer) as server, ours(user="a", registrar=server.uri()) as phone:
        phone.wait_until("the server has an internal error: 500")
        phone.wait_until("the server is not available now: 503")
        phone.wait_until("tries to register again: in 3.0 s")
        phone.wait_until("registered as")
        phone.process.send_signal(signal.SIGINT)
    assert server.times[2] - server.times[1] > 2.9 > server.times[1] - server.times[0]
    assert "unregistered" in phone.said and "Contact: <sip:a@" in server.requests[-1]
    assert "\r\nExpires: 0\r\n" in server.requests[-1]


def test_a_registration_is_renewed_and_kept_open_and_its_end_is_told() -> None:
    # Expires after 2 s; from the third request on the server is silent.
    def answer(n: int, _request: str) -> Answer | None:
        return ("200 OK", "Expires: 2") if n < 3 else None

    with (
        registrar(answer) as server,
        ours(user="a", registrar=server.uri(), keepalive_s=1) as phone,
    ):
        phone.wait_until("the registration has expired: sip:a@127.0.0.1")
        phone.process.send_signal(signal.SIGTERM)
    first, second, third = (server.requests[i].split("\r\n") for i in range(3))
    calls = [next(x for x in lines if x.startswith("Call-ID")) for lines in (first, second, third)]
    assert len(set(calls)) == 1 and server.pings >= 2
    assert server.times[1] - server.times[0] >= 1.5
    assert phone.said.count("registered as") == 1


def test_a_server_that_grants_no_time_is_not_asked_without_end() -> None:
    with (
        registrar(lambda _n, _r: ("200 OK", "Expires: 0")) as server,
        ours(user="a", registrar=server.uri()) as phone,
    ):
        phone.wait_until("the server grants no time")
        time.sleep(2)
        phone.process.send_signal(signal.SIGTERM)
    assert len(server.requests) <= 4


def damaged(answer: bytes) -> list[bytes]:
    """The answer cut off, and with some bytes of its headers that are others."""
    draw, head = random.Random(len(answer)), answer.index(b"\r\n")
    pieces = [answer[: draw.randrange(len(answer))] for _ in range(30)]
    for _ in range(30):
        some = bytearray(answer)
        for _ in range(draw.randrange(1, 8)):
            some[draw.randrange(head, len(some))] = draw.randrange(256)
        pieces.append(bytes(some))
    pieces += [answer.replace(b'"n"', b'"' + b"n" * 40000 + b'"'), answer + b"x" * 20000, b"\0" * 9]
    # The head of this one stays, so that it belongs to the request.
    before, name, challenge = answer.partition(b"Authenticate: ")
    return [*pieces, before + name + challenge[: draw.randrange(20)] + b"\r\n\r\n"]


def test_damaged_answers_leave_the_phone_able_to_register(tmp_path: Path) -> None:
    def answer(n: int, _request: str) -> Answer:
        # A damaged challenge may be taken for the answer, and each is waited for twice as long.
        if n == 2:
            return ("500 Server Internal Error", "")
        return OK if n > 4 else (CHALLENGE[0], CHALLENGE[1] + ", stale=true")

    with (
        registrar(answer, damaged) as server,
        ours(
            is_watched=True, user="a", registrar=server.uri(), password_file=secret(tmp_path)
        ) as phone,
    ):
        phone.wait_until("registered as")
        phone.process.send_signal(signal.SIGTERM)
    assert phone.process.returncode == 0, phone.said


def test_a_server_that_does_not_answer_is_told_of_with_a_cure() -> None:
    nobody = f"sip:{HOST}:{free_ports()}"
    with ours(user="a", registrar=nobody) as phone:
        phone.wait_until("no answer from the server so far: " + nobody)
        phone.wait_until("help: check that the server runs")
        phone.process.send_signal(signal.SIGTERM)
    with ours(user="a", registrar=nobody + ";transport=tcp") as phone:
        phone.wait_until("not registered: no server has that port")
        phone.wait_until("tries to register again: in 1")
        phone.process.send_signal(signal.SIGTERM)


def test_a_certificate_is_verified(tmp_path: Path) -> None:
    port = free_ports()
    (tmp_path / "other").mkdir()
    made = certificate(tmp_path, names="DNS:sip.test")
    strange = certificate(tmp_path / "other")
    words = ["openssl", "s_server", "-accept", f"{HOST}:{port}", "-quiet", "-cert", made]
    with subprocess.Popen([*words, "-key", tmp_path / "key.pem"], stdin=subprocess.PIPE) as process:
        try:
            until_listening(port)
            there = {"registrar": f"sip:{HOST}:{port};transport=tls"}
            unknown = said(**there, tls_ca=strange)
            other_name = said(**there, tls_ca=made)
        finally:
            process.kill()
    assert "the server's certificate is refused: self-signed certificate" in unknown
    assert "as tls_ca" in unknown
    assert "the server's certificate is refused: IP address mismatch" in other_name
    assert "write the server's name as its certificate has it" in other_name
    assert "tls_ca must be a PEM file of certificates" in said(**there, tls_ca=APP)


def until_listening(port: int) -> None:
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asking:
            if asking.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"registrar": f"{HOST}:5060"}, "write sip:ADDRESS:PORT, with ;transport="),
        ({"registrar": f"sips:{HOST}"}, "write sip: and add ;transport=tls"),
        ({"registrar": f"sip:{HOST};transport=sctp"}, "its transport must be udp, tcp or tls"),
        ({"registrar": f"sip:a@{HOST}"}, "the part before the @ as user"),
        ({"proxy": "sip:a b"}, "write sip:ADDRESS:PORT"),
        ({"registrar": f"sip:{HOST}", "user": "a@b"}, "the part of the address before the @ alone"),
        ({"domain": "a@b"}, "the part of the address behind the @ alone"),
        ({"password_file": "/nowhere"}, "No such file or directory"),
        ({"password_file": "/dev/null"}, "its first line must be the password"),
        ({"expires_s": 1}, "expires_s is 1: give a whole number from 5"),
        ({"srtp": "yes"}, "write offer or require"),
        ({"password": "x"}, "the application has no parameter `password`"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(params: dict[str, Param], reason: str) -> None:
    assert reason in said(**params)


def test_the_password_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "VOIP_PASSWORD", SECRET)
    with (
        registrar(lambda n, _r: CHALLENGE if n == 1 else OK) as server,
        ours(user="a", login="b", domain="phones.test", registrar=server.uri()) as phone,
    ):
        phone.wait_until("registered as: sip:a@phones.test")
        command_line = Path(f"/proc/{phone.process.pid}/cmdline").read_text()
        phone.process.send_signal(signal.SIGTERM)
    assert server.requests[0].startswith("REGISTER sip:phones.test SIP/2.0\r\n")
    assert 'Digest username="b", realm="r"' in server.requests[1]
    assert SECRET not in command_line + phone.said + "".join(server.requests)
