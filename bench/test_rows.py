# SPDX-License-Identifier: Apache-2.0
"""What `whimbrel bench` must print, however busy the machine is."""

from __future__ import annotations

import os
from typing import Any

import benches
import command
import pytest

SIZES = ("64KiB", "256KiB", "1MiB", "4MiB", "16MiB")
RADIO_TASKS = ("lpf", "demodulator", "bpf", "sum")

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="migrations are measured between two processors"
)


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    return {row["bench"]: row for row in benches.measured()}


def test_hand_offs_and_channels_are_measured_polling_and_blocking_idle_and_loaded(
    rows: dict[str, dict[str, Any]],
) -> None:
    assert {"migration.waits.spin", "migration.waits.sleep"} <= rows.keys()
    assert {"migration.handoff.spin.limit", "migration.handoff.sleep.limit"} <= rows.keys()
    for load in ("", ".loaded"):
        assert {f"migration.handoff.{form}{load}" for form in ("spin", "sleep")} <= rows.keys()
        assert f"channel.64B.spin.each_way{load}" in rows
        for size in ("64B", "4KiB"):
            assert {f"channel.{size}.{form}{load}" for form in ("spin", "block")} <= rows.keys()


def test_what_waking_costs_is_measured_by_how_long_a_core_slept(
    rows: dict[str, dict[str, Any]],
) -> None:
    for sleep in ("100us", "1ms", "20ms"):
        names = {f"wake.{sleep}.{what}" for what in ("notice", "ring", "firing", "attach")}
        assert names <= rows.keys()
        # Who rings is back before the other runs, and has made a system call.
        ring, notice = rows[f"wake.{sleep}.ring"], rows[f"wake.{sleep}.notice"]
        assert ring["against_p50"] < ring["p50"] < notice["p50"]
    assert {"wake.64KiB.read", "wake.64KiB.write"} <= rows.keys()


def test_calls_are_measured_by_size_and_phase_polling_and_blocking(
    rows: dict[str, dict[str, Any]],
) -> None:
    assert {"call.160B.spin", "call.160B.block", "call.160B.block.futex"} <= rows.keys()
    for size in ("128B", "512B", "2KiB", "8KiB", "32KiB"):
        for form in ("spin", "block"):
            name = f"call.{size}.{form}"
            phases = rows[f"{name}.phases"]
            assert all(phases[phase] >= 0 for phase in "ABCDE")
            # Less than what a call takes when it is recorded. Recording can take all of a phase,
            # but not of one that copies 32 KiB.
            assert sum(phases[phase] for phase in "ABCDE") < 2 * phases["recorded"]
            assert size != "32KiB" or (phases["A"] > 0 and phases["E"] > 0)
            assert phases["round"] == pytest.approx(rows[name]["p50"], abs=0.1)


def test_migrations_that_copy_are_measured_at_every_size(rows: dict[str, dict[str, Any]]) -> None:
    for form in ("", ".cold", ".buffer", ".buffer.cold"):
        names = {f"migration.replicate.{size}{form}" for size in ("4KiB", *SIZES)}
        assert names | {f"{name}.copy" for name in names} <= rows.keys()
    assert {f"migration.recreate.{size}" for size in SIZES} <= rows.keys()
    assert {f"checkpoint.image.{size}" for size in ("4KiB", *SIZES[:-1])} <= rows.keys()


def test_a_line_goes_through_the_costs_of_each_mode(rows: dict[str, dict[str, Any]]) -> None:
    for mode, form in (
        ("replicate", ""),
        ("replicate", ".cold"),
        ("replicate", ".buffer"),
        ("recreate", ""),
    ):
        line = rows[f"migration.{mode}{form}.fit"]
        assert line["unit"] == "ns/KiB"
        assert 0 <= line["r2"] <= 1
        # A busy machine bends the line of medians; the least costs grow even there.
        assert line["p50"] > 0 or line["r2"] < 0.7
        few, many = (
            rows[f"migration.{mode}.{size}{form}"]["min"] for size in (SIZES[0], SIZES[-1])
        )
        assert few < many


def test_the_radios_checkpoints_are_measured_task_by_task(
    rows: dict[str, dict[str, Any]],
) -> None:
    names = {f"checkpoint.fm_radio.{task}.serial" for task in RADIO_TASKS}
    assert names | {"checkpoint.fm_radio", "checkpoint.fm_radio.serial"} <= rows.keys()


def test_a_latency_has_its_percentiles_in_order_and_something_to_compare_with(
    rows: dict[str, dict[str, Any]],
) -> None:
    latencies = [row for row in rows.values() if row["unit"] == "ns"]
    assert len(latencies) > 30
    for row in latencies:
        order = [row[key] for key in ("min", "p10", "p50", "p90", "p99", "p999", "max")]
        assert order == sorted(order), row
        assert row["n"] > 0
        assert row["against_p50"] > 0


@pytest.mark.parametrize(
    ("variable", "given", "range_"),
    [
        ("WHIMBREL_BENCH_SAMPLES", "500", "800 to 8000"),
        ("WHIMBREL_BENCH_SAMPLES", "1000x", "800 to 8000"),
        ("WHIMBREL_BENCH_SAMPLES", "", "800 to 8000"),
        ("WHIMBREL_BENCH_ROUNDS", "x", "1 to 1000"),
        ("WHIMBREL_BENCH_ROUNDS", "1001", "1 to 1000"),
    ],
)
def test_a_number_of_the_environment_that_cannot_be_is_refused(
    variable: str, given: str, range_: str
) -> None:
    environment = os.environ | {variable: given}
    done = command.whimbrel("bench", "--quick", "switch", fine=(2,), env=environment)
    assert f"{variable} is {given}: give a whole number from {range_}" in done.stderr
