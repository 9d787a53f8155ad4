#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings as SDR programs leave them, played by the plain radio.

usage: test_containers.py FM_PLAIN [unittest options]

The samples of 8 bits have their zero between two numbers. What is wider holds them exactly, so the
sound may differ by roundings only: 0.01 dB. Signed bytes have no number there, so that the
recording itself is rounded once more, which costs it about 1 dB.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

APP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(APP))

from containers import UNFILLED, chunk, levels, packed, sigmf, tuned, wav
from score import score_files

RATE = 240000
CENTRE_HZ = 100_000_000
OFFSET_HZ = 4000
RECORDING = APP / "data/cold_day_240k.cu8"
REFERENCE = APP / "data/cold_day_240k.ref.wav"
SECOND = 2 * RATE  # bytes of the recording
ROUNDINGS_DB = 0.01
ROUNDED_ANEW_DB = 1.5
program = ""


class Played(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.sound = self.folder / "sound.wav"

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_plain(self, path: Path, *settings: str) -> subprocess.CompletedProcess[str]:
        words = [program, str(path), str(self.sound), *settings]
        return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)

    def play(self, path: Path, *settings: str) -> bytes:
        """The sound of a recording."""
        ended = self.run_plain(path, *settings)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return self.sound.read_bytes()

    def snr_db(self, path: Path, *settings: str) -> float:
        self.play(path, *settings)
        return score_files(REFERENCE, self.sound).snr_db

    def refused(self, path: Path, *settings: str) -> str:
        ended = self.run_plain(path, *settings)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
        self.assertLess(len(ended.stderr), 270)
        return ended.stderr


class Containers(Played):
    def test_every_container_has_the_signal_to_noise_ratio_of_the_raw_file(self) -> None:
        values = levels(RECORDING)
        raw_db = self.snr_db(RECORDING)
        for name, kind, tolerance_db in (
            ("a.cs8", "<i1", ROUNDED_ANEW_DB),
            ("a.cs16", "<i2", ROUNDINGS_DB),
            ("a.cf32", "<f4", ROUNDINGS_DB),
            ("a_fc.raw", "<f4", ROUNDINGS_DB),
            ("a.cs32", "<i4", ROUNDINGS_DB),
            ("a.cf64", "<f8", ROUNDINGS_DB),
            ("u1.wav", "<u1", ROUNDINGS_DB),
            ("i2.wav", "<i2", ROUNDINGS_DB),
            ("i3.wav", "<i3", ROUNDINGS_DB),
            ("f4.wav", "<f4", ROUNDINGS_DB),
            ("ci16_le.sigmf-meta", "<i2", ROUNDINGS_DB),
            ("ci16_be.sigmf-meta", ">i2", ROUNDINGS_DB),
            ("cf32_le.sigmf-data", "<f4", ROUNDINGS_DB),
            ("cf32_be.sigmf-data", ">f4", ROUNDINGS_DB),
            ("cu8.sigmf-meta", "<u1", ROUNDINGS_DB),
        ):
            with self.subTest(name):
                path, data = self.folder / name, packed(values, kind)
                if path.suffix == ".wav":
                    path.write_bytes(wav(data, RATE, kind=kind))
                elif path.suffix.startswith(".sigmf"):
                    sigmf(path, data, path.stem, RATE, [{"core:sample_start": 0}])
                else:
                    path.write_bytes(data)
                snr_db = self.snr_db(path)
                print(f"# {name}: {snr_db:.3f} dB, raw {raw_db:.3f} dB")
                self.assertAlmostEqual(snr_db, raw_db, delta=tolerance_db)

    def test_what_is_8_bits_in_a_container_has_the_same_sound_to_the_bit(self) -> None:
        data = RECORDING.read_bytes()[:SECOND]
        expected = self.play(self.write("raw.cu8", data))
        path = self.write("a.wav", wav(data, RATE, kind="<u1"))
        self.assertEqual(self.play(path), expected)
        self.assertEqual(self.play(self.write("raw.bin", data), "format=cu8"), expected)
        meta = sigmf(self.folder / "a", data, "cu8", RATE, [])
        self.assertEqual(self.play(meta), expected)
        self.assertEqual(self.play(meta.with_suffix(".sigmf-data")), expected)

    def test_frames_of_any_length_and_decimation_have_the_same_sound_of_floats(self) -> None:
        path = self.write("a.cf32", packed(levels(RECORDING)[:SECOND], "<f4"))
        for decimation in ("decimation=1", "decimation=3"):
            rate = "sample_rate=720000" if decimation != "decimation=1" else "sample_rate=240000"
            expected = self.play(path, decimation, rate)
            for samples in (64, 777, 4801, 65536):
                sound = self.play(path, decimation, rate, f"frame_samples={samples}")
                self.assertEqual(sound, expected)


