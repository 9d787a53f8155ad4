# SPDX-License-Identifier: Apache-2.0
"""Processes that are no kernels attach to a run, leave it, die, and write nonsense."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from documents import ROOT

sys.path.append(str(ROOT / "kernels/client"))
from whimbrel_client import (
    HELLO,
    KIND,
    MESSAGE,
    VERSION,
    Client,
    Over,
    Refused,
    folder,
)

HERE = ROOT / "tests/clients"
CPU = min(os.sched_getaffinity(0))
PATIENCE_S = 20
BYTES = 64

PAIR = """
[app]
name = "pair"

[[task]]
name = "feed"
client = true

[[task]]
name = "scope"
client = true
core = 1

[[channel]]
from = "feed.out"
to = "scope.in"
slot_bytes = 64
"""


class Run:
    """`whimbrel run` of an application, with its own folder of runs."""

    def __init__(self, app: Path, *options: str) -> None:
        command = [str(ROOT / "bin/whimbrel"), "run", str(app), "--json", *options]
        self.process = subprocess.Popen(
            [*command, "--cores", f"{CPU},{CPU}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        words: list[str] = []
        while words[:2] != ["running", "as"]:
            words = self.process.stderr.readline().split()
        self.name = words[2].rstrip(":")

    def summary(self) -> dict:
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        return json.loads(out)

    def kernel(self, core: int) -> int:
        return json.loads((folder(self.name) / "run.json").read_text())["kernels"][core]["pid"]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def pair(runtime: Path) -> Iterator[Run]:
    (runtime / "app.toml").write_text(PAIR)
    run = Run(runtime / "app.toml")
    yield run
    if run.process.poll() is None:
        run.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            run.process.communicate(timeout=PATIENCE_S)
    run.process.kill()
    run.process.communicate()


def numbered(n: int) -> bytes:
    return n.to_bytes(BYTES, "little")


def number(message: bytes) -> int:
    return int.from_bytes(message, "little")


def feed_all(feed: Client, numbers: range, end: bool = True) -> threading.Thread:
    def send() -> None:
        for n in numbers:
            feed.send(numbered(n), timeout=PATIENCE_S)
        if end:
            feed.end()

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_every_message_passes_from_one_client_to_another_in_order(pair: Run) -> None:
    with Client(pair.name, "feed", "out") as feed, Client(pair.name, "scope", "in") as scope:
        thread = feed_all(feed, range(5000))
        assert [number(message) for message in scope] == list(range(5000))
        thread.join()
    summary = pair.summary()
    assert (summary["ended"], summary["channels"][0]["received"]) == ("finished", 5000)
    assert not folder(pair.name).exists()


def test_a_program_in_c_has_an_event_loop_of_its_own(runtime: Path) -> None:
    mirror = runtime / "mirror"
    library = ROOT / "build/release/libwhimbrel-client.a"
    sources = [str(HERE / "mirror.c"), "-I", str(ROOT / "kernels/client")]
    include = ["-I", str(ROOT / "middleware/include")]
    subprocess.run(
        ["cc", "-Wall", "-Werror", *include, *sources, str(library), "-o", str(mirror)], check=True
    )
    run = Run(HERE / "app.toml")
    program = subprocess.Popen([str(mirror), run.name])
    with Client(run.name, "feed", "out") as feed, Client(run.name, "scope", "in") as scope:
        thread = feed_all(feed, range(2000))
        assert [number(message) for message in scope] == list(range(2000))
        thread.join()
    assert program.wait(PATIENCE_S) == 0
    assert run.summary()["ended"] == "finished"


def test_messages_wait_for_the_next_client_when_one_is_killed(pair: Run) -> None:
    reader = (
        "import sys; sys.path.append(sys.argv[1]); from whimbrel_client import Client\n"
        "for message in Client(sys.argv[2], 'scope', 'in'): print(message[0], flush=True)\n"
    )
    words = [sys.executable, "-c", reader, str(ROOT / "kernels/client"), pair.name]
    with Client(pair.name, "feed", "out") as feed:
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as first:
            feed.send(numbered(0))
            assert first.stdout is not None
            assert first.stdout.readline() == "0\n"
            first.kill()
        thread = feed_all(feed, range(1, 500))
        with Client(pair.name, "scope", "in", timeout=5) as second:
            got = [number(message) for message in second]
        thread.join()
    # What the first one's socket held is lost with it, and nothing else.
    assert got == list(range(got[0], 500))
    assert got[0] <= 64


def test_a_sender_that_dies_leaves_what_it_has_sent_and_the_port_open(pair: Run) -> None:
    with Client(pair.name, "scope", "in") as scope:
        with Client(pair.name, "feed", "out") as feed:
            feed_all(feed, range(10), end=False).join()
        with Client(pair.name, "feed", "out") as feed:
            thread = feed_all(feed, range(10, 20))
            assert [number(message) for message in scope] == list(range(20))
            thread.join()


def connected(run: Run, task: str, hello: bytes) -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.settimeout(PATIENCE_S)
    one.connect(str(folder(run.name) / f"{task}.client"))
    one.send(hello)
    return one


def test_nonsense_ends_its_connection_and_nothing_else(pair: Run) -> None:
    draw = random.Random(7)
    good = HELLO.pack(VERSION, 0, b"out")
    for turn in range(300):
        hello = good if turn % 3 else draw.randbytes(draw.randrange(1, 80))
        with connected(pair, "feed", hello) as one, suppress(OSError):
            one.recv(64)
            one.send(draw.randbytes(draw.randrange(1, 200)))
            one.recv(64)
    feed = Client(pair.name, "feed", "out", timeout=5)
    scope = Client(pair.name, "scope", "in", timeout=5)
    with feed, scope:
        thread = feed_all(feed, range(100))
        assert [number(message) for message in scope] == list(range(100))
        thread.join()


@pytest.mark.parametrize("bytes_", [0, BYTES - 1, BYTES + 1, 4 * BYTES])
def test_a_message_of_another_size_is_refused(pair: Run, bytes_: int) -> None:
    with connected(pair, "feed", HELLO.pack(VERSION, 0, b"out")) as one:
        one.recv(64)
        one.send(KIND.pack(MESSAGE) + bytes(bytes_))
        assert KIND.unpack(one.recv(64))[0] == 2
        assert one.recv(64) == b""


def test_a_guest_that_says_nothing_does_not_keep_others_away(pair: Run) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(str(folder(pair.name) / "feed.client"))
        with Client(pair.name, "feed", "out", timeout=5) as feed:
            assert feed.bytes == BYTES


@pytest.mark.parametrize(
    ("task", "port", "index", "why"),
    [
        ("feed", "in", 0, "no such port"),
        ("feed", "out", 1, "no such port"),
        ("nobody", "out", 0, "there is no"),
        ("feed", "o" * 40, 0, "fewer than 32 bytes"),
    ],
)
def test_who_asks_for_what_there_is_not_hears_so(
    pair: Run, task: str, port: str, index: int, why: str
) -> None:
    with pytest.raises(Refused, match=why):
        Client(pair.name, task, port, index, timeout=0.2)


def test_a_port_has_one_client_at_a_time(pair: Run) -> None:
    with Client(pair.name, "feed", "out"), pytest.raises(Refused, match="another client"):
        Client(pair.name, "feed", "out", timeout=0.2)
    Client(pair.name, "feed", "out", timeout=5).close()


def test_clients_attach_again_when_the_kernel_of_their_task_is_killed(pair: Run) -> None:
    with Client(pair.name, "feed", "out") as feed, Client(pair.name, "scope", "in") as scope:
        feed.send(numbered(0))
        assert number(scope.receive(PATIENCE_S)) == 0
        os.kill(pair.kernel(1), signal.SIGKILL)
        thread = feed_all(feed, range(1, 300))
        got = [number(message) for message in scope]
        thread.join()
    # What was in a socket of the killed kernel is lost with it, and nothing else.
    assert got == sorted(set(got))
    assert len(got) >= 299 - 64


def test_a_run_ends_though_no_client_ever_comes(pair: Run) -> None:
    with Client(pair.name, "feed", "out") as feed:
        feed_all(feed, range(5)).join()
    assert pair.summary()["ended"] == "finished"


def test_a_run_that_is_stopped_tells_its_clients(pair: Run) -> None:
    with Client(pair.name, "feed", "out") as feed, Client(pair.name, "scope", "in") as scope:
        pair.process.send_signal(signal.SIGINT)
        assert list(scope) == []
        with pytest.raises(Over):
            for _ in range(200):
                feed.send(numbered(0), timeout=1)
                time.sleep(0.01)
    pair.process.communicate(timeout=PATIENCE_S)


def test_a_path_that_no_socket_can_have_is_an_error_at_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("deep" * 20)
    deep.mkdir()
    (tmp_path / "app.toml").write_text(PAIR)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    command = [str(ROOT / "bin/whimbrel"), "run", str(tmp_path / "app.toml")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ran.returncode != 0
    assert "XDG_RUNTIME_DIR" in ran.stderr
