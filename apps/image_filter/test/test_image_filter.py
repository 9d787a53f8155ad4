# SPDX-License-Identifier: Apache-2.0
"""The image filter end to end: pixels against those of others, moves, a death, refusals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driven import APPS, Ended, move_enough, moved, refusal, run, simulate, with_a_kernel_killed
from scipy import ndimage

APP = APPS / "image_filter/app.toml"
DATA = APPS / "image_filter/data"
PIXELS = 96 * 112
CRC = "480ad797"
HOPPER = (DATA / "hopper.qoi").read_bytes()
END = bytes(7) + b"\1"

FILTERS: dict[str, dict[str, Any]] = {
    "sharpen": {"weights": [-1, -1, -1, -1, 12, -1, -1, -1, -1], "divisor": 4, "bias": 0},
    "emboss": {"weights": [-2, -1, 0, -1, 1, 1, 0, 1, 2], "divisor": 1, "bias": 10},
    "mean": {"weights": [1] * 9, "divisor": 9, "bias": 0},
    "gauss": {
        "weights": [
            *(1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6),
            *(4, 16, 24, 16, 4, 1, 4, 6, 4, 1),
        ],
        "divisor": 256,
        "bias": 0,
    },
}


def went_well(ended: Ended, plays: int = 1) -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr
    said = f"image_filter: {plays} pictures of 96 x 112, {plays * PIXELS} pixels, CRC-32 {CRC}"
    assert said in ended.stderr
    return json.loads(ended.stdout)


# ---- The pixels ---------------------------------------------------------------------------------


def ffmpeg(*words: str) -> bytes:
    words = ("ffmpeg", "-v", "error", "-y", *words)
    return subprocess.run(words, capture_output=True, check=True).stdout


def decoded(picture: Path) -> np.ndarray:
    """The picture as FFmpeg decodes it."""
    raw = ffmpeg("-i", str(picture), "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    return np.frombuffer(raw, np.uint8).reshape(112, 96, 3)


def by_ffmpeg(picture: Path, weights: list[int], divisor: int, bias: int) -> bytes:
    """The filtered pixels, all by FFmpeg; its frame is smeared first, for it mirrors otherwise."""
    matrix = " ".join(map(str, weights))
    planes = ":".join(
        f"{plane}m='{matrix}':{plane}rdiv={1 / divisor}:{plane}bias={bias}" for plane in range(3)
    )
    steps = (
        "format=gbrp,pad=w=iw+4:h=ih+4:x=2:y=2,fillborders=left=2:right=2:top=2:bottom=2:mode=smear"
        f",convolution={planes},crop=w=iw-4:h=ih-4:x=2:y=2"
    )
    return ffmpeg("-i", str(picture), "-vf", steps, "-f", "rawvideo", "-pix_fmt", "rgb24", "-")


def by_scipy(picture: Path, weights: list[int], divisor: int, bias: int) -> bytes:
    """Decoded by FFmpeg, filtered by SciPy."""
    side = 3 if len(weights) == 9 else 5
    pixels = decoded(picture).astype(np.int64)
    kernel = np.array(weights).reshape(side, side, 1)
    sums = ndimage.correlate(pixels, kernel, mode="nearest") + bias * divisor
    return np.clip((sums + divisor // 2) // divisor, 0, 255).astype(np.uint8).tobytes()


@pytest.mark.parametrize(
    ("name", "piece"), [("sharpen", 1), ("emboss", 4096), ("mean", 7), ("gauss", 32), ("gauss", 96)]
)
def test_every_pixel_is_that_of_ffmpeg_and_of_scipy(name: str, piece: int, tmp_path: Path) -> None:
    params = FILTERS[name]
    ended = run(APP, output=tmp_path / "out.ppm", piece=piece, **params)
    assert ended.returncode == 0, ended.stderr
    header, pixels = (tmp_path / "out.ppm").read_bytes().split(b"255\n", 1)
    assert header == b"P6\n96 112\n"
    assert pixels == by_ffmpeg(DATA / "hopper.qoi", **params)
    assert pixels == by_scipy(DATA / "hopper.qoi", **params)


def test_the_simulator_makes_the_same_pixels(tmp_path: Path) -> None:
    went_well(simulate(APP, "--platform", "smp2", output=tmp_path / "out.ppm"))
    pixels = (tmp_path / "out.ppm").read_bytes()[-3 * PIXELS :]
    assert pixels == by_ffmpeg(DATA / "hopper.qoi", **FILTERS["sharpen"])


def test_modelled_tasks_filter_nothing_and_take_their_time() -> None:
    ended = simulate(APP, "--platform", "smp2", "--compute", "model")
    assert f"{PIXELS} pixels, CRC-32 00000000" in ended.stderr
    assert json.loads(ended.stdout)["time_ns"] > 1e8


# ---- Moves and deaths ---------------------------------------------------------------------------

SHUTTLES = [f"--shuttle={task}=1,0@1ms" for task in ("control", "decoder", "filter")]


@pytest.mark.parametrize(("mode", "least"), [("handoff", 50), ("replicate", 50), ("recreate", 3)])
def test_every_pixel_is_right_though_all_tasks_move(mode: str, least: int) -> None:
    shuttles = SHUTTLES if mode != "recreate" else ["--shuttle=decoder=1,0@1ms"]

    def moving() -> dict[str, Any]:
        return went_well(run(APP, "--mode", mode, *shuttles, plays=40, expected=CRC), plays=40)

    move_enough(moving, least)


@pytest.mark.parametrize("mode", ["handoff", "replicate"])
def test_every_pixel_is_right_after_many_simulated_moves(mode: str) -> None:
    options = ("--platform", "smp2", "--mode", mode, *SHUTTLES)
    ended = simulate(APP, *options, plays=20, expected=CRC)
    assert moved(went_well(ended, plays=20)) >= 150


@pytest.mark.parametrize("task", ["control", "decoder", "filter"])
def test_every_pixel_is_right_though_a_kernel_is_killed(task: str, tmp_path: Path) -> None:
    output = tmp_path / "out.ppm"
    summary, said = with_a_kernel_killed(
        APP,
        lambda: output.exists() and output.stat().st_size > 3 * PIXELS,
        f"--move={task}=1@1ms",
        plays=200,
        output=output,
        expected=CRC,
    )
    assert summary["deaths"][0]["lost"] == 0
    assert f"200 pictures of 96 x 112, {200 * PIXELS} pixels, CRC-32 {CRC}" in said


# ---- Files as others leave them -----------------------------------------------------------------

FILES = {
    "bytes behind the end": HOPPER + b"whatever else there is",
    "a second picture behind the end": HOPPER + HOPPER,
    "the end is cut off": HOPPER[:-3],
    "no end": HOPPER[:-8],
    "a colour space that is linear": HOPPER[:13] + b"\1" + HOPPER[14:],
}


@pytest.mark.parametrize("name", list(FILES))
def test_a_picture_with_all_pixels_is_filtered_whatever_follows_them(
    name: str, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.qoi"
    picture.write_bytes(FILES[name])
    ended = run(APP, input=picture, expected=CRC)
    went_well(ended)
    warned = f'warning: input "{picture}": its end mark is missing, and no pixel' in ended.stderr
    assert warned == ("end is cut" in name or name == "no end")


def test_a_run_beyond_the_picture_ends_with_it(tmp_path: Path) -> None:
    picture, output = tmp_path / "picture.qoi", tmp_path / "out.ppm"
    header = b"qoif" + bytes((0, 0, 0, 4, 0, 0, 0, 2, 3, 0))
    picture.write_bytes(header + b"\xfe\x09\x08\x07\xfd" + END)
    weights = {"weights": [0, 0, 0, 0, 1, 0, 0, 0, 0], "divisor": 1}
    ended = run(APP, input=picture, output=output, plays=3, **weights)
    assert ended.returncode == 0, ended.stderr
    assert output.read_bytes() == b"P6\n4 2\n255\n" + bytes((9, 8, 7)) * 8


# ---- Refusals -----------------------------------------------------------------------------------

REFUSED = {
    "it is empty": b"",
    "it is not a QOI file; ffmpeg -i FILE": b"P6\n96 112\n255\n" + bytes(40),
    "it is not RGB; ffmpeg -i FILE": HOPPER[:12] + b"\4" + HOPPER[13:],
    "its channels or its colour space are none that there are": HOPPER[:12] + b"\7" + HOPPER[13:],
    "its channels or its colour space are none": HOPPER[:13] + b"\2" + HOPPER[14:],
    "it ends inside its header": HOPPER[:13],
    "it is cut off after 0 of its 10752 pixels": HOPPER[:14],
    "of its 10752 pixels: get a complete copy": HOPPER[:5000],
    "its sides must have 1 to 65535 pixels": HOPPER[:4] + bytes(4) + HOPPER[8:],
    "its sides must have 1 to 65535": HOPPER[:4] + b"\xff" * 8 + HOPPER[12:],
    "of its 4294836225 pixels: get a complete copy": HOPPER[:4] + b"\0\0\xff\xff" * 2 + HOPPER[12:],
    "it has its end after 1 of its 8 pixels": b"qoif"
    + bytes((0, 0, 0, 4, 0, 0, 0, 2, 3, 0))
    + b"\xfe\x09\x08\x07"
    + END,
    "it is cut off after 4 of its 8 pixels": b"qoif"
    + bytes((0, 0, 0, 4, 0, 0, 0, 2, 3, 0))
    + b"\xfe\x09\x08\x07\xc2"
    + END[:6],
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_is_no_whole_picture_is_refused_with_the_reason(reason: str, tmp_path: Path) -> None:
    picture = tmp_path / "picture.qoi"
    picture.write_bytes(REFUSED[reason])
    assert reason in refusal(run(APP, input=picture))


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"input": "/nowhere.qoi"}, "No such file or directory"),
        ({"input": "/"}, "it is not a regular file"),
        ({"output": "out.png"}, "end its name in .ppm"),
        ({"output": "/nowhere/out.ppm"}, "No such file or directory"),
        ({"piece": 5000}, "piece is 5000: give a whole number from 1 to 4096"),
        ({"plays": 1.5}, "plays is 1.5: give a whole number from 1 to 1000000"),
        ({"divisor": 0}, "divisor is 0: give a whole number"),
        ({"bias": -1}, "bias is -1: give a whole number"),
        ({"weights": [1, 2, 3]}, "give 9 or 25 whole numbers"),
        ({"weights": [0.5] * 9}, "give 9 or 25 whole numbers"),
        ({"weights": [1] * 10}, "give 9 or 25 whole numbers"),
        ({"expected": "0x12"}, "give a CRC-32, eight hexadecimal digits"),
        ({"expected": "00000000"}, "1 of 1 pictures do not have the CRC-32 00000000"),
        ({"plays": 1000000}, "at most 2^32 pixels"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(params: dict[str, Any], reason: str) -> None:
    assert reason in refusal(run(APP, **params))
