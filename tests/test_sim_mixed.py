# SPDX-License-Identifier: Apache-2.0
"""The platform am62p, Linux next to FreeRTOS: calls, a radio and an exchange, as by hand."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest
from simulated import ROOT, Json, command

sys.path += [str(ROOT / "reproduce/common"), str(ROOT / "reproduce/lee2009")]

from lab import Lab, Setting

AM62P = tomllib.loads((ROOT / "platforms/am62p.toml").read_text())
LINUX, FREERTOS = 0, 1
GHZ = 1.4
WAY_NS = AM62P["doorbell"]["latency_us"] * 1000
RING_NS, RUNG_NS = (AM62P["core"][0]["costs"][act]["time_us"] * 1000 for act in ("ring", "rung"))


def acts_ns(*names: str) -> float:
    """What acts take of a core of either kind."""
    costs = AM62P["costs"]
    each = (costs[name].get("cycles", 0) + costs[name].get("cycles_per_unit", 0) for name in names)
    return sum(each) / GHZ


def bytes_ns(n: int) -> float:
    """The way of a message to the memory, or from there."""
    (memory,) = AM62P["memory"]
    return memory["latency_ns"] + n * 1000 / memory["mb_per_s"]


def simulate(app: str, *options: str) -> Json:
    done = command(ROOT / f"apps/{app}/app.toml", "--platform", "am62p", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def busy_ns(summary: Json, task: str) -> int:
    return sum(one["busy_ns"] for one in summary["tasks"] if one["task"] == task)


@pytest.mark.parametrize("size", [128, 8192])
def test_a_call_from_linux_to_freertos_takes_what_its_acts_cost(size: int, tmp_path: Path) -> None:
    phases = Lab(tmp_path).simulate("calls", Setting(size, platform="am62p")).phases_us()
    freertos_rings, freertos_is_rung = (
        AM62P["doorbell"][side]["cycles"] / GHZ for side in ("send", "receive")
    )
    woken = acts_ns("serve", "switch")
    copy_in = acts_ns("claim", "send") + bytes_ns(size)
    notify = acts_ns("commit", "post") + RING_NS
    service = WAY_NS + freertos_is_rung + woken + acts_ns("hold", "checkpoint")
    service += acts_ns("commit", "post") + freertos_rings
    notify_back = WAY_NS + RUNG_NS + woken
    copy_out = acts_ns("receive") + bytes_ns(size)
    expected = [copy_in, notify, service, notify_back, copy_out]
    assert [us * 1000 for us in phases[:5]] == pytest.approx(expected, abs=2)


def test_what_kernels_of_two_kinds_exchange_is_right_in_virtual_time() -> None:
    """The tasks check each message, answer, lock and turn for themselves."""
    summary = simulate("mixed", "--shuttle", "relay=1,0@1ms")
    moves = [move for move in summary["migrations"] if move["task"] == "relay"]
    assert len(moves) >= 4 and {move["status"] for move in moves} == {"ok"}
    sent = {channel["channel"]: channel["sent"] for channel in summary["channels"]}
    assert (sent["relay_receiver"], sent["collector_in"], sent["squares"]) == (2000, 400, 200)


def cycles_ns(task: str, firings: int) -> float:
    (work,) = (work for work in AM62P["work"] if work["task"] == task)
    return firings * work["cycles"] / GHZ


def test_the_radio_sounds_the_same_while_its_demodulator_goes_to_and_fro(tmp_path: Path) -> None:
    moved, stayed = tmp_path / "moved.wav", tmp_path / "stayed.wav"
    shuttle = ("--mode", "reenter", "--shuttle", "demodulator=1,0@200ms")
    summary = simulate("fm_radio", *shuttle, "--set", f"output={moved}")
    simulate("fm_radio", "--set", f"output={stayed}")
    assert moved.read_bytes() == stayed.read_bytes() and len(moved.read_bytes()) > 400_000
    statuses = [move["status"] for move in summary["migrations"]]
    assert statuses.count("ok") > 20 and set(statuses) <= {"ok", "ended"}
    assert busy_ns(summary, "lpf") == pytest.approx(cycles_ns("lpf", 250), rel=0.005)
    # What the demodulator computes is all that core 1 does: about half of it.
    there = summary["cores"][FREERTOS]["busy_ns"] / busy_ns(summary, "demodulator")
    assert there == pytest.approx(0.5, abs=0.05)


@pytest.mark.skipif(
    not (ROOT / "build/apps/voip.so").exists(), reason="the phone's libraries are missing"
)
def test_the_phone_has_its_codecs_under_freertos() -> None:
    summary = simulate("voip", "--set", "peer=loop")
    codec_ns, agent_ns = 941_000 / GHZ, 710_000 / GHZ  # of `core` in apps/voip/app.toml
    firings = {one["task"]: one["firings"] for one in summary["tasks"]}
    sent = {channel["channel"]: channel["sent"] for channel in summary["channels"]}
    for task, service in (("encoder", "encode"), ("decoder", "decode")):
        by_hand = sent[f"{service}_agent"] * codec_ns
        assert busy_ns(summary, task) == pytest.approx(by_hand, rel=0.005)
    assert busy_ns(summary, "agent") == pytest.approx(firings["agent"] * agent_ns, rel=0.01)
    assert summary["cores"][FREERTOS]["busy_ns"] > 2 * summary["cores"][LINUX]["busy_ns"]
