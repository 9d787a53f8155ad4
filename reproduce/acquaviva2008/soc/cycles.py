# SPDX-License-Identifier: Apache-2.0
"""Figures 2, 6, 7 and 16 of acquaviva2008 on the SoC, from the samples of moving.c and costs.c."""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

REPRODUCE = Path(__file__).resolve().parents[2]
sys.path += [str(REPRODUCE / part) for part in ("common", "nacul2007/rtl", "acquaviva2008")]

import costs_of  # noqa: E402
from command import ROOT, settings, whimbrel  # noqa: E402
from figures import PUBLISHED, RATES_HZ, TASKS, fit, stated6  # noqa: E402
from model import PROGRAMS, build, model  # noqa: E402
from published import Row, row  # noqa: E402

IMAGE = PROGRAMS / "costs/moving"
WAIT_STATES = 4
SIZES_KIB = (1, 4, 16, 64)
CACHE_KIB = 4
CORE_HZ = PUBLISHED["platform"]["agent_core_mhz"] * 1_000_000
CYCLE_NS = 100  # of the board

Medians = dict[tuple[str, int], float]


def measure(part: str = "") -> Medians:
    """The median of each cost, by name and number; of the cases with `part` in their names."""
    found = {}
    for name, taken in costs_of.measure(WAIT_STATES, part, IMAGE).items():
        cost, number = name.rsplit(".", 1)
        found[cost, int(number)] = statistics.median(taken)
    return found


# ---- Figures 2 and 7 ----------------------------------------------------------------------------


def line_rows(what: str, points: list[tuple[float, float]], paper: object, note: str) -> list[Row]:
    line = fit(points)
    return [
        row(f"{what}, intercept", paper, line.offset, "cycles", note),
        row(f"{what}, slope", None, line.slope, "cycles/KiB", f"R² {line.r2:.4f}"),
    ]


def moving_rows(taken: Medians) -> list[Row]:
    """What moves a task, by how much memory it uses."""
    rows = [
        row(f"figure 7: hand-off, {kib} KiB", None, taken["handoff", kib], "cycles", "")
        for kib in SIZES_KIB
    ]
    rows[0]["note"] = "nothing is copied, whatever the size"
    rows += [
        row(
            f"figure 7: what it fetches again, {kib} KiB",
            None,
            taken["first_pass", kib] - taken["second_pass", kib],
            "cycles",
            "its memory read once where it has come, less a second time",
        )
        for kib in SIZES_KIB
        if kib <= CACHE_KIB
    ]
    note = "within the RAM, which any replication takes at least; small ones stay in the cache"
    rows += [
        row(f"figure 7: a copy, {n / 1024:g} KiB", None, cycles, "cycles", note)
        for (name, n), cycles in sorted(taken.items())
        if name == "copy"
    ]
    images = [(float(kib), taken["image", kib]) for kib in SIZES_KIB]
    note = "context copied into an image and summed up; theirs is a replication at 64 KiB and more"
    paper = PUBLISHED["figure7"]["intercept_cycles"]
    return rows + line_rows("figure 7: an image", images, paper, note)


# ---- Figure 6 -----------------------------------------------------------------------------------


def share(cycles: float, hz: int) -> float:
    """Percent of a core as that of the paper."""
    return 100 * cycles * hz / CORE_HZ


def agent_rows(taken: Medians) -> list[Row]:
    """What the daemons take."""
    rows = []
    for tasks in TASKS:
        agent = taken["agent", tasks]
        coordinator = taken["both", tasks] - agent
        note = "caches emptied before"
        rows.append(row(f"figure 6 (b): a tick, {tasks} tasks", None, agent, "cycles", note))
        rows.append(
            row(f"figure 6 (a): coordinator, {tasks} tasks", None, coordinator, "cycles", note)
        )
        for hz in RATES_HZ:
            for part, name, cycles in (("b", "agent", agent), ("a", "coordinator", coordinator)):
                what = f"figure 6 ({part}): {name}, {hz} Hz, {tasks} tasks"
                paper, ours = stated6(name, hz, tasks), share(cycles, hz)
                rows.append(row(what, paper, ours, "%", "of a core of 100 MHz"))
    works = {number: cycles for (name, number), cycles in taken.items() if name == "work"}
    ticks = max(works)
    whole = (works[ticks] - works[0]) / ticks
    note = f"{ticks} ticks in a loop with checkpoints: timer, interrupt and inbox are in it"
    return [
        *rows,
        row("figure 6 (b): all that a tick takes from a task", None, whole, "cycles", note),
    ]


# ---- Figure 16 ----------------------------------------------------------------------------------

RADIO = ROOT / "apps/fm_radio"
FRAME_SAMPLES, FRAMES = 40, 4
SETTINGS = {"frame_samples": FRAME_SAMPLES, "lpf_taps": 8, "bpf_taps": 8, "output": ""}


def radio_cycles(folder: Path) -> dict[str, float]:
    """What a frame of the radio takes of each task, all on the core without the launcher."""
    recording = folder / "recording.cu8"
    whole = (RADIO / "data/cold_day_240k.cu8").read_bytes()
    recording.write_bytes(whole[: 2 * FRAME_SAMPLES * FRAMES])
    tasks = ("lpf", "demodulator", "bpf.0", "bpf.1", "bpf.2", "sum")
    words = ["run", str(RADIO / "app.toml"), "--board", "rv32_soc", "--fast", "--json", "--quiet"]
    words += ["--map", ",".join(f"{task}=1" for task in tasks)]
    summary = json.loads(whimbrel(*words, *settings({"input": recording} | SETTINGS)).stdout)
    found: dict[str, float] = defaultdict(float)
    for task in summary["tasks"]:
        found[task["task"]] = task["busy_ns"] / CYCLE_NS / summary["frames"]
    return found


def checkpoint_rows(taken: Medians, radio: dict[str, float]) -> list[Row]:
    """Of a checkpoint that nobody wants anything from, and of one that stores an image."""
    idle = statistics.median(costs_of.measure(WAIT_STATES, "checkpoint")["1000_checkpoints"]) / 1000
    rows = [row("figure 16: a checkpoint", None, idle, "cycles", "nobody wants anything from it")]
    most = PUBLISHED["figure16b"]["task_most_percent"]
    for task, cycles in radio.items():
        note = f"one checkpoint a frame of {FRAME_SAMPLES} samples, {cycles:.0f} cycles"
        percent = 100 * idle / cycles
        rows.append(row(f"figure 16 (b): {task}", f"< {most}", percent, "%", note))
    return rows + [
        row(f"figure 16: with an image, {kib} KiB", None, taken["image", kib], "cycles", "")
        for kib in SIZES_KIB
    ]


def rows() -> list[Row]:
    """All of them."""
    build(model(), IMAGE, costs_of.IMAGE)
    taken = measure()
    with TemporaryDirectory() as folder:
        radio = radio_cycles(Path(folder))
    return moving_rows(taken) + agent_rows(taken) + checkpoint_rows(taken, radio)
