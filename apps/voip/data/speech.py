#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes speech.wav: a synthetic sound like speech, which no person has spoken.

usage: speech.py NAME.wav [RATE [SEED]]

Pulses of a voice whose pitch wanders pass the resonances of vowels, in syllables of different
length, with bursts of noise between some, and pauses between words: 5 seconds of 16 bits.
"""

import sys

import numpy as np
from numpy.typing import NDArray
from scipy import signal
from scipy.io import wavfile

SECONDS = 5.0
LOUDEST = 14000
# Frequencies of the first three resonances of a, e, i, o, u; their widths.
VOWELS = (
    (730, 1090, 2440),
    (530, 1840, 2480),
    (270, 2290, 3010),
    (570, 840, 2410),
    (300, 870, 2240),
)
WIDTHS = (80, 110, 160)

Samples = NDArray[np.float64]


def resonate(sound: Samples, frequency: float, width: float, rate: int) -> Samples:
    radius, angle = np.exp(-np.pi * width / rate), 2 * np.pi * frequency / rate
    poles = [1, -2 * radius * np.cos(angle), radius * radius]
    return signal.lfilter([sum(poles)], poles, sound)


def voice(samples: int, rate: int, draw: np.random.Generator) -> Samples:
    """A voice's pulses: the pitch falls within a syllable, and differs between them."""
    pitch = draw.uniform(95, 150) * np.linspace(1.1, 0.9, samples)
    phase = np.cumsum(pitch) / rate
    pulses = np.diff(np.floor(phase), prepend=0.0)
    return signal.lfilter([1.0], [1, -0.95], pulses) + 0.01 * draw.standard_normal(samples)


def syllable(rate: int, draw: np.random.Generator) -> Samples:
    samples = int(rate * draw.uniform(0.12, 0.28))
    sound = voice(samples, rate, draw)
    for frequency, width in zip(VOWELS[draw.integers(len(VOWELS))], WIDTHS, strict=True):
        sound = resonate(sound, frequency, width, rate)
    sound *= np.sin(np.pi * np.linspace(0, 1, samples)) ** 0.5 / np.max(np.abs(sound))
    if draw.random() < 0.4:
        burst = draw.standard_normal(int(rate * draw.uniform(0.03, 0.08)))
        burst = signal.lfilter([1, -0.9], [1], burst) * np.hanning(len(burst))
        return np.concatenate([0.15 * burst, sound])
    return sound


def speech(rate: int, seed: int) -> Samples:
    draw = np.random.default_rng(seed)
    parts: list[Samples] = []
    while sum(map(len, parts)) < SECONDS * rate:
        parts += [syllable(rate, draw) for _ in range(draw.integers(1, 5))]
        parts.append(np.zeros(int(rate * draw.uniform(0.05, 0.25))))
    return np.concatenate(parts)[: int(SECONDS * rate)]


def main() -> None:
    name, *numbers = sys.argv[1:]
    rate, seed = [int(number) for number in numbers] + [8000, 1][len(numbers) :]
    wavfile.write(name, rate, np.round(LOUDEST * speech(rate, seed)).astype(np.int16))


if __name__ == "__main__":
    main()
