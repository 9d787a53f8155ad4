# SPDX-License-Identifier: Apache-2.0
"""What building the package says where it cannot be done; `fresh_install.py` does it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BACKEND = ROOT / "python/build_backend"


def refused(hook: str, path: Path, **more: str) -> list[str]:
    """What a hook of the build says, with the programs of a folder alone."""
    script = f"import backend; {hook}"
    environment = {"PATH": str(path), "PYTHONPATH": str(BACKEND), **more}
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()


@pytest.mark.parametrize("there", [[], ["cargo"], ["cargo", "cc"], ["cc", "make"]])
@pytest.mark.parametrize("more", [{}, {"CC": ""}, {"CC": " "}], ids=str)
def test_a_build_without_its_tools_says_what_to_install(
    tmp_path: Path, there: list[str], more: dict[str, str]
) -> None:
    for tool in there:
        (tmp_path / tool).symlink_to("/bin/true")
    said = refused("backend.get_requires_for_build_wheel()", tmp_path, **more)
    missing = [tool for tool in ("cargo", "cc", "make") if tool not in there]
    assert [line.split(":")[0] for line in said] == [f"{tool} is missing" for tool in missing]
    assert all("install" in line for line in said)


def test_there_is_no_source_distribution_and_it_says_what_to_give(tmp_path: Path) -> None:
    said = refused("backend.build_sdist('.')", tmp_path)
    assert "whole checkout" in said[0] and "pip wheel" in said[1]
