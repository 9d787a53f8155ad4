# SPDX-License-Identifier: Apache-2.0
"""Calls through a real SIP server, at which both phones register: ours and baresip's."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kamailio import Server, free_ports, kamailio, password_of
from phones import (
    PATIENCE_S,
    RATE,
    Baresip,
    Ours,
    Param,
    baresip,
    lost_ms,
    ours,
    samples,
    share_heard,
    speech,
    stop,
)
from scipy.io import wavfile

README = Path(__file__).parent.parent / "README.md"
CALLS = int(os.environ.get("VOIP_SERVER_CALLS", "4"))  # in a row
SAID_MS = 1500


@contextmanager
def registered(
    server: Server, folder: Path, *, transport: str = "udp", **params: Param
) -> Iterator[Ours]:
    """Our phone as the user `a`, once the server knows it."""
    password = folder / "password"
    password.write_text(password_of("a") + "\n")
    with ours(
        user="a",
        registrar=server.uri(transport),
        password_file=password,
        tls_ca=server.folder / "certificate.pem",
        **params,
    ) as phone:
        phone.wait_until("registered as")
        yield phone


@contextmanager
def other(
    server: Server, folder: Path, *, dial: str = "", transport: str = "udp", encrypts: str = ""
) -> Iterator[Baresip]:
    """Baresip as the user `b`, once the server knows it."""
    account = f"<{server.address('b')};transport={transport}>;auth_user=b"
    account += f";auth_pass={password_of('b')};regint=60;answermode=auto;ptime=20"
    account += f';audio_codecs={{codecs}};outbound="{server.uri(transport)}"'
    more = f"sip_cafile {server.folder}/certificate.pem\n"
    if encrypts:
        account += f";mediaenc={encrypts}"
        more += "module srtp.so\n"
    said = speech(folder.with_suffix(".wav"), seed=4)
    if dial:  # the end of what it says hangs up
        wavfile.write(said, RATE, samples(said)[: SAID_MS * RATE // 1000])
    with baresip(folder, said, "PCMU", dial=dial, account=account, more=more) as phone:
        if not dial:
            assert phone.until("200 OK"), phone.log()
        yield phone


def call(server: Server, folder: Path, there: Baresip, heard: Path, **params: Param) -> Ours:
    """Our phone calls `b`, and hangs up."""
    peer = server.address("b")
    with registered(server, folder, peer=peer, hang_up_ms=SAID_MS, output=heard, **params) as phone:
        pass
    assert phone.process.returncode == 0, phone.said
    assert phone.told("calls") == 1 and "unregistered" in phone.said, phone.said
    assert there.process.poll() is None, there.log()
    return phone


def is_understood(heard: Path, there: Path, *phones: Ours | Baresip) -> bool:
    said = there.with_suffix(".wav")
    return share_heard(said, heard, SAID_MS - 300) > 0.75 - lost_ms(*phones) / SAID_MS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with kamailio(tmp_path_factory.mktemp("sip") / "server") as running:
        yield running


def test_calls_go_through_a_server_in_both_directions_one_after_another(
    server: Server, tmp_path: Path
) -> None:
    heard = [tmp_path / f"heard{i}.wav" for i in range(CALLS // 2)]
    with other(server, tmp_path / "b") as there:
        phones = [call(server, tmp_path, there, path) for path in heard]
    with registered(server, tmp_path, calls=CALLS // 2, hang_up_ms=0) as phone:
        for i in range(CALLS // 2):
            with other(server, tmp_path / f"b{i}", dial=server.address("a")) as caller:
                assert caller.until("Call established")
                caller.until("terminated")
    for one, path in zip(phones, heard, strict=True):
        assert is_understood(path, there.folder, one, there)
    assert phone.process.returncode == 0 and phone.told("calls") == CALLS // 2, phone.said


@pytest.mark.parametrize(
    ("transport", "srtp", "theirs"),
    [("tcp", "offer", "srtp"), ("tls", "require", "srtp-mand")],
)
def test_calls_go_by_tcp_and_by_tls_with_encrypted_sound(
    server: Server, tmp_path: Path, transport: str, srtp: str, theirs: str
) -> None:
    params: dict[str, Param] = {"transport": transport, "srtp": srtp}
    heard = tmp_path / "heard.wav"
    with other(server, tmp_path / "b", transport=transport, encrypts=theirs) as there:
        phone = call(server, tmp_path, there, heard, **params)
    assert "encrypts the sound by: AES_CM_128_HMAC_SHA1_80" in phone.said
    assert phone.told("damaged") == 0 and is_understood(heard, there.folder, phone, there)
    with (
        registered(server, tmp_path, hang_up_ms=0, **params) as phone,
        other(
            server,
            tmp_path / "c",
            dial=server.address("a"),
            transport=transport,
            encrypts=theirs,
        ) as caller,
    ):
        assert caller.until("Call established")
        caller.until("terminated")
    assert phone.process.returncode == 0 and phone.told("calls") == 1, phone.said
    assert "encrypts the sound by" in phone.said and phone.told("damaged") == 0, phone.said


def test_without_common_encryption_there_is_no_call(server: Server, tmp_path: Path) -> None:
    to = server.address("a")
    with registered(server, tmp_path, srtp="require", calls=0) as phone:
        with other(server, tmp_path / "plain", dial=to) as caller:
            assert caller.until("488 Not Acceptable Here")
        phone.process.terminate()
    assert "refuses a call: Not Acceptable Here (no encryption in common)" in phone.said
    assert "voip: help: set srtp=offer, or turn on SRTP" in phone.said
    with registered(server, tmp_path, calls=0) as phone:
        with other(server, tmp_path / "secure", dial=to, encrypts="srtp-mand") as caller:
            assert caller.until("488 Not Acceptable Here")
        phone.process.terminate()


def test_after_a_killed_phone_and_a_new_server_calls_go_on(tmp_path: Path) -> None:
    with kamailio(tmp_path / "server") as server:
        params: dict[str, Param] = {"calls": 2, "hang_up_ms": 0, "silence_ms": 1000}
        with registered(server, tmp_path, transport="tcp", **params) as phone:
            with other(server, tmp_path / "b", dial=server.address("a")) as caller:
                assert caller.until("Call established")
                phone.wait_until("in a call")
                caller.process.kill()
                phone.wait_until("hangs up: nothing is heard")
            server.stop()
            phone.wait_until("the connection to the server is closed")
            phone.wait_until("tries to register again")
            server.start()
            phone.wait_until("registered as", times=2)
            with other(server, tmp_path / "c", dial=server.address("a")) as caller:
                assert caller.until("Call established")
                caller.until("terminated")
    assert phone.process.returncode == 0 and phone.told("calls") == 2, phone.said


def test_the_section_of_the_readme_types_as_it_is(tmp_path: Path) -> None:
    section = README.read_text().split("## Register at a SIP server\n")[1]
    blocks = re.findall(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[:3]
    port = free_ports()
    for there, here in (
        ("5070", str(port)),
        ("5080", str(free_ports())),
        ("5090", str(free_ports())),
        ("build/tour", str(tmp_path)),
    ):
        blocks = [block.replace(there, here) for block in blocks]
    served, b, a = ([f"set -e\n{block}".replace("\napps/", "\nexec apps/")] for block in blocks)
    words = {"cwd": README.parents[2], "text": True, "stderr": subprocess.STDOUT}
    with (tmp_path / "b.log").open("w") as log:
        processes = [subprocess.Popen(["bash", "-c", *served], stdout=subprocess.PIPE, **words)]
        try:
            assert "the server is at" in processes[0].stdout.readline()
            processes.append(subprocess.Popen(["bash", "-c", *b], stdout=log, **words))
            while "registered as" not in (tmp_path / "b.log").read_text():
                assert processes[1].poll() is None, (tmp_path / "b.log").read_text()
                time.sleep(0.05)
            called = subprocess.check_output(["bash", "-c", *a], **words)
            assert "voip: 1 calls, 0 failed" in called
            assert processes[1].wait(PATIENCE_S) == 0, (tmp_path / "b.log").read_text()
            assert "unregistered: sip:b@" in (tmp_path / "b.log").read_text()
        finally:
            for process in reversed(processes):
                stop(process)
