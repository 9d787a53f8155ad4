# SPDX-License-Identifier: Apache-2.0
"""Processes that are no kernels attach to a run, leave it, die, and write nonsense."""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from documents import ROOT
from running import WHIMBREL

sys.path.append(str(ROOT / "clients/python"))
from whimbrel_client import (
    BUSY,
    END,
    GONE,
    HEAD,
    HELLO,
    MESSAGE,
    REFUSED,
    VERSION,
    WELCOME,
    Client,
    Over,
    Refused,
    folder,
)

HERE = ROOT / "tests/clients"
CPU = min(os.sched_getaffinity(0))
PATIENCE_S = 600
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

    def __init__(self, app: Path, kernels: int = 2, **environment: str) -> None:
        command = [str(WHIMBREL), "run", str(app), "--json"]
        self.process = subprocess.Popen(
            [*command, "--cores", ",".join([str(CPU)] * kernels)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
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


def attached(run: str, task: str, port: str) -> Client:
    """A client of a run whose kernels may get a processor late."""
    return Client(run, task, port, timeout=PATIENCE_S)


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
    with attached(pair.name, "feed", "out") as feed, attached(pair.name, "scope", "in") as scope:
        thread = feed_all(feed, range(5000))
        assert [number(message) for message in scope] == list(range(5000))
        thread.join()
    summary = pair.summary()
    assert (summary["ended"], summary["channels"][0]["received"]) == ("finished", 5000)
    assert not folder(pair.name).exists()


def compiled(folder: Path, name: str, *options: str) -> Path:
    """A program of tests/clients, or a library to preload."""
    include = ["-I", str(ROOT / "clients/c"), "-I", str(ROOT / "middleware/include")]
    words = ["cc", "-Wall", "-Werror", *include, str(HERE / f"{name}.c"), *options]
    subprocess.run([*words, "-o", str(folder / name)], check=True)
    return folder / name


LIBRARY = str(ROOT / "build/release/libwhimbrel-client.a")


def test_a_program_in_c_has_an_event_loop_of_its_own(runtime: Path) -> None:
    mirror = compiled(runtime, "mirror", LIBRARY)
    run = Run(HERE / "app.toml")
    program = subprocess.Popen([str(mirror), run.name])
    with attached(run.name, "feed", "out") as feed, attached(run.name, "scope", "in") as scope:
        thread = feed_all(feed, range(2000))
        assert [number(message) for message in scope] == list(range(2000))
        thread.join()
    assert program.wait(PATIENCE_S) == 0
    assert run.summary()["ended"] == "finished"


def test_messages_wait_for_the_next_client_when_one_is_killed(pair: Run) -> None:
    reader = (
        "import sys; sys.path.append(sys.argv[1]); from whimbrel_client import Client\n"
        "for message in Client(sys.argv[2], 'scope', 'in', timeout=None):\n"
        "    print(message[0], flush=True)\n"
    )
    words = [sys.executable, "-c", reader, str(ROOT / "clients/python"), pair.name]
    with attached(pair.name, "feed", "out") as feed:
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as first:
            feed.send(numbered(0))
            assert first.stdout is not None
            assert first.stdout.readline() == "0\n"
            first.kill()
        thread = feed_all(feed, range(1, 500))
        with attached(pair.name, "scope", "in") as second:
            got = [number(message) for message in second]
        thread.join()
    # What the first one's socket held is lost with it, and nothing else.
    assert got == list(range(got[0], 500))
    assert got[0] <= 64


def test_a_sender_that_dies_leaves_what_it_has_sent_and_the_port_open(pair: Run) -> None:
    with attached(pair.name, "scope", "in") as scope:
        with attached(pair.name, "feed", "out") as feed:
            feed_all(feed, range(10), end=False).join()
        with attached(pair.name, "feed", "out") as feed:
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
    feed = attached(pair.name, "feed", "out")
    scope = attached(pair.name, "scope", "in")
    with feed, scope:
        thread = feed_all(feed, range(100))
        assert [number(message) for message in scope] == list(range(100))
        thread.join()


@pytest.mark.parametrize("bytes_", [0, BYTES - 1, BYTES + 1, 4 * BYTES])
def test_a_message_of_another_size_is_refused(pair: Run, bytes_: int) -> None:
    with connected(pair, "feed", HELLO.pack(VERSION, 0, b"out")) as one:
        one.recv(64)
        one.send(HEAD.pack(MESSAGE, 0) + bytes(bytes_))
        assert HEAD.unpack(one.recv(64))[0] == REFUSED
        assert one.recv(64) == b""


def test_a_guest_that_says_nothing_does_not_keep_others_away(pair: Run) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(str(folder(pair.name) / "feed.client"))
        with attached(pair.name, "feed", "out") as feed:
            assert feed.bytes == BYTES


def sleep_thrice(pid: int) -> None:
    """Returns after a process has given its processor back so often."""

    def sleeps() -> int:
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    before, until = sleeps(), time.monotonic() + PATIENCE_S
    while sleeps() < before + 3:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_who_knocks_at_a_kernel_without_descriptors_waits_and_nothing_spins(pair: Run) -> None:
    kernel = pair.kernel(0)
    had = resource.prlimit(kernel, resource.RLIMIT_NOFILE)
    hello = HELLO.pack(VERSION, 0, b"out")
    with connected(pair, "feed", hello) as one:
        assert WELCOME.unpack(one.recv(64))[0] == 0
        # The kernel has waited for files by now, and opens none any more.
        sleep_thrice(kernel)
        taken = {int(fd.name) for fd in Path(f"/proc/{kernel}/fd").iterdir()}
        free = min(set(range(len(taken) + 1)) - taken)
        resource.prlimit(kernel, resource.RLIMIT_NOFILE, (free, had[1]))
        with connected(pair, "feed", hello) as other:
            sleep_thrice(kernel)
            other.setblocking(False)
            with pytest.raises(BlockingIOError):
                other.recv(64)
            resource.prlimit(kernel, resource.RLIMIT_NOFILE, had)
            other.settimeout(PATIENCE_S)
            # It hears that the port has another.
            assert WELCOME.unpack(other.recv(64))[0] != 0


def refusal(run: Run, task: str, port: str, index: int = 0) -> str:
    """Why a client is refused by a kernel that has had a processor to answer."""
    until = time.monotonic() + PATIENCE_S
    while True:
        with pytest.raises(Refused) as refused:
            Client(run.name, task, port, index, timeout=0.2)
        if "does not answer" not in str(refused.value):
            return str(refused.value)
        assert time.monotonic() < until


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
    assert why in refusal(pair, task, port, index)


def test_a_port_has_one_client_at_a_time(pair: Run) -> None:
    with attached(pair.name, "feed", "out"):
        assert "another client" in refusal(pair, "feed", "out")
    attached(pair.name, "feed", "out").close()


def test_clients_attach_again_when_the_kernel_of_their_task_is_killed(pair: Run) -> None:
    with attached(pair.name, "feed", "out") as feed, attached(pair.name, "scope", "in") as scope:
        feed.send(numbered(0))
        assert number(scope.receive(PATIENCE_S)) == 0
        os.kill(pair.kernel(1), signal.SIGKILL)
        thread = feed_all(feed, range(1, 300))
        got = [number(message) for message in scope]
        thread.join()
    # What was in a socket of the killed kernel is lost with it, and nothing else.
    assert got == sorted(set(got))
    assert len(got) >= 299 - 64


KERNELS = 27  # the one of `feed` and the last one of `scope` live on


@pytest.mark.parametrize("language", ["python", "c"])
def test_no_message_comes_twice_when_kernels_die_between_sending_it_and_giving_it_back(
    runtime: Path, language: str
) -> None:
    """Two runs of each language: 100 kernels are killed in all."""
    killer = compiled(runtime, "killer", "-shared", "-fPIC")
    scope = compiled(runtime, "scope", LIBRARY)
    (runtime / "app.toml").write_text(PAIR)
    messages = 4 * KERNELS
    for _ in range(2):
        (runtime / "log").write_bytes(b"")
        run = Run(
            runtime / "app.toml",
            KERNELS,
            LD_PRELOAD=str(killer),
            KILLER_AFTER="3",
            KILLER_KILLS=str(KERNELS - 2),
            KILLER_LOG=str(runtime / "log"),
        )
        with attached(run.name, "feed", "out") as feed:
            thread = feed_all(feed, range(messages))
            if language == "python":
                with attached(run.name, "scope", "in") as client:
                    got = [number(message) for message in client]
            else:
                words = [str(scope), run.name]
                ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=600)
                *lines, why = ran.stdout.splitlines()
                assert (ran.returncode, why) == (0, "the other end has ended")
                got = [int(line) for line in lines]
            thread.join()
        summary = run.summary()
        assert got == list(range(messages))
        assert len((runtime / "log").read_bytes()) == KERNELS - 2
        assert summary["channels"][0]["received"] == messages


def test_a_killed_kernel_takes_some_ten_messages_of_a_sender_along(pair: Run) -> None:
    """What docs/clients.md says of the messages in a socket; the channel holds no more than 8."""
    with attached(pair.name, "feed", "out") as feed:
        sent = 0
        with suppress(TimeoutError):
            while True:
                feed.send(numbered(sent), timeout=1)
                sent += 1
        os.kill(pair.kernel(0), signal.SIGKILL)
        thread = feed_all(feed, range(sent, sent + 100))
        with attached(pair.name, "scope", "in") as scope:
            got = [number(message) for message in scope]
        thread.join()
    assert got == sorted(set(got))
    assert sent + 100 - len(got) <= 12


# ---- A run that behaves as it is told ------------------------------------------------------------


class Pretended:
    """The folder and socket of a run's client `scope`. For each connection: what the run welcomes
    the client with, and the packets that follow before the connection ends. When all are over so
    is the run."""

    def __init__(
        self, folder: Path, *connections: tuple[bytes, list[bytes]], user: int = 0
    ) -> None:
        self.name = str(folder / "run")
        path = Path(self.name) / "scope.client"
        path.parent.mkdir()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.settimeout(PATIENCE_S)
        self.listener.bind(str(path))
        # Credentials are those of the thread that listens, at that time.
        if user:
            os.seteuid(user)
        self.listener.listen()
        if user:
            os.seteuid(0)
        self.thread = threading.Thread(target=self._serve, args=(path, connections))
        self.thread.start()

    def end(self) -> None:
        """In the place of a client that does not come: who says no hello is let go."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one:
            one.connect(f"{self.name}/scope.client")
        self.thread.join()

    def _serve(self, path: Path, connections: tuple[tuple[bytes, list[bytes]], ...]) -> None:
        with suppress(OSError):
            for welcome, packets in connections:
                one, _ = self.listener.accept()
                with one:
                    one.settimeout(PATIENCE_S)
                    if one.recv(64):
                        for packet in (welcome, *packets):
                            one.send(packet)
        self.listener.close()
        path.unlink()


def welcome(run: int, bytes_: int = BYTES, receives: int = 1) -> bytes:
    return WELCOME.pack(0, bytes_, receives, run)


def message(number: int, of: int | None = None, bytes_: int = BYTES) -> bytes:
    text = (number if of is None else of).to_bytes(bytes_, "little")
    return HEAD.pack(MESSAGE, number) + text


Outcome = tuple[list[int], str]
Reader = Callable[[str, Path], Outcome]


def read_in_python(run: str, _folder: Path) -> Outcome:
    got: list[int] = []
    try:
        with attached(run, "scope", "in") as scope:
            for one in scope:
                got.append(number(one))
    except Refused as error:
        known = {"another user": "denied", "another run now": "changed"}
        return got, next((why for part, why in known.items() if part in str(error)), str(error))
    return got, "over"


def read_in_c(run: str, folder: Path, *options: str) -> Outcome:
    words = [str(compiled(folder, "scope", LIBRARY)), run, *options]
    ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    *lines, why = ran.stdout.splitlines()
    short = {
        "the other end has ended": "over",
        "an argument can never be valid": "changed",
        "it belongs to another user": "denied",
    }
    return [int(line) for line in lines], short[why]


def loop_in_python(run: str, _folder: Path) -> Outcome:
    got: list[int] = []
    with attached(run, "scope", "in") as scope, suppress(Over):
        while True:
            with suppress(TimeoutError):
                got.append(number(scope.receive(timeout=0)))
                continue
            assert select.select([scope], [], [], PATIENCE_S)[0]
    return got, "over"


def loop_in_c(run: str, folder: Path) -> Outcome:
    return read_in_c(run, folder, "polls")


readers = pytest.mark.parametrize("read", [read_in_python, read_in_c])
loops = pytest.mark.parametrize("read", [read_in_python, read_in_c, loop_in_python, loop_in_c])
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")


@readers
def test_a_message_that_comes_again_has_the_number_that_it_had(
    read: Reader, tmp_path: Path
) -> None:
    first = (welcome(7), [message(0), message(1)])
    again = (welcome(7), [message(1), message(2)])
    twice = (welcome(7), [message(2), message(3), HEAD.pack(END, 0)])
    run = Pretended(tmp_path, first, again, twice)
    assert read(run.name, tmp_path) == ([0, 1, 2, 3], "over")
    run.thread.join()


@loops
def test_who_has_to_attach_again_tries_until_there_is_a_place(read: Reader, tmp_path: Path) -> None:
    """In an event loop, too: the C client's descriptor was -1 meanwhile, for which poll() waits."""
    busy = (WELCOME.pack(BUSY, 0, 0, 0), [])
    last = (welcome(7), [message(1), HEAD.pack(END, 0)])
    run = Pretended(tmp_path, (welcome(7), [message(0)]), busy, busy, last)
    assert read(run.name, tmp_path) == ([0, 1], "over")
    run.thread.join()


@loops
def test_a_port_that_was_closed_without_a_word_is_over(read: Reader, tmp_path: Path) -> None:
    """The end of the stream finds no room in the socket of a client that reads late."""
    closed = (WELCOME.pack(GONE, 0, 0, 0), [])
    run = Pretended(tmp_path, (welcome(7), [message(0)]), closed, (welcome(7), [message(1)]))
    assert read(run.name, tmp_path) == ([0], "over")
    run.end()


@readers
def test_another_run_of_the_name_counts_from_the_start(read: Reader, tmp_path: Path) -> None:
    first = (welcome(7), [message(0, of=10)])
    other = (welcome(8), [message(0, of=20), HEAD.pack(END, 0)])
    run = Pretended(tmp_path, first, other)
    assert read(run.name, tmp_path) == ([10, 20], "over")
    run.thread.join()


@readers
@pytest.mark.parametrize("changed", [welcome(8, 4096), welcome(8, 8), welcome(8, receives=0)])
def test_another_size_or_direction_after_attaching_again_is_an_error(
    read: Reader, changed: bytes, tmp_path: Path
) -> None:
    """The C client wrote 4096 bytes into the 64 of its caller's."""
    big = HEAD.pack(MESSAGE, 0) + bytes([255]) * 4096
    run = Pretended(tmp_path, (welcome(7), [message(0)]), (changed, [big]))
    assert read(run.name, tmp_path) == ([0], "changed")
    run.thread.join()


@readers
@pytest.mark.parametrize("bytes_", [0, BYTES - 1, BYTES + 1])
def test_a_packet_of_another_size_is_no_message(read: Reader, bytes_: int, tmp_path: Path) -> None:
    odd = HEAD.pack(MESSAGE, 1) + bytes(bytes_)
    run = Pretended(tmp_path, (welcome(7), [message(0), odd]))
    assert read(run.name, tmp_path) == ([0], "over")
    run.thread.join()


@as_root
@readers
def test_a_run_of_another_user_in_a_folder_of_ours_is_refused(read: Reader, tmp_path: Path) -> None:
    run = Pretended(tmp_path, (welcome(7), [message(0)]), user=65534)
    assert read(run.name, tmp_path) == ([], "denied")
    run.thread.join()


@as_root
@readers
def test_a_folder_of_another_user_is_refused(read: Reader, tmp_path: Path) -> None:
    run = Pretended(tmp_path, (welcome(7), [message(0)]))
    os.chown(run.name, 65534, 65534)
    assert read(run.name, tmp_path) == ([], "denied")
    run.end()


def test_a_run_ends_though_no_client_ever_comes(pair: Run) -> None:
    with attached(pair.name, "feed", "out") as feed:
        feed_all(feed, range(5)).join()
    assert pair.summary()["ended"] == "finished"


def test_a_run_that_is_stopped_tells_its_clients(pair: Run) -> None:
    with attached(pair.name, "feed", "out") as feed, attached(pair.name, "scope", "in") as scope:
        pair.process.send_signal(signal.SIGINT)
        assert list(scope) == []
        with pytest.raises(Over):
            for _ in range(200):
                feed.send(numbered(0), timeout=PATIENCE_S)
                time.sleep(0.01)
    pair.process.communicate(timeout=PATIENCE_S)


def test_a_path_that_no_socket_can_have_is_an_error_at_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("deep" * 20)
    deep.mkdir()
    (tmp_path / "app.toml").write_text(PAIR)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    command = [str(WHIMBREL), "run", str(tmp_path / "app.toml")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ran.returncode != 0
    assert "XDG_RUNTIME_DIR" in ran.stderr
