# SPDX-License-Identifier: Apache-2.0
"""The video players end to end: their pictures against those of others, moves, damage, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from driven import CORES, PATIENCE_S, WHIMBREL, Ended, move_enough, moved

VIDEO = Path(__file__).resolve().parent.parent
ROOT = VIDEO.parent.parent
DATA = VIDEO / "data"
APP = VIDEO / "app.toml"
FRAMES = 25
LARGE = {"expected": str(DATA / "large.framecrc")}
SMALL = {
    "input": str(DATA / "small.avi"),
    "expected": str(DATA / "small.framecrc"),
    "width": "160",
    "height": "120",
}


def command(verb: str, *options: str, app: Path = APP, **params: str) -> list[str]:
    words = [str(WHIMBREL), verb, str(app), "--json", "--quiet", *options]
    for key, value in params.items():
        words += ["--set", f"{key}={value}"]
    return words


def run(verb: str, *options: str, app: Path = APP, **params: str) -> Ended:
    """Runs or simulates the players; never fails by itself."""
    words = command(verb, *options, app=app, **params)
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def play(*options: str, app: Path = APP, **params: str) -> Ended:
    """Plays as fast as it goes."""
    return run("run", "--fast", *CORES, *options, app=app, **params)


def told(ended: Ended, player: int) -> str:
    """What the application said in the end of a player."""
    lines = [line for line in ended.stderr.splitlines() if line.startswith(f"video.{player}: ")]
    assert len(lines) == 1, ended.stderr
    return lines[0].split(": ", 1)[1]


def went_well(ended: Ended, shown: int, damaged: int = 0) -> dict[str, Any]:
    """The summary of a run in which each player has shown so many frames, all as expected."""
    assert ended.returncode == 0, ended.stderr
    for player in range(4):
        said = f"{shown} frames shown, 0 dropped, {damaged} damaged, all as expected"
        assert told(ended, player) == said
    return json.loads(ended.stdout)


# ---- The pictures -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["large", "small"])
def test_what_is_expected_is_what_another_decoder_makes_of_the_film(name: str) -> None:
    made = subprocess.run(
        [sys.executable, VIDEO / "reference.py", DATA / f"{name}.avi"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == (DATA / f"{name}.framecrc").read_text()


@pytest.mark.parametrize("params", [LARGE, SMALL], ids=["large", "small"])
def test_every_frame_is_that_of_another_decoder_to_the_bit(
    params: dict[str, str], tmp_path: Path
) -> None:
    went_well(play(output=str(tmp_path / "out.framecrc"), **params), FRAMES)
    expected = Path(params["expected"]).read_text()
    for player in range(4):
        written = (tmp_path / f"out.{player}.framecrc").read_text()
        assert written.split("\n", 4)[4] == expected


# Two transforms that the standard allows may differ by one; FFmpeg's own has other constants where
# coefficients are 0.
@pytest.mark.parametrize("params", [LARGE, SMALL], ids=["large", "small"])
def test_no_pixel_differs_from_ffmpegs_by_more_than_one(
    params: dict[str, str], tmp_path: Path
) -> None:
    went_well(play(output=str(tmp_path / "out.y4m"), **params), FRAMES)
    ours = y4m((tmp_path / "out.3.y4m").read_bytes())
    theirs = by_ffmpeg(params.get("input", str(DATA / "large.avi")))
    differences = Counter(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    assert set(differences) == {0, 1}
    assert differences[1] < len(ours) / 50


def y4m(film: bytes, size: int = 0) -> bytes:
    """The pixels of a film that a screen has written, so many bytes in each frame."""
    header, rest = film.split(b"\n", 1)
    words = header.split()
    assert (
        words[0] == b"YUV4MPEG2"
        and words[3].startswith(b"F25")
        and words[4:] == [b"Ip", b"A1:1", b"C420jpeg"]
    )
    size = size or int(words[1][1:]) * int(words[2][1:]) * 3 // 2
    frames = [rest[at : at + 6 + size] for at in range(0, len(rest), 6 + size)]
    assert all(frame.startswith(b"FRAME\n") for frame in frames)
    return b"".join(frame[6:] for frame in frames)


def by_ffmpeg(film: str) -> bytes:
    """The pixels of a film as FFmpeg decodes it, by the transform most like libjpeg's."""
    words = ["ffmpeg", "-v", "error", "-idct", "int", "-i", film, "-f", "rawvideo", "-"]
    return subprocess.run(words, capture_output=True, check=True).stdout


