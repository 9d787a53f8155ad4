# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel with maturin, and puts the command into it, its helpers, platforms and
applications.

They are what `make build` has made; it is called first, and does what is left to do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin
from maturin import get_requires_for_build_wheel, prepare_metadata_for_build_wheel

__all__ = [
    "build_wheel",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "python/whimbrel/_tree"
# What a wheel has of the checkout, each at the same place.
PARTS = (
    "bin/whimbrel",
    "bin/whimbrel-linux",
    "bin/whimbrel-sim",
    "build/apps/*.so",
    "build/apps/*.task",
    "platforms/*.toml",
    "apps/*/*.toml",
    "apps/fm_radio/data/cold_day_240k.cu8",
)


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata: str | None = None
) -> str:
    """A wheel with everything."""
    # Of another's make above, whose jobs are none of ours.
    made = {key: of for key, of in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    if "WHIMBREL_BUILT" not in os.environ:
        subprocess.run(["make", "build"], cwd=ROOT, env=made, check=True)
    # Beside what the command was made of, so that little is left to compile.
    os.environ["CARGO_TARGET_DIR"] = str(ROOT / "build/cargo")
    pack()
    try:
        return maturin.build_wheel(wheel_directory, config_settings, metadata)
    finally:
        shutil.rmtree(TREE)


def pack() -> None:
    """Copies the parts beside the modules of the package."""
    shutil.rmtree(TREE, ignore_errors=True)
    for pattern in PARTS:
        found = sorted(ROOT.glob(pattern))
        if not found:
            raise FileNotFoundError(f"{ROOT / pattern} is missing: `make build` makes it")
        for path in found:
            to = TREE / path.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)
