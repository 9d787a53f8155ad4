# SPDX-License-Identifier: Apache-2.0
"""What each core runs, as VCD and for Perfetto."""

import json
import re
from pathlib import Path

from model import BUILD, program, run_model

SWITCHES = BUILD / "nacul2007" / "switch_here.elf"
Change = tuple[int, int, str]  # cycle, core, what it runs from then on


def traces(tmp_path: Path) -> tuple[str, list[dict]]:
    vcd, perfetto = tmp_path / "trace.vcd", tmp_path / "trace.json"
    done = run_model(SWITCHES, "--vcd", str(vcd), "--perfetto", str(perfetto))
    assert done.returncode == 0
    return vcd.read_text(), json.loads(perfetto.read_text())["traceEvents"]


def changes(vcd: str) -> tuple[list[Change], set[tuple[int, int]]]:
    """What the cores run, and when their scheduling modules choose."""
    cycle, runs, chosen = 0, [], set()
    for line in vcd.split("$enddefinitions $end\n")[1].splitlines():
        if line[0] == "#":
            cycle = int(line[1:])
        elif match := re.fullmatch(r"s(\S+) r(\d)", line):
            runs.append((cycle, int(match[2]), match[1]))
        else:
            core = re.fullmatch(r"1s(\d)", line)
            assert core, line
            chosen.add((cycle, int(core[1])))
    return runs, chosen


def test_a_task_runs_the_cycle_after_it_is_chosen(tmp_path: Path) -> None:
    runs, chosen = changes(traces(tmp_path)[0])
    tasks = [change for change in runs if change[2].startswith("task_")]
    assert {what for _, _, what in tasks} >= {"task_0", "task_1"}
    assert len(tasks) > 50
    assert {(cycle - 1, core) for cycle, core, _ in tasks} <= chosen
    assert runs[-2:] and runs == sorted(runs, key=lambda change: change[0])


def test_perfetto_shows_what_the_vcd_does(tmp_path: Path) -> None:
    vcd, events = traces(tmp_path)
    runs, chosen = changes(vcd)
    names = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert names[::2] == ["core 0", "core 1"]
    assert names[1::2] == ["scheduling module 0", "scheduling module 1"]
    slices = [event for event in events if event["ph"] == "X"]
    seen = [
        (round(10 * s["ts"]), s["tid"], s["name"].replace(" ", "_")) for s in slices if s["tid"] < 2
    ]
    assert sorted(seen) == sorted(change for change in runs if change[2] != "idle")
    assert {(round(10 * s["ts"]), s["tid"] - 2) for s in slices if s["tid"] > 1} == chosen


def test_each_slice_says_what_its_core_waited_for(tmp_path: Path) -> None:
    slices = [s for s in traces(tmp_path)[1] if s["ph"] == "X" and s["tid"] < 2]
    assert all(min(s["args"].values()) >= 0 for s in slices)
    tasks = [s for s in slices if s["name"].startswith("task ") and s["dur"] > 0]
    for one in tasks:
        cycles = 10 * one["dur"]
        assert one["args"]["data hits"] + one["args"]["data misses"] <= cycles
        assert one["args"]["store waits"] <= cycles
    # Both tasks fit the caches: they miss at first, and then no more.
    missed = [one["args"]["data misses"] + one["args"]["fetch misses"] for one in tasks]
    assert sum(missed[:20]) > 0
    assert sum(missed[100:200]) == 0


# Of the Trace Event Format, which Perfetto reads: what an event of each kind must have.
REQUIRED = {
    "X": {"name": str, "pid": int, "tid": int, "ts": float, "dur": float},
    "M": {"name": str, "pid": int, "args": dict},
}


def test_every_event_is_whole_and_slices_of_a_track_do_not_overlap(tmp_path: Path) -> None:
    ends: dict[int, int] = {}
    for event in traces(tmp_path)[1]:
        for key, kind in REQUIRED[event["ph"]].items():
            assert isinstance(event[key], kind), event
        if event["ph"] == "X":
            begin, cycles = round(10 * event["ts"]), round(10 * event["dur"])
            assert begin >= ends.get(event["tid"], 0)  # otherwise Perfetto would drop it
            ends[event["tid"]] = begin + cycles


def test_a_trace_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    done = run_model(program("boot"), "--vcd", str(tmp_path / "nowhere" / "trace.vcd"))
    assert done.returncode == 2
    assert b"cannot be written" in done.stderr
