# SPDX-License-Identifier: Apache-2.0
"""Where constant power leads on a floorplan: the thermal network once more, by its equations.

`docs/platform-toml.md` names the parameters; crates/hardware/src/thermal.rs has the model that the
simulator steps through time. This is its steady state, G x = P.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Block = dict[str, Any]
Matrix = NDArray[np.float64]

TOUCH_MM = 1e-6


def overlap_mm(a: Block, b: Block, axis: str, size: str) -> float:
    """How far two blocks overlap along an axis; 0 when they touch, negative when they do not."""
    return min(a[axis] + a[size], b[axis] + b[size]) - max(a[axis], b[axis])


def edge_over_distance(a: Block, b: Block) -> float:
    """The edge that two blocks share over the distance of their centres across it; 0: none."""
    x = overlap_mm(a, b, "x_mm", "width_mm")
    y = overlap_mm(a, b, "y_mm", "height_mm")
    if abs(x) <= TOUCH_MM and y > TOUCH_MM:
        return y / ((a["width_mm"] + b["width_mm"]) / 2)
    if abs(y) <= TOUCH_MM and x > TOUCH_MM:
        return x / ((a["height_mm"] + b["height_mm"]) / 2)
    return 0.0


def conductances(thermal: dict[str, float], blocks: list[Block]) -> Matrix:
    """Between all blocks and, last, the sink, in W/K."""
    k, thickness_m = thermal["conductivity_w_per_m_k"], thermal["thickness_mm"] * 1e-3
    sink = len(blocks)
    matrix = np.zeros((sink + 1, sink + 1))

    def join(i: int, j: int, conductance: float) -> None:
        matrix[i, i] += conductance
        matrix[j, j] += conductance
        matrix[i, j] -= conductance
        matrix[j, i] -= conductance

    for i, a in enumerate(blocks):
        join(i, sink, k * a["width_mm"] * a["height_mm"] * 1e-6 / thickness_m)
        for j, b in enumerate(blocks[:i]):
            join(i, j, k * thickness_m * edge_over_distance(a, b))
    matrix[sink, sink] += 1 / thermal["sink_k_per_w"]
    return matrix


def steady_c(thermal: dict[str, float], blocks: list[Block], core_w: list[float]) -> list[float]:
    """The temperature of each block when core `i` draws `core_w[i]` for ever; a block each."""
    power = [0.0 if b["core"] is None else core_w[b["core"]] for b in blocks]
    above = np.linalg.solve(conductances(thermal, blocks), [*power, 0.0])
    return [thermal["ambient_c"] + kelvin for kelvin in above[:-1].tolist()]
