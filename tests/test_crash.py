# SPDX-License-Identifier: Apache-2.0
"""The FM radio keeps checkpoint images, and one of its kernels is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from running import PATIENCE_S, WHIMBREL, move_enough, wait_for_totals

ROOT = Path(__file__).resolve().parent.parent
RADIO = ROOT / "apps/fm_radio"
CPUS = sorted(os.sched_getaffinity(0))
CORES = f"{CPUS[0]},{CPUS[-1]}"
PLAYS = int(os.environ.get("CRASH_PLAYS", "40"))
EVERY = 4
TRIES = 5


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The radio with images, and some of its tasks on each core."""
    folder = tmp_path_factory.mktemp("radio")
    text = (RADIO / "app.toml").read_text(encoding="utf-8")
    text = text.replace("restart = true", f"restart = true\ncheckpoint_every = {EVERY}")
    text = re.sub(r'(name = "(?:demodulator|sum)"\n)', r"\1core = 1\n", text)
    (folder / "app.toml").write_text(text, encoding="utf-8")
    (folder / "data").symlink_to(RADIO / "data")
    for name in ("fm_radio.so", "fm_radio.task"):
        (folder / name).symlink_to(ROOT / "build/apps" / name)
    return folder / "app.toml"


def start(app: Path, output: Path, runtime: Path, *options: str) -> subprocess.Popen[str]:
    command = [str(WHIMBREL), "run", str(app), "--fast", "--json", "--quiet", "--cores", CORES]
    command += ["--set", f"plays={PLAYS}", "--set", f"output={output}", *options]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def kernel_of(run: subprocess.Popen[str], runtime: Path, core: int) -> int | None:
    """The process of a kernel, once the run has it; None if the run has ended meanwhile."""
    while run.poll() is None:
        for file in runtime.glob("whimbrel/*/run.json"):
            with suppress(FileNotFoundError):
                kernels = json.loads(file.read_text(encoding="utf-8"))["kernels"]
                if len(kernels) > core:
                    return int(kernels[core]["pid"])
        time.sleep(0.01)
    return None


def summary_after_a_kill(application: Path, cores: str) -> dict[str, Any]:
    """Of a run whose second kernel is killed once a message has come through; no message was
    another than the next."""
    words = [str(WHIMBREL), "run", str(application), "--cores", cores, "--json"]
    with TemporaryDirectory(dir="/tmp") as runtime:  # the path of a socket has 107 bytes at most
        process = subprocess.Popen(
            words,
            env={**os.environ, "XDG_RUNTIME_DIR": runtime},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        victim = kernel_of(process, Path(runtime), 1)
        assert victim, process.communicate()[1]
        wait_for_totals(Path(runtime), lambda now: any(c["received"] for c in now["channels"]))
        os.kill(victim, signal.SIGKILL)
        out, said = process.communicate(timeout=600)
    assert process.returncode == 2 and "was killed" in said, said
    assert "another message" not in said
    return json.loads(out)


def wait_for_sound(run: subprocess.Popen[str], output: Path, size: int) -> None:
    """Waits until the run has written so much: it is under way, and far from its end."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        ended = run.poll() is not None
        if output.exists() and output.stat().st_size >= size:
            return
        assert not ended, run.communicate()[1]
        assert time.monotonic() < deadline, "the run wrote no sound"
        time.sleep(0.001)


def killed(app: Path, output: Path, core: int, size: int, *options: str) -> tuple[int, str, str]:
    """Kills a kernel once there is so much sound: the run's status and what it said.

    The status is 0 if this process was kept waiting so long that the run had ended before.
    """
    with TemporaryDirectory(dir="/tmp") as runtime:  # the path of a socket has 107 bytes at most
        run = start(app, output, Path(runtime), *options)
        if pid := kernel_of(run, Path(runtime), core):
            wait_for_sound(run, output, size)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        out, said = run.communicate(timeout=600)
    return run.returncode, out, said


@pytest.fixture(scope="module")
def undisturbed(app: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    with TemporaryDirectory(dir="/tmp") as runtime:
        run = start(app, folder / "out.wav", Path(runtime))
        _, said = run.communicate(timeout=600)
    assert run.returncode == 0, said
    return (folder / "out.wav").read_bytes()


@pytest.mark.parametrize("mode", ["handoff", "replicate", "recreate"])
@pytest.mark.parametrize("core", [0, 1])
@pytest.mark.parametrize("coordinator", [0, 1])
def test_the_sound_is_the_same_to_the_bit_whichever_kernel_is_killed(
    app: Path, undisturbed: bytes, tmp_path: Path, mode: str, core: int, coordinator: int
) -> None:
    output = tmp_path / "out.wav"
    options = ("--mode", mode, "--policy", "spread", "--coordinator", str(coordinator))
    for _ in range(TRIES):
        status, out, said = killed(app, output, core, len(undisturbed) // 20, *options)
        if status != 0:
            break
        output.unlink()
    summary = json.loads(out)

    assert status == 2 and "was killed" in said, said
    assert [death["core"] for death in summary["deaths"]] == [core]
    assert summary["deaths"][0]["lost"] == 0
    assert all(task["damaged"] == 0 and task["images"] > 0 for task in summary["tasks"])
    assert (summary["policy"] == "spread" and summary["coordinator"] == 1 - core) or (
        summary["coordinator"] == coordinator and coordinator != core
    )
    assert output.read_bytes() == undisturbed


# A task that is recreated asks again for what it held: frames that it does not send twice, while
# the slot for the next one is claimed already.
@pytest.mark.parametrize("mode", ["handoff", "replicate", "recreate"])
def test_the_sound_is_the_same_to_the_bit_while_tasks_with_images_move(
    app: Path, undisturbed: bytes, tmp_path: Path, mode: str
) -> None:
    output = tmp_path / "out.wav"
    options = [
        o for task in ("lpf", "demodulator", "bpf.1") for o in ("--shuttle", f"{task}=1,0@9ms")
    ]

    def moving() -> dict[str, Any]:
        with TemporaryDirectory(dir="/tmp") as runtime:
            run = start(app, output, Path(runtime), "--mode", mode, *options)
            out, said = run.communicate(timeout=600)
        assert run.returncode == 0, said
        assert output.read_bytes() == undisturbed
        return json.loads(out)

    move_enough(moving, 3, "lpf", "demodulator", "bpf")