# ---- Moves and deaths ---------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "least"), [("handoff", 50), ("replicate", 50), ("recreate", 3)])
def test_every_frame_is_right_though_players_move(mode: str, least: int) -> None:
    players = range(1) if mode == "recreate" else range(4)
    shuttles = [word for n in players for word in ("--shuttle", f"video.{n}=1,0@1ms")]

    def moving() -> dict[str, Any]:
        return went_well(play("--mode", mode, *shuttles, plays="40", **SMALL), 40 * FRAMES)

    move_enough(moving, least)


# One task at a time is being recreated.
@pytest.mark.parametrize(("mode", "plays"), [("handoff", 12), ("replicate", 12), ("recreate", 24)])
def test_every_frame_is_right_after_hundreds_of_simulated_moves(mode: str, plays: int) -> None:
    shuttles = [word for n in range(4) for word in ("--shuttle", f"video.{n}=1,2,3,0@150ms")]
    options = ("--platform", "ca9x4", "--fast", "--mode", mode, *shuttles)
    ended = run("sim", *options, plays=str(plays), **SMALL)
    assert moved(went_well(ended, plays * FRAMES)) >= 200


def test_every_frame_comes_once_though_a_kernel_is_killed(tmp_path: Path) -> None:
    plays = 60
    output = tmp_path / "out.framecrc"
    words = command("run", "--fast", *CORES, plays=str(plays), output=str(output), **SMALL)
    words += ["--move", "video.1=1@1ms", "--move", "video.2=1@1ms"]
    with TemporaryDirectory(dir="/tmp") as runtime:  # a socket's path has 107 bytes at most
        environment = {**os.environ, "XDG_RUNTIME_DIR": runtime}
        started = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        kill_kernel_of_core_1(started, Path(runtime), tmp_path / "out.1.framecrc")
        out, said = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2 and "kernel of core 1 was killed" in said, said
    assert json.loads(out)["deaths"][0]["lost"] == 0
    for player in range(4):
        lines = (tmp_path / f"out.{player}.framecrc").read_text().splitlines()[4:]
        assert [int(line.split(",")[1]) for line in lines] == list(range(plays * FRAMES))


def kill_kernel_of_core_1(started: subprocess.Popen[str], runtime: Path, output: Path) -> None:
    """Kills it once there is some output of the player that was moved to it."""
    deadline = time.monotonic() + PATIENCE_S
    while not output.exists() or output.stat().st_size < 20000:
        assert started.poll() is None and time.monotonic() < deadline
        time.sleep(0.001)
    (file,) = runtime.glob("whimbrel/*/run.json")
    kernels = json.loads(file.read_text(encoding="utf-8"))["kernels"]
    with suppress(ProcessLookupError):
        os.kill(int(kernels[1]["pid"]), signal.SIGKILL)


# ---- Whatever FFmpeg's libraries read -----------------------------------------------------------

ANY = VIDEO / "any.toml"


