# SPDX-License-Identifier: Apache-2.0
"""Scripts on four emulated Cortex-A9: what they come to while their tasks move in every mode, and
what ends a run of them."""

from __future__ import annotations

from pathlib import Path

import emulated
import pytest
from test_run import refusal, run

EXAMPLE = emulated.ROOT / "apps/synthetic/script.toml"
LOOPS = {"camera": 50, "decoder": 50, "control": 25, "log": 10, "worker": 20}
MODES = {"camera": "handoff", "decoder": "replicate", "control": "recreate"}
MOVES = ("camera=1,0@11ms", "decoder=1,2,0@7ms", "control=3,0@13ms", "worker.0=1,0@17ms")


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_scripts_move_in_every_mode_and_lose_nothing(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    for task, mode in MODES.items():
        named = f'[[task]]\nname = "{task}"\n'
        assert named in text
        text = text.replace(named, f'{named}mode = "{mode}"\nrestart = true\n')
    app = tmp_path / "app.toml"
    app.write_text(text)
    shuttles = [word for move in MOVES for word in ("--shuttle", move)]
    summary = run(app, *shuttles)
    assert {task["task"]: task["script"]["loops"] for task in summary["tasks"]} == LOOPS
    assert [channel["sent"] for channel in summary["channels"]] == [50]
    moved = {task["task"] for task in summary["tasks"] if task["migrations"] != 0}
    assert moved >= set(MODES)


def scripts(folder: Path, common: str, **of_tasks: str) -> Path:
    """An application of tasks with these scripts, each on core 0."""
    tasks = [f'[[task]]\nname = "{name}"\nscript = [{it}]\n' for name, it in of_tasks.items()]
    app = folder / "app.toml"
    app.write_text(f'[app]\nname = "scripts"\n\n{common}\n' + "\n".join(tasks))
    return app


def test_a_barrier_whose_tasks_end_is_told_with_task_phase_and_event(tmp_path: Path) -> None:
    turn = '{{ phase = "p", loop = {}, do = [{{ run = 5 }}, {{ barrier = "b" }}] }}'
    common = '[[barrier]]\nname = "b"\ntasks = 2\n'
    said = refusal(scripts(tmp_path, common, a=turn.format(3), b=turn.format(2)))
    for word in ("`a`", "phase p, line", "barrier b", "nobody passes it any more"):
        assert word in said, said


def test_a_deadlock_is_told_with_task_phase_and_event(tmp_path: Path) -> None:
    common = '[[semaphore]]\nname = "s"\n\n[[semaphore]]\nname = "t"\n'
    turn = '{{ phase = "{}", loop = 2, do = [{{ take = "{}" }}, {{ give = "{}" }}] }}'
    app = scripts(tmp_path, common, a=turn.format("p", "s", "t"), b=turn.format("q", "t", "s"))
    said = refusal(app)
    for word in ("a for a semaphore (phase p, line 12, take s)", "b for a semaphore"):
        assert word in said, said
