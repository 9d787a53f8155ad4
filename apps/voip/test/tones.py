# SPDX-License-Identifier: Apache-2.0
"""Sounds of tones, and how loud each is in what was heard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import wavfile


def tones(path: Path, rate: int, seconds: float, *hz: float) -> Path:
    """A file with a sound of these tones, each as loud."""
    times = np.arange(int(rate * seconds)) / rate
    wave = sum(np.sin(2 * np.pi * one * times) for one in hz) / len(hz)
    wavfile.write(path, rate, (12000 * wave).astype(np.int16))
    return path


def first_channel(path: Path) -> tuple[int, np.ndarray]:
    """The samples in a second of a file, and those of its first channel."""
    rate, read = wavfile.read(path)
    return rate, read if read.ndim == 1 else read[:, 0]


def levels(path: Path, *hz: float, last_s: float = 0) -> list[float]:
    """Each tone's amplitude in a file, in dB below full scale, where the file is not silent;
    `last_s`: in the last seconds of that, without the very last, in which phones hang up."""
    rate, one = first_channel(path)
    loud = np.flatnonzero(np.abs(one) > 100)
    assert len(loud) > rate / 10, f"{path} has {len(loud)} loud samples of {len(one)}"
    first, last = loud[0], loud[-1]
    if last_s:
        last = max(first + rate // 10, last - rate // 2)
        first = max(first, last - int(last_s * rate))
    return [level(one[first:last], rate, tone) for tone in hz]


def loudest_levels(path: Path, *hz: float, part_s: float = 0.5) -> list[float]:
    """The same, of each tone in that part of a file in which it is the loudest."""
    rate, one = first_channel(path)
    length = int(part_s * rate)
    starts = range(0, max(len(one) - length, 0) + 1, length // 2)
    return [max(level(one[at : at + length], rate, tone) for at in starts) for tone in hz]


def level(samples: np.ndarray, rate: int, hz: float) -> float:
    window = np.hanning(len(samples))
    times = np.arange(len(samples)) / rate
    amplitude = 2 * abs(np.sum(samples * window * np.exp(-2j * np.pi * hz * times))) / window.sum()
    return float(20 * np.log10(max(amplitude, 1e-3) / 32768))
