#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps per second of the Gymnasium environment: the FM radio, 100 ms a step, and nothing decided.

Run it with the package installed: build/py/bin/python bench/gym_steps.py
"""

import time
from pathlib import Path

import gymnasium

STEPS = 20_000
RADIO = Path(__file__).resolve().parents[1] / "apps/fm_radio/app.toml"


def main() -> None:
    """Prints the rate of five runs."""
    env = gymnasium.make(
        "whimbrel.gym:Whimbrel-v0",
        application=RADIO,
        platform="mpsoc3",
        set={"output": "", "plays": 10**6},
        duration=STEPS,
    )
    for run in range(5):
        env.reset(seed=run)
        begin = time.perf_counter()
        for _ in range(STEPS):
            env.step(0)
        print(f"{STEPS / (time.perf_counter() - begin):.0f} steps/s")
    env.close()


if __name__ == "__main__":
    main()
