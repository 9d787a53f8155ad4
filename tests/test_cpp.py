# SPDX-License-Identifier: Apache-2.0
"""Tasks in C++ by wb/wb.hpp: typed ports, and slots and locks that end with their scope."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from documents import ROOT
from running import WHIMBREL

HERE = ROOT / "tests/cpp"
CPU = min(os.sched_getaffinity(0))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module."""
    folder = tmp_path_factory.mktemp("cpp")
    module = ["-shared", "-fPIC", "-fstack-clash-protection", "-Wl,-z,now"]
    include = f"-I{ROOT}/middleware/include"
    command = ["g++", "-std=c++20", "-O2", *WARNINGS, *module, include]
    subprocess.run([*command, "-o", folder / "typed.so", HERE / "tasks.cc"], check=True)
    return folder


def run(place: Path, app: str, *options: str) -> subprocess.CompletedProcess[str]:
    (place / "app.toml").write_text(app)
    command = [str(WHIMBREL), "run", str(place / "app.toml"), "--cores", f"{CPU},{CPU}", "--json"]
    return subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=600, check=False
    )


APP = (HERE / "app.toml").read_text()


@pytest.mark.parametrize("mode", ["handoff", "replicate"])
def test_slots_and_locks_end_once_with_their_scope_wherever_the_task_has_moved(
    place: Path, mode: str
) -> None:
    ended = run(place, APP, "--mode", mode)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads(ended.stdout)
    assert [task["migrations"] for task in summary["tasks"]] == [20 * 4, 20]
    samples, blocks = summary["channels"]
    assert (samples["sent"], samples["received"]) == (80, 80)
    assert (blocks["sent"], blocks["received"]) == (20, 20)


@pytest.mark.parametrize("slot_bytes", [16, 32])
def test_a_port_whose_slots_have_another_size_than_its_type_ends_the_run(
    place: Path, slot_bytes: int
) -> None:
    app = APP.replace('name = "sender"', 'name = "sender"\nentry = "stranger"')
    ended = run(place, app.replace("slot_bytes = 24", f"slot_bytes = {slot_bytes}"))
    assert ended.returncode == 2
    assert "24" in ended.stderr and f"slot_bytes = {slot_bytes}" in ended.stderr, ended.stderr
