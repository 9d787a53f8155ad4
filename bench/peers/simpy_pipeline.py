#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pipeline of des_pipeline/src/lib.rs on SimPy: a process for each stage, between stores."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator

import simpy

SERVICE = (5, 45, 13, 13, 13, 5)
SLOTS = 14
PERIOD = 46
LATENCY = 94.0


def make(env: simpy.Environment, frames: int, to: simpy.Store) -> Generator[simpy.Event]:
    """The source; a frame is the time at which it was made."""
    for frame in range(frames):
        if frame:
            yield env.timeout(PERIOD)
        yield to.put(env.now)


def stage(
    env: simpy.Environment, service: int, source: simpy.Store, to: simpy.Store
) -> Generator[simpy.Event]:
    while True:
        frame = yield source.get()
        yield env.timeout(service)
        yield to.put(frame)


def last_stage(
    env: simpy.Environment, service: int, source: simpy.Store, latency: list[float]
) -> Generator[simpy.Event]:
    while True:
        frame = yield source.get()
        yield env.timeout(service)
        latency[0] = env.now - frame


def simulate(frames: int) -> float:
    env = simpy.Environment()
    queues = [simpy.Store(env, SLOTS) for _ in SERVICE]
    latency = [0.0]
    env.process(make(env, frames, queues[0]))
    for service, source, to in zip(SERVICE, queues, queues[1:], strict=False):
        env.process(stage(env, service, source, to))
    env.process(last_stage(env, SERVICE[-1], queues[-1], latency))
    env.run()
    return latency[0]


def main() -> int:
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        print("give a number of frames", file=sys.stderr)
        return 2
    frames = int(sys.argv[1])
    start = time.perf_counter()
    latency = simulate(frames)
    seconds = time.perf_counter() - start
    print(json.dumps({"events": 7 * frames, "seconds": seconds, "latency_last": float(latency)}))
    return int(latency != LATENCY)


if __name__ == "__main__":
    sys.exit(main())
