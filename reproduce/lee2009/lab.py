# SPDX-License-Identifier: Apache-2.0
"""Calls of a GPP to a DSP, in the simulator and on this machine."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from command import ROOT, Failed, settings
from recorded import Recorded, record

HERE = Path(__file__).resolve().parent
SLEEP, AWAKE, CALL = 11, 12, 18
STEPS = 11
# The steps of a call as they are recorded (docs/recorded-run.md).
BEGUN, COPIED_IN, _, NOTIFIED, SEEN, FOUND, SERVED, ANSWERED, BACK, RECEIVED, COPIED_OUT = range(
    STEPS
)

APP = """
[app]
name = "lee2009"
module = "{module}"

[params]
bytes = 128
calls = 100
works_us = 0

[[task]]
name = "gpp"
core = 0
priority = 8
cycles = {gpp_cycles}
{period}

[[task]]
name = "dsp"
core = 1
cycles = {dsp_cycles}

[[service]]
name = "dsp"
task = "dsp"
callers = ["gpp"]
request_bytes = {size}
answer_bytes = {size}
calls = 1
request_memory = "{request_memory}"
answer_memory = "{answer_memory}"
request_doorbell = "{request_doorbell}"
answer_doorbell = "{answer_doorbell}"
"""


@dataclass(frozen=True)
class Setting:
    """What a run of calls differs by."""

    size: int = 128
    calls: int = 100
    platform: str = "davinci"
    period_us: float | None = None
    gpp_cycles: int = 1
    dsp_cycles: int = 0
    works_us: int = 0
    request_doorbell: str = "interrupt"
    answer_doorbell: str = "interrupt"
    request_memory: str = "external"
    answer_memory: str = "external"


@dataclass(frozen=True)
class Calls:
    """A run that is over."""

    run: Recorded
    all_ns: int
    call_ns: int

    def phases_us(self) -> list[float]:
        """What each phase took in the median: A to E, and the service alone."""
        each = [phases(steps) for steps in self.steps().values() if len(steps) == STEPS]
        return [median(one) / 1e3 for one in zip(*each, strict=True)]

    def call_us(self) -> float:
        """What a call took from its first step to its last, in the median."""
        each = [steps for steps in self.steps().values() if len(steps) == STEPS]
        return median(steps[COPIED_OUT] - steps[BEGUN] for steps in each) / 1e3

    def steps(self) -> dict[int, dict[int, int]]:
        """When each step of each call was done, in nanoseconds."""
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for core in range(self.run.cores):
            for ns, kind, _, value in self.run.records(core):
                if kind == CALL:
                    found[value >> 4][value & 15] = ns
        return found

    def load_percent(self, core: int) -> float:
        """The part of the time that a core did not sleep: in tasks, its kernel and interrupts."""
        asleep, since = 0, None
        for ns, kind, _, _ in self.run.records(core):
            if kind == SLEEP:
                since = ns
            elif kind == AWAKE and since is not None:
                asleep, since = asleep + ns - since, None
        return 100 * (1 - asleep / (self.run.seconds * 1e9))


def phases(steps: dict[int, int]) -> list[int]:
    """A copies in, B notifies, C is the service, D notifies back, E copies out; and what of C the
    service computed. A notification that is seen before its sender has come back is over then."""
    told = min(steps[NOTIFIED], steps[SEEN])
    back = steps[BACK] if steps[BACK] <= steps[RECEIVED] else steps[ANSWERED]
    ends = [steps[BEGUN], steps[COPIED_IN], told, back, steps[RECEIVED], steps[COPIED_OUT]]
    parts = [end - begin for begin, end in pairwise(ends)]
    return [*parts, steps[SERVED] - steps[FOUND]]


@dataclass(frozen=True)
class Lab:
    """Where runs leave what they record."""

    folder: Path

    def module(self) -> Path:
        """The application's module, compiled."""
        module = self.folder / "lee2009.so"
        if not module.exists():
            flags = ["-std=c11", "-O2", "-fPIC", "-fstack-clash-protection", "-shared"]
            include = ["-I", str(ROOT / "middleware/include")]
            command = ["gcc", *flags, *include, "-o", str(module), str(HERE / "calls.c")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"calls.c: {done.stderr}")
        return module

    def app(self, name: str, setting: Setting, module: str) -> Path:
        """An app.toml of this setting."""
        period = f"period_us = {setting.period_us}" if setting.period_us else ""
        path = self.folder / f"{name}.toml"
        path.write_text(
            APP.format(
                module=module,
                period=period,
                gpp_cycles=setting.gpp_cycles,
                dsp_cycles=max(setting.dsp_cycles, 1),
                size=setting.size,
                request_memory=setting.request_memory,
                answer_memory=setting.answer_memory,
                request_doorbell=setting.request_doorbell,
                answer_doorbell=setting.answer_doorbell,
            )
        )
        return path

    def count(self, name: str, setting: Setting) -> Calls:
        """On two cores of the RISC-V SoC, in its model: a second has ten million cycles."""
        self._name_sources()
        return self._run(name, setting, ["run", "--board", "rv32_soc"], "lee2009.so")

    def cross(self, name: str, setting: Setting, spin: str = "20us") -> Calls:
        """From Linux on this machine to FreeRTOS on an emulated core; `spin`: as measure()."""
        self._name_sources()
        return self._run(name, setting, ["run", "--cores", "0,virt_a64:0", "--spin", spin])

    def _name_sources(self) -> None:
        """What is compiled for a board."""
        sources = self.folder / "Makefile"
        options = "-std=c11 -O2"
        sources.write_text(
            f".PHONY: sources\nsources:\n\t@echo {options}\n\t@echo {HERE}/calls.c\n"
        )

    def simulate(self, name: str, setting: Setting) -> Calls:
        """In virtual time, on the setting's platform."""
        return self._run(name, setting, ["sim", "--platform", setting.platform])

    def measure(self, name: str, setting: Setting, spin: str) -> Calls:
        """On two processors of this machine; `spin`: how long an idle kernel polls."""
        return self._run(name, setting, ["run", "--cores", "0,1", "--spin", spin])

    def _run(self, name: str, setting: Setting, verb: list[str], module: str = "") -> Calls:
        toml = self.app(name, setting, module or str(self.module()))
        params = {
            "bytes": setting.size,
            "calls": setting.calls,
            "works_us": setting.works_us,
        }
        words = [verb[0], str(toml), *verb[1:], *settings(params)]
        run, said = record(self.folder / name, *words)
        told = dict(re.findall(r"^(all|call) (\d+\.\d+) us$", said, re.MULTILINE))
        return Calls(run, *(round(float(told[what]) * 1e3) for what in ("all", "call")))
