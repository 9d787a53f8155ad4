#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a release from its own source archive, in another folder, without git and with a folder of
Cargo of another name, and compares the packages (`make soak`).

    tests/release/from_source.py
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "build/dist"
# Made by its own Python, which a tree without one would first have to install.
NOT_COMPARED = (".whl",)


def make(tree: Path, *words: str, **more: str) -> None:
    """Runs make in a tree as another terminal does."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "BUILT")}
    subprocess.run(["make", *words], cwd=tree, env=kept | more, check=True)


def sums(folder: Path) -> dict[str, str]:
    """The sum of each package of a folder."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("whimbrel[-_]*")
        if path.is_file() and path.suffix not in NOT_COMPARED
    }


def main() -> None:
    """Builds, compares and runs it."""
    make(ROOT, "dist")
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=DIST, check=True)
    (archive,) = (path for path in DIST.glob("whimbrel-*.tar.gz") if path.name.count("-") == 1)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
        tree = Path(folder) / archive.name.removesuffix(".tar.gz")
        cargo = Path(folder) / "cargo"
        cargo.mkdir()
        for name in ("bin", "registry"):
            had = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / name
            (cargo / name).symlink_to(had)
        make(tree, "tarball", "deb", CARGO_HOME=str(cargo))
        first, second = sums(DIST), sums(tree / "build")
        different = [name for name in second if first[name] != second[name]]
        assert len(second) == 2 and not different, different
        app = ["run", "apps/hello/app.toml", "--quiet", "--move", "bird=1@100ms"]
        subprocess.run(["bin/whimbrel", *app], cwd=tree, check=True)
    for name, digest in sorted(second.items()):
        print(digest, name)


if __name__ == "__main__":
    main()
