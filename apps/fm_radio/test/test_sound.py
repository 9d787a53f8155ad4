#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The plain radio against the reference sound of another transmitter and receiver.

usage: test_sound.py FM_PLAIN [unittest options]
"""

import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

APP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(APP))

from score import score_files

LEAST_SNR_DB = 30.0
program = ""


@dataclass(frozen=True)
class Expected:
    """One line of expected.txt."""

    settings: dict[str, str]
    samples: int
    snr_db: float


def read_expected() -> dict[str, Expected]:
    """What must come out of each recording, by its name."""
    lines = (APP / "expected.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {
        name: Expected(
            dict(item.split("=", 1) for item in settings.split(",")), int(samples), float(snr_db)
        )
        for name, settings, _frames, samples, snr_db in rows
    }


RECORDINGS = read_expected()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=600, check=False
    )


def snr_db(name: str, **changes: float) -> float:
    """Plays a recording and scores what comes out."""
    expected = RECORDINGS[name]
    settings = expected.settings | {key: str(value) for key, value in changes.items()}
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound.wav"
        result = run(
            str(APP / f"data/{name}.cu8"), str(sound), *(f"{k}={v}" for k, v in settings.items())
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout.endswith(f" {expected.samples} samples out\n"), result.stdout
        return score_files(APP / f"data/{name}.ref.wav", sound).snr_db


class Sound(unittest.TestCase):
    def test_every_recording_sounds_like_its_reference(self) -> None:
        self.assertEqual(len(RECORDINGS), 3)
        for name, expected in RECORDINGS.items():
            with self.subTest(name):
                self.assertGreaterEqual(expected.snr_db, LEAST_SNR_DB)
                self.assertGreaterEqual(snr_db(name), expected.snr_db)

    def test_any_number_of_equal_bands_sounds_the_same(self) -> None:
        for bands in (1, 7):
            with self.subTest(bands=bands):
                self.assertGreaterEqual(snr_db("tomatoes_240k", bands=bands), LEAST_SNR_DB)

    def test_without_the_low_pass_the_neighbour_is_louder_than_the_station(self) -> None:
        self.assertLess(snr_db("simplicity_nb_256k", lpf_cutoff_hz=128000, lpf_taps=1), 0)

    def test_without_de_emphasis_the_sound_is_wrong(self) -> None:
        self.assertLess(snr_db("tomatoes_240k", deemphasis_us=0), LEAST_SNR_DB)

    def test_without_the_offset_the_station_slides_out_of_the_low_pass(self) -> None:
        self.assertLess(snr_db("cold_day_240k", offset_hz=64000), LEAST_SNR_DB)


class BadInput(unittest.TestCase):
    def refused(self, *arguments: str) -> str:
        result = run(*arguments)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1)
        return result.stderr

    def test_a_missing_recording_is_named(self) -> None:
        self.assertIn(
            'input "nowhere.cu8" cannot be played: No such file',
            self.refused("nowhere.cu8", "out.wav"),
        )

    def test_a_setting_that_does_not_exist_is_named(self) -> None:
        recording = str(APP / "data/cold_day_240k.cu8")
        self.assertIn('"speed=9"', self.refused(recording, "out.wav", "speed=9"))
        self.assertIn("sample_rate", self.refused(recording, "out.wav", "sample_rate=fast"))
        self.assertIn("whole number from", self.refused(recording, "out.wav", "audio_rate=44100"))


if __name__ == "__main__":
    program = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
