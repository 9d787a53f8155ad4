# SPDX-License-Identifier: Apache-2.0
"""What every experiment says when it cannot go on; a script stands for the command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import command
import pytest
from command import Failed
from recorded import record

HERE = Path(__file__).resolve().parent
Script = Callable[[str], None]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Puts lines of a shell in the place of the command."""

    def put(lines: str) -> None:
        path = tmp_path / "whimbrel"
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)
        monkeypatch.setattr(command, "WHIMBREL", path)

    return put


def test_a_missing_command_is_told_with_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "WHIMBREL", tmp_path / "none")
    with pytest.raises(Failed, match=r"^bin/whimbrel is missing: make build$"):
        command.whimbrel("sim", "app.toml")


def test_a_command_that_fails_is_told_in_its_words(script: Script) -> None:
    script("echo there is no core 7 >&2; exit 2")
    with pytest.raises(Failed, match=r"^whimbrel sim app\.toml: there is no core 7$"):
        command.whimbrel("sim", "app.toml", "--json")


def test_a_command_that_says_nothing_is_told_with_its_exit_code(script: Script) -> None:
    script("exit 3")
    with pytest.raises(Failed, match=r"^whimbrel sim app\.toml: failed with exit code 3$"):
        command.whimbrel("sim", "app.toml")
    assert command.whimbrel("sim", fine=(0, 3)).returncode == 3


def test_a_command_that_does_not_end_is_told_with_its_limit(script: Script) -> None:
    script("exec sleep 600")
    with pytest.raises(Failed, match=r"^whimbrel run app\.toml: has not ended after 0\.1 s$"):
        command.whimbrel("run", "app.toml", timeout=0.1)


def test_a_benchmark_that_fails_is_named_with_its_exit_code(
    script: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    script("echo how far it is >&2; exit 3")
    with pytest.raises(Failed, match=r"^whimbrel bench call: failed with exit code 3$"):
        command.benched(["call", "wake"], quick=True)
    assert capfd.readouterr().err == "how far it is\n"


def test_benchmarks_are_rows_by_their_names(script: Script) -> None:
    script("""echo "[{\\"bench\\": \\"$*\\"}]" """)
    assert list(command.benched(["call", "wake"], quick=False)) == ["bench call wake --json"]
    assert list(command.benched(["call"], quick=True)) == ["bench call --json --quick"]


def test_a_run_whose_events_are_missing_is_named(script: Script, tmp_path: Path) -> None:
    script("""echo '{"dropped_events": 7}'""")
    with pytest.raises(Failed, match=r"^figure5: events are missing$"):
        record(tmp_path / "figure5", "sim", "app.toml")


@pytest.mark.parametrize("run", sorted(HERE.parent.rglob("run")), ids=lambda run: run.parent.name)
def test_a_missing_package_is_told_with_what_installs_it(run: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')\n")
    surroundings = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [run, "--help"], capture_output=True, text=True, check=False, env=surroundings
    )
    assert done.stderr == "reproduce: matplotlib is missing: make setup\n"
    assert done.returncode == 2


@pytest.mark.parametrize("kinds", [(), (OSError,)], ids=["Failed", "another kind"])
def test_what_fails_ends_an_experiment_with_2_and_its_reason(
    kinds: tuple[type[Exception], ...], capsys: pytest.CaptureFixture[str]
) -> None:
    kind = kinds[0] if kinds else Failed
    with pytest.raises(SystemExit) as ended, command.told("lee2009", *kinds):
        raise kind("no service answered")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "reproduce/lee2009: no service answered\n"


def test_a_mistake_of_an_experiment_is_no_failure_that_is_told() -> None:
    with pytest.raises(KeyError), command.told("lee2009"):
        raise KeyError("figure9")
