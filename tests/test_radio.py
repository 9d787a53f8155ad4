# SPDX-License-Identifier: Apache-2.0
"""The FM radio end to end: `whimbrel run` on real recordings, while its tasks move."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from running import WHIMBREL, move_enough

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "reproduce/common"))

from stated import check_words, said  # noqa: E402

RADIO = ROOT / "apps/fm_radio"
PLAIN = ROOT / "build/apps/fm_plain"

# Two kernels share a processor where there is only one.
CORES = ("--cores", "0,0") if len(os.sched_getaffinity(0)) < 2 else ()
MOVING = (
    *("--shuttle", "lpf=1,0@3ms", "--shuttle", "demodulator=1,0@2ms"),
    *("--shuttle", "bpf.1=1,0@5ms", "--shuttle", "sum=1,0@7ms"),
)


def settings(recording: str) -> dict[str, str]:
    """The parameters of a recording, from the description that came with it."""
    about = json.loads((RADIO / f"data/{recording}.json").read_text())
    return {
        "input": str(RADIO / f"data/{recording}.cu8"),
        "sample_rate": str(about["sample_rate"]),
        "offset_hz": str(about["offset_hz"]),
        "audio_rate": str(about["ref_wav_rate"]),
    }


def play(output: Path, *options: str, **params: str) -> dict:
    """Plays as fast as it goes and returns the summary."""
    command = [str(WHIMBREL), "run", str(RADIO / "app.toml"), "--fast", "--json", *CORES, *options]
    for key, value in {"output": str(output), **params}.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def expected(recording: str) -> tuple[int, float]:
    """Frames and least SNR in dB that apps/fm_radio/expected.txt asks of a recording."""
    for line in (RADIO / "expected.txt").read_text().splitlines():
        if line.startswith(recording):
            _, _, frames, _, snr_db = line.split()
            return int(frames), float(snr_db)
    raise AssertionError(f"expected.txt does not name {recording}")


RECORDINGS = ("cold_day_240k", "tomatoes_240k", "simplicity_nb_256k")


@pytest.mark.parametrize("recording", RECORDINGS)
def test_the_sound_is_that_of_another_receiver(recording: str, tmp_path: Path) -> None:
    output, reference = tmp_path / "out.wav", RADIO / f"data/{recording}.ref.wav"
    frames, snr_db = expected(recording)
    assert play(output, **settings(recording))["frames"] == frames
    command = [sys.executable, str(RADIO / "score.py"), str(reference), str(output)]
    scored = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"snr_db\s+([\d.]+)", scored)
    assert found, scored
    assert float(found[1]) >= max(30.0, snr_db)
    check_words("apps/fm_radio/README.md", f"{{}} dB (`{recording}`)", [float(found[1])], 0.005)
    stated = said("docs/figures.md", "`make test-parts test-python` | {}, {} and {} dB")
    assert stated[RECORDINGS.index(recording)] == pytest.approx(float(found[1]), rel=0.005)


def test_frames_are_the_same_to_the_bit_whether_tasks_move_or_not(tmp_path: Path) -> None:
    still, moved, plain = tmp_path / "still.wav", tmp_path / "moved.wav", tmp_path / "plain.wav"
    params = {**settings("cold_day_240k"), "plays": "60"}
    play(still, **params)

    def moving() -> dict:
        summary = play(moved, *MOVING, **params)
        assert still.read_bytes() == moved.read_bytes()
        return summary

    move_enough(moving, 20, "lpf", "demodulator", "bpf", "sum")

    play(still, **settings("cold_day_240k"))
    recording = settings("cold_day_240k")["input"]
    subprocess.run([str(PLAIN), recording, str(plain)], check=True, stdout=subprocess.DEVNULL)
    assert still.read_bytes() == plain.read_bytes()


def test_a_recorded_run_holds_every_frame_and_migration(tmp_path: Path) -> None:
    record = tmp_path / "record"
    # So short that there is room for all its events: none is dropped, whenever the helper reads.
    summary = play(tmp_path / "out.wav", "--record", str(record), *MOVING, plays="12")
    assert json.loads((record / "summary.json").read_text())["frames"] == summary["frames"]

    kinds: Counter[int] = Counter()
    for core in range(2):
        stream = (record / f"core-{core}.events").read_bytes()
        assert stream[:8] == b"WBEVENTS"
        assert (len(stream) - 32) % 24 == 0
        assert int.from_bytes(stream[24:32], "little") == summary["start_ns"]
        times = [int.from_bytes(stream[at : at + 8], "little") for at in range(32, len(stream), 24)]
        assert times == sorted(times)
        for at in range(32, len(stream), 24):
            kinds[int.from_bytes(stream[at + 8 : at + 10], "little")] += 1
    sent = sum(channel["sent"] for channel in summary["channels"])
    assert kinds[5] == kinds[6] == sent
    # A task that was parked is attached to its target, or taken back.
    assert kinds[8] == kinds[9] + kinds[10]
    assert kinds[9] == sum(task["migrations"] for task in summary["tasks"])
