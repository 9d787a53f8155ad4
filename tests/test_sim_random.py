# SPDX-License-Identifier: Apache-2.0
"""Random simulations come to the same with steps and without, recorded or not, saved or not."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from random_sims import SOURCE, Case, table
from simulated import command

CASES = int(os.environ.get("SIM_CASES", "60"))
# It takes no time, but the simulator does not know that, so no step is taken.
APART = table("costs.job", cycles_per_unit=1e-9) + f"\n{SOURCE}\n"
ERROR = re.compile(r"^ +(?:×|│).*$", re.M)


def told(folder: Path, case: Case, platform: str, *more: str) -> dict[str, Any]:
    """All that was told and recorded, without what is of this call alone."""
    place = folder / f"{platform}.toml"
    done = command(folder / "app.toml", "--platform", str(place), *case.options, *more)
    files = (folder / "recorded").glob("*.events")
    events = {path.name: path.read_bytes() for path in files}
    for path in (folder / "recorded").glob("*"):
        path.unlink()
    summary = json.loads(done.stdout or "{}")
    summary.pop("gvm_bytes", None)
    errors = [line.replace(str(place), "") for line in ERROR.findall(done.stderr)]
    return {"status": done.returncode, "errors": errors, "summary": summary, "events": events}


def from_there(run: dict[str, Any]) -> dict[str, Any]:
    """The summary without what a resumed run has only from where it was saved."""
    hidden = ("migrations", "migration_latency")
    return {key: value for key, value in run["summary"].items() if key not in hidden}


def differences(folder: Path, case: Case) -> tuple[list[str], str]:
    """What is not as it should be; and how the run ended."""
    folder.mkdir()
    (folder / "app.toml").write_text(case.app)
    (folder / "steps.toml").write_text(case.platform)
    (folder / "stacks.toml").write_text(case.platform + APART)
    record = ("--record", str(folder / "recorded"))
    steps, stacks = (told(folder, case, way, *record) for way in ("steps", "stacks"))
    found = [] if steps == stacks else ["steps and stacks"]
    if told(folder, case, "steps") != {**steps, "events": {}}:
        found.append("recording")
    state = folder / "state"
    if told(folder, case, "steps", "--save", f"{state}@30us")["status"] == 0:
        resumed = told(folder, case, "steps", "--resume", str(state))
        if steps["status"] == 0 and from_there(resumed) != from_there(steps):
            found.append("saving")
    return found, "finished" if steps["status"] == 0 else "failed"


def test_nothing_depends_on_how_it_is_simulated(tmp_path: Path) -> None:
    ends: Counter[str] = Counter()
    for seed in range(CASES):
        found, end = differences(tmp_path / str(seed), Case(seed))
        assert found == [], f"seed {seed}: {tmp_path / str(seed)}"
        ends[end] += 1
    print(f"{CASES} cases: {dict(ends)}")
    assert ends["finished"] > CASES / 4
