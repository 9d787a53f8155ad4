# SPDX-License-Identifier: Apache-2.0
"""Makes what is converted: music as a wave file, and videos as the paper's were."""

from __future__ import annotations

import subprocess
import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from command import Failed
from numpy.typing import NDArray

SAMPLES_PER_S, BYTES_PER_SAMPLE = 44100, 4
WIDTH, HEIGHT = 320, 240
FRAMES_PER_S = 30000 / 1001
# What mencoder makes of a frame at the bit rate of a video CD, 1152 kbit/s.
BYTES_PER_FRAME = 5067
CLIP_S = 20

# Half steps above 110 Hz: four chords, a second each.
CHORDS = ((12, 15, 19, 24), (8, 12, 15, 20), (3, 7, 10, 15), (10, 14, 17, 22))


class Missing(Failed):
    """A program that is needed is not there, or has failed."""


def second_of_music(number: int, rng: np.random.Generator) -> NDArray[np.int16]:
    """Notes that die away, each with six harmonics, and four strokes of a drum; left and right."""
    t = np.arange(SAMPLES_PER_S) / SAMPLES_PER_S
    sides = np.zeros((SAMPLES_PER_S, 2))
    for place, step in enumerate(CHORDS[number % len(CHORDS)]):
        hz = 110 * 2 ** (step / 12)
        harmonics = np.arange(1, 7)[:, None]
        note = (np.sin(2 * np.pi * hz * harmonics * t) / harmonics).sum(0)
        note *= np.exp(-3 * ((t - place / 4) % 1))
        sides += 0.06 * note[:, None] * (1 + np.array([place, 3 - place]) / 3)
    strokes = rng.standard_normal((SAMPLES_PER_S, 2)) * np.exp(-30 * (t % 0.25))[:, None]
    return (np.clip(sides + 0.05 * strokes, -1, 1) * 32767).astype("<i2")


def write_music(path: Path, megabytes: float) -> None:
    """A wave file, 16 bits at 44.1 kHz, as the paper's."""
    rng = np.random.default_rng(1)
    rest = round(megabytes * 1e6 / BYTES_PER_SAMPLE)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(SAMPLES_PER_S)
        for number in range(-(-rest // SAMPLES_PER_S)):
            some = second_of_music(number, rng)[: rest - number * SAMPLES_PER_S]
            file.writeframesraw(some.tobytes())


def pictures(count: int) -> Iterator[bytes]:
    """Frames in I420: waves of light with grain, and a square that travels over them."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    grain = rng.integers(-6, 7, (2 * HEIGHT, 2 * WIDTH), dtype=np.int16)
    for number in range(count):
        t = number / FRAMES_PER_S
        light = (128 + 60 * np.sin(x / 23 + t) * np.cos(y / 17 - 0.7 * t)).astype(np.int16)
        down, right = rng.integers(0, HEIGHT), rng.integers(0, WIDTH)
        light += grain[down : down + HEIGHT, right : right + WIDTH]
        top, left = round(100 + 70 * np.cos(1.3 * t)), round(130 + 100 * np.sin(t))
        light[top : top + 40, left : left + 60] += 40
        blue = 128 + 30 * np.sin(x[::2, ::2] / 40 + t)
        red = 128 + 30 * np.cos(y[::2, ::2] / 30 - t)
        yield b"".join(np.clip(part, 0, 255).astype(np.uint8) for part in (light, blue, red))


def checked(process: subprocess.Popen[bytes], path: Path) -> None:
    """Waits for mencoder, which may fail and yet end with 0."""
    if process.wait() != 0 or not path.exists() or path.stat().st_size < BYTES_PER_FRAME:
        raise Missing(f"mencoder could not make {path.name}")


def write_mpeg1(path: Path, frames: int) -> None:
    """An MPEG-1 video of 320 by 240 at 29.97 frames per second, as the paper's."""
    raw = f"w={WIDTH}:h={HEIGHT}:fps=29.97:format=i420:size={WIDTH * HEIGHT * 3 // 2}"
    command = ["mencoder", "-really-quiet", "-demuxer", "rawvideo", "-rawvideo", raw, "-"]
    command += ["-nosound", "-ofps", "30000/1001", "-ovc", "lavc"]
    command += ["-lavcopts", "vcodec=mpeg1video:vbitrate=1152:keyint=15"]
    command += ["-of", "mpeg", "-mpegopts", "format=mpeg1", "-o", str(path)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as process:
        assert process.stdin is not None
        for picture in pictures(frames):
            process.stdin.write(picture)
        process.stdin.close()
        checked(process, path)


def write_mpeg4(path: Path, source: Path) -> None:
    """The same as MPEG-4."""
    command = ["mencoder", "-really-quiet", str(source), "-nosound", "-ovc", "lavc"]
    command += ["-lavcopts", "vcodec=mpeg4", "-o", str(path)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        checked(process, path)


@dataclass(frozen=True)
class Inputs:
    """A folder in which each input is made once."""

    folder: Path

    def wave(self, megabytes: float) -> Path:
        """Music of this size."""
        return self._once(f"music-{megabytes:g}MB.wav", lambda part: write_music(part, megabytes))

    def video(self, megabytes: float) -> Path:
        """An MPEG-1 video of about this size."""
        frames = max(1, round(megabytes * 1e6 / BYTES_PER_FRAME))
        return self._once(f"video-{megabytes:g}MB.mpg", lambda part: write_mpeg1(part, frames))

    def clip(self) -> Path:
        """A short MPEG-1 video for a load that plays it again and again."""
        return self._once("clip.mpg", lambda part: write_mpeg1(part, round(CLIP_S * FRAMES_PER_S)))

    def clip4(self) -> Path:
        """The same as MPEG-4."""
        return self._once("clip.avi", lambda part: write_mpeg4(part, self.clip()))

    def _once(self, name: str, write: Callable[[Path], None]) -> Path:
        """A file under its name is whole."""
        path = self.folder / name
        if not path.exists():
            part = path.with_suffix(f".part{path.suffix}")
            write(part)
            part.rename(path)
        return path
