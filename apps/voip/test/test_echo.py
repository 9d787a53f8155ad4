# SPDX-License-Identifier: Apache-2.0
"""The echo of a room is taken off, as the other phone hears it; and noise is."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np
from phones import RATE, Baresip, baresip, ours, samples, speech
from scipy.io import wavfile

SAID_MS = 5000
LEARNED_S = 2  # the filter adapts


def level_db(other: Baresip) -> float:
    heard = samples(other.heard())[LEARNED_S * RATE : int(4.5 * RATE)].astype(float)
    return 10 * float(np.log10(np.mean(heard**2) + 1e-9))


def levels(folder: Path, near: Path, *runs: dict[str, int], options: str = "") -> list[float]:
    """How loud the other phone hears us while it talks, of several calls at once."""
    far = speech(folder / "far.wav", seed=2)
    with ExitStack() as stack:
        others = [
            stack.enter_context(baresip(folder / f"b{i}", far, "PCMU")) for i in range(len(runs))
        ]
        for other, params in zip(others, runs, strict=True):
            settings = {"peer": other.uri(), "hang_up_ms": SAID_MS, "input": near, **params}
            stack.enter_context(ours(*options.split(), **settings))
    return [level_db(other) for other in others]


def test_the_echo_of_a_room_is_taken_off(tmp_path: Path) -> None:
    silence = tmp_path / "silence.wav"
    wavfile.write(silence, RATE, np.zeros(SAID_MS * RATE // 1000, np.int16))
    room = {"echo_ms": 40, "echo_permille": 300}
    moves = "--shuttle=canceller=0,1@90ms"  # with all that it has learned
    left, taken = levels(tmp_path, silence, room, {**room, "cancel": 1}, options=moves)
    print(f"echo {left:.1f} dB, with the canceller {taken:.1f} dB")
    assert left > 40 and left - taken > 15


def test_noise_is_suppressed(tmp_path: Path) -> None:
    noise = tmp_path / "noise.wav"
    draw = np.random.default_rng(1)
    wavfile.write(noise, RATE, (draw.standard_normal(5 * RATE) * 300).astype(np.int16))
    left, suppressed = levels(tmp_path, noise, {}, {"suppress": 1})
    print(f"noise {left:.1f} dB, suppressed {suppressed:.1f} dB")
    assert left > 45 and left - suppressed > 8
