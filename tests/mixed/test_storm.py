# SPDX-License-Identifier: Apache-2.0
"""Moves, deaths of either kind of kernel and commands at random, on both kinds of kernels.

The tasks of storm/storm.c may all run anywhere. They check for themselves that no message is
missing or comes twice. A storm lasts for `MIXED_STORM` seconds at least. Its draws begin at
`MIXED_SEED`.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from under_way import (
    CPU,
    LIMIT_S,
    ROOT,
    WHIMBREL,
    kernels_of,
    started,
    stop,
    wait_for_more,
    whimbrel,
)

SECONDS = float(os.environ.get("MIXED_STORM", "3"))
SEED = int(os.environ.get("MIXED_SEED", str(random.SystemRandom().randrange(1 << 32))))
# Without these a storm has not been one: a kernel of each kind was killed, and a task moved.
LEAST = ("SIGKILL Linux", "SIGKILL FreeRTOS", "migrate 0")
# Kernels of Linux and of FreeRTOS in turns.
CORES = f"{CPU},virt_a64:0,{max(os.sched_getaffinity(0))},virt_a64:1"
N_CORES = 4
KINDS = ["Linux", "FreeRTOS"] * 2
LANES = range(3)
TASKS = [f"{name}.{i}" for name in ("source", "relay", "sink", "adder") for i in LANES]
TASKS += ["caller.0", "caller.1", "adder.3", "service", "ticker"]
THROUGH = [f"relay_sink_{i}" for i in LANES]
CHANNELS = ["source_relay_0", "relay_sink_1", "squares", "squares_caller_0"]
SETTINGS = ["doorbell=interrupt", "doorbell=polling:1ms", "doorbell=adaptive:1ms", "batch=3:1ms"]


class Storm:
    """What happens to a run until it is over."""

    def __init__(self, runtime: Path, process: subprocess.Popen[str], seed: int) -> None:
        self.runtime, self.process, self.began = runtime, process, time.monotonic()
        self.seed, self.done = seed, Counter[str]()
        self.wrong: list[str] = []

    def ask(self, *words: str) -> None:
        """A command, which may be refused."""
        told = whimbrel(self.runtime, *words)
        self.done[f"{words[0]} {told.returncode}"] += 1
        if told.returncode not in (0, 1, 2) or "panicked" in told.stderr:
            self.wrong.append(f"{words}: {told}")

    def send(self, core: int, number: signal.Signals) -> None:
        """A signal to the process of a core's kernel, if it has one: no other gets it."""
        processes = kernels_of(self.runtime)
        process = processes[core] if core < len(processes) else None
        if process is None:
            return
        with suppress(ProcessLookupError, FileNotFoundError):
            handle = os.pidfd_open(process["pid"])
            try:
                stat = Path(f"/proc/{process['pid']}/stat").read_text()
                if int(stat.rsplit(")", 1)[1].split()[19]) == process["start"]:
                    signal.pidfd_send_signal(handle, number)
                    self.done[f"{number.name} {KINDS[core]}"] += 1
            finally:
                os.close(handle)

    def move(self, draw: random.Random) -> None:
        """Some of these are withdrawn: their time is over before the task comes to a checkpoint."""
        timeout = draw.choice(["1ms", "3ms", "20ms", "1s"])
        core = str(draw.randrange(N_CORES))
        self.ask("migrate", "storm-1", draw.choice(TASKS), core, "--timeout", timeout)

    def steer(self, draw: random.Random) -> None:
        policy = draw.choice(["none", "balance:settle_ms=0", "gossip:settle_ms=0", "spread"])
        setting = draw.choice(SETTINGS)
        words = draw.choice(
            [
                ("rate", "storm-1", str(draw.randrange(20, 2000))),
                ("policy", "storm-1", policy),
                ("channel", "storm-1", draw.choice(CHANNELS), setting),
                ("restart", "storm-1", str(draw.randrange(N_CORES))),
                ("ps",),
                ("top", "--once"),
            ]
        )
        self.ask(*words)
        time.sleep(draw.uniform(0, 0.2))

    def kill(self, draw: random.Random) -> None:
        """Also several at the same time, and one that is being started."""
        time.sleep(draw.choice([0, 0, draw.uniform(0, 0.1), draw.uniform(0, 1)]))
        core = draw.randrange(N_CORES)
        if draw.randrange(4) == 0:
            self.send(core, signal.SIGSTOP)
            time.sleep(draw.uniform(0, 0.3))
            self.send(core, signal.SIGCONT)
        else:
            self.send(core, signal.SIGKILL)

    def is_over(self) -> bool:
        """It goes on until all that it needs has happened, but not after something went wrong."""
        lasts = time.monotonic() - self.began
        has_been_one = lasts > SECONDS and all(self.done[what] for what in LEAST)
        return (
            has_been_one
            or bool(self.wrong)
            or self.process.poll() is not None
            or lasts > SECONDS + LIMIT_S
        )

    def rages(self, *parts: Callable[[random.Random], None]) -> None:
        """All of these until it is over, each in a thread with draws of its own."""

        def go(number: int, part: Callable[[random.Random], None]) -> None:
            draw = random.Random(f"{self.seed}/{number}")
            try:
                while not self.is_over():
                    part(draw)
            except Exception as error:  # a thread's is seen by nobody else
                self.wrong.append(repr(error))

        threads = [threading.Thread(target=go, args=each) for each in enumerate(parts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for core in range(N_CORES):
            self.send(core, signal.SIGCONT)


def test_a_storm_of_moves_and_deaths_loses_nothing(tmp_path: Path) -> None:
    print(f"MIXED_SEED={SEED}")
    runtime = tmp_path / "run"
    app = ROOT / "tests/mixed/storm/app.toml"
    words = [str(WHIMBREL), "run", str(app), "--cores", CORES, "--json", "--restart=1000000"]
    for lane in LANES:
        round_trip = f"{(lane + 1) % 4},{(lane + 2) % 4},{lane}@{lane + 2}ms"
        words += ["--shuttle", f"relay.{lane}={round_trip}"]
    with started(runtime, words) as process:
        assert wait_for_more(runtime, process, 50, THROUGH), process.communicate()[1]
        storm = Storm(runtime, process, SEED)
        storm.rages(storm.move, storm.move, storm.steer, storm.kill)
        print(dict(storm.done))
        # All is quiet again, and every lane goes on.
        assert wait_for_more(runtime, process, 50, THROUGH), process.communicate()[1]
        status, summary, said = stop(process)
    assert status == 0, said
    assert not storm.wrong, storm.wrong
    assert all(storm.done[what] for what in LEAST), storm.done
    assert {task["state"] for task in summary["tasks"]} == {"ended"}, summary["tasks"]
    assert [death["lost"] for death in summary["deaths"]] == [0] * len(summary["deaths"])
    print(Counter(one["status"] for one in summary["migrations"]), len(summary["deaths"]), "deaths")
