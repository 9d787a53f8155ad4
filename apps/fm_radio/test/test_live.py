# SPDX-License-Identifier: Apache-2.0
"""The radio on live sources, all on 127.0.0.1, and on a sound card that is a file."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from driven import APPS, CORES, WHIMBREL, Ended, kernels_of, moved, refusal

RADIO = APPS / "fm_radio"
PLAIN = APPS.parent / "build/apps/fm_plain"
RECORDING = RADIO / "data/cold_day_240k.cu8"
RATE = 240_000
OFFSET_HZ = 4000
STATION = {"station_hz": 100_000_000}
HEADER = b"RTL0" + struct.pack(">II", 5, 29)
LIMIT_S = 300
MOVES = ("--shuttle", "demodulator=1,0@20ms", "--shuttle", "lpf=1,0@70ms")


class Server:
    """What sends like rtl_tcp: a header, then a recording at its rate."""

    def __init__(
        self,
        data: bytes = b"",
        *,
        header: bytes = HEADER,
        rate: float = RATE,
        stays: bool = True,
        endless: bool = False,
    ) -> None:
        self.data, self.header, self.rate = data, header, rate
        self.stays, self.endless = stays, endless
        self.commands: dict[int, int] = {}
        self.over = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.threads = [threading.Thread(target=self.serve, daemon=True)]

    @property
    def address(self) -> str:
        return f"rtl_tcp://127.0.0.1:{self.port}"

    def serve(self) -> None:
        client, _ = self.socket.accept()
        with client:
            reader = threading.Thread(target=self.read, args=(client,), daemon=True)
            reader.start()
            with suppress(OSError):
                client.sendall(self.header)
                self.send(client)
                if self.stays:
                    self.over.wait(LIMIT_S)
                client.shutdown(socket.SHUT_RDWR)

    def send(self, client: socket.socket) -> None:
        start, step = time.monotonic(), 2 * RATE // 100
        for at in range(0, len(self.data), step):
            time.sleep(max(0.0, start + at / 2 / self.rate - time.monotonic()))
            client.sendall(self.data[at : at + step])
        while self.endless:
            client.sendall(self.data)

    def read(self, client: socket.socket) -> None:
        with suppress(OSError):
            while len(command := client.recv(5, socket.MSG_WAITALL)) == 5:
                self.commands[command[0]] = struct.unpack(">I", command[1:])[0]


@contextmanager
def serving(data: bytes = b"", **how: object) -> Iterator[Server]:
    server = Server(data, **how)
    server.threads[0].start()
    try:
        yield server
    finally:
        server.over.set()
        server.socket.close()


def words(*options: str, **params: object) -> list[str]:
    said = [str(WHIMBREL), "run", str(RADIO / "app.toml"), "--json", "--quiet", *CORES, *options]
    for key, value in {"output": "", **params}.items():
        said += ["--set", f"{key}={value}"]
    return said


def run(*options: str, stdin: bytes | None = None, **params: object) -> Ended:
    ended = subprocess.run(
        words(*options, **params), capture_output=True, input=stdin, timeout=LIMIT_S, check=False
    )
    return subprocess.CompletedProcess(
        ended.args, ended.returncode, ended.stdout.decode(), ended.stderr.decode()
    )


def plain(folder: Path, data: bytes, *settings: str) -> bytes:
    """The sound of a recording, without a head."""
    (folder / "plain.cu8").write_bytes(data)
    command = [str(PLAIN), str(folder / "plain.cu8"), str(folder / "plain.wav"), *settings]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    return (folder / "plain.wav").read_bytes()[44:]


@pytest.fixture(scope="module")
def second() -> bytes:
    return RECORDING.read_bytes()[: 2 * RATE]


def test_a_station_is_heard_without_a_gap_while_tasks_move(tmp_path: Path) -> None:
    """Over rtl_tcp, at the rate of the air, to a file and a sound card: all of it, to the bit."""
    data = RECORDING.read_bytes()[: 6 * RATE]
    expected = plain(tmp_path, data)
    with serving(data) as server, alsa(tmp_path) as card:
        ended = run(
            *MOVES,
            **STATION,
            input=server.address,
            seconds=3,
            gain_db=40.2,
            output=tmp_path / "live.wav",
            card=card,
        )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "live.wav").read_bytes()[44:] == expected
    assert (tmp_path / "played.raw").read_bytes() == expected
    assert server.commands == {1: 100_000_000 - OFFSET_HZ, 2: RATE, 3: 1, 4: 402}
    assert "0 overruns, 0.000 s lost" in ended.stderr
    assert 'card "radio": 3.00 s played, ran dry 0 times' in ended.stderr
    summary = json.loads(ended.stdout)
    assert summary["frames"] == 150
    assert moved(summary) >= 10


@contextmanager
def alsa(folder: Path) -> Iterator[str]:
    """The name of a card whose loudspeaker is a file of a folder."""
    text = "pcm.none {{ type null }}\npcm.radio {{ type file slave.pcm none file {0} format raw }}"
    (folder / "asound.conf").write_text(text.format(f'"{folder}/played.raw"'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALSA_CONFIG_PATH", str(folder / "asound.conf"))
        yield "radio"


def test_a_recording_is_heard_by_the_card_too(tmp_path: Path, second: bytes) -> None:
    expected = plain(tmp_path, second)
    with alsa(tmp_path) as card:
        ended = run("--fast", input=tmp_path / "plain.cu8", card=card)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "played.raw").read_bytes() == expected
    said = refusal(run("--fast", card="nowhere"))
    assert 'card "nowhere" cannot be used: No such' in said
    assert "aplay -L" in said


@pytest.mark.parametrize("mode", ["handoff", "recreate"])
def test_standard_input_is_played_to_its_end(tmp_path: Path, second: bytes, mode: str) -> None:
    expected = plain(tmp_path, second)
    options = ("--fast", "--mode", mode, "--shuttle", "lpf=1,0@3ms")
    ended = run(*options, stdin=second, input="-", output=tmp_path / "live.wav")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "live.wav").read_bytes()[44:] == expected
    assert "1.00 s received, 0 overruns" in ended.stderr


def test_standard_input_has_any_format_and_comes_in_any_pieces(
    tmp_path: Path, second: bytes
) -> None:
    floats = struct.pack(f"<{RATE}f", *((byte - 127.5) / 127.5 for byte in second[:RATE]))
    (tmp_path / "a.cf32").write_bytes(floats)
    command = [str(PLAIN), str(tmp_path / "a.cf32"), str(tmp_path / "plain.wav")]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    process = subprocess.Popen(
        words("--fast", input="-", format="cf32", output=tmp_path / "live.wav"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stderr
    for at in range(0, len(floats), 99_991):
        process.stdin.write(floats[at : at + 99_991])
        process.stdin.flush()
    process.stdin.close()
    said = process.stderr.read().decode()
    assert process.wait(LIMIT_S) == 0, said
    assert (tmp_path / "live.wav").read_bytes() == (tmp_path / "plain.wav").read_bytes()


def test_standard_input_without_samples_is_an_error(tmp_path: Path) -> None:
    assert "there are no samples on standard input" in refusal(run(stdin=b"", input="-"))
    assert "it is a WAV file" in refusal(run(stdin=b"RIFF....WAVE" + bytes(99), input="-"))
    assert 'format is "cu9": give' in refusal(run(stdin=b"", input="-", format="cu9"))


def test_a_kernel_that_is_killed_costs_no_sample(tmp_path: Path) -> None:
    data = RECORDING.read_bytes()[: 4 * RATE]
    expected = plain(tmp_path, data)
    runtime = tmp_path / "r"
    runtime.mkdir(mode=0o700)
    with serving(data) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        output = tmp_path / "live.wav"
        places = ("--map", "lpf=1,demodulator=1")
        command = words(*places, **STATION, input=server.address, seconds=2, output=output)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + LIMIT_S
        while not (output.exists() and output.stat().st_size > 40_000):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        kernel = kernels_of(runtime)[1]
        assert kernel
        subprocess.run(["kill", "-9", str(kernel["pid"])], check=True)
        assert process.stderr
        said = process.stderr.read().decode()
        process.wait(LIMIT_S)
    assert "kernel of core 1 was killed" in said
    assert output.read_bytes()[44:] == expected


def test_samples_that_find_no_room_are_counted() -> None:
    with serving(RECORDING.read_bytes(), rate=1e12, endless=True) as server:
        ended = run(**STATION, input=server.address, seconds=60)
    assert ended.returncode == 0, ended.stderr
    counted = ended.stderr.split(" s received, ")[1].split(" ")
    assert int(counted[0]) > 0 and float(counted[2]) > 0


def test_a_source_that_dies_ends_the_run_with_the_reason(tmp_path: Path, second: bytes) -> None:
    with serving(second[:RATE], stays=False) as server:
        ended = run(**STATION, input=server.address, output=tmp_path / "live.wav")
    said = refusal(ended)
    assert "failed: the server closed the connection (after 0.50 s)" in said
    assert (tmp_path / "live.wav").read_bytes()[44:] == plain(tmp_path, second[:RATE])


def test_a_source_that_stalls_ends_the_run_with_the_reason(second: bytes) -> None:
    with serving(second[:RATE]) as server:
        said = refusal(run(**STATION, input=server.address))
    assert "failed: nothing came for 5 s (after 0.50 s)" in said


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "it is not an rtl_tcp server: start `rtl_tcp`"),
        (b"RTL1" + bytes(8), "it is not an rtl_tcp server"),
        (HEADER[:7], "does not send the header of rtl_tcp"),
    ],
)
def test_what_is_no_rtl_tcp_server_is_refused(header: bytes, reason: str) -> None:
    with serving(header=header) as server:
        assert reason in refusal(run(**STATION, input=server.address))


def test_a_server_that_refuses_or_closes_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = refusal(run(**STATION, input=f"rtl_tcp://127.0.0.1:{port}"))
    assert f"Connection refused: start `rtl_tcp -a 127.0.0.1 -p {port}`" in said
    with serving(header=b"", stays=False) as server:
        assert "rtl_tcp serves one client" in refusal(run(**STATION, input=server.address))


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"input": "rtl_tcp://"}, "give rtl_tcp://HOST:PORT"),
        ({"input": "rtl_tcp://127.0.0.1:x"}, "give rtl_tcp://HOST:PORT"),
        ({"input": "rtl_tcp://[::1"}, "give rtl_tcp://HOST:PORT"),
        ({"input": "rtl_tcp://127.0.0.1:9", "gain_db": "loud"}, 'gain_db is "loud": give'),
        ({"input": "rtl_tcp://127.0.0.1:9", "seconds": -1}, "seconds is -1: give a number"),
        ({"input": "http://127.0.0.1/a.cu8"}, "give a file, -, rtl_tcp://HOST:PORT or soapy"),
        ({"input": "soapy://driver=null"}, "station_hz is 0: give the frequency of a station"),
    ],
)
def test_what_is_no_live_source_is_refused(params: dict[str, object], reason: str) -> None:
    assert reason in refusal(run(**params))


# ---- make demo-live -----------------------------------------------------------------------------


def demo(tmp_path: Path, **variables: str) -> Ended:
    """On a machine that has what `tmp_path` has in the place of /sys and /proc."""
    environment = {**os.environ, "SYSTEM": str(tmp_path), "SERVER": "127.0.0.1:9", **variables}
    return subprocess.run(
        [str(RADIO / "demo_live.sh")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_the_demonstration_says_all_that_it_needs(tmp_path: Path) -> None:
    ended = demo(tmp_path, XDG_RUNTIME_DIR=str(tmp_path))
    assert ended.returncode == 1
    said = ended.stderr.splitlines()
    assert [line.split(":")[0] for line in said] == ["error", "help"] * 3
    assert "there is no station" in said[0] and "STATION=100.3e6" in said[1]
    assert "there is no receiver" in said[2] and "start `rtl_tcp`" in said[3]
    assert "there is no sound card" in said[4] and "CARD=none" in said[5]
    usb = tmp_path / "sys/bus/usb/devices/1-1"
    usb.mkdir(parents=True)
    (usb / "idVendor").write_text("0bda\n")
    (usb / "idProduct").write_text("2838\n")
    (tmp_path / "proc/asound").mkdir(parents=True)
    (tmp_path / "proc/asound/cards").write_text(" 0 [Dummy ]: Dummy - Dummy\n")
    ended = demo(tmp_path, STATION="1e8", XDG_RUNTIME_DIR=str(tmp_path))
    if ended.returncode == 1:  # unless SoapySDR has its driver
        assert "a dongle is there, but nothing reads it" in ended.stderr.splitlines()[0]
        assert len(ended.stderr.splitlines()) == 2


def test_the_demonstration_plays_where_there_is_everything(tmp_path: Path, second: bytes) -> None:
    expected = plain(tmp_path, second)
    with serving(second) as server, alsa(tmp_path) as card:
        sound = tmp_path / "live.wav"
        ended = demo(
            tmp_path,
            WHIMBREL=str(WHIMBREL),
            STATION="100e6",
            SOURCE=server.address,
            CARD=card,
            SOUND=str(sound),
            SECONDS_LONG="1",
        )
    assert ended.returncode == 0, ended.stderr
    assert sound.read_bytes()[44:] == expected
    assert (tmp_path / "played.raw").read_bytes() == expected


# ---- SoapySDR -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def soapy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The driver of a receiver that plays a recording."""
    folder = tmp_path_factory.mktemp("soapy")
    try:
        flags = ["-shared", "-fPIC", "-std=c++17", "-o", str(folder / "librecording.so")]
        source = str(RADIO / "test/recording.cpp")
        subprocess.run(["g++", *flags, source, "-lSoapySDR"], check=True, timeout=LIMIT_S)
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"SoapySDR is not installed: {problem}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOAPY_SDR_PLUGIN_PATH", str(folder))
        yield "soapy://driver=recording,path="


