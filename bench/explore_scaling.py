#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Candidates per second on a Dask cluster by its worker processes, compared with one process.

    make package && build/py/bin/python bench/explore_scaling.py [--workers 1,2,4,8]

A sweep is cut into batches of 256 candidates, a search into generations of 64, and workers wait for
each other at the end of each. Rounds run a cluster and one process in turn; medians are printed.
One process uses all processors.
*Efficiency* is the part of its rate, for one processor per worker. With more workers than
processors both share the machine, so it states the cost of a cluster, not the speed of a larger
one. *Here* is the processor time of the process that explores, with Dask's scheduler in it, for
each candidate (docs/python.md has the model of more workers).
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


# Up to this number, all candidates are run; the space has many thousands.
LIMITS = {"sweep": 1_000_000, "search": 10}


def explored(kind: str, candidates: int, client: Client | None) -> tuple[float, float]:
    """Seconds, and processor seconds of this process, for this number of candidates."""
    wall, own = time.perf_counter(), time.process_time()
    found = whimbrel.explore(
        RADIO,
        "mpsoc3",
        frame_rates=[300],
        slots="4,14",
        set={"output": ""},
        duration="2s",
        exhaustive=LIMITS[kind],
        budget=candidates,
        client=client,
    )
    taken = time.perf_counter() - wall, time.process_time() - own
    assert found.table.num_rows == candidates
    return taken


def measured(client: Client, kind: str, candidates: int, rounds: int) -> tuple[float, float, float]:
    """Seconds on a cluster, seconds in one process, processor seconds here for each."""
    explored(kind, 64, client)  # their simulators start
    pairs = [
        (explored(kind, candidates, client), explored(kind, candidates, None))
        for _ in range(rounds)
    ]
    on_cluster = median(cluster[0] for cluster, _ in pairs)
    alone = median(alone[0] for _, alone in pairs)
    ours = median(cluster[1] for cluster, _ in pairs) / candidates
    return on_cluster, alone, ours


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--workers", default="1,2,4,8", help="numbers of workers, for example 1,2,4,8"
    )
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    processors = len(os.sched_getaffinity(0))
    print(f"{processors} processors; one process runs {processors} simulators at once")
    print("kind    workers  cluster/s  one process/s  efficiency  here, us/candidate")
    for workers in map(int, options.workers.split(",")):
        settings = {"n_workers": workers, "threads_per_worker": 1, "processes": True}
        with (
            LocalCluster(**settings, dashboard_address=None, silence_logs=50) as local,
            Client(local) as client,
        ):
            for kind in LIMITS:
                cluster, alone, ours = measured(client, kind, options.candidates, options.rounds)
                share = min(workers, processors) / processors
                rates = options.candidates / cluster, options.candidates / alone
                print(
                    f"{kind:6}  {workers:7}  {rates[0]:9.0f}  {rates[1]:13.0f}"
                    f"  {alone / cluster / share:10.2f}  {ours * 1e6:18.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
