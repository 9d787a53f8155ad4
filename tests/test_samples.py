# SPDX-License-Identifier: Apache-2.0
"""docs/samples.md lists every sample, and its commands work: those of the simulator are typed."""

from __future__ import annotations

import os
import re
import subprocess
from tempfile import TemporaryDirectory

import pytest
from documents import ROOT, files
from running import PATIENCE_S

PAGE = ROOT / "docs/samples.md"
ROWS = re.findall(r"^\| \[.*?\]\((.*?)\) \|.*\| (.*) \|$", PAGE.read_text(), re.MULTILINE)
COMMANDS = [command for _, cell in ROWS for command in re.findall(r"`([^`]+)`", cell)]
# The files that are samples, or lie beside the one that the page links to.
APPLICATIONS = r"apps/\w+/\w+\.toml|bench/\w+/app\.toml"
OTHERS = r"examples/\w+/Makefile|platforms/\w+\.toml|boards/\w+/board\.toml|python/.*\.ipynb"
RECORDINGS = ("cu8", "avi", "qoi", "pcap", "wav")


def test_the_page_lists_every_sample() -> None:
    names = [str(path.relative_to(ROOT)) for path in files()]
    links = {str((PAGE.parent / link).resolve().relative_to(ROOT)) for link, _ in ROWS}
    folders = {name.rpartition("/")[0] for name in links}
    applications = [name for name in names if re.fullmatch(APPLICATIONS, name)]
    others = [name for name in names if re.fullmatch(OTHERS, name)]
    assert len(applications) > 10 and len(others) > 20
    # An app.toml may have its folder's page; another application of the folder has its own row.
    of_folders = {name for name in applications if name.endswith("/app.toml")}
    assert [name for name in applications if name not in links | of_folders] == []
    assert [one for one in [*of_folders, *others] if one.rpartition("/")[0] not in folders] == []
    alone = [name for name in others if not name.endswith("/Makefile")]
    assert [name for name in alone if name not in links] == []


def test_the_page_lists_every_recording() -> None:
    kinds = [f"apps/*/data/*.{kind}" for kind in RECORDINGS]
    names = {path.name for path in files(*kinds) if not path.name.endswith(".ref.wav")}
    listed = set(re.findall(r"^\| \[([\w.]+)\]\(\.\./apps/\w+/data/README", PAGE.read_text(), re.M))
    assert names == listed


def test_every_file_that_a_command_names_exists() -> None:
    named = {word for command in COMMANDS for word in re.findall(r"[\w/]+/[\w/.]+\.\w+", command)}
    inputs = {word for word in named if not word.startswith("build/")}
    assert len(inputs) > 15
    assert [word for word in inputs if not (ROOT / word).exists()] == []


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith("bin/whimbrel sim")])
def test_a_simulation_of_the_page_works(command: str) -> None:
    with TemporaryDirectory(dir="/tmp") as folder:
        done = subprocess.run(
            ["sh", "-c", command.replace("build/tour", folder)],
            cwd=ROOT,
            env=os.environ | {"XDG_RUNTIME_DIR": folder},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^\w+ (finished|ended after its time) after [\d.]+ m?s$", done.stdout, re.MULTILINE
    )
