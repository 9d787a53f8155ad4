# SPDX-License-Identifier: Apache-2.0
"""The FM receiver that every peer runs: its constants, its input and its expected output.

One receiver: cu8 to complex, a 64-tap frequency-translating filter that decimates by 4, a
quadrature discriminator, three 64-tap band-pass filters and their weighted sum. The peers take the
taps from here, so that none of them can run a smaller filter than the others. The expected output
is computed in double precision with numpy, by the textbook formulas, and shares no code with them.

`fm_graph.py DIR` writes graph.json, input.cu8 and reference.f32 for the peers to read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SAMPLE_RATE_HZ = 960_000
DECIMATION = 4
AUDIO_RATE_HZ = SAMPLE_RATE_HZ // DECIMATION
TAPS = 64
OFFSET_HZ = 120e3
DEVIATION_HZ = 50e3
CHANNEL_CUTOFF_HZ = 100e3
BANDS_HZ = ((0.0, 15e3), (15e3, 31e3), (31e3, 53e3))
WEIGHTS = (1.0, 0.5, 0.25)
# Full windows of both filters, rounded up: outputs before this still hold start-up values.
SETTLE_OUTPUTS = 2 * TAPS
CORRELATION_AT_LEAST = 0.999


def lowpass(cutoff_hz: float, rate_hz: float) -> Floats:
    """Hamming-windowed sinc of TAPS taps with unit gain at 0 Hz."""
    n = np.arange(TAPS) - (TAPS - 1) / 2
    x = 2 * cutoff_hz / rate_hz
    return np.asarray(x * np.sinc(x * n) * np.hamming(TAPS))


def channel_taps() -> Floats:
    return lowpass(CHANNEL_CUTOFF_HZ, SAMPLE_RATE_HZ)


def band_taps() -> list[Floats]:
    return [lowpass(hi, AUDIO_RATE_HZ) - lowpass(lo, AUDIO_RATE_HZ) for lo, hi in BANDS_HZ]


def demod_gain() -> float:
    """Turns radians per output sample into the modulating signal."""
    return AUDIO_RATE_HZ / (2 * np.pi * DEVIATION_HZ)


def station(seconds: float = 1.0) -> NDArray[np.uint8]:
    """A noisy station OFFSET_HZ above the centre, one tone in each band: interleaved cu8.

    A tone in each band makes the sum miss the reference when a band or its weight is wrong.
    """
    t = np.arange(int(SAMPLE_RATE_HZ * seconds)) / SAMPLE_RATE_HZ
    tones = ((0.4, 5e3), (0.2, 23e3), (0.4, 42e3))
    message = sum((a * np.sin(2 * np.pi * f * t) for a, f in tones), np.zeros_like(t))
    phase = 2 * np.pi * np.cumsum(OFFSET_HZ + DEVIATION_HZ * message) / SAMPLE_RATE_HZ
    noise = np.random.default_rng(1).normal(scale=0.02, size=(t.size, 2))
    iq = 0.8 * np.column_stack((np.cos(phase), np.sin(phase))) + noise
    return np.clip(np.round(127.5 + 127.5 * iq), 0, 255).astype(np.uint8).ravel()


def reference(cu8: NDArray[np.uint8]) -> Floats:
    """The receiver's output when every filter starts with zeros in its window."""
    iq = ((cu8.astype(np.float64) - 127.5) / 127.5).view(np.complex128)
    turns = np.arange(iq.size) * (OFFSET_HZ / SAMPLE_RATE_HZ)
    baseband = iq * np.exp(-2j * np.pi * turns)
    channel = np.convolve(baseband, channel_taps())[: iq.size : DECIMATION]
    steps = channel[1:] * channel[:-1].conj()
    message = np.concatenate(([0.0], np.angle(steps) * demod_gain()))
    bands = [np.convolve(message, taps)[: message.size] for taps in band_taps()]
    return np.asarray(np.tensordot(np.asarray(WEIGHTS), np.asarray(bands), axes=1))


def correlation(output: NDArray[Any], expected: NDArray[Any]) -> float:
    """Pearson's coefficient of what both hold; 0 when the output is cut short or not finite."""
    if output.size < 0.99 * expected.size or not np.isfinite(output).all():
        return 0.0
    both = slice(SETTLE_OUTPUTS, min(output.size, expected.size))
    return float(np.corrcoef(output[both], expected[both])[0, 1])


def write(folder: Path) -> None:
    cu8 = station()
    graph = {
        "sample_rate_hz": SAMPLE_RATE_HZ,
        "decimation": DECIMATION,
        "offset_hz": OFFSET_HZ,
        "demod_gain": demod_gain(),
        "channel_taps": channel_taps().tolist(),
        "band_taps": [taps.tolist() for taps in band_taps()],
        "band_weights": WEIGHTS,
        "settle_outputs": SETTLE_OUTPUTS,
        "correlation_at_least": CORRELATION_AT_LEAST,
    }
    (folder / "graph.json").write_text(json.dumps(graph))
    cu8.tofile(folder / "input.cu8")
    reference(cu8).astype("<f4").tofile(folder / "reference.f32")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: fm_graph.py DIR   (an existing folder)")
    write(Path(sys.argv[1]))