class Wav(Played):
    """What recorders leave around the samples."""

    def setUp(self) -> None:
        super().setUp()
        self.data = packed(levels(RECORDING)[:SECOND], "<i2")
        self.expected = self.play(self.write("raw.cs16", self.data))

    def same(self, **changes: object) -> None:
        path = self.write("a.wav", wav(self.data, RATE, **changes))
        self.assertEqual(self.play(path), self.expected)

    def test_sizes_that_were_never_filled_in_are_read_to_the_end(self) -> None:
        for size in (0, UNFILLED, 0x7FFFFFFF, 0x7FFFF000, 0x80000000):
            with self.subTest(size=size):
                self.same(size=size)

    def test_chunks_before_and_behind_are_no_samples(self) -> None:
        others = [
            chunk(b"LIST", b"INFOISFT\5\0\0\0SDR#\0\0"),
            chunk(b"bext", bytes(602)),
            chunk(b"JUNK", b"data" * 7 + b"x"),
            chunk(b"fact", bytes(4)),
            tuned(CENTRE_HZ),
        ]
        for other in others:
            with self.subTest(other[:4]):
                self.same(before=other)
                self.same(after=other)
        self.same(before=b"".join(others), after=b"".join(others))

    def test_extensible_and_64_bits_are_read(self) -> None:
        self.same(extensible=True)
        self.same(head=b"RF64", size=UNFILLED)
        self.same(head=b"RF64", size=UNFILLED, before=tuned(CENTRE_HZ))

    def test_a_file_that_was_cut_off_is_played_to_there(self) -> None:
        whole = wav(self.data, RATE)
        path = self.write("a.wav", whole[: -len(self.data) // 2 - 3])
        sound = self.play(path)
        self.assertEqual(sound[44:], self.expected[44 : len(sound)])
        self.assertEqual(len(sound) - 44, (len(self.expected) - 44) // 2 - 2)

    def test_music_is_refused(self) -> None:
        music = self.write("music.wav", wav(self.data, 48000, channels=1))
        self.assertIn("it has 1 channel: give an IQ recording", self.refused(music))
        music = self.write("music.wav", wav(self.data, 48000))
        self.assertIn("too few for broadcast FM", self.refused(music))
        music = self.write("music.wav", wav(self.data, RATE, channels=4))
        self.assertIn("it has 4 channels", self.refused(music))
        music = self.write("music.mp3", self.data)
        self.assertIn("set format to cu8, cs8, cs16 or cf32", self.refused(music))
        music = self.write("music.wav", b"OggS" + self.data)
        self.assertIn("it is not a WAV file", self.refused(music))


class Rates(Played):
    def test_a_rate_that_is_not_that_of_the_radio_is_refused_with_settings_that_suit(self) -> None:
        values = levels(RECORDING)[: SECOND // 8]
        for rate in (250_000, 1_024_000, 1_920_000, 2_048_000, 2_400_000, 2_500_000, 192_000):
            with self.subTest(rate=rate):
                path = self.write("a.wav", wav(packed(values, "<i2"), rate))
                said = self.refused(path)
                self.assertIn(f'but input "{path}" has {rate} samples in a second'[:40], said)
                settings = said.split(": set ")[1].replace(" and ", ", ").strip().split(", ")
                self.play(path, *settings)

    def test_a_rate_that_has_no_settings_is_to_be_resampled(self) -> None:
        path = self.write("a.wav", wav(bytes(400), 10_000_019))
        self.assertIn("resample it to 240000", self.refused(path))

    def test_sigmf_says_the_rate_too(self) -> None:
        meta = sigmf(self.folder / "a", bytes(400), "cu8", 2.4e6, [])
        said = self.refused(meta)
        self.assertIn("set sample_rate=2400000, decimation=10 and audio_rate=48000", said)


class Stations(Played):
    """The offset is the station's frequency less that of the recording."""

    def setUp(self) -> None:
        super().setUp()
        self.data = packed(levels(RECORDING)[:SECOND], "<i2")
        self.expected = self.play(self.write("raw.cs16", self.data), f"offset_hz={OFFSET_HZ}")

    def finds(self, path: Path) -> None:
        station = f"station_hz={CENTRE_HZ + OFFSET_HZ}"
        self.assertEqual(self.play(path, station, "offset_hz=0"), self.expected)

    def test_the_frequency_is_taken_from_the_file_that_says_it(self) -> None:
        self.finds(self.write("a.wav", wav(self.data, RATE, before=tuned(CENTRE_HZ))))
        self.finds(self.write("a.wav", wav(self.data, RATE, after=tuned(CENTRE_HZ))))
        captures = [{"core:sample_start": 0, "core:frequency": CENTRE_HZ}]
        self.finds(sigmf(self.folder / "a", self.data, "ci16_le", RATE, captures))

    def test_the_frequency_is_taken_from_the_name_that_says_it(self) -> None:
        whole = wav(self.data, RATE)
        self.finds(self.write("baseband_100000000Hz_12-00-00_28-11-2026.wav", whole))
        self.finds(self.write("SDRSharp_20261128_120000Z_100000000Hz_IQ.wav", whole))
        self.finds(self.write("HDSDR_20261128_120000Z_100000kHz_RF.wav", whole))
        floats = packed(levels(RECORDING)[:SECOND], "<f4")
        path = self.write("gqrx_20261128_120000_100000000_240000_fc.raw", floats)
        self.play(path, f"station_hz={CENTRE_HZ + OFFSET_HZ}")
        path = self.write("gqrx_20261128_120000_100000000_2400000_fc.raw", floats)
        self.assertIn("set sample_rate=2400000", self.refused(path))

    def test_a_station_outside_of_the_recording_is_refused(self) -> None:
        path = self.write("a.wav", wav(self.data, RATE, before=tuned(CENTRE_HZ)))
        said = self.refused(path, "station_hz=88e6")
        self.assertIn("station_hz is 88000000: give a frequency from 99880000 to 100120000", said)

    def test_a_file_that_says_no_frequency_needs_the_offset(self) -> None:
        path = self.write("a.wav", wav(self.data, RATE))
        self.assertIn("set offset_hz, and station_hz to 0", self.refused(path, "station_hz=1e8"))
        xml = chunk(b"auxi", "<SDR-XML-Root></SDR-XML-Root>".encode("utf-16-le"))
        path = self.write("a.wav", wav(self.data, RATE, before=xml))
        self.assertIn("does not say", self.refused(path, "station_hz=1e8"))


class SigMf(Played):
    def meta(self, text: str) -> Path:
        self.write("a.sigmf-data", bytes(4000))
        return self.write("a.sigmf-meta", text.encode())

    def test_a_description_that_cannot_be_played_is_refused_with_the_reason(self) -> None:
        for text, reason in (
            ("", "it is empty"),
            ("{", "it is no JSON at byte 1"),
            ("[]", 'no object "global"'),
            ('{"global": {}}', 'no core:datatype: add one, such as "cf32_le"'),
            ('{"global": {"core:datatype": 3}}', "no core:datatype"),
            ('{"global": {"core:datatype": "rf32_le"}}', "real: give a recording of pairs"),
            ('{"global": {"core:datatype": "cf16_le"}}', "convert it to ci16_le or cf32_le"),
            ('{"global": {"core:datatype": "cu8", "core:num_channels": 2}}', "2 channels"),
            ('{"global": {"core:datatype": "cu8", "core:metadata_only": true}}', "get its data"),
            ('{"global": {"core:datatype": "cu8", "core:dataset": "../x"}}', "next to it"),
        ):
            with self.subTest(text):
                self.assertIn(reason, self.refused(self.meta(text)))

    def test_a_file_that_is_missing_is_named(self) -> None:
        meta = self.meta('{"global": {"core:datatype": "cu8"}}')
        data = meta.with_suffix(".sigmf-data")
        data.unlink()
        self.assertIn("a.sigmf-data", self.refused(meta))
        meta.unlink()
        data.write_bytes(bytes(40))
        self.assertIn("a.sigmf-meta", self.refused(data))
        archive = self.write("a.sigmf", b"x")
        self.assertIn("unpack it by tar", self.refused(archive))

    def test_bytes_that_are_no_samples_are_left_out(self) -> None:
        data = RECORDING.read_bytes()[:SECOND]
        expected = self.play(self.write("raw.cu8", data))
        meta = sigmf(
            self.folder / "a",
            b"head" + data + b"tail",
            "cu8",
            RATE,
            [{"core:sample_start": 0, "core:header_bytes": 4}],
            **{"core:trailing_bytes": 4, "core:dataset": "other.bin"},
        )
        meta.with_suffix(".sigmf-data").rename(self.folder / "other.bin")
        self.assertEqual(self.play(meta), expected)

    def test_a_recording_ends_where_another_frequency_begins(self) -> None:
        captures = [
            {"core:sample_start": 0, "core:frequency": 1e8},
            {"core:sample_start": 1000, "core:frequency": 1e8},
            {"core:sample_start": 48000, "core:frequency": 2e8},
        ]
        meta = sigmf(self.folder / "a", RECORDING.read_bytes()[:SECOND], "cu8", RATE, captures)
        self.assertEqual(len(self.play(meta)), 44 + 2 * 9600)


class Large(Played):
    def test_samples_behind_4_GiB_are_found(self) -> None:
        """A file with a hole, of which the end is played."""
        data = packed(levels(RECORDING)[:SECOND], "<i2")
        expected = self.play(self.write("raw.cs16", data))
        path = self.folder / "large.wav"
        hole = (5 << 30) + 1
        head = wav(b"", RATE, head=b"RF64", before=chunk(b"JUNK", b""))
        head = head[: head.index(b"JUNK")]
        with path.open("wb") as file:
            file.write(head + chunk(b"JUNK", b"", UNFILLED))
            file.truncate(len(head) + 8 + UNFILLED + 1)
            file.seek(0, os.SEEK_END)
            file.write(b"data" + struct.pack("<I", len(data)) + data)
        self.assertGreater(path.stat().st_size, 1 << 32)
        self.assertLess(path.stat().st_size, hole)
        self.assertEqual(self.play(path), expected)


if __name__ == "__main__":
    program = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
