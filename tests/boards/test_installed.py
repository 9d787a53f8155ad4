# SPDX-License-Identifier: Apache-2.0
"""Images of what users have: an installed command, and an application outside of the tree."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

from emulated import LIMIT_S, ROOT
from running import WHIMBREL, move_enough


def test_an_image_is_built_of_installed_sources_in_the_users_cache(tmp_path: Path) -> None:
    prefix, install = tmp_path / "a prefix", "tools/install/install.sh"
    subprocess.run([ROOT / install, "install", prefix], check=True, stdout=subprocess.DEVNULL)
    # Its folders are as far from the sources as build/boards/BOARD is: what is compiled there is in
    # ccache already.
    cache = prefix / "share/whimbrel"
    before = {path: path.lstat().st_mtime_ns for path in prefix.rglob("*") if path != cache}

    app = prefix / "share/whimbrel/apps/hello/app.toml"
    options = ["--board", "vexpress_a9", "--fast", "--quiet", "--json"]
    environment = os.environ | {
        "XDG_CACHE_HOME": str(cache),
        "XDG_RUNTIME_DIR": str(tmp_path),
        "CCACHE_BASEDIR": str(cache),
    }
    ended = subprocess.run(
        [prefix / "bin/whimbrel", "run", app, *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert [task["state"] for task in json.loads(ended.stdout)["tasks"]] == ["ended", "ended"]
    assert len(list(cache.glob("whimbrel/*/vexpress_a9/hello.elf"))) == 1
    after = {path: path.lstat().st_mtime_ns for path in prefix.rglob("*")}
    built = {path for path in after if path.is_relative_to(cache / "whimbrel")} | {cache}
    assert {path: time_ns for path, time_ns in after.items() if path not in built} == before


def test_a_new_application_runs_by_the_command_of_its_readme(tmp_path: Path) -> None:
    new = [WHIMBREL, "new", "radio", "--board", "vexpress_a9"]
    subprocess.run(new, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    readme = (tmp_path / "radio/README.md").read_text()
    (command,) = re.findall(r"`(.* run \. --board vexpress_a9 .*)`", readme)

    def run() -> dict:
        ended = subprocess.run(
            [*shlex.split(command), "--json"],
            cwd=tmp_path / "radio",
            env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=2 * LIMIT_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert "200 samples, none lost, sum 4639" in ended.stderr
        return json.loads(ended.stdout)

    move_enough(run, 1, "filter")
