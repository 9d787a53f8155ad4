# SPDX-License-Identifier: Apache-2.0
"""Random applications on random platforms, with options: whatever the simulator takes."""

from __future__ import annotations

import math
import random
import tomllib
from dataclasses import dataclass, field
from typing import Any

SOURCE = 'source = "ours: a test"'
POLICIES = ("balance", "spread", "consolidate", "sticky", "gossip", "thermal", "leakage", "static")
# What kernels do between the steps of tasks: it may take time where steps are taken.
BETWEEN = (
    *("serve", "report", "decide", "copy", "park", "attach"),
    *("switch", "checkpoint", "heap", "load", "clock", "interrupt"),
)
MEMORY = {"name": "ddr", "kind": "shared", "size": "64MiB", "latency_ns": 60, "mb_per_s": 800}
BUS = {"mhz": 100, "width_bytes": 4, "burst_bytes": 32}
MESH = {"columns": 2, "rows": 2, "mhz": 500, "width_bytes": 4, "hop_cycles": 3}
THERMAL = {
    **{"ambient_c": 25, "thickness_mm": 0.5, "conductivity_w_per_m_k": 100, "step_ms": 0.5},
    **{"capacity_j_per_m3_k": 1.75e6, "sink_k_per_w": 10, "sink_j_per_k": 1},
}


def table(heading: str, /, **values: object) -> str:
    """A table of TOML; one whose name begins with `[` is of an array. Without what is `None`."""
    told = {key: value for key, value in values.items() if value is not None}
    lines = [
        f"{key} = {value!r}" if not isinstance(value, str) else f'{key} = "{value}"'
        for key, value in told.items()
    ]
    return f"\n[{heading}]\n" + "\n".join(lines).replace("True", "true").replace("False", "false")


