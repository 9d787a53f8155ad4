# SPDX-License-Identifier: Apache-2.0
"""A tree of the same sources in another folder builds the same bytes: of C, in a minute.

from_source.py compares the whole of a release.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from documents import files  # noqa: E402

PROGRAMS = (
    "bin/whimbrel-bench.task",
    "bin/whimbrel-linux",
    "build/release/libwhimbrel-client.a",
)
MODULES = ("build/apps/hello.so", "build/apps/hello.task")


def test_programs_and_modules_have_the_same_bytes_in_another_folder(tmp_path: Path) -> None:
    tree = tmp_path / "of_another_name"
    for path in files("Makefile", "*.mk", "*.[chS]", "*.sh", "*.syms", "*.inc", "apps/hello"):
        to = tree / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, to)
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "BUILT")}
    kept["SOURCE_DATE_EPOCH"] = "0"  # of packages: this tree has no commit
    for words in (["-C", tree, *PROGRAMS], ["-C", tree / "apps/hello"]):
        subprocess.run(["make", "--silent", *words], env=kept, check=True, timeout=600)
    assert not (tree / ".git").exists()
    for name in PROGRAMS + MODULES:
        assert (tree / name).read_bytes() == (ROOT / name).read_bytes(), name
