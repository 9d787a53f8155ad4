# SPDX-License-Identifier: Apache-2.0
"""Figures 14 and 15 of acquaviva2008: what a migration takes of energy and of queues."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from pathlib import Path

from command import Failed
from figures import PUBLISHED
from published import Row, row
from recorded import Recorded
from systems import ENDLESS, Bench, Mapping, Table, operating_points, platform, radio
from whimbrel.plot.chart import Axis, Plot, Point

MODES = {"replicate": "replication", "recreate": "recreation"}
ONE: Mapping = (0,) * 6
TWO: Mapping = (0, 1, 0, 0, 0, 0)
# The mapping before, and what then goes to another core and comes back.
TRANSITIONS = {
    "1 to 2 cores": (ONE, ["demodulator=1,0"]),
    "2 to 3 cores": (TWO, ["bpf.0=2,0", "bpf.1=2,0"]),
    "1 to 3 cores": (ONE, ["demodulator=1,0", "bpf.0=2,0", "bpf.1=2,0"]),
}
OFTEN_MS, SELDOM_MS, RUN_MS = 50, 100, 4000
FRAME_RATES = (450, 900)  # section 6.3: before and after the rate is changed
DAEMONS = {"10ms": "100 Hz", "100ms": "10 Hz"}
SHOWN_MS = (20, 80)  # before and after the migration is asked for
SEND, RECEIVE = 5, 6
# A job that waits for its overloaded core and not for a message is late whatever the queues: the
# runs have none or one of these, at any size.
STRAY = 1
QUEUES = ("lpf_demodulator", "demodulator_bpf_0", "bpf_sum_0")


# ---- Figure 14 ----------------------------------------------------------------------------------


def shuttled(
    bench: Bench, transition: str, mode: str, mhz: int, shutdown: bool, period_ms: int
) -> Table:
    """A run at the lower frame rate whose tasks go there and back again and again."""
    mapping, tasks = TRANSITIONS[transition]
    pace = ["--frame-rate", str(FRAME_RATES[0]), "--duration", f"{RUN_MS}ms", "--seed", "1"]
    moves = [word for task in tasks for word in ("--shuttle", f"{task}@{period_ms}ms")]
    hardware = platform([mhz] * 3, shutdown)
    return bench.sim(radio(mapping), hardware, *ENDLESS, *pace, "--mode", mode, *moves)


def energy_of_one(often: Table, seldom: Table, tasks: int) -> float:
    """Microjoules of one transition: the runs differ in how many there are of them, and in no
    more: the tasks are as long on the one core as on the other, and receive as many frames."""
    if often["frames"] != seldom["frames"]:
        raise Failed("the runs that are compared have done different work")
    done = [
        sum(migration["status"] == "ok" for migration in run["migrations"])
        for run in (often, seldom)
    ]
    more = done[0] - done[1]
    return (often["energy"]["cores_uj"] - seldom["energy"]["cores_uj"]) / more * tasks


def migration_energies(bench: Bench, mode: str, mhz: int, shutdown: bool) -> dict[str, float]:
    """Microjoules of each transition, in the mean of there and back."""
    found = {}
    for name, (_, tasks) in TRANSITIONS.items():
        runs = (
            shuttled(bench, name, mode, mhz, shutdown, period) for period in (OFTEN_MS, SELDOM_MS)
        )
        found[name] = energy_of_one(*runs, len(tasks))
    return found


def figure14(energies: dict[str, dict[int, dict[str, float]]]) -> tuple[list[Row], list[Plot]]:
    """From microjoules by mode, frequency and transition."""
    floor = PUBLISHED["figure14"]["floor_mhz"]
    rows, plots = [], []
    for mode, by_mhz in energies.items():
        plot = Plot(
            f"Figure 14: energy of migrations, {MODES[mode]}",
            Axis("frequency of the cores, MHz"),
            Axis("energy, µJ"),
        )
        for name in TRANSITIONS:
            points = [(float(mhz), found[name]) for mhz, found in by_mhz.items()]
            plot.add(name, points)
            head = f"figure 14: {MODES[mode]}, {name}"
            note = "difference of runs, shutdown when idle; what tasks use is copied, not 64 KiB;"
            note += " what is copied waits for the DDR, at the power of the core's frequency"
            rows += [row(f"{head}, {x:.0f} MHz", None, y, "µJ", note) for x, y in points]
            low = [y for x, y in points if x <= floor]
            rows.append(
                row(
                    f"{head}, largest over smallest up to {floor} MHz",
                    PUBLISHED["figure14"]["below_floor"],
                    max(low) / min(low),
                    "times",
                    "cycles cost the same there, as theirs; waiting for the DDR does not, and "
                    "the BPFs have ten times the demodulator's memory",
                )
            )
            note = f"highest frequency over {floor} MHz: the voltage rises"
            ours = points[-1][1] / low[-1]
            rows.append(row(f"{head}, highest frequency", "> 1", ours, "times", note))
        plots.append(plot)
    return rows, plots


def hidden(always_on: dict[str, float]) -> list[Row]:
    """Migrations where cores consume whether they work or not."""
    paper = PUBLISHED["figure14"]["always_on"]
    note = "cores consume by their frequency; idleness takes the migration in"
    return [
        row(f"figure 14: always on, {name}, lowest frequency", paper, uj, "µJ", note)
        for name, uj in always_on.items()
    ]


def energies_of_moving(bench: Bench, every: int) -> tuple[list[Row], list[Plot]]:
    """Simulates figure 14 at each of the operating points, or at every so manieth and the last."""
    points = [mhz for mhz, _ in operating_points()]
    floor = PUBLISHED["figure14"]["floor_mhz"]
    chosen = sorted({*points[::every], floor, points[-1]})
    found = {
        mode: {mhz: migration_energies(bench, mode, mhz, True) for mhz in chosen} for mode in MODES
    }
    rows, plots = figure14(found)
    return rows + hidden(migration_energies(bench, "replicate", points[0], False)), plots


# ---- Figure 15 ----------------------------------------------------------------------------------


def remapped(bench: Bench, slots: int, mode: str, daemon: str, *options: str) -> Table:
    """The run of section 6.3: the table moves the demodulator when the frame rate doubles.

    The rate changes just after an invocation of the daemons, so all of their period is waited.
    """
    low, high = FRAME_RATES
    lowest = operating_points()[0][0]
    rows = [
        {"frame_rate": low, "mapping": {"demodulator": 0}, "frequency_mhz": lowest},
        {"frame_rate": high, "mapping": {"demodulator": 1}, "frequency_mhz": lowest},
    ]
    table = bench.write("table.toml", {"row": rows})
    app = radio(slots=slots, saturated=True)
    pace = [
        "--frame-rate",
        str(low),
        "--frame-rate-change",
        f"{high}@1001ms",
        "--duration",
        "2500ms",
    ]
    moving = ["--mode", mode, "--table", table, "--agent-period", daemon]
    hardware = platform([lowest] * 2, False)
    return bench.sim(app, hardware, *ENDLESS, *pace, *moving, *options)


def suffices(misses: dict[int, int]) -> int:
    """The smallest size of queues from which on a larger one avoids no more than a stray miss."""
    least = min(misses.values())
    enough = 0
    for slots in sorted(misses, reverse=True):
        if misses[slots] > least + STRAY:
            break
        enough = slots
    return enough


def figure15a(counts: dict[tuple[str, str], dict[int, int]]) -> tuple[list[Row], Plot]:
    """From misses by mode and period of the daemons, and by size of queues."""
    frames = PUBLISHED["figure15"]["frames_without_misses"]
    plot = Plot(
        "Figure 15 (a): queue size against deadline misses",
        Axis("size of queues, frames"),
        Axis("deadline misses"),
    )
    rows = []
    for (mode, daemon), misses in counts.items():
        name = f"{MODES[mode]}, daemons at {DAEMONS[daemon]}"
        plot.add(name, [(float(slots), float(n)) for slots, n in misses.items()])
        note = "their daemons' rate is not stated; we overload one core until the next invocation"
        enough = float(suffices(misses))
        rows.append(row(f"figure 15 (a): {name}, that suffice", frames, enough, "frames", note))
        note = "with queues that suffice; a core that is overloaded may finish a job late besides"
        least = float(min(misses.values()))
        rows.append(row(f"figure 15 (a): {name}, misses left", 0, least, "", note))
    return rows, plot


def depths(
    events: Iterable[tuple[int, int, int, int]], names: list[str], around_ns: tuple[int, int]
) -> dict[str, list[Point]]:
    """Milliseconds since the first of two moments, and messages in each of QUEUES, as steps."""
    first, last = around_ns
    now = dict.fromkeys(QUEUES, 0)
    steps: dict[str, list[Point]] = {name: [] for name in QUEUES}

    def step(name: str, at_ns: int, depth: int) -> None:
        at = (at_ns - first) / 1e6
        steps[name] += [(at, float(now[name])), (at, float(depth))]

    for at_ns, kind, thing, depth in events:
        if kind not in (SEND, RECEIVE) or names[thing] not in now or at_ns > last:
            continue
        if at_ns >= first:
            step(names[thing], at_ns, depth)
        now[names[thing]] = depth
    return steps


def figure15b(steps: dict[str, list[Point]], moved_ms: Point) -> tuple[list[Row], Plot]:
    """From depths against time, and when the migration was asked for and over."""
    plot = Plot(
        "Figure 15 (b): queues while the demodulator moves",
        Axis(f"time, ms; it moves from {moved_ms[0]:.1f} to {moved_ms[1]:.1f}"),
        Axis("messages in the queue"),
    )
    rows = []
    for name, points in steps.items():
        plot.add(name, points, line=True)
        least = min(depth for at, depth in points if at >= moved_ms[0])
        last = name == QUEUES[-1]
        note = "replication, daemons at 100 Hz, queues of 14"
        if last:
            note += "; the sum waits for this one alone"
        paper = PUBLISHED["figure15"]["last_queue" if last else "other_queues"]
        rows.append(row(f"figure 15 (b): {name}, least", paper, least, "frames", note))
    return rows, plot


def queues(bench: Bench, sizes: Iterable[int]) -> tuple[list[Row], list[Plot]]:
    """Simulates both parts of figure 15."""
    counts = {}
    for mode in MODES:
        for daemon in DAEMONS:
            runs = {n: remapped(bench, n, mode, daemon) for n in sizes}
            counts[mode, daemon] = {n: run["deadline_misses"] for n, run in runs.items()}
    rows_a, plot_a = figure15a(counts)

    folder = bench.folder / "recorded"
    size = PUBLISHED["figure15"]["frames_without_misses"]
    run = remapped(bench, size, "replicate", "10ms", "--record", str(folder))
    rows_b, plot_b = recorded(run, folder)
    return rows_a + rows_b, [plot_a, plot_b]


def recorded(run: Table, folder: Path) -> tuple[list[Row], Plot]:
    """Figure 15 (b) from a recorded run."""
    (moved,) = run["migrations"]
    before, after = (int(ms * 1e6) for ms in SHOWN_MS)
    first = moved["request_ns"] - before
    names = [channel["channel"] for channel in run["channels"]]
    streams = Recorded(folder)
    # Of events at the same time on different cores the order is that of the cores.
    cores = (streams.records(core) for core in range(streams.cores))
    events = heapq.merge(*cores, key=lambda event: event[0])
    steps = depths(events, names, (first, moved["request_ns"] + after))
    return figure15b(steps, tuple((moved[at] - first) / 1e6 for at in ("request_ns", "running_ns")))
