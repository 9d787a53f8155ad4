#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others make of a film: checksums by Debian's libjpeg-turbo, pictures by FFmpeg.

`reference.py FILM.avi > FILM.framecrc` makes what the players are compared with. FFmpeg takes the
film apart, libjpeg-turbo decodes each picture by its accurate integer transform, with the vector
instructions of this machine. Neither is what apps/video is made of.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import zlib
from pathlib import Path

ACCURATE_DCT = 4096
YUV_420 = 2


def jpegs(film: Path) -> list[bytes]:
    """The pictures of a film as they are in it, by FFmpeg."""
    command = ["ffmpeg", "-v", "error", "-i", str(film), "-c", "copy", "-f", "mjpeg", "-"]
    stream = subprocess.run(command, capture_output=True, check=True).stdout
    return [b"\xff\xd8" + picture for picture in stream.split(b"\xff\xd8")[1:]]


class TurboJpeg:
    """libturbojpeg's decompressor."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libturbojpeg.so.0")
        self.library.tjInitDecompress.restype = ctypes.c_void_p
        self.library.tjBufSizeYUV2.restype = ctypes.c_ulong
        self.handle = ctypes.c_void_p(self.library.tjInitDecompress())

    def size(self, jpeg: bytes) -> tuple[int, int]:
        """Width and height of a picture, which must be 4:2:0."""
        width, height, sampling, space = (ctypes.c_int() for _ in range(4))
        length = ctypes.c_ulong(len(jpeg))
        out = [ctypes.byref(value) for value in (width, height, sampling, space)]
        if self.library.tjDecompressHeader3(self.handle, jpeg, length, *out) != 0:
            raise ValueError("libturbojpeg cannot read it")
        if sampling.value != YUV_420:
            raise ValueError("it is not 4:2:0")
        return width.value, height.value

    def planes(self, jpeg: bytes) -> bytes:
        """A picture's luma and both chromas."""
        width, height = self.size(jpeg)
        room = self.library.tjBufSizeYUV2(width, 1, height, YUV_420)
        planes = ctypes.create_string_buffer(room)
        length = ctypes.c_ulong(len(jpeg))
        if self.library.tjDecompressToYUV2(
            self.handle, jpeg, length, planes, width, 1, height, ACCURATE_DCT
        ):
            raise ValueError("libturbojpeg cannot decode it")
        return planes.raw


def framecrc(films: list[bytes]) -> str:
    """The lines of FFmpeg's framecrc, whose Adler-32 begins with 0."""
    return "".join(
        f"0, {n:10}, {n:10}, {1:8}, {len(planes):8}, 0x{zlib.adler32(planes, 0):08x}\n"
        for n, planes in enumerate(films)
    )


def main() -> None:
    """Prints the checksums of a film."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    decoder = TurboJpeg()
    sys.stdout.write(framecrc([decoder.planes(jpeg) for jpeg in jpegs(Path(sys.argv[1]))]))


if __name__ == "__main__":
    main()