@dataclass
class Case:
    """What is simulated: an application, a platform, both as TOML, and options."""

    seed: int
    app: str = ""
    platform: str = ""
    options: list[str] = field(default_factory=list)
    table: str = ""  # of mappings
    a_round: list[int] = field(default_factory=list)  # messages of each channel,
    loops: bool = False  # whether one goes back,
    endless: bool = False  # and whether a source or loop ends only when those it sends to do

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.cores = self.pick(1, 2, 2, 3, 4)
        self.tasks = self.pick(1, 2, 3, 4, 5, 6, 8, 12)
        self.records = self.maybe(0.3)
        self.rated = self.maybe(0.2)
        self.platform = self.a_platform() + "\n"
        self.app = self.an_application() + "\n"
        self.choose_options()

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def pick(self, *choices: Any) -> Any:  # noqa: ANN401
        return self.random.choice(choices)

    # ---- The platform ---------------------------------------------------------------------------

    def a_scheduling(self) -> dict[str, object]:
        ways = ("cooperative", "preemptive", "preemptive", "edf", "fair")
        way = self.pick(None, None, None, *ways)
        slices = way in ("preemptive", "fair") and self.maybe(0.5)
        return {
            "scheduling": way,
            "slice_us": self.pick(1, 3, 10, 200) if slices else None,
            "tick_us": self.pick(1, 7, 100) if way == "fair" and self.maybe(0.5) else None,
            "timer_slack_us": 5 if self.maybe(0.1) else None,
        }

    def a_core(self) -> str:
        text = table("[core]", idle="off" if self.maybe(0.2) else None, **self.a_scheduling())
        # Of some frequencies the period is no whole number of picoseconds.
        known = self.pick((100, 200, 250, 500, 1000), (100, 200, 333, 400, 700))
        for n, mhz in enumerate(sorted(self.random.sample(known, self.pick(1, 2, 3)))):
            static = 5 if self.maybe(0.2) else None
            power = {"active_mw": 100 + 50 * n, "idle_mw": 10 + n, "static_mw": static}
            text += table("[core.point]", mhz=mhz, **power)
        if self.maybe(0.2):
            text += table("core.transition", time_us=self.pick(0, 1, 20), energy_uj=1)
            text += f"\n{SOURCE}"
        if self.maybe(0.2):
            times = {"enter_us": self.pick(0, 3), "exit_us": self.pick(0, 2)}
            more = {"after_us": self.pick(0, 5), "loses_cache": self.pick(True, False)}
            text += table("[core.idle_state]", name="off", power_mw=1, **times, **more)
            text += f"\n{SOURCE}"
        if self.maybe(0.15):
            cache = {"size": "4KiB", "line_bytes": 32, "miss_ns": 20}
            text += table("core.cache", **cache, disturbed=0.3, disturbed_us=2) + f"\n{SOURCE}"
        return text

    def a_doorbell(self) -> str:
        interval = self.pick(None, None, 1, 10)
        kind = {"kind": "interrupt" if interval is None else "polling", "interval_us": interval}
        text = table("doorbell", latency_us=self.pick(0, 0.2, 1), **kind) + f"\n{SOURCE}"
        if self.maybe(0.5):
            text += table("doorbell.receive", cycles=self.pick(1, 30)) + f"\n{SOURCE}"
        return text

    def a_platform(self) -> str:
        parts = [table("platform", name="made"), *(self.a_core() for _ in range(self.cores))]
        for action in BETWEEN:
            cost = {"cycles": self.pick(1, 50, 700)}
            if self.maybe(0.3):
                cost = {"cycles_per_unit": self.pick(0.1, 3)}
            if self.maybe(0.15):
                parts.append(table(f"costs.{action}", **cost) + f"\n{SOURCE}")
        if self.maybe(0.3):
            parts.append(self.a_doorbell())
        if self.maybe(0.35):
            bus = table("bus", arbitration=self.pick("fcfs", "fcfs", "tdma"), **BUS)
            way = table("mesh", **MESH) if self.maybe(0.3) else bus
            parts.append(table("[memory]", **MEMORY) + f"\n{SOURCE}{way}\n{SOURCE}")
        if self.maybe(0.1):
            size = {"y_mm": 0, "width_mm": 2, "height_mm": 2}
            parts.append(table("thermal", **THERMAL) + f"\n{SOURCE}")
            blocks = range(self.cores)
            parts += [table("[block]", name=f"b{n}", core=n, x_mm=2 * n, **size) for n in blocks]
        return "\n".join(parts)

    # ---- The application ------------------------------------------------------------------------

    def channels(self) -> list[tuple[int, int, bool]]:
        """Pairs of tasks; True: back, with the messages of a round in it."""
        found = []
        for to in range(1, self.tasks):
            froms = set(self.random.choices(range(to), k=self.pick(0, 1, 1, 1, 2)))
            found += [(at, to, False) for at in sorted(froms)]
        # Task 0 begins, unless what comes back to it does.
        loops = [channel for channel in found if channel[0] != 0]
        if loops and self.maybe(0.3):
            at, to, _ = self.random.choice(loops)
            found.append((to, at, True))
        return found

    def a_task(self, number: int, firings: int | None, images: bool) -> str:
        spread = self.pick((None, None), ("uniform", 0.9), ("normal", 0.3), ("exponential", None))
        rhythm: dict[str, object] = {}
        if self.rated and self.maybe(0.4):
            rhythm = {"periodic": True, "offset_frames": self.pick(None, 1, 2)}
        elif self.maybe(0.2):
            rhythm = {"period_us": self.pick(10, 50, 100), "offset_frames": self.pick(None, 1, 3)}
            rhythm["deadline_frames"] = self.pick(None, None, 0.3, 0.9)
        if images and self.maybe(0.5):
            rhythm |= {"checkpoint_every": 3, "on_crash": self.pick(None, None, "skip")}
        return table(
            "[task]",
            name=f"t{number}",
            cycles=self.pick(10, 300, 1000, 1000, 5000, 40000),
            core=self.random.randrange(self.cores),
            priority=self.pick(None, None, None, 0, 7, 9, 31),
            nice=self.pick(None, None, -20, 3, 19),
            distribution=spread[0],
            spread=spread[1],
            firings=firings,
            traffic=self.pick(None, None, None, None, 64, 4096),
            working_set="2KiB" if self.maybe(0.15) else None,
            mode=self.pick("handoff", "handoff", "replicate", "recreate"),
            restart=True,
            **rhythm,
        )

    def an_application(self) -> str:
        fires = [self.pick(1, 1, 1, 2, 3) for _ in range(self.tasks)]
        rounds, images, channels = self.pick(5, 40, 200, 1000), self.maybe(0.1), self.channels()
        fed = {to for _, to, _ in channels}
        begun = {to for _, to, back in channels if not back}
        self.endless = any(back and to not in begun for _, to, back in channels)
        rate = 5000 if self.rated else None
        parts = [table("app", name="made", description="made", frame_rate=rate)]
        for n in range(self.tasks):
            ends = n not in fed and not self.maybe(0.05)
            self.endless |= n not in fed and not ends
            parts.append(self.a_task(n, rounds * fires[n] if ends else None, images))
        for number, (at, to, back) in enumerate(channels):
            both = math.lcm(fires[at], fires[to]) * self.pick(1, 1, 2)
            self.a_round.append(both)
            self.loops |= back
            produce, consume, initial = both // fires[at], both // fires[to], both * back
            slots = (produce + consume) * self.pick(1, 1, 2, 5) + initial + 3 * images
            ends = {"from": f"t{at}.o{number}", "to": f"t{to}.i{number}"}
            rates = {"produce": produce, "consume": consume, "initial": initial}
            size = {"slots": slots, "slot_bytes": self.pick(1, 8, 64, 400)}
            parts.append(table("[channel]", **ends, **rates, **size))
        return "\n".join(parts)

    # ---- What is done with it -------------------------------------------------------------------

    def a_time(self) -> str:
        """A moment at which it probably still runs."""
        return f"{self.pick(1, 7, 30, 100, 333, 1000, 2500)}us"

    def choose_options(self) -> None:
        def add(chance: float, option: str, value: str) -> None:
            if self.maybe(chance):
                self.options += [option, value]

        def a_task() -> str:
            return f"t{self.random.randrange(self.tasks)}"

        def a_core() -> int:
            return self.random.randrange(self.cores)

        add(1, "--max-time", self.pick("2ms", "8ms", "20ms"))
        add(1, "--seed", str(self.random.randrange(9)))
        for _ in range(3):
            add(0.4, "--move", f"{a_task()}={a_core()}@{self.a_time()}")
        for _ in range(2):
            every = self.pick("1ms", "1100us", "3ms")
            add(0.3, "--shuttle", f"{a_task()}={a_core()},{a_core()}@{every}")
        if self.rated:
            add(0.6, "--frame-rate-change", f"{self.pick(500, 3000, 20000)}@{self.a_time()}")
        decided = self.rated and self.maybe(0.5)
        if decided or self.maybe(0.3):
            add(1, "--agent-period", self.pick("200us", "1ms", "1100us", "2ms"))
        if decided:
            self.table = "\n".join(self.a_row(rate) for rate in (1000, 10000)) + "\n"
        elif "--agent-period" in self.options:
            add(0.8, "--policy", self.pick(*POLICIES))
        add(0.3, "--mode", self.pick("handoff", "replicate", "recreate"))
        add(0.1, "--transport", self.pick("alias", "buffer"))
        add(0.2, "--duration", self.a_time())

    def a_row(self, rate: int) -> str:
        """A row of a table of mappings: where some tasks belong, and the cores' frequencies."""
        frequencies = [
            self.pick(*(point["mhz"] for point in core["point"]))
            for core in tomllib.loads(self.platform)["core"]
        ]
        task, core = self.random.randrange(self.tasks), self.random.randrange(self.cores)
        mapping = f"mapping = {{ t{task} = {core} }}"
        return f"[[row]]\nframe_rate = {rate}\n{mapping}\nfrequency_mhz = {frequencies}"
