# SPDX-License-Identifier: Apache-2.0
"""The files in which SDR programs leave a recording, made of one of an RTL-SDR."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

UNFILLED = 0xFFFFFFFF
EXTENSIBLE = bytes.fromhex("000000001000800000aa00389b71")


def levels(recording: Path) -> NDArray[np.float64]:
    """I, Q, I, Q, … of a .cu8, full scale at 1."""
    return (np.frombuffer(recording.read_bytes(), np.uint8).astype(np.float64) - 127.5) / 127.5


def packed(values: NDArray[np.float64], kind: str) -> bytes:
    """As numbers of a kind: u1, i1, i2, i3, i4, f4 or f8, with `<` or `>` in front."""
    order, form, width = kind[0], kind[1], int(kind[2])
    if form == "f":
        return values.astype(kind).tobytes()
    full = 2 ** (8 * width - 1)
    if form == "u":
        return np.rint(values * (full - 0.5) + full - 0.5).astype(kind).tobytes()
    whole = np.rint(values * (full - 1)).astype(np.int64)
    if width != 3:
        return whole.astype(kind).tobytes()
    as_bytes = (whole << 8).astype(f"{order}i4").view(np.uint8).reshape(-1, 4)
    return (as_bytes[:, 1:] if order == "<" else as_bytes[:, :3]).tobytes()


def chunk(name: bytes, body: bytes, size: int | None = None) -> bytes:
    size = len(body) if size is None else size
    return name + struct.pack("<I", size) + body + bytes(len(body) % 2)


def tuned(centre_hz: int) -> bytes:
    """The chunk of HDSDR and SDR#: when it began and ended, then the frequency."""
    time = struct.pack("<8H", 2026, 11, 6, 28, 17, 30, 0, 0)
    return chunk(b"auxi", time * 2 + struct.pack("<9I", centre_hz, *[0] * 8))


def wav(
    data: bytes,
    rate: int,
    *,
    channels: int = 2,
    kind: str = "<i2",
    extensible: bool = False,
    before: bytes = b"",
    after: bytes = b"",
    size: int | None = None,
    head: bytes = b"RIFF",
) -> bytes:
    """A WAV file with these chunks around its samples; `size`: what it says of their length."""
    width = int(kind[2])
    tag = 3 if kind[1] == "f" else 1
    form = struct.pack(
        "<HHIIHH",
        0xFFFE if extensible else tag,
        channels,
        rate,
        rate * channels * width,
        channels * width,
        8 * width,
    )
    if extensible:
        form += struct.pack("<HHIH", 22, 8 * width, 3, tag) + EXTENSIBLE
    body = chunk(b"fmt ", form) + before + chunk(b"data", data, size) + after
    riff = UNFILLED if head == b"RF64" or size in (0, UNFILLED) else 4 + len(body)
    if head == b"RF64":
        body = chunk(b"ds64", struct.pack("<QQQI", 4 + len(body), len(data), 0, 0)) + body
    return head + struct.pack("<I", riff) + b"WAVE" + body


def sigmf(
    path: Path, data: bytes, datatype: str, rate: float, captures: list[dict], **more: object
) -> Path:
    """Writes both files; gives the name of the description."""
    about = {"core:datatype": datatype, "core:sample_rate": rate, "core:version": "1.0.0", **more}
    text = json.dumps({"global": about, "captures": captures, "annotations": []})
    meta = path.with_suffix(".sigmf-meta")
    meta.write_text(text)
    path.with_suffix(".sigmf-data").write_bytes(data)
    return meta
