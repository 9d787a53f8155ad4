# SPDX-License-Identifier: Apache-2.0
"""Figures 8 to 10, aggregation, instrumentation and table 4 of lee2009."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab import Calls, Lab, Setting
from published import Row, row
from whimbrel.plot.chart import Axis, Plot

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
SIZES = (128, 512, 2048, 8192, 32768)
NAMES = {128: "128B", 512: "512B", 2048: "2KiB", 8192: "8KiB", 32768: "32KiB"}
PHASES = ("A copy in", "B notify", "C service", "D notify back", "E copy out")
WAYS = {"32x1KiB": (1024, 32), "2x16KiB": (16384, 2), "1x32KiB": (32768, 1)}
# The GPP's own work for a frame of 20 ms, for the load that the paper has with interrupts; the DSP
# has 594 MHz.
GPP_CYCLES = 816_000
DSP_US = PUBLISHED["polling_interval"]["service_ms"] * 1000
DSP_CYCLES = DSP_US * 594
# A second of the SoC's model.
SOC_MHZ = 10
FRAME_US = PUBLISHED["polling_interval"]["frame_ms"] * 1000.0
INTERVALS = ("5ms", "10ms", "15ms", "20ms")
DOORBELLS = {
    "interrupt": "interrupt",
    **{each: f"polling:{each}" for each in INTERVALS},
    "adaptive:1ms": "adaptive:1ms",
}


def bars(title: str, phases: dict[int, list[float]], unit: str = "µs") -> Plot:
    """Phases side by side, for each size of a block."""
    plot = Plot(title, Axis("block"), Axis(unit, logarithmic=True))
    plot.bars(
        {
            NAMES[size]: {
                name: value if value > 0 else None
                for name, value in zip(PHASES, values, strict=False)
            }
            for size, values in phases.items()
        }
    )
    return plot


def figure8_simulated(lab: Lab) -> tuple[list[Row], dict[str, Plot]]:
    """Phases by size on the platform `davinci`."""
    found = {size: lab.simulate(f"figure8_{size}", Setting(size)).phases_us() for size in SIZES}
    notes = {
        "A": "the platform's cost of a copy is the line through the paper's two sizes",
        "B": "the platform's cost of a ring is the paper's, for a GPP",
        "C": "the platform has one cost of a ring and of an interrupt for both cores, in cycles",
        "D": "the platform's cost of an interrupt is the paper's; a switch is besides",
        "E": "as A",
    }
    rows = [
        row(
            f"figure 8, simulated: {NAMES[size]}, {name}",
            PUBLISHED["phases_us"][str(size)][i] if str(size) in PUBLISHED["phases_us"] else None,
            found[size][i],
            "µs",
            notes[name[0]],
        )
        for size in SIZES
        for i, name in enumerate(PHASES)
    ]
    return rows, {"figure8_simulated": bars("phases of a call, davinci, simulated", found)}


def figure8_measured(bench: dict[str, dict[str, Any]]) -> tuple[list[Row], dict[str, Plot]]:
    """Phases by size on this machine: blocking, as an interrupt, and polling."""
    rows, plots = [], {}
    for form, called in (("block", "blocking"), ("spin", "polling")):
        found = {
            size: [bench[f"call.{NAMES[size]}.{form}.phases"][name[0]] / 1e3 for name in PHASES]
            for size in SIZES
        }
        paper = PUBLISHED["phases_us"] if form == "block" else {}
        note = "the service copies the block, so C grows with it; the paper's does not touch it"
        rows += [
            row(
                f"figure 8, this machine, {called}: {NAMES[size]}, {name}",
                paper[str(size)][i] if str(size) in paper else None,
                found[size][i],
                "µs",
                note if name[0] == "C" else "measured; recording a step is taken off",
            )
            for size in SIZES
            for i, name in enumerate(PHASES)
        ]
        plots[f"figure8_{called}"] = bars(f"phases of a call, this machine, {called}", found)
    return rows, plots


def figure8_soc(lab: Lab, quick: bool) -> tuple[list[Row], dict[str, Plot]]:
    """Phases by size on two cores of the SoC, in cycles."""
    sizes = SIZES[::2] if quick else SIZES
    found = {
        size: [us * SOC_MHZ for us in lab.count(f"soc_{size}", Setting(size, 20)).phases_us()]
        for size in sizes
    }
    rows = [
        row(
            f"figure 8, SoC: {NAMES[size]}, {name}",
            None,
            found[size][i],
            "cycles",
            "the service does not touch the data; what it takes to record a step is in it",
        )
        for size in sizes
        for i, name in enumerate(PHASES)
    ]
    return rows, {"figure8_soc": bars("phases of a call, SoC", found, "cycles")}


def figure8_crossed(
    lab: Lab, sizes: tuple[int, ...], calls: int
) -> tuple[list[Row], dict[str, Plot]]:
    """Phases by size from Linux here to FreeRTOS on a core that QEMU emulates."""
    found = {size: lab.cross(f"mixed_{size}", Setting(size, calls)).phases_us() for size in sizes}
    paper = PUBLISHED["phases_us"]
    rows = [
        row(
            f"figure 8, Linux and FreeRTOS: {NAMES[size]}, {name}",
            paper[str(size)][i] if str(size) in paper else None,
            phases_of_one[i],
            "µs",
            "the GPP is this machine, the DSP a Cortex-A53 under QEMU; recording a step is in it",
        )
        for size, phases_of_one in found.items()
        for i, name in enumerate(PHASES)
    ]
    return rows, {"figure8_mixed": bars("phases of a call, Linux and FreeRTOS", found)}


def crossed_notification(lab: Lab, calls: int) -> list[Row]:
    """Figure 10, from Linux to FreeRTOS: B and D of calls that find both sides waiting."""
    paced = Setting(128, calls, period_us=5000)
    polled = replace(paced, request_doorbell="polling:1ms")
    phases = [
        lab.cross("notified", paced, "0us").phases_us(),
        lab.cross("polled", polled, "forever").phases_us(),
    ]
    paper = PUBLISHED["notification"]["reduction_percent"]
    note = "{:.1f} µs by interrupts of the emulator and a system call, {:.1f} µs by looks"
    return [
        row(
            f"figure 10, Linux and FreeRTOS: polling against interrupts, {what}",
            paper if what == "B and D" else None,
            100 * (1 - polling / interrupts),
            "% less",
            note.format(interrupts, polling),
        )
        for what, parts in (("B", (1,)), ("D", (3,)), ("B and D", (1, 3)))
        for interrupts, polling in [[sum(of[part] for part in parts) for of in phases]]
    ]


def crossed_aggregation(lab: Lab, calls: int) -> list[Row]:
    """32 KiB in one, two and 32 calls from Linux to FreeRTOS, from the median of a call."""
    return [
        row(
            f"aggregation, Linux and FreeRTOS: {way}",
            PUBLISHED["aggregation_ms"][way],
            lab.cross(f"crossed_{way}", Setting(size, calls)).call_us() * n / 1e3,
            "ms",
            "the service does not touch the data; recorded",
        )
        for way, (size, n) in WAYS.items()
    ]


def crossed_table4(lab: Lab, frames: int, doorbells: dict[str, str]) -> list[Row]:
    """Load of the GPP and latency of a call, by how Linux learns of FreeRTOS's answers."""
    rows = []
    for name, doorbell in doorbells.items():
        setting = Setting(
            160, frames, period_us=FRAME_US, works_us=DSP_US, answer_doorbell=doorbell
        )
        run = lab.cross(f"crossed_{name.replace(':', '_')}", setting, "0us")
        paper = PUBLISHED["polling_interval"].get(name, [None, None])
        what = f"table 4, Linux and FreeRTOS: {name}"
        note = "the GPP does nothing but call: the paper's has a load of its own"
        rows.append(row(f"{what}, load of the GPP", paper[0], run.load_percent(0), "%", note))
        note = "the median; the service works 6 ms by the clock, and a call comes each 20 ms"
        rows.append(row(f"{what}, latency of a call", paper[1], run.call_us() / 1e3, "ms", note))
    return rows


