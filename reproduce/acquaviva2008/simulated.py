# SPDX-License-Identifier: Apache-2.0
"""Everything of acquaviva2008 that is simulated: rows, and plots by the names of their files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import daemons
import energy
import moving
from published import Row
from systems import Bench
from whimbrel.plot.chart import Plot

RATES = range(300, 6601, 300)
# Some at which each number of cores is best, and some between.
QUICK_RATES = (1800, 2400, 2700, 3300, 3600)


def reproduce(quick: bool) -> tuple[list[Row], dict[str, Plot]]:
    """Simulates every figure; quick: at fewer rates and frequencies, for shorter times."""
    rates, ms = (QUICK_RATES, 60) if quick else (RATES, 500)
    with tempfile.TemporaryDirectory(prefix="acquaviva2008-") as folder:
        bench = Bench(Path(folder))
        rows = daemons.simulated_shares(bench)
        rows6, (figure6a, figure6b) = daemons.figure6(daemons.overheads(bench))
        rows10, (figure10, figure11) = energy.figures(
            energy.explored(bench, rates, ms, False), False
        )
        rows12, (figure12, figure13) = energy.figures(energy.explored(bench, rates, ms, True), True)
        most = energy.crossings(bench, 2 * ms)
        rows14, (figure14a, figure14b) = moving.energies_of_moving(bench, 4 if quick else 1)
        sizes = range(2, 41, 2) if quick else range(2, 41)
        rows15, (figure15a, figure15b) = moving.queues(bench, sizes)
    plots = {
        "figure6a-simulated": figure6a,
        "figure6b-simulated": figure6b,
        "figure10": figure10,
        "figure11": figure11,
        "figure12": figure12,
        "figure13": figure13,
        "figure14-replication": figure14a,
        "figure14-recreation": figure14b,
        "figure15a": figure15a,
        "figure15b": figure15b,
    }
    return rows + rows6 + rows10 + rows12 + most + rows14 + rows15, plots
