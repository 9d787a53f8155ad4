# SPDX-License-Identifier: Apache-2.0
"""The applications on the model of the SoC, unchanged: what comes out is what comes out elsewhere.

Their inputs are small, as the model runs some hundred thousand cycles a second; SOC_SCALE makes
them longer.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soc
from commands import LIMIT_S, run

APPS = soc.ROOT / "apps"
for folder in ("common", "image_filter/test", "packets/test"):
    sys.path.append(str(APPS / folder))

import test_image_filter as image_filter  # noqa: E402
import test_packets as packets  # noqa: E402

LENGTH = max(1, round(100 * float(soc.SCALE)))


Runs = dict[str, "Future[dict[str, Any]]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where inputs and outputs are."""
    return tmp_path_factory.mktemp("apps")


@pytest.fixture(scope="module")
def runs(folder: Path) -> Iterator[Runs]:
    """All of them, as many at once as there are processors."""
    started = {
        "radio": run_radio,
        "image filter": run_image_filter,
        "packets": run_packets,
        "shared packets": run_shared_packets,
    }
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(os.cpu_count()) as pool:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield {name: pool.submit(run_it, folder) for name, run_it in started.items()}


def moved(summary: dict[str, Any]) -> int:
    return sum(move["status"] == "ok" for move in summary["migrations"])


# ---- The radio ----------------------------------------------------------------------------------

RADIO = APPS / "fm_radio"
FRAMES, FRAME_SAMPLES = 4 * LENGTH, 40
SETTINGS = {"frame_samples": FRAME_SAMPLES, "lpf_taps": 8, "bpf_taps": 8}
# The launcher takes a part of the first core.
SECOND = ["lpf", "demodulator", "bpf.0", "bpf.1", "bpf.2", "sum"]
LEAST_SNR_DB = 120


def recording(folder: Path) -> Path:
    """The beginning of a recording: an I and a Q for each sample."""
    path = folder / "recording.cu8"
    path.write_bytes((RADIO / "data/cold_day_240k.cu8").read_bytes()[: 2 * FRAMES * FRAME_SAMPLES])
    return path


def plain_radio(folder: Path, path: Path) -> np.ndarray:
    """The same in one loop on this machine, without multiplying and adding in one step."""
    build = soc.ROOT / "build" / "soc_radio"
    command = ["make", "-s", "-C", RADIO, f"BUILD={build}", "EXTRA=-ffp-contract=off"]
    subprocess.run([*command, build / "apps/fm_plain"], check=True, timeout=LIMIT_S)
    sound = folder / "plain.f32"
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    command = [build / "apps/fm_plain", path, sound, *settings]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    return np.fromfile(sound, "<f4")


def run_radio(folder: Path) -> dict[str, Any]:
    moves = ["--map", ",".join(f"{task}=1" for task in SECOND), "--move", "demodulator=0@60ms"]
    sound = folder / "soc.f32"
    return run("fm_radio", *moves, input=recording(folder), output=sound, **SETTINGS)


def test_the_radio_sounds_as_on_this_machine_while_its_demodulator_moves(
    folder: Path, runs: Runs
) -> None:
    summary = runs["radio"].result()
    expected = plain_radio(folder, folder / "recording.cu8")
    here = np.fromfile(folder / "soc.f32", "<f4")
    assert len(here) == len(expected) == FRAMES * FRAME_SAMPLES / 5
    noise = float(np.sum((here - expected).astype(float) ** 2))
    power = float(np.sum(expected.astype(float) ** 2))
    snr_db = 10 * math.log10(power / noise) if noise > 0 else math.inf
    equal = int(np.sum(here.view("<u4") == expected.view("<u4")))
    print(f"radio: {equal} of {len(here)} samples have the same bits, SNR {snr_db:.0f} dB")
    assert snr_db >= LEAST_SNR_DB
    assert moved(summary) == 1


# ---- The image filter ---------------------------------------------------------------------------

SMALL = APPS / "image_filter/data/hopper_small.qoi"


def run_image_filter(folder: Path) -> dict[str, Any]:
    moves = ["--map", "control=1,decoder=1,filter=1", "--move", "filter=0@20ms"]
    made = folder / "made.ppm"
    return run("image_filter", *moves, input=SMALL, output=made, piece=24, plays=LENGTH)


def test_every_pixel_is_that_of_ffmpeg_while_the_filter_moves(folder: Path, runs: Runs) -> None:
    summary = runs["image filter"].result()
    header, pixels = (folder / "made.ppm").read_bytes().split(b"255\n", 1)
    assert header == b"P6\n24 28\n"
    assert pixels == image_filter.by_ffmpeg(SMALL, **image_filter.FILTERS["sharpen"])
    assert f"{LENGTH} pictures of 24 x 28" in summary["said"]
    assert moved(summary) == 1


# ---- The packets --------------------------------------------------------------------------------

RULES = "forward udp port 5353; store tcp src port 8080 and greater 100; discard tcp"


# Of the capture, with packets for each rule. `make soak` has all of it.
SOME = (*range(8), *range(24, 28))


def capture(folder: Path) -> Path:
    if float(soc.SCALE) >= soc.LONG_SCALE:
        return packets.LOOPBACK
    whole = packets.LOOPBACK.read_bytes()
    at, made = [24], folder / "received.pcap"  # behind the capture's header
    while at[-1] < len(whole):
        length = int.from_bytes(whole[at[-1] + 8 : at[-1] + 12], "little")
        at.append(at[-1] + 16 + length)
    made.write_bytes(whole[:24] + b"".join(whole[at[i] : at[i + 1]] for i in SOME))
    return made


SPREAD = "packetizer=1,enqueue=1,classifier=1,store=1,discard=1"


def run_packets(folder: Path) -> dict[str, Any]:
    moves = ["--map", SPREAD, "--move", "enqueue=0@20ms", "--move", "crc.0=1@30ms"]
    return run("packets", *moves, input=capture(folder), **packets.outputs(folder))


def test_packets_are_routed_as_tcpdump_would_while_tasks_move(folder: Path, runs: Runs) -> None:
    summary = runs["packets"].result()
    expected = packets.by_tcpdump(capture(folder), RULES, "discard", folder)
    for action, made in packets.outputs(folder).items():
        assert packets.records(made) == expected[action], action
    said = packets.told_in(summary["said"])
    assert (said["received"], said["damaged"]) == (len(packets.records(capture(folder))), 0)
    assert all(expected.values())
    assert said["bits corrected"] > 0
    assert moved(summary) == 2


def run_shared_packets(folder: Path) -> dict[str, Any]:
    made = folder / "shared"
    made.mkdir()
    settings = {"input": capture(made), **packets.outputs(made)}
    return run("packets", "--map", "any", board="rv32_soc:hardware", **settings)


def test_packets_are_routed_as_well_by_tasks_that_both_cores_share(
    folder: Path, runs: Runs
) -> None:
    summary = runs["shared packets"].result()
    expected = packets.by_tcpdump(capture(folder), RULES, "discard", folder)
    for action, made in packets.outputs(folder / "shared").items():
        assert packets.records(made) == expected[action], action
    assert sum(task["chosen"] for task in summary["tasks"]) > 0
    assert moved(summary) == 0