def crossed(lab: Lab, quick: bool) -> tuple[list[Row], dict[str, Plot]]:
    """What has a meaning from Linux here to FreeRTOS on a core that QEMU emulates: an emulator has
    no internal memory."""
    calls, frames = (100, 25) if quick else (1000, 200)
    doorbells = {name: DOORBELLS[name] for name in ("interrupt", "10ms")} if quick else DOORBELLS
    rows, plots = figure8_crossed(lab, SIZES[::4] if quick else SIZES, calls)
    rows += crossed_aggregation(lab, calls) + crossed_notification(lab, 2 * frames)
    return rows + crossed_table4(lab, frames, doorbells), plots


def published_us(phase: int, size: float) -> float:
    """A phase of figure 8 for any size: the straight line through the paper's two."""
    sizes = {int(of): phases[phase] for of, phases in PUBLISHED["phases_us"].items()}
    (small, of_small), (large, of_large) = sorted(sizes.items())
    return of_small + (size - small) * (of_large - of_small) / (large - small)


def figure9(lab: Lab) -> list[Row]:
    """What internal memory takes off a copy of 8 KiB in the kernel, and off the whole call.

    The paper measures its figure 9 in the kernel, without the library and the system call. These
    are what phase A takes whatever the size.
    """
    size = 8192
    outside = lab.simulate("external", Setting(size))
    inside = lab.simulate("internal", Setting(size, request_memory="internal"))
    fixed_us = published_us(0, 0)
    copies = [run.phases_us()[0] - fixed_us for run in (outside, inside)]
    calls = [run.call_us() for run in (outside, inside)]
    note = "requests in the 16 KiB of the ARM's RAM; "
    return [
        row(
            "figure 9, simulated: internal against external, the copy of 8 KiB",
            PUBLISHED["memory"]["copy_reduction_percent"],
            100 * (1 - copies[1] / copies[0]),
            "% less",
            note + f"phase A without its fixed part of {fixed_us:.0f} µs",
        ),
        row(
            "figure 9, simulated: internal against external, a call of 8 KiB",
            None,
            100 * (1 - calls[1] / calls[0]),
            "% less",
            note + "answers lie outside",
        ),
    ]


