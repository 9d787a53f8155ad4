#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Says how well a receiver's sound agrees with the reference.

usage: score.py REFERENCE.wav SOUND.wav

The two may differ in volume and delay, which no listener minds: the delay is found to an eighth of
a sample by cross-correlation, the mean and the first and last thousand samples are left out, and
what the best scaling of one does not explain of the other is noise.
"""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import signal
from scipy.io import wavfile

Samples = NDArray[np.float64]

UPSAMPLING = 8
LONGEST_DELAY = 4000
SKIPPED = 1000


@dataclass(frozen=True)
class Score:
    """How a sound compares with its reference."""

    correlation: float
    snr_db: float
    delay_samples: float


def read_mono(path: Path) -> tuple[int, Samples]:
    """The sample rate and the samples of a mono WAV file."""
    rate, samples = wavfile.read(path)
    if samples.ndim != 1:
        raise ValueError(f"{path} is not mono")
    return rate, samples.astype(np.float64)


def find_delay(reference: Samples, sound: Samples) -> int:
    """How many samples `sound` is behind `reference`."""
    match = np.abs(signal.correlate(sound, reference, mode="full", method="fft"))
    delays = np.arange(1 - len(reference), len(sound))
    match[np.abs(delays) > LONGEST_DELAY * UPSAMPLING] = 0
    return int(delays[np.argmax(match)])


def overlap(reference: Samples, sound: Samples, delay: int) -> tuple[Samples, Samples]:
    """The parts of both that belong together, without their ends."""
    reference, sound = reference[max(0, -delay) :], sound[max(0, delay) :]
    length = min(len(reference), len(sound))
    inner = slice(SKIPPED * UPSAMPLING, length - SKIPPED * UPSAMPLING)
    return reference[inner], sound[inner]


def score(reference: Samples, sound: Samples) -> Score:
    """Compares two sounds of one rate."""
    fine_reference, fine_sound = (
        signal.resample_poly(samples - samples.mean(), UPSAMPLING, 1)
        for samples in (reference, sound)
    )
    delay = find_delay(fine_reference, fine_sound)
    left, right = overlap(fine_reference, fine_sound, delay)
    power = float(left @ left) * float(right @ right)
    explained = float(left @ right) ** 2 / power if power > 0 else 0.0
    snr_db = 10 * math.log10(max(explained, 1e-12) / max(1 - explained, 1e-12))
    return Score(math.sqrt(explained), snr_db, delay / UPSAMPLING)


def score_files(reference: Path, sound: Path) -> Score:
    """Compares two WAV files.

    Raises ValueError when they cannot be compared.
    """
    reference_rate, reference_samples = read_mono(reference)
    rate, samples = read_mono(sound)
    if rate != reference_rate:
        raise ValueError(f"{sound} has {rate} samples a second, {reference} {reference_rate}")
    if min(len(samples), len(reference_samples)) <= 2 * (SKIPPED + LONGEST_DELAY):
        raise ValueError(f"{sound} or {reference} is too short to be compared")
    return score(reference_samples, samples)


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: score.py REFERENCE.wav SOUND.wav", file=sys.stderr)
        return 2
    try:
        result = score_files(Path(sys.argv[1]), Path(sys.argv[2]))
    except (OSError, ValueError) as problem:
        print(f"score.py: {problem}", file=sys.stderr)
        return 2
    print(
        f"correlation {result.correlation:.5f}  snr_db {result.snr_db:.2f}"
        f"  delay_samples {result.delay_samples}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
