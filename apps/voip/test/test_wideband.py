# SPDX-License-Identifier: Apache-2.0
"""Calls by G.722: what is above 4 kHz is heard, by phones that are not ours as well."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from driven import CORES, command, ended, refusal
from phones import APP, HOST, baresip, lost_ms, ours, watched
from scipy.io import wavfile
from tones import levels, tones
from tshark import fields, streams

RATE = 16000
LOW, HIGH, ABSENT = 1000, 5500, 3100  # Hz; the high one is not in a sound of 8000 samples/s
PARAMS = {"rate": RATE, "hang_up_ms": 2000}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tones(tmp_path_factory.mktemp("said") / "said.wav", RATE, 2.5, LOW, HIGH)


def is_wide(heard: Path) -> None:
    rate, _ = wavfile.read(heard)
    low, high, absent = levels(heard, LOW, HIGH, ABSENT)
    print(f"{heard.name}: {low:.1f}, {high:.1f} and {absent:.1f} dB")
    assert rate == RATE and abs(low - high) < 3 and low > -30 and absent < high - 12


@pytest.mark.parametrize("codecs", [("G722", "g722"), ("G722, opus", "opus, G722")])
def test_two_of_our_phones_agree_on_it(codecs: tuple[str, str], said: Path, tmp_path: Path) -> None:
    heard = tmp_path / "called.wav", tmp_path / "caller.wav"
    params = {**PARAMS, "input": said}
    with ours(**{**params, "hang_up_ms": 0}, codecs=codecs[1], output=heard[0]) as called:
        peer = f"sip:b@{HOST}:{called.port}"
        with ours(
            "--shuttle=encoder=0,1@70ms",
            "--shuttle=decoder=0,1@90ms",
            **params,
            peer=peer,
            codecs=codecs[0],
            output=heard[1],
        ) as caller:
            pass
    assert "in a call by: G722" in caller.said and "in a call by: G722" in called.said
    assert caller.told("lost") <= lost_ms(caller, called) / 20
    for sound in heard:
        is_wide(sound)


@pytest.mark.parametrize("calls_us", [False, True])
def test_baresip_hears_us_and_is_heard(calls_us: bool, said: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    params = {**PARAMS, "codecs": "G722", "input": said, "output": heard}
    if calls_us:
        with ours(**{**params, "hang_up_ms": 0}) as phone:
            uri = f"sip:whimbrel@{HOST}:{phone.port}"
            with baresip(tmp_path / "b", said, "G722", "PCMU", dial=uri, rate=RATE) as other:
                phone.end()
    else:
        with (
            baresip(tmp_path / "b", said, "PCMU", "G722", rate=RATE) as other,
            ours(**params, peer=other.uri()) as phone,
        ):
            pass
    assert phone.process.returncode == 0 and "in a call by: G722" in phone.said
    is_wide(heard)
    is_wide(other.heard())


def test_a_phone_that_has_g711_alone_is_called_by_that(said: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    narrow = tones(tmp_path / "narrow.wav", 8000, 2.5, LOW, ABSENT)
    params = {**PARAMS, "codecs": "G722, PCMU", "input": said, "output": heard}
    with (
        baresip(tmp_path / "b", narrow, "PCMU") as other,
        ours(**params, peer=other.uri()) as phone,
    ):
        pass
    assert phone.process.returncode == 0 and "in a call by: PCMU" in phone.said
    low, absent, high = levels(heard, LOW, ABSENT, 8000 - ABSENT)
    there = levels(other.heard(), LOW, 8000 - HIGH)
    print(f"heard {low:.1f}, {absent:.1f} and {high:.1f} dB, there {there[0]:.1f}, {there[1]:.1f}")
    assert abs(low - absent) < 3 and low > -30 and high < low - 12
    assert there[0] > -30 and there[1] < there[0] - 12


@pytest.mark.parametrize("rate", [11025, 44100, 48000])
def test_an_input_of_any_rate_is_spoken_at_its_pitch(rate: int, tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    spoken = tones(tmp_path / "spoken.wav", rate, 2.5, LOW, 4600)
    params = {**PARAMS, "peer": "loop", "codecs": "G722", "input": spoken, "output": heard}
    simulated = ended(command("sim", APP, (), params))
    assert simulated.returncode == 0, simulated.stderr
    low, high, absent = levels(heard, LOW, 4600, ABSENT)
    assert abs(low - high) < 2 and low > -20 and absent < low - 30


def test_a_phone_without_an_input_is_silent(tmp_path: Path) -> None:
    heard = tmp_path / "heard.wav"
    params = {"peer": "loop", "hang_up_ms": 500, "input": "", "output": heard}
    simulated = ended(command("sim", APP, (), params))
    assert simulated.returncode == 0, simulated.stderr
    _, samples = wavfile.read(heard)
    assert len(samples) > 2000 and abs(samples).max() < 10


def test_another_decoder_reads_it_and_its_clock_has_8000_ticks(said: Path, tmp_path: Path) -> None:
    capture, coded, heard = (tmp_path / name for name in ("call.pcap", "said.g722", "said.wav"))
    with (
        baresip(tmp_path / "b", said, "G722", rate=RATE) as other,
        ours(codecs="G722", input=said, peer=other.uri(), capture=capture, **PARAMS) as phone,
    ):
        pass
    packets = fields(
        capture, "rtp", "udp.dstport", "rtp.p_type", "rtp.timestamp", "rtp.payload", "rtp.seq"
    )
    ports = {row[0] for row in packets}
    (ours_to,) = {stream.sink[1] for stream in streams(capture)} - {port_of_ours(capture)}
    sent = [row for row in packets if row[0] == str(ours_to)]
    assert len(ports) == 2 and {row[1] for row in sent} == {"9"}
    steps = [(int(b[2]) - int(a[2])) % 2**32 for a, b in pairwise(sent)]
    assert steps.count(160) > 0.8 * len(steps) - lost_ms(phone) / 20, steps
    coded.write_bytes(b"".join(bytes.fromhex(row[3].replace(":", "")) for row in sent))
    words = ["ffmpeg", "-v", "error", "-f", "g722", "-i", str(coded), str(heard)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    is_wide(heard)


def port_of_ours(capture: Path) -> int:
    """Where our phone, which calls, wants to get its packets."""
    (row,) = fields(capture, "sip.Method == INVITE", "sdp.media.port")
    return int(row[0])


def test_a_phone_that_is_built_without_the_library_says_what_is_missing(tmp_path: Path) -> None:
    words = ["make", "-C", APP.parent, f"BUILD={tmp_path}", "SPANDSP="]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    app = watched(tmp_path, tmp_path / "apps/voip.so")
    params = {"peer": "loop", "hang_up_ms": 100}
    assert ended(command("run", app, CORES, params)).returncode == 0
    refused = ended(command("run", app, CORES, {**params, "codecs": "G722", "rate": RATE}))
    assert '"G722" needs SpanDSP: make setup, then make build' in refusal(refused)