def aggregated(lab: Lab) -> list[Row]:
    """32 KiB in one, two and 32 calls, simulated."""
    return [
        row(
            f"aggregation, simulated: {way}",
            PUBLISHED["aggregation_ms"][way],
            lab.simulate(f"simulated_{way}", Setting(size, calls)).all_ns / 1e6,
            "ms",
            "calls one after the other, with the phases of figure 8",
        )
        for way, (size, calls) in WAYS.items()
    ]


def aggregation_here(lab: Lab) -> list[Row]:
    """The same on this machine, from the median of a call."""
    rows = []
    for way, (size, calls) in WAYS.items():
        for called, spin in (("blocking", "0us"), ("polling", "forever")):
            run = lab.measure(f"{called}_{way}", Setting(size, calls * 200), spin)
            rows.append(
                row(
                    f"aggregation, this machine, {called}: {way}",
                    PUBLISHED["aggregation_ms"][way],
                    run.call_us() * calls / 1e3,
                    "ms",
                    "the service does not touch the data; recorded",
                )
            )
    return rows


def figure10(bench: dict[str, dict[str, Any]]) -> list[Row]:
    """What polling takes off the notification, B and D, for a block of 128 bytes."""
    block, spin = (bench[f"call.128B.{form}.phases"] for form in ("block", "spin"))
    both = [phases["B"] + phases["D"] for phases in (block, spin)]
    return [
        row(
            "figure 10, this machine: polling against blocking, B and D",
            PUBLISHED["notification"]["reduction_percent"],
            100 * (1 - both[1] / both[0]),
            "% less",
            f"{both[0] / 1e3:.1f} µs by system calls that sleep and wake, {both[1]:.0f} ns by "
            "cache lines",
        )
    ]


def instrumentation(bench: dict[str, dict[str, Any]]) -> list[Row]:
    """What recording the steps of a call adds to it."""
    rows = []
    for size in (128, 32768):
        for form, called in (("block", "blocking"), ("spin", "polling")):
            phases = bench[f"call.{NAMES[size]}.{form}.phases"]
            rows.append(
                row(
                    f"instrumentation, this machine, {called}: {NAMES[size]}",
                    PUBLISHED["instrumentation_percent"][str(size)] if form == "block" else None,
                    100 * (phases["recorded"] / phases["round"] - 1),
                    "%",
                    f"of {phases['round'] / 1e3:.2f} µs; a step takes {phases['step']:.0f} ns, "
                    "messages are recorded besides",
                )
            )
    return rows


def paced(lab: Lab, name: str, answer_doorbell: str, frames: int) -> Calls:
    """A frame each 20 ms, for which the DSP works 6 ms."""
    return lab.simulate(
        name,
        Setting(
            160,
            frames,
            period_us=FRAME_US,
            gpp_cycles=GPP_CYCLES,
            # In virtual time no look at the clock waits: the cycles must be over by then.
            dsp_cycles=DSP_CYCLES + 1,
            works_us=DSP_US,
            answer_doorbell=answer_doorbell,
        ),
    )


def table4(lab: Lab, quick: bool) -> tuple[list[Row], dict[str, Plot]]:
    """Load of the GPP and latency of a call, by how it learns of answers."""
    frames = 100 if quick else 500
    rows, points = [], {}
    for name, doorbell in DOORBELLS.items():
        run = paced(lab, f"table4_{name.replace(':', '_')}", doorbell, frames)
        load, latency = run.load_percent(0), run.call_ns / 1e6
        paper = PUBLISHED["polling_interval"].get(name, [None, None])
        note = "simulated; the GPP's own work is chosen for the paper's load with interrupts"
        rows.append(row(f"table 4: {name}, load of the GPP", paper[0], load, "%", note))
        rows.append(
            row(
                f"table 4: {name}, latency of a call",
                paper[1],
                latency,
                "ms",
                "simulated: looks are so far apart from the first wait on, calls 20 ms",
            )
        )
        points[name] = (latency, load)
    plot = Plot("table 4", Axis("latency of a call, ms"), Axis("load of the GPP, %"))
    for name, point in points.items():
        plot.add(name, [point])
    return rows, {"table4": plot}