@pytest.fixture(scope="module")
def h264(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Eight seconds of H.264 with sound, and what FFmpeg makes of them."""
    if not (ROOT / "build/apps/video_any.so").exists():
        pytest.skip("FFmpeg's libraries are not installed: make setup, and build again")
    folder = tmp_path_factory.mktemp("h264")
    film, checksums = folder / "film.mp4", folder / "film.framecrc"
    sources = ["-f", "lavfi", "-i", "testsrc2=d=8", "-f", "lavfi", "-i", "sine=d=8"]
    ffmpeg(*sources, "-c:v", "libx264", "-preset", "fast", "-pix_fmt", "yuv420p", str(film))
    ffmpeg("-i", str(film), "-an", "-f", "framecrc", str(checksums))
    return {"input": str(film), "expected": str(checksums)}


def ffmpeg(*words: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *words], check=True)


@pytest.mark.parametrize("mode", ["handoff", "replicate"])
def test_ffmpegs_decoder_moves_and_decodes_to_the_bit(h264: dict[str, str], mode: str) -> None:
    shuttles = [word for n in range(4) for word in ("--shuttle", f"video.{n}=1,0@1ms")]
    ended = play("--mode", mode, *shuttles, app=ANY, **h264)
    assert moved(went_well(ended, 8 * FRAMES)) >= 3


def test_a_film_is_brought_to_the_size_of_the_screen(h264: dict[str, str], tmp_path: Path) -> None:
    size = {"width": "160", "height": "90"}
    ended = play(app=ANY, output=str(tmp_path / "out.y4m"), input=h264["input"], **size)
    assert told(ended, 3) == "200 frames shown, 0 dropped, 0 damaged"
    assert len(y4m((tmp_path / "out.0.y4m").read_bytes())) == 200 * 160 * 90 * 3 // 2


def test_what_ffmpeg_cannot_read_is_refused_with_its_reason(h264: dict[str, str]) -> None:
    for params, reason in (
        ({"input": str(VIDEO / "Makefile")}, "cannot play the input: Invalid data found"),
        ({"input": "/nowhere.mp4"}, "No such file or directory"),
        ({"width": "0"}, "width is 0: give a number from 1 to 4096"),
    ):
        ended = play(app=ANY, **{**h264, **params})
        assert ended.returncode == 2
        assert reason in " ".join(ended.stderr.split()), ended.stderr


def test_a_film_of_which_ffmpeg_can_show_no_frame_fails(
    h264: dict[str, str], tmp_path: Path
) -> None:
    film = bytearray(Path(h264["input"]).read_bytes())
    begin = film.index(b"mdat") + 4
    film[begin : film.index(b"moov")] = b"U" * (film.index(b"moov") - begin)
    (tmp_path / "damaged.mp4").write_bytes(film)
    ended = play(app=ANY, input=str(tmp_path / "damaged.mp4"))
    assert ended.returncode == 2 and told(ended, 0).startswith("0 frames shown, 0 dropped")
    assert "no frame of it could be shown: get a complete copy" in " ".join(ended.stderr.split())
    assert "[h264" not in ended.stderr


# ---- The frame rate -----------------------------------------------------------------------------


def test_simulated_players_decode_the_same_and_drop_what_is_late(tmp_path: Path) -> None:
    moves = [f"--move=video.{n}={n + 1}@{at}s" for n, at in enumerate((2, 3, 4))]
    options = ("--platform", "ca9x4", "--record", str(tmp_path / "run"), *moves)
    ended = run("sim", *options, plays="8", **LARGE)
    assert ended.returncode == 0, ended.stderr
    for player in range(4):
        said = told(ended, player)
        shown, dropped = int(said.split()[0]), int(said.split()[3])
        assert shown + dropped == 8 * FRAMES and said.endswith("0 damaged, all as expected")
        # Four on a core show 10 of 25 in a second; one by itself shows all.
        assert 15 < dropped < 90, said
    dropped = [int(told(ended, player).split()[3]) for player in range(4)]
    assert dropped[0] < dropped[1] < dropped[2], "those that move first drop least"


def test_modelled_players_decode_nothing_and_show_as_much(tmp_path: Path) -> None:
    options = ("--platform", "ca9x4", "--compute", "model", "--fast")
    ended = run("sim", *options, output=str(tmp_path / "out.y4m"), **LARGE)
    assert ended.returncode == 0, ended.stderr
    assert told(ended, 0).startswith("25 frames shown, 0 dropped, 0 damaged")
    assert (tmp_path / "out.0.y4m").stat().st_size == 0


# ---- Damage and refusals ------------------------------------------------------------------------


def nth(film: bytes, name: bytes, n: int) -> int:
    """Where a chunk of this name begins, the n-th after the film's header."""
    at = film.index(b"movi")
    for _ in range(n + 1):
        at = film.index(name, at + 4)
    return at


def test_a_damaged_frame_is_left_out_and_the_film_goes_on(tmp_path: Path) -> None:
    film = bytearray((DATA / "small.avi").read_bytes())
    at = nth(film, b"00dc", 7)
    film[at + 1500 : at + 1600] = bytes(100)
    film[at + 1600 : at + 1602] = b"\xff\xd9"  # the end of the picture, too early
    (tmp_path / "damaged.avi").write_bytes(film)
    params = {**SMALL, "input": str(tmp_path / "damaged.avi")}
    went_well(play(output=str(tmp_path / "out.framecrc"), **params), FRAMES - 1, damaged=1)
    lines = (tmp_path / "out.2.framecrc").read_text().splitlines()[4:]
    assert [int(line.split(",")[1]) for line in lines] == [n for n in range(FRAMES) if n != 7]


def test_a_film_that_was_cut_off_is_played_to_where_it_ends(tmp_path: Path) -> None:
    film = (DATA / "small.avi").read_bytes()
    cut = tmp_path / "cut.avi"
    cut.write_bytes(film[: nth(film, b"00dc", 10) + 2000])
    ended = play(**{**SMALL, "input": str(cut), "expected": ""})
    assert ended.returncode == 0, ended.stderr
    assert told(ended, 0) == "10 frames shown, 0 dropped, 1 damaged"


def test_a_frame_that_is_not_as_expected_fails_the_run(tmp_path: Path) -> None:
    lines = (DATA / "small.framecrc").read_text().replace("0x", "0x0", 1)
    wrong = tmp_path / "wrong.framecrc"
    wrong.write_text(lines.splitlines()[0][:-1] + "\n" + lines.split("\n", 1)[1])
    ended = play(**{**SMALL, "expected": str(wrong)})
    assert ended.returncode == 2
    assert "video.3: 1 frames are not those of" in ended.stderr
    assert told(ended, 0) == "25 frames shown, 0 dropped, 0 damaged, some differ"


SMALL_FILM = (DATA / "small.avi").read_bytes()


def changed(name: bytes, offset: int, value: bytes) -> bytes:
    """The small film with other bytes after a name in its header."""
    at = SMALL_FILM.index(name) + offset
    return SMALL_FILM[:at] + value + SMALL_FILM[at + len(value) :]


REFUSED = {
    "it is not an AVI file; ffmpeg -i FILE": b"something else altogether",
    "its video is not Motion-JPEG but H.264 (H264); ffmpeg -i FILE": changed(b"strf", 24, b"H264"),
    "it has no video": changed(b"vids", 0, b"auds"),
    "ends inside its header": SMALL_FILM[:200],
    "it has no frame": SMALL_FILM[: nth(SMALL_FILM, b"00dc", 0)],
    "no frame of it is a baseline JPEG of 4:2:0 or 4:2:2": SMALL_FILM.replace(
        b"\x03\x01\x22\x00", b"\x03\x01\x11\x00"
    ),
    "it must be from 1 to 4096": SMALL_FILM.replace(
        b"\x08\x00\x78\x00\xa0", b"\x08\x20\x00\x00\xa0"
    ),
    "width and height are 160 and 120, and the input's 320 and 240: --set width=320": (
        DATA / "large.avi"
    ).read_bytes(),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_be_played_is_refused_with_the_reason(reason: str, tmp_path: Path) -> None:
    film = tmp_path / "film.avi"
    film.write_bytes(REFUSED[reason])
    ended = play(**{**SMALL, "input": str(film)})
    assert ended.returncode == 2
    assert reason in " ".join(ended.stderr.split()), ended.stderr


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"fps": "0"}, "invalid frame rate of 0 per second"),
        ({"plays": "0"}, "plays is 0: give a number from 1 to 1e9"),
        ({"input": "/nowhere.avi"}, "No such file or directory"),
        ({"input": "/"}, "it is not a regular file"),
        ({"output": "film.mp4"}, "end its name in .y4m or .framecrc"),
        ({"output": "/nowhere/film.y4m"}, "No such file or directory"),
        ({"expected": str(DATA / "small.avi")}, "it is not of this input"),
        ({"expected": str(VIDEO / "README.md")}, "it is not of this input"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_the_reason(
    params: dict[str, str], reason: str
) -> None:
    ended = play(**{**LARGE, **params})
    assert ended.returncode == 2
    assert reason in ended.stderr
