# SPDX-License-Identifier: Apache-2.0
"""`whimbrel run --board rv32_soc`: the same command and applications on the model of the SoC."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import many_tasks
import pytest
import soc
from commands import run, whimbrel

sys.path.append(str(soc.ROOT / "reproduce/common"))

from stated import said

BOARD = soc.ROOT / "boards" / "rv32_soc" / "board.toml"
CYCLE_NS = 100
PT_LOAD = 1
TURNS = 5


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def refusal(app: str | Path, board: str | Path, *options: str) -> str:
    """What is said of a run that must fail, in one line."""
    ended = whimbrel("run", soc.ROOT / app, "--board", board, "--quiet", *options)
    assert ended.returncode == 2, ended.stderr
    return " ".join(re.sub("[│─╭╰]", " ", ended.stderr).split())


def test_a_variant_that_does_not_exist_is_an_error_that_names_those_that_do() -> None:
    said = refusal("apps/hello/app.toml", "rv32_soc:hard")
    assert "has no variant `hard`" in said
    assert "hardware" in said


def test_more_tasks_than_the_hardware_has_slots_are_refused_at_the_first(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(BOARD.read_text().replace("tasks = 16", "tasks = 1"))
    said = refusal("apps/hello/app.toml", f"{board}:hardware")
    assert "has room for 1" in said
    assert "no room for this one" in said


def fly(folder: Path, board: str = "rv32_soc") -> tuple[Path, list[dict[str, Any]]]:
    """A recorded run whose bird has been on both cores, and its moves.

    It is asked to move by the host's clock: a run on a fast host is over before that.
    """
    for turn, every in enumerate(("20ms", "4ms", "4ms", "4ms", "4ms")):
        recorded = folder / str(turn)
        # The first core is free for the launcher until the bird comes.
        options = ("--map", "bird=1,watcher=1", "--shuttle", f"bird=0,1@{every}")
        summary = run("hello", *options, "--record", recorded, board=board)
        assert summary["frames"] == 200
        assert "200 messages, then the bird was gone" in summary["said"]
        moves = moved(summary)
        if moves:
            return recorded, moves
    pytest.fail("the bird was not on both cores")


def moved(summary: dict[str, Any]) -> list[dict[str, Any]]:
    return [move for move in summary["migrations"] if move["status"] == "ok"]


# In `make test`, cases of kernels/conform move tasks there.
@pytest.mark.skipif(float(soc.SCALE) < soc.LONG_SCALE, reason="only in make soak")
def test_the_bird_changes_its_core_where_the_hardware_schedules(tmp_path: Path) -> None:
    fly(tmp_path, "rv32_soc:hardware")


def test_the_bird_changes_its_core_and_no_message_is_lost(tmp_path: Path) -> None:
    recorded, moves = fly(tmp_path)
    assert all(move["parked_ns"] % CYCLE_NS == 0 for move in moves)
    trace = whimbrel("trace", recorded, "--format", "perfetto", "-o", tmp_path / "trace.json")
    assert trace.returncode == 0, trace.stderr
    assert "bird" in (tmp_path / "trace.json").read_text(errors="replace")


def test_a_shuttle_takes_no_time_of_the_run() -> None:
    """It took six times as long: the launcher parsed and answered while the tasks waited."""
    alone_ms, asked_ms = (
        run("hello", *shuttle)["time_ns"] / 1e6 for shuttle in ((), ("--shuttle", "bird=0,0@5ms"))
    )
    for _ in range(TURNS):
        shuttled = run("hello", "--shuttle", "bird=1,0@5ms")
        moves = moved(shuttled)
        if moves:
            break
    assert moves, "the run was over before each request"
    parked_ms = max(move["parked_ns"] - move["request_ns"] for move in moves) / 1e6
    print(f"{asked_ms} ms with requests, {alone_ms} ms without; parked after {parked_ms} ms")
    assert asked_ms <= said("docs/soc.md", "a run takes at most {} times")[0] * alone_ms
    assert parked_ms <= said("docs/soc.md", "bird is parked within {} ms of")[0]


def test_a_model_that_is_not_built_is_an_error_that_says_what_builds_it(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    text = BOARD.read_text().replace("{board}/../..", "/nowhere")
    board.write_text(text.replace('cmake = "."', f'cmake = "{BOARD.parent}"'))
    said = refusal("apps/hello/app.toml", board)
    assert "/nowhere/build/rtl/soc/whimbrel-soc" in said
    assert "make rtl-soc" in said


def test_an_application_that_is_too_large_is_refused_at_its_line(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(BOARD.read_text().replace('gvm = "8MiB"', 'gvm = "8KiB"'))
    assert "memory" in refusal("apps/hello/app.toml", board)


@pytest.mark.parametrize(
    "keys",
    ["heap = '1MiB'", "heap = '1KiB'\nstack = 173700"],
    ids=["heaps", "stacks"],
)
def test_as_many_tasks_as_the_command_counts_boot_and_one_more_is_refused(
    keys: str, tmp_path: Path
) -> None:
    most = many_tasks.most_that_fit(tmp_path, "rv32_soc", 2, keys)
    summary = run(many_tasks.write(tmp_path, most, 2, keys))
    assert [task["firings"] for task in summary["tasks"]] == [many_tasks.FIRINGS] * most
    said = refusal(many_tasks.write(tmp_path, most + 1, 2, keys), "rv32_soc")
    assert re.search("`many` needs .* MiB .*, and the board rv32_soc has", said), said


def test_an_image_that_does_not_fit_the_memory_is_not_started(tmp_path: Path) -> None:
    image = bytearray(soc.CONFORM.read_bytes())
    headers, count = int.from_bytes(image[28:32], "little"), image[44]  # e_phoff, e_phnum
    loaded = [at for at in range(headers, headers + 32 * count, 32) if image[at] == PT_LOAD]
    image[loaded[0] + 20 : loaded[0] + 24] = (32 << 20).to_bytes(4, "little")  # p_memsz
    large = tmp_path / "large.elf"
    large.write_bytes(image)
    ended = soc.run(image=large)
    assert ended.status == 2
    assert "does not fit" in ended.text
