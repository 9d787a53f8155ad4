# SPDX-License-Identifier: Apache-2.0
"""Films as recorders and other programs leave them, made here of the small film's pictures."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from test_video import DATA, SMALL, Ended, play, told, y4m

WIDTH, HEIGHT = 160, 120


def chunk(name: bytes, data: bytes, size: int | None = None) -> bytes:
    return (
        name + struct.pack("<I", len(data) if size is None else size) + data + bytes(len(data) % 2)
    )


def a_list(name: bytes, data: bytes, size: int | None = None) -> bytes:
    return chunk(b"LIST", name + data, size)


def riff(name: bytes, data: bytes, size: int | None = None) -> bytes:
    return chunk(b"RIFF", name + data, size)


def pictures() -> list[bytes]:
    """The JPEGs of the small film."""
    film = (DATA / "small.avi").read_bytes()
    at, found = film.index(b"movi") + 4, []
    while film[at : at + 4] == b"00dc":
        size = int.from_bytes(film[at + 4 : at + 8], "little")
        found.append(film[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    return found


JPEGS = pictures()[:6]
CHECKSUMS = [line.split()[-1] for line in (DATA / "small.framecrc").read_text().splitlines()]


def a_stream(
    kind: bytes = b"vids",
    codec: bytes = b"MJPG",
    width: int = WIDTH,
    height: int = HEIGHT,
    rate: tuple[int, int] = (1, 25),
) -> bytes:
    about = kind + codec + struct.pack("<9I", 0, 0, 0, *rate, 0, 6, 0, 0) + bytes(12)
    bitmap = struct.pack("<IiiHH4s5I", 40, width, height, 1, 24, codec, 0, 0, 0, 0, 0)
    return a_list(b"strl", chunk(b"strh", about) + chunk(b"strf", bitmap))


SOUND = a_list(
    b"strl", chunk(b"strh", b"auds" + bytes(52)) + chunk(b"strf", struct.pack("<HHIIHH", *(1,) * 6))
)


def header(*streams: bytes, frame_us: int = 40000) -> bytes:
    about = struct.pack("<14I", frame_us, 0, 0, 0, 6, 0, 1, 0, WIDTH, HEIGHT, 0, 0, 0, 0)
    return a_list(b"hdrl", chunk(b"avih", about) + b"".join(streams or (a_stream(),)))


def frames(jpegs: list[bytes], name: bytes = b"00dc", between: bytes = b"") -> bytes:
    return between.join(chunk(name, jpeg) for jpeg in jpegs)


def film(movi: bytes, head: bytes | None = None, behind: bytes = b"") -> bytes:
    return riff(b"AVI ", (head or header()) + a_list(b"movi", movi) + behind)


def without_tables(jpeg: bytes) -> bytes:
    """Without its Huffman tables (DHT), which are the usual ones."""
    while (at := jpeg.find(b"\xff\xc4")) >= 0:
        jpeg = jpeg[:at] + jpeg[at + 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big") :]
    return jpeg


def index(jpegs: list[bytes]) -> bytes:
    entries = (struct.pack("<4sIII", b"00dc", 16, 4, len(jpeg)) for jpeg in jpegs)
    return chunk(b"idx1", b"".join(entries))


@dataclass
class Film:
    file: bytes
    shows: list[int] = field(default_factory=lambda: list(range(6)))  # which of the pictures
    damaged: int = 0
    warns: str = ""


ALL = frames(JPEGS)
ODD = [jpeg if len(jpeg) % 2 else jpeg + b"\0" for jpeg in JPEGS]
EMPTY = chunk(b"00dc", b"")
FILMS = {
    "two RIFFs": Film(
        film(frames(JPEGS[:2]), behind=index(JPEGS[:2]))
        + riff(b"AVIX", a_list(b"movi", frames(JPEGS[2:])))
    ),
    "three RIFFs with indexes of OpenDML": Film(
        film(chunk(b"ix00", bytes(24)) + frames(JPEGS[:2]))
        + riff(b"AVIX", a_list(b"movi", frames(JPEGS[2:4]) + chunk(b"ix00", bytes(24))))
        + riff(b"AVIX", a_list(b"movi", chunk(b"JUNK", bytes(5)) + frames(JPEGS[4:])))
    ),
    "no size in the second RIFF": Film(
        film(frames(JPEGS[:2])) + riff(b"AVIX", a_list(b"movi", frames(JPEGS[2:]), 0), 0)
    ),
    "no sizes": Film(
        riff(b"AVI ", header() + a_list(b"movi", ALL, 0), 0), warns="its sizes were never filled in"
    ),
    "sizes of a pipe": Film(
        riff(b"AVI ", header() + a_list(b"movi", ALL, 0xFFFFFFFF), 0xFFFFFFFF),
        warns="its sizes were never filled in",
    ),
    "no size in any list": Film(
        riff(
            b"AVI ",
            b"LIST\0\0\0\0"
            + header()[8:].replace(b"LIST" + a_stream()[4:8], b"LIST\0\0\0\0")
            + a_list(b"movi", ALL, 0),
            0,
        ),
        warns="its sizes were never filled in",
    ),
    "nulls where the recorder had reserved room": Film(
        riff(b"AVI ", header() + a_list(b"movi", ALL + bytes(9000), 0), 0),
        warns="its sizes were never filled in",
    ),
    "an index of nonsense": Film(film(ALL, behind=chunk(b"idx1", bytes(range(96))))),
    "an index without a size": Film(
        film(ALL, behind=b"idx1" + bytes(4) + index(JPEGS)[8:])
        + riff(b"AVIX", a_list(b"movi", frames(JPEGS[:1]))),
        shows=[*range(6), 0],
    ),
    "nulls between chunks": Film(film(frames(JPEGS, between=bytes(510)))),
    "junk between chunks": Film(film(frames(JPEGS, between=chunk(b"JUNK", b"abc")))),
    "frames in records": Film(film(b"".join(a_list(b"rec ", frames([j])) for j in JPEGS))),
    "frames that repeat": Film(
        film(frames(JPEGS[:2]) + EMPTY + EMPTY + frames(JPEGS[2:]) + EMPTY),
        shows=[0, 1, 1, 1, 2, 3, 4, 5, 5],
    ),
    "nothing to repeat at first": Film(film(EMPTY + EMPTY + ALL)),
    "a repetition between nulls": Film(
        film(frames(JPEGS[:1]) + bytes(40) + EMPTY + bytes(40) + frames(JPEGS[1:])),
        shows=[0, 0, 1, 2, 3, 4, 5],
    ),
    "odd sizes": Film(film(frames(ODD))),
    "odd sizes without padding": Film(
        film(b"".join(chunk(b"00dc", jpeg)[:-1] for jpeg in ODD) + EMPTY), shows=[*range(6), 5]
    ),
    "sound between": Film(
        film(
            frames(JPEGS, b"01dc", between=chunk(b"00wb", b"00dc" + bytes(77))),
            header(SOUND, a_stream()),
        )
    ),
    "sound and text behind": Film(
        film(
            frames(JPEGS, between=chunk(b"01wb", b"abc") + chunk(b"02tx", b"a")),
            header(a_stream(), SOUND),
        )
    ),
    "a film of another kind first": Film(
        film(
            frames(JPEGS, b"01dc", between=chunk(b"00dc", bytes(33))),
            header(a_stream(codec=b"H264"), a_stream()),
        )
    ),
    "a palette": Film(film(chunk(b"00pc", bytes(8)) + ALL)),
    "frames that are called uncompressed": Film(film(frames(JPEGS, b"00db"))),
    "a negative height": Film(film(ALL, header(a_stream(height=-HEIGHT)))),
    "a size that no picture has": Film(film(ALL, header(a_stream(width=8, height=8)))),
    "no rate": Film(film(ALL, header(a_stream(rate=(0, 0)), frame_us=0))),
    "a small name of the codec": Film(film(ALL, header(a_stream(codec=b"mjpg")))),
    "a name of Avid": Film(film(ALL, header(a_stream(codec=b"AVRn")))),
    "an unknown name": Film(film(ALL, header(a_stream(codec=b"XYZW")))),
    "no last markers": Film(film(frames([jpeg[:-2] for jpeg in JPEGS]))),
    "no Huffman tables": Film(film(frames([without_tables(jpeg) for jpeg in JPEGS]))),
    "nulls behind the pictures": Film(film(frames([jpeg + bytes(300) for jpeg in JPEGS]))),
    "more than the film says": Film(
        film(ALL, header()[:32] + struct.pack("<I", 2) + header()[36:])
    ),
    "junk in the header": Film(film(ALL, header() + chunk(b"JUNK", bytes(1000)))),
    "information in the header": Film(
        film(ALL, header() + a_list(b"INFO", chunk(b"ISFT", b"a camera")))
    ),
    "a frame without its size": Film(
        film(frames(JPEGS[:2]) + chunk(b"00dc", JPEGS[2], 0) + frames(JPEGS[3:]))
    ),
    "cut off in the last frame": Film(
        film(ALL)[:-900], shows=[0, 1, 2, 3, 4], damaged=1, warns="it is cut off"
    ),
    "cut off in the second RIFF": Film(
        (film(frames(JPEGS[:3])) + riff(b"AVIX", a_list(b"movi", frames(JPEGS[3:]))))[:-900],
        shows=[0, 1, 2, 3, 4],
        damaged=1,
        warns="it is cut off",
    ),
    "a damaged frame": Film(
        film(frames([*JPEGS[:2], b"no picture", *JPEGS[3:]])), shows=[0, 1, 3, 4, 5], damaged=1
    ),
}


def play_film(folder: Path, file: bytes, output: str = "out.framecrc", **params: str) -> Ended:
    path = folder / "film.avi"
    path.write_bytes(file)
    params = {"input": str(path), "expected": "", "output": str(folder / output), **params}
    return play(**{**SMALL, **params})


@pytest.mark.parametrize("name", list(FILMS))
def test_a_film_is_played_as_its_recorder_meant_it(name: str, tmp_path: Path) -> None:
    wanted = FILMS[name]
    ended = play_film(tmp_path, wanted.file)
    assert ended.returncode == 0, ended.stderr
    said = f"{len(wanted.shows)} frames shown, 0 dropped, {wanted.damaged} damaged"
    assert told(ended, 0) == said
    lines = (tmp_path / "out.0.framecrc").read_text().splitlines()[4:]
    assert [line.split()[-1] for line in lines] == [CHECKSUMS[n] for n in wanted.shows]
    if wanted.warns:
        assert f'warning: input "{tmp_path}/film.avi": {wanted.warns}' in ended.stderr
    else:
        assert "warning" not in ended.stderr


def test_frames_repeat_also_while_players_move_and_in_each_play(tmp_path: Path) -> None:
    (tmp_path / "film.avi").write_bytes(FILMS["frames that repeat"].file)
    params = {**SMALL, "input": str(tmp_path / "film.avi"), "expected": "", "plays": "20"}
    ended = play("--shuttle", "video.0=1,0@1ms", output=str(tmp_path / "out.framecrc"), **params)
    lines = (tmp_path / "out.0.framecrc").read_text().splitlines()[4:]
    wanted = [CHECKSUMS[n] for n in FILMS["frames that repeat"].shows]
    assert ended.returncode == 0 and [line.split()[-1] for line in lines] == 20 * wanted


def of_size(folder: Path, width: int, height: int, pixels: str = "yuvj420p") -> list[bytes]:
    """Four pictures of this size."""
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=s={width}x{height}:r=4:d=1"]
    words += ["-pix_fmt", pixels, "-q:v", "3", str(folder / f"{width}x{height}.%d.jpg")]
    subprocess.run(words, check=True)
    return [(folder / f"{width}x{height}.{n}.jpg").read_bytes() for n in range(1, 5)]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_two_fields_of_a_chunk_are_woven(first: int, tmp_path: Path) -> None:
    jpegs = of_size(tmp_path, WIDTH, HEIGHT // 2)
    alone = play_film(tmp_path, film(frames(jpegs)), "alone.y4m", height=str(HEIGHT // 2))
    assert told(alone, 0).startswith("4 frames shown")
    fields = luma_rows((tmp_path / "alone.0.y4m").read_bytes(), HEIGHT // 2)

    def polarity(n: int) -> bytes:
        return b"\xff\xd8\xff\xe0\0\x10AVI1" + bytes([n]) + bytes(9) if n else b"\xff\xd8"

    order = {0: (0, 0), 1: (1, 2), 2: (2, 1)}[first]
    marked = [polarity(order[n % 2]) + jpeg[2:] for n, jpeg in enumerate(jpegs)]
    both = [a + bytes(6) + b for a, b in zip(marked[::2], marked[1::2], strict=True)]
    woven = play_film(tmp_path, film(frames(both)), "woven.y4m")
    assert told(woven, 0) == "2 frames shown, 0 dropped, 0 damaged", woven.stderr
    whole = luma_rows((tmp_path / "woven.0.y4m").read_bytes(), HEIGHT)
    for n in range(2):
        top, bottom = fields[2 * n : 2 * n + 2][:: -1 if first == 2 else 1]
        assert whole[n][::2] == top and whole[n][1::2] == bottom


def luma_rows(file: bytes, height: int) -> list[list[bytes]]:
    """The luma of each frame, line by line."""
    pixels, size = y4m(file), WIDTH * height * 3 // 2
    starts = range(0, len(pixels), size)
    return [[pixels[at + y * WIDTH :][:WIDTH] for y in range(height)] for at in starts]


# Luma 2 x 2 and chroma 1 x 2, as FFmpeg says it, or 2 x 1 and 1 x 1, as cameras do.
@pytest.mark.parametrize("height", [HEIGHT, 50, 51])
@pytest.mark.parametrize("says", ["ffmpeg", "camera"])
def test_of_4_2_2_two_lines_of_chroma_become_one(says: str, height: int, tmp_path: Path) -> None:
    if says == "camera":
        jpegs = of_camera(tmp_path, height)
    else:
        jpegs = of_size(tmp_path, WIDTH, height, "yuvj422p")
    ended = play_film(tmp_path, film(frames(jpegs)), "out.y4m", height=str(height))
    assert told(ended, 0) == f"{len(jpegs)} frames shown, 0 dropped, 0 damaged", ended.stderr
    theirs = b"".join(planes_by_ffmpeg(jpeg, height) for jpeg in jpegs)
    ours = y4m((tmp_path / "out.0.y4m").read_bytes(), WIDTH * (height + (height + 1) // 2))
    assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) <= 1


def of_camera(folder: Path, height: int) -> list[bytes]:
    """A picture by libjpeg-turbo."""
    image = folder / "picture.rgb"
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=s={WIDTH}x{height}"]
    words += ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", str(image)]
    subprocess.run(words, check=True)
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    made, size = ctypes.c_void_p(), ctypes.c_ulong()
    # RGB, and 4:2:2.
    form, sampling = 0, 1
    error = turbo.tjCompress2(
        *(ctypes.c_void_p(turbo.tjInitCompress()), image.read_bytes(), WIDTH, 0, height, form),
        *(ctypes.byref(made), ctypes.byref(size), sampling, 90, 0),
    )
    assert error == 0
    return [ctypes.string_at(made, size.value)]


def planes_by_ffmpeg(jpeg: bytes, height: int) -> bytes:
    """The picture as FFmpeg decodes it, with the means of two lines of chroma."""
    words = [
        "ffmpeg",
        "-v",
        "error",
        "-idct",
        "int",
        "-f",
        "mjpeg",
        "-i",
        "-",
        "-f",
        "rawvideo",
        "-",
    ]
    raw = subprocess.run(words, input=jpeg, check=True, capture_output=True).stdout
    luma, half = WIDTH * height, WIDTH // 2
    assert len(raw) == 2 * luma
    planes = raw[:luma]
    for at in (luma, luma + luma // 2):
        lines = [raw[at + y * half :][:half] for y in range(height)]
        lines += lines[-1:] * (height % 2)
        for first, second in zip(lines[::2], lines[1::2], strict=True):
            planes += bytes((a + b + 1) // 2 for a, b in zip(first, second, strict=True))
    return planes


def test_frames_of_another_size_are_told(tmp_path: Path) -> None:
    file = film(frames([*JPEGS, *of_size(tmp_path, 64, 48)]))
    ended = play_film(tmp_path, file)
    assert told(ended, 0) == "6 frames shown, 0 dropped, 4 damaged"
    assert "4 of its 10 frames are not of 160 x 120 pixels" in ended.stderr


def test_a_run_that_shows_no_frame_fails(tmp_path: Path) -> None:
    # All of their headers are whole, and little besides.
    ended = play_film(tmp_path, film(frames([jpeg[: len(jpeg) // 2] for jpeg in JPEGS])))
    assert ended.returncode == 2
    assert told(ended, 0) == "0 frames shown, 0 dropped, 6 damaged"
    assert "no frame of it could be shown: get a complete copy" in " ".join(ended.stderr.split())


MP4 = b"\0\0\0\x18ftypmp42" + bytes(100)
REFUSED = {
    "it is empty: get a complete copy": b"",
    "it is an MP4 or MOV file, not AVI; ffmpeg -i FILE": MP4,
    "it is a Matroska or WebM file, not AVI; ffmpeg -i FILE": b"\x1a\x45\xdf\xa3" + bytes(100),
    "it is JPEG pictures without a container": JPEGS[0] + JPEGS[1],
    "its video is not Motion-JPEG but H.264 (H264)": film(ALL, header(a_stream(codec=b"H264"))),
    "its video is not Motion-JPEG but DV (dvsd)": film(ALL, header(a_stream(codec=b"dvsd"))),
    "its video is not Motion-JPEG but DV; ffmpeg": film(ALL, header(a_stream(kind=b"iavs"))),
    'not Motion-JPEG but of an unknown kind, "ABCD"': film(
        frames([b"abc"]), header(a_stream(codec=b"ABCD"))
    ),
    "it has no video": film(chunk(b"00wb", bytes(8)), header(SOUND)),
    "it has no frame": film(b""),
    "it has no frame: get": film(EMPTY + EMPTY),
    "none of its frames is a JPEG": film(frames([b"no picture", b"none either"])),
    "its 5140 KiB do not fit into memory of [app]: raise memory in app.toml": film(
        ALL + chunk(b"JUNK", bytes(5 << 20))
    ),
    "it ends inside its header": riff(b"AVI ", header())[:150],
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_be_shown_is_told_as_what_it_is(reason: str, tmp_path: Path) -> None:
    ended = play_film(tmp_path, REFUSED[reason])
    assert ended.returncode == 2
    said = " ".join(word for word in ended.stderr.split() if word != "│")
    assert reason in said, ended.stderr
