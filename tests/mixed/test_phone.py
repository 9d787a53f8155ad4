# SPDX-License-Identifier: Apache-2.0
"""The phone of apps/voip with its codecs on FreeRTOS, and all that needs libraries on Linux."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "apps/voip/test"), str(ROOT / "apps/common")]

from conference import each_hears_all_others, hang_up, three  # noqa: E402
from driven import CPUS, command, ended, moved, refusal  # noqa: E402
from phones import (  # noqa: E402
    APP,
    CONFERENCE,
    FRAME,
    RATE,
    SPEECH,
    Ours,
    Sound,
    baresip,
    lost_ms,
    ours,
    samples,
    share_heard,
    speech,
)
from tshark import streams  # noqa: E402
from under_way import kernel_of, wait_for_more  # noqa: E402

CROSSED = ("--cores", f"{CPUS[0]},virt_a64:0")
SAID_MS = 1500
CALLS = 8  # that may be outstanding: app.toml
ON_THEIR_WAY = 10  # frames, when a call ends


def loud_frames(sound: Sound) -> list[bytes]:
    """The frames of a sound but for silent ones."""
    frames = [sound[at : at + FRAME] for at in range(0, len(sound) - FRAME + 1, FRAME)]
    return [frame.tobytes() for frame in frames if np.any(frame)]


@pytest.fixture(scope="module")
def ideal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sound]:
    """What is heard of the recording by each codec where no frame is lost: by the functions that
    Linux has. The recording is longer than the calls."""
    folder = tmp_path_factory.mktemp("ideal")
    source, library = ROOT / "apps/voip/g711.c", folder / "g711.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    g711 = ctypes.CDLL(str(library))
    heard = {}
    for codec, law in (("PCMU", "ulaw"), ("PCMA", "alaw")):
        encode, decode = (getattr(g711, f"g711_{law}_{what}") for what in ("encode", "decode"))
        encode.restype, decode.restype = ctypes.c_uint8, ctypes.c_int16
        said = [decode(encode(int(sample))) for sample in samples(SPEECH)]
        heard[codec] = np.array(said, dtype=np.int16)
    return heard


def found(frames: list[bytes], among: list[bytes]) -> int:
    """How many of these frames are among others, in their order."""
    at, n = 0, 0
    for frame in frames:
        if frame in among[at:]:
            at = among.index(frame, at) + 1
            n += 1
    return n


def most_is_heard(
    heard: Path, ideal: Sound, lost: float, said: int = SAID_MS * RATE // 1000
) -> bool:
    """`said`: the samples that were said at least; `lost`: the frames for which the machine had no
    time."""
    frames = loud_frames(ideal[:said])
    return found(loud_frames(samples(heard)), frames) >= len(frames) - ON_THEIR_WAY - lost


def on_freertos(phone: Ours) -> set[str]:
    return {task["task"] for task in phone.summary["tasks"] if task["core"] == 1}


@pytest.mark.parametrize("codec", ["PCMU", "PCMA"])
def test_what_is_heard_by_codecs_on_freertos_is_the_same_to_the_bit(
    codec: str, ideal: dict[str, Sound], tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    params = {"peer": "loop", "codecs": codec, "hang_up_ms": SAID_MS, "output": heard}
    with ours(cores=CROSSED, **params) as phone:
        pass
    assert phone.process.returncode == 0, phone.said
    assert phone.summary["cores"][1]["guest"] == "virt_a64"
    assert on_freertos(phone) == {"encoder", "decoder", "canceller"}
    frames, lost = loud_frames(samples(heard)), lost_ms(phone) / 20
    print(f"{len(frames)} frames heard, {lost} lost; {phone.said}")
    # A frame that is concealed is the last one at half the volume. It may hang up late.
    assert found(frames, loud_frames(ideal[codec])) >= len(frames) - phone.told("concealed")
    assert most_is_heard(heard, ideal[codec], lost)
    assert 0 <= phone.told("frames encoded") - phone.told("packets sent") <= CALLS
    assert phone.told("packets sent") >= SAID_MS / 20 - ON_THEIR_WAY - lost


def test_baresip_is_called_by_a_phone_with_its_codecs_on_freertos(tmp_path: Path) -> None:
    far, heard = speech(tmp_path / "far.wav", seed=2), tmp_path / "heard.wav"
    said_ms = 3000
    with (
        baresip(tmp_path / "b", far, "PCMA") as other,
        ours(cores=CROSSED, peer=other.uri(), output=heard, hang_up_ms=said_ms) as phone,
    ):
        pass
    assert phone.process.returncode == 0 and "in a call by: PCMA" in phone.said
    shares = (
        share_heard(far, heard, said_ms - 200, "PCMA"),
        share_heard(SPEECH, other.heard(), said_ms - 200, "PCMA"),
    )
    lost = lost_ms(phone, other)
    print(f"heard {shares[0]:.3f}, heard there {shares[1]:.3f}; {lost} ms lost")
    assert min(shares) >= 0.75 - lost / said_ms


# ---- Moves and deaths ---------------------------------------------------------------------------


def test_a_call_goes_on_while_its_codecs_go_to_linux_and_back(
    ideal: dict[str, Sound], tmp_path: Path
) -> None:
    heard = tmp_path / "heard.wav"
    options = (
        "--mode",
        "reenter",
        "--shuttle",
        "encoder=0,1@90ms",
        "--shuttle",
        "decoder=0,1@110ms",
    )
    params = {"peer": "loop", "hang_up_ms": SAID_MS, "output": heard}
    with ours(*options, cores=CROSSED, **params) as phone:
        pass
    assert phone.process.returncode == 0, phone.said
    lost = lost_ms(phone) / 20
    print(f"{moved(phone.summary)} moves, {lost} lost; {phone.said}")
    assert moved(phone.summary) >= 10 * (1 - lost * 20 / SAID_MS)
    assert most_is_heard(heard, ideal["PCMU"], lost)


def test_a_call_goes_on_though_its_emulator_is_killed(
    ideal: dict[str, Sound], tmp_path: Path
) -> None:
    """The codecs continue on Linux, and the emulator comes back, however long that takes."""
    heard = tmp_path / "heard.wav"

    def is_heard(frames: int) -> bool:
        return wait_for_more(phone.runtime, phone.process, frames, ["agent_sound"])

    params = {"peer": "loop", "hang_up_ms": 0, "output": heard}
    with ours("--restart", cores=CROSSED, **params) as phone:
        assert is_heard(20), phone.log()
        emulator = kernel_of(phone.runtime, 1)
        os.kill(emulator, signal.SIGKILL)
        kernel_of(phone.runtime, 1, instead_of=emulator)
        phone.wait_until("the kernel of core 1 runs again")
        assert is_heard(40), phone.log()
        phone.process.send_signal(signal.SIGINT)
    assert phone.process.returncode == 0, phone.said
    (death,) = phone.summary["deaths"]
    assert (death["core"], death["lost"]) == (1, 0) and death["back_after_ns"]
    lost = lost_ms(phone) / 20
    print(f"the longest gap in the sound {phone.gap_ms()} ms, {lost} lost; {phone.said}")
    assert most_is_heard(heard, ideal["PCMU"], lost, int(phone.told("packets sent")) * FRAME)


def test_a_conference_goes_on_while_its_mixer_goes_to_linux_and_back(tmp_path: Path) -> None:
    options = ("--mode", "reenter", "--shuttle", "mixer=0,1@200ms")
    with ours(*options, app=CONFERENCE, cores=CROSSED, calls=3) as bridge, ExitStack() as calls:
        phones = three(tmp_path, bridge, ("PCMU", "PCMA", "PCMU"), 8000, calls)
        time.sleep(3)
        hang_up(phones)
    lost = lost_ms(bridge, *phones)
    print(f"{moved(bridge.summary)} moves, {lost} ms lost; {bridge.said}")
    assert bridge.process.returncode == 0, bridge.said
    assert moved(bridge.summary) >= 8 * (1 - lost / 3000)
    each_hears_all_others(tmp_path, 8000, lost)
    for place in range(3):
        assert not any(stream.lost for stream in streams(tmp_path / f"{place}.pcap"))


# ---- What FreeRTOS does not have ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"codecs": "PCMU opus"}, "opus or G722 is not in the program of its core: leave it out"),
        (
            {"cancel": 1},
            "SpeexDSP is not in the program of its core: give the task a core of Linux",
        ),
    ],
)
def test_what_needs_a_library_is_refused_on_freertos_with_its_cure(
    params: dict[str, object], why: str
) -> None:
    said = refusal(ended(command("run", APP, CROSSED, {"peer": "loop", **params})))
    assert why in said and "by --map" in said, said


def test_the_canceller_works_on_linux_beside_codecs_on_freertos() -> None:
    params = {"peer": "loop", "hang_up_ms": 500, "cancel": 1, "suppress": 1}
    with ours("--map", "canceller=0", cores=CROSSED, **params) as phone:
        pass
    assert phone.process.returncode == 0, phone.said
    assert on_freertos(phone) == {"encoder", "decoder"}
    assert phone.told("packets sent") >= 500 / 20 - ON_THEIR_WAY - lost_ms(phone) / 20
