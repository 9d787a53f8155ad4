# SPDX-License-Identifier: Apache-2.0
"""What a build makes does not depend on the folder where it was made, nor on who made it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = [f"build/apps/{path.parent.name}.so" for path in ROOT.glob("apps/*/Makefile")]
PROGRAMS = [f"bin/whimbrel{name}" for name in ("", "-linux", "-sim", "-bench", "-bench.task")]
CLIENT = "build/release/libwhimbrel-client.a"
CARGO_HOME = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))


@pytest.mark.parametrize("built", sorted([*MODULES, *PROGRAMS, CLIENT]))
def test_no_built_file_names_the_folder_of_the_tree(built: str) -> None:
    """Neither code nor debug information: two trees of one commit give the same bytes."""
    tree = re.escape(str(ROOT).encode()) + rb"[/\0]"
    assert re.findall(tree + rb"[ -~]*", (ROOT / built).read_bytes()) == []


@pytest.mark.parametrize("built", ["bin/whimbrel", "bin/whimbrel-sim"])
def test_no_program_names_the_folder_of_cargo(built: str) -> None:
    named = re.findall(re.escape(CARGO_HOME.encode()) + rb"/[ -~]*", (ROOT / built).read_bytes())
    assert named == [], "built before tools/rustc.sh was: rm -r build/cargo"


# docs/decisions/0072-hardening-that-costs-nothing.md
HARDENED = {
    "bin/whimbrel": ("DYN", False),
    "bin/whimbrel-bench": ("DYN", True),
    "bin/whimbrel-linux": ("DYN", True),
    "bin/whimbrel-sim": ("EXEC", True),
    "build/apps/hello.so": ("DYN", False),
}


@pytest.mark.parametrize(("built", "has"), sorted(HARDENED.items()))
def test_programs_are_hardened_as_decided(built: str, has: tuple[str, bool]) -> None:
    words = ["readelf", "--wide", "--file-header", "--segments", "--dynamic", "--dyn-syms", built]
    read = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kind, fortified = has
    assert re.search(rf"Type: +{kind} ", read)
    assert "GNU_RELRO" in read
    assert re.search(r"\(FLAGS\) +.*BIND_NOW|\(FLAGS_1\) +.*NOW", read)
    assert re.search(r"GNU_STACK .* RW +0", read)
    assert (re.search(r"__\w+_chk@", read) is not None) == fortified
    assert "__stack_chk_fail@" not in read
