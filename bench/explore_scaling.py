#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Candidates per second on a Dask cluster of so many worker processes, beside rayon in one process.

    make package && build/py/bin/python bench/explore_scaling.py [--workers 1,2,4,8]

Each round runs both in turn, and the medians are printed. One process uses all processors.
*Efficiency* is the part of its rate, for as many processors as there are workers: with more workers
than processors both share what there is, so it says what a cluster costs, not how fast a larger one
would be. *Here* is the processor time of the process that explores, with Dask's scheduler in it,
for each candidate (docs/python.md has the model of more workers).
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from statistics import median

import whimbrel
from distributed import Client, LocalCluster

ROOT = Path(__file__).resolve().parent.parent
RADIO = ROOT / "apps/fm_radio/app.toml"


def explored(candidates: int, client: Client | None) -> tuple[float, float]:
    """Seconds, and processor seconds of this process, for so many candidates."""
    wall, own = time.perf_counter(), time.process_time()
    found = whimbrel.explore(
        RADIO,
        "mpsoc3",
        rates=[300],
        slots="4,14",
        set={"output": ""},
        duration="2s",
        limit=10,
        budget=candidates,
        client=client,
    )
    assert found.table.num_rows == candidates
    return time.perf_counter() - wall, time.process_time() - own


def measured(workers: int, candidates: int, rounds: int) -> tuple[float, float, float]:
    """Seconds on a cluster, seconds in one process, processor seconds here for each."""
    settings = {"n_workers": workers, "threads_per_worker": 1, "processes": True}
    with (
        LocalCluster(**settings, dashboard_address=None, silence_logs=50) as local,
        Client(local) as client,
    ):
        explored(64, client)  # their simulators start
        pairs = [(explored(candidates, client), explored(candidates, None)) for _ in range(rounds)]
    on_cluster = median(cluster[0] for cluster, _ in pairs)
    alone = median(alone[0] for _, alone in pairs)
    ours = median(cluster[1] for cluster, _ in pairs) / candidates
    return on_cluster, alone, ours


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", default="1,2,4,8", help="how many, as 1,2,4,8")
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    processors = len(os.sched_getaffinity(0))
    print(f"{processors} processors; one process runs {processors} simulators at once")
    print("workers  cluster/s  one process/s  efficiency  here, us/candidate")
    for workers in map(int, options.workers.split(",")):
        cluster, alone, ours = measured(workers, options.candidates, options.rounds)
        share = min(workers, processors) / processors
        rates = options.candidates / cluster, options.candidates / alone
        efficiency = alone / cluster / share
        print(
            f"{workers:7}  {rates[0]:9.0f}  {rates[1]:13.0f}  {efficiency:10.2f}"
            f"  {ours * 1e6:18.0f}"
        )


if __name__ == "__main__":
    main()
