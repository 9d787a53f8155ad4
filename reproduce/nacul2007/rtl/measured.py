# SPDX-License-Identifier: Apache-2.0
"""The costs of a platform as the model of the SoC counts them, by their names there."""

from __future__ import annotations

import statistics
from pathlib import Path

import costs_of
import switches
import traces
from columns import WAIT_STATES, image
from model import build, model, run
from work import LINE_BYTES, works

Costs = dict[str, float]
SMALL, LARGE = 4, 1024  # bytes of a message
COPIED = ("send", "receive")
BY_SLOT = ("claim", "commit", "hold", "release")


def operations(system: str) -> dict[str, float]:
    """Medians of app/operations.c, by NAME_BYTES."""
    text = run(model(), image("operations", system), WAIT_STATES, line="1 1 1 0 0\n")
    return {name: statistics.median(taken) for name, taken in costs_of.samples(text).items()}


def channel_costs(system: str) -> Costs:
    """Of messages, and of a switch: what a receive that waits takes more than one that does not."""
    taken = operations(system)
    costs: Costs = {}
    for name in COPIED:
        per_byte = (taken[f"{name}_{LARGE}"] - taken[f"{name}_{SMALL}"]) / (LARGE - SMALL)
        costs[f"costs.{name}.cycles"] = taken[f"{name}_{SMALL}"] - SMALL * per_byte
        costs[f"costs.{name}.cycles_per_unit"] = per_byte
    for name in BY_SLOT:
        costs[f"costs.{name}.cycles"] = statistics.mean(
            taken[f"{name}_{size}"] for size in (SMALL, LARGE)
        )
    kind = "call" if system == "hw_rtos" else system
    waits = statistics.median(sample[0] for sample in switches.measure(kind, WAIT_STATES))
    costs["costs.switch.cycles"] = waits - taken["port_receive_4"]
    return costs


def moving_costs() -> Costs:
    """Of the kernel in software: what moves a task, and a checkpoint."""
    taken = {name: statistics.median(some) for name, some in costs_of.measure(WAIT_STATES).items()}
    return {
        "costs.checkpoint.cycles": taken["1000_checkpoints"] / 1000,
        "costs.park.cycles": taken["handoff_parked"],
        "costs.attach.cycles": taken["handoff_attached"],
    }


def work_costs(app: str, costs: Costs, folder: Path) -> Costs:
    """Of the tasks of an application."""
    taken = {name: costs[f"costs.{name}.cycles"] for name in COPIED + BY_SLOT}
    for name in COPIED:
        taken[name] += SMALL * costs[f"costs.{name}.cycles_per_unit"]
    found: Costs = {}
    for one in works(app, taken, costs["costs.switch.cycles"], folder):
        found[f"{app}.{one.task}.cycles"] = max(one.cycles, 1)
        found[f"{app}.{one.task}.working_set"] = round(one.lines) * LINE_BYTES
    return found


def smp2(folder: Path) -> tuple[Costs, Costs]:
    """The hardware's scheduler with the packets; the image filter."""
    images = [image("operations", "hw_rtos"), *(image(app, "hw_rtos") for app in traces.TASKS)]
    build(model(), costs_of.IMAGE, switches.image("call"), *images)
    costs = channel_costs("hw_rtos") | moving_costs()
    packets, pixel = (work_costs(app, costs, folder) for app in ("packets", "image_filter"))
    return costs | packets, pixel


def freertos() -> Costs:
    """FreeRTOS on one core."""
    build(model(), image("operations", "freertos"), switches.image("freertos"))
    return channel_costs("freertos")