def test_a_receiver_is_heard_by_soapysdr(tmp_path: Path, second: bytes, soapy: str) -> None:
    floats = struct.pack(f"<{2 * RATE}f", *((byte - 127.5) / 127.5 for byte in second))
    (tmp_path / "a.cf32").write_bytes(floats)
    command = [str(PLAIN), str(tmp_path / "a.cf32"), str(tmp_path / "plain.wav")]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    (tmp_path / "a.cu8").write_bytes(second)
    heard = tmp_path / "live.wav"
    params = {**STATION, "input": f"{soapy}{tmp_path}/a.cu8", "seconds": 1, "output": heard}
    ended = run(*MOVES, **params)
    assert ended.returncode == 0, ended.stderr
    assert heard.read_bytes() == (tmp_path / "plain.wav").read_bytes()


def test_a_receiver_that_is_missing_or_fails_is_told(soapy: str) -> None:
    said = refusal(run(**STATION, input=soapy.replace("recording", "nothing")))
    assert "`SoapySDRUtil --find` lists the receivers" in said
    said = refusal(run(**STATION, input=f"{soapy}{RECORDING},fails=24000"))
    assert "failed: the receiver failed: STREAM_ERROR (after 0.10 s)" in said
    rates = {"sample_rate": 4.8e6, "decimation": 16, "audio_rate": 50_000}
    said = refusal(run(**STATION, **rates, input=f"{soapy}{RECORDING}"))
    assert "which the receiver" in said and "does not have: set 3200000" in said
