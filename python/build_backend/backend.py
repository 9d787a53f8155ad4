# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel with maturin, and puts the command into it, its helpers, platforms and
applications.

They are what `make build` has made; it is called first, and does what is left to do.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import maturin
from maturin import prepare_metadata_for_build_wheel

__all__ = [
    "build_sdist",
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
# Modules for other machines than this one, instead of those of the checkout.
APPS = "WHIMBREL_APPS"
# What it is compiled of: files of the same contents make results that are the same, on any machine.
SOURCES = (
    "Makefile",
    "apps/**/*.[ch]",
    "clients/rust/**/*.rs",
    "crates/Cargo.lock",
    "crates/**/*.rs",
    "kernels/**/*.[ch]",
    "launcher/**/*.[ch]",
    "launcher/**/*.inc",
    "middleware/**/*.[ch]",
)

# What a build needs besides Python, and where it is from.
TOOLS = {
    "cargo": "install Rust 1.85 or newer, for example with rustup",
    "cc": "install a C compiler: gcc or clang",
    "make": "install GNU make",
}


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Nothing more of Python's; what is not Python's is looked for, since this is asked first."""
    missing = [f"{tool} is missing: {cure}" for tool, cure in TOOLS.items() if not which(tool)]
    if not (ROOT / "crates/python").is_dir():
        missing.append(f"{ROOT} is not a checkout of Whimbrel: run pip install ./python in one")
    if missing:
        refuse(*missing)
    return []


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """There is none: the command and its helpers are made of the whole checkout."""
    refuse(
        "there is no source distribution of this package, for it is built of a whole checkout",
        "give others the checkout, or a wheel: pip wheel --no-deps ./python",
    )


def which(tool: str) -> str | None:
    """Where a tool is, that the environment may name otherwise as make does."""
    named = os.environ.get("CC", "").split() if tool == "cc" else []
    return shutil.which((named or [tool])[0])


def refuse(*why: str) -> NoReturn:
    """Ends the build, without a trace through pip."""
    sys.exit("\n".join(["", *why]))


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata: str | None = None
) -> str:
    """A wheel with everything."""
    if "WHIMBREL_BUILT" not in os.environ:
        build()
    # Beside what the command was made of, so that little is left to compile.
    os.environ["CARGO_TARGET_DIR"] = str(ROOT / "build/cargo")
    os.environ.setdefault("RUSTC_WRAPPER", str(ROOT / "tools/rustc.sh"))
    with (ROOT / "build/package.lock").open("w") as lock:
        # Another build has the same tree in the same place.
        fcntl.flock(lock, fcntl.LOCK_EX)
        pack()
        try:
            return maturin.build_wheel(wheel_directory, config_settings, metadata)
        finally:
            shutil.rmtree(TREE)


def build() -> None:
    """Builds what is not built."""
    # Variables of a make that called this one: their jobs are not ours.
    kept = {key: of for key, of in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    if subprocess.run(["make", "build"], cwd=ROOT, env=kept, check=False).returncode != 0:
        refuse(f"`make build` failed in {ROOT}; see its output above")


def pack() -> None:
    """Copies the parts next to the modules of the package."""
    shutil.rmtree(TREE, ignore_errors=True)
    for pattern in PARTS:
        found = sorted(ROOT.glob(pattern))
        if not found:
            raise FileNotFoundError(f"{ROOT / pattern} is missing: `make build` makes it")
        for path in found:
            to = TREE / path.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)
    if APPS in os.environ:
        shutil.rmtree(TREE / "build/apps")
        shutil.copytree(os.environ[APPS], TREE / "build/apps")
    (TREE / "sources").write_text(sources())


def sources() -> str:
    """Stands for what the package is compiled of; workers of a cluster compare it."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
