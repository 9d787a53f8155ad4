# SPDX-License-Identifier: Apache-2.0
"""The first thing that a reader types works as README.md says."""

import json
import os
import re
import subprocess

from documents import ROOT
from running import WHIMBREL, move_enough

CPU = min(os.sched_getaffinity(0))


def test_the_bird_changes_its_process_and_no_message_is_lost() -> None:
    options = ["--cores", f"{CPU},{CPU}", "--shuttle", "bird=1,0@100ms", "--json"]
    command = [str(WHIMBREL), "run", "apps/hello/app.toml", *options]

    def fly() -> dict:
        run = subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=600
        )
        summary = json.loads(run.stdout)
        places = re.findall(r"the bird is in process (\d+)", run.stderr)
        assert len(set(places)) == 2 or summary["tasks"][0]["migrations"] < 3
        assert summary["frames"] == 200
        assert "200 messages, then the bird was gone" in run.stderr
        return summary

    move_enough(fly, 3, "bird")
