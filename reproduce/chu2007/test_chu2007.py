# SPDX-License-Identifier: Apache-2.0
"""What must hold of the tables, the runs and what they leave behind, however busy the machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import wave
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

import experiment  # noqa: E402
import measured  # noqa: E402
import namespace  # noqa: E402
import tables  # noqa: E402
from conditions import (  # noqa: E402
    BALANCE,
    CPUSET,
    Condition,
    Failed,
    every_condition,
    foreign_sets,
)
from experiment import Experiment  # noqa: E402
from inputs import Inputs, write_music  # noqa: E402
from loads import AGAIN, Load, in_background  # noqa: E402
from measured import Job, Run, measure  # noqa: E402
from shapes import marks_in  # noqa: E402
from tables import IDLE, PUBLISHED, Measured  # noqa: E402

# Printed otherwise than the times make it.
MISPRINTED = {("light", "lame", "40"), ("light", "lame", "100")}
# After which something that must come has not: also where a processor stands still for a while.
PATIENCE_S = 600
TINY = ["--quick", "--scale", "0.003"]
INSIDE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, "-c"]


def made(
    load: str, condition: str, *passes_s: float, job: str = "mpeg4 50MB", others: float = 0.0
) -> Run:
    return Run(0, load, job, condition, list(passes_s), [0.001], 0.0, others)


def test_improvements_are_those_that_the_paper_prints() -> None:
    for load in ("light", "heavy"):
        for program, sizes in PUBLISHED[load].items():
            for size, phases in sizes.items():
                for phase, times in phases.items():
                    printed = PUBLISHED["improvement"][load][program][size][phase]
                    close = tables.improvement(*times) == pytest.approx(printed, abs=0.06)
                    odd = (load, program, size) in MISPRINTED or phase == "pass2"
                    assert close != odd, (load, program, size, phase)


def test_a_row_stands_for_every_number_of_the_papers_tables() -> None:
    runs = [
        made(load, condition, *([1.0] if job.startswith("lame") else [1.0, 1.0]), job=job)
        for load, job in tables.TABLES
        for condition in ("default", "occupy")
    ]
    rows = tables.every_row(Measured(runs, 0.1))
    papers = sorted(row["paper"] for row in rows if row["paper"] is not None)
    stated = [
        number
        for load in ("light", "heavy")
        for program, sizes in PUBLISHED[load].items()
        for size, phases in sizes.items()
        for phase, times in phases.items()
        for number in (*times, PUBLISHED["improvement"][load][program][size][phase])
    ]
    assert papers == sorted(stated)


def test_times_are_medians_and_improvements_are_of_medians() -> None:
    runs = [made("heavy", "default", *some) for some in ((3.0, 1.0), (4.0, 1.0), (9.0, 1.0))]
    runs += [made("heavy", "occupy", *some) for some in ((2.0, 1.0), (2.0, 1.5), (2.0, 9.0))]
    runs += [made(IDLE, "default", *some) for some in ((1.0, 1.0), (1.0, 0.8), (1.0, 1.2))]
    rows = {row["what"]: row["ours"] for row in tables.every_row(Measured(runs, 0.1))}
    assert rows["table 5, heavy: mpeg4 50MB, default"] == 5.0
    assert rows["table 5, heavy: mpeg4 50MB, occupy"] == 3.5
    assert rows["table 5, heavy: mpeg4 50MB pass1, improvement by occupy"] == 50.0
    assert rows["table 5, heavy: mpeg4 50MB, improvement by occupy"] == pytest.approx(30.0)
    assert rows["heavy: mpeg4 50MB, occupy against alone"] == pytest.approx(1.75)
    assert rows["all loads: mpeg4 50MB, occupy against alone"] == pytest.approx(1.75)
    assert rows["idle: mpeg4 50MB, spread"] == pytest.approx(20.0)


def test_what_was_not_measured_has_no_row_and_no_bar() -> None:
    m = Measured([made("heavy", "occupy", 2.0, 1.0)], 0.1)
    assert not [row for row in tables.every_row(m) if "improvement" in row["what"]]
    (bar,) = experiment.compared(m, 8, "heavy").axes.patches
    assert (bar.get_gid(), bar.get_height()) == (
        "bar published",
        pytest.approx(100 * 64.20 / 94.37),
    )


def job(name: str) -> Job:
    return Job(name, 1.0, lambda _: [["true"]])


def some_experiment(calm: float | None = None) -> Experiment:
    jobs = {name: job(name) for name in ("lame 100MB", "mpeg4 50MB")}
    conditions = [Condition("default"), Condition("taskset"), Condition("occupy")]
    return Experiment([Load("light", ()), Load("heavy", ())], jobs, conditions, 3, True, calm)


def test_rounds_have_every_condition_once_each_beginning_with_another() -> None:
    steps = list(some_experiment().steps())
    assert len(steps) == 3 * 2 * 2 * 4
    firsts = []
    for at in range(0, len(steps), 4):
        alone, *others = steps[at : at + 4]
        assert alone[1].name == IDLE
        assert {condition.name for *_, condition in others} == {"default", "taskset", "occupy"}
        assert len({(n, work.name) for n, _, work, _ in steps[at : at + 4]}) == 1
        firsts.append(others[0][3].name)
    assert set(firsts) == {"default", "taskset", "occupy"}


def test_of_disturbed_runs_the_calmest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = iter([0.5, 0.2, 0.3, 0.01, 0.6])
    monkeypatch.setattr(experiment, "PATIENCE_S", 0.0)
    monkeypatch.setattr(
        experiment, "measure", lambda *_: made("light", "default", 1.0, others=next(shares))
    )
    taken = some_experiment(calm=0.1).calmest(0, Load("light", ()), job("x"), Condition("default"))
    assert taken.others == 0.01
    monkeypatch.setattr(experiment, "TRIES", 1)
    taken = some_experiment(calm=0.1).calmest(0, Load("light", ()), job("x"), Condition("default"))
    assert taken.others == 0.6


def test_the_only_run_of_a_condition_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = set()

    def sometimes(number: int, load: Load, job: Job, condition: Condition) -> Run:
        step = (number, load.name, job.name, condition.name)
        if step not in failed:
            failed.add(step)
            raise Failed("busy")
        return made(load.name, condition.name, 1.0, job=job.name)

    monkeypatch.setattr(experiment, "measure", sometimes)
    monkeypatch.setattr(experiment, "put_back", lambda _: None)
    quick = some_experiment()
    assert len(list(quick.runs())) == len(list(quick.steps()))


def test_a_calm_moment_is_waited_for_but_not_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([(100, 0), (300, 0), (300, 0), (300, 1)])
    monkeypatch.setattr(measured, "GLANCE_S", 0.05)
    monkeypatch.setattr(measured, "stat_ticks", lambda: next(ticks))
    measured.wait_for_calm(0.5, 60.0)
    assert not list(ticks)
    monkeypatch.setattr(measured, "stat_ticks", lambda: (time.monotonic_ns(), 0))
    measured.wait_for_calm(0.5, 0.1)


def test_music_is_what_the_paper_says_and_the_same_each_time(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path)
    with wave.open(str(inputs.wave(0.3))) as music:
        assert (music.getframerate(), music.getnchannels(), music.getsampwidth()) == (44100, 2, 2)
        assert music.getnframes() == 75000
    write_music(tmp_path / "again.wav", 0.3)
    assert (tmp_path / "again.wav").read_bytes() == inputs.wave(0.3).read_bytes()


def test_a_video_has_about_the_size_that_was_asked_for(tmp_path: Path) -> None:
    video = Inputs(tmp_path).video(1.0)
    assert video.stat().st_size == pytest.approx(1e6, rel=0.15)
    # The start code of an MPEG-1 pack.
    assert video.read_bytes()[:5] in (b"\x00\x00\x01\xba" + bytes([byte]) for byte in range(256))


def test_a_load_ends_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    command = (*AGAIN, "sh", "-c", f"echo $$ >{child}; exec sleep 600")
    with in_background(command):
        deadline = time.monotonic() + PATIENCE_S
        while not (child.exists() and child.read_text().strip()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert ended(int(child.read_text()))


def ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has waited for, within a minute."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_a_program_that_fails_is_no_measurement() -> None:
    broken = Job("broken", 1.0, lambda _: [["sh", "-c", "echo no such thing >&2; exit 3"]])
    with pytest.raises(Failed, match="no such thing"):
        measure(0, Load("nothing", ()), broken, Condition("default"))
    silent = Job("silent", 1.0, lambda _: [["true"]])
    with pytest.raises(Failed, match="nothing has come out"):
        measure(0, Load("nothing", ()), silent, Condition("default"))


def test_the_time_of_a_program_leaves_out_that_of_the_tool() -> None:
    tool = Condition("tool", ("sh", "-c", 'sleep 0.3; "$@"; s=$?; sleep 0.2; exit $s', "tool"))
    sleeper = Job("sleeper", 1.0, lambda out: [["sh", "-c", f"sleep 0.4; echo x >{out}/out.x"]])
    run = measure(0, Load("nothing", ()), sleeper, tool)
    assert run.passes_s[0] >= 0.4
    assert run.besides_s[0] >= 0.5


def test_a_condition_says_why_it_cannot_be_had() -> None:
    assert (
        Condition("none", ("no-such-tool",)).why_not()
        == "no-such-tool is missing: make setup build"
    )
    assert Condition("broken", ("sh", "-c", "echo not here >&2; false")).why_not() == (
        "sh failed: not here"
    )
    assert Condition("fine", ("env",)).why_not() == ""


def test_outside_of_a_namespace_nothing_is_moved() -> None:
    for name, condition in every_condition(Path("whimbrel"), 0, "affinity").items():
        if name in ("cset", "occupy"):
            with pytest.raises(Failed, match="not the experiment's"), condition.ready():
                pytest.fail("it was set up")
        else:
            assert not condition.moves_others


def test_cpusets_left_by_tools_are_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespace, "CPUSET", tmp_path)
    for name in ("user", "others"):
        (tmp_path / name).mkdir()
    foreign = set(namespace.sets())
    (tmp_path / "system").mkdir()
    namespace.put_back(foreign)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["others", "user"]


def test_of_two_experiments_the_second_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(namespace, "CPUSET", tmp_path)
    order = []

    def second() -> None:
        with namespace.alone():
            order.append("second")

    other = threading.Thread(target=second)
    with namespace.alone():
        other.start()
        while "waits for another" not in capfd.readouterr().err:
            assert other.is_alive(), order
            time.sleep(0.01)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


@pytest.mark.skipif(os.geteuid() != 0, reason="root may write these outside")
def test_inside_nothing_of_the_machine_can_be_written() -> None:
    folders = [str(HERE), str(HERE.parent / "common")]
    script = f"import sys; sys.path[:0] = {folders!r}; import namespace; namespace.shut()\n"
    paths = [
        "/proc/irq/default_smp_affinity",
        "/proc/sys/kernel/sched_rt_runtime_us",
        "/sys/devices/virtual/workqueue/cpumask",
    ]
    paths += map(str, sorted(Path("/proc/irq").glob("*/smp_affinity"))[:1])
    paths = [path for path in paths if Path(path).exists()]
    script += f"for path in {paths!r}:\n"
    script += "    try: open(path, 'r+')\n    except OSError as error: print(error.errno)\n"
    done = subprocess.run([*INSIDE, script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["30"] * len(paths)


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plots")


@pytest.fixture(scope="module")
def done(plots: Path) -> subprocess.CompletedProcess[str]:
    command = [str(HERE / "run"), *TINY, "--json", "--plots", str(plots)]
    with namespace.alone():
        before = machine()
    done = subprocess.run(
        [*command, "--loads", "heavy"], capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr
    with namespace.alone():
        assert machine() == before
    return done


@pytest.fixture(scope="module")
def rows(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    return {row["what"]: row for row in json.loads(done.stdout)}


def machine() -> dict[str, str]:
    """What an experiment could have changed, apart from processes that were not its own.

    The rest of the machine is not compared: others may change it meanwhile.
    """
    volatile = ("memory_pressure",)
    files = [*CPUSET.glob("cpuset.*"), Path("/proc/irq/default_smp_affinity")]
    files += [path / "cpuset.cpus" for path in namespace.sets()]
    found = {str(p): p.read_text() for p in files if not p.name.endswith(volatile)}
    return found | {"affinity": str(sorted(os.sched_getaffinity(0)))}


def test_every_row_has_what_was_published_and_a_note(rows: dict[str, dict[str, Any]]) -> None:
    for row in rows.values():
        assert list(row) == ["what", "paper", "ours", "unit", "note"]
        assert isinstance(row["ours"], float)
        assert row["note"]


def test_every_condition_was_run_or_says_why_not(
    rows: dict[str, dict[str, Any]], done: subprocess.CompletedProcess[str]
) -> None:
    for condition in every_condition(Path("whimbrel"), 0, "affinity"):
        ran = [f"heavy: {job}, {condition} against alone" for job in tables.EVERYWHERE]
        left_out = f"left out: {condition}" in rows
        assert all(what in rows for what in ran) != left_out, f"{condition}: {done.stderr}"
    assert "left out: default" not in rows


def test_occupy_can_be_had(rows: dict[str, dict[str, Any]]) -> None:
    assert "left out: occupy" not in rows, rows["left out: occupy"]["note"]


def test_the_noise_is_said(rows: dict[str, dict[str, Any]]) -> None:
    for what in ("idle: steal, mean", "idle: other processes, mean", "idle: lame 100MB, spread"):
        assert rows[what]["ours"] >= 0


def test_the_plots_are_pictures(rows: dict[str, dict[str, Any]], plots: Path) -> None:
    assert rows
    bars = {path.stem: marks_in(path) for path in plots.glob("*.svg")}
    assert set(bars) == {"figure8", "loads_lame", "loads_mpeg4"}
    assert min(bars.values()) >= 4


def test_a_load_that_there_is_not_is_refused(tmp_path: Path) -> None:
    command = [str(HERE / "run"), *TINY, "--loads", "medium", "--plots", str(tmp_path)]
    command += ["--conditions", "default"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2
    assert "reproduce/chu2007: there is no load medium: light, heavy, " in done.stderr


def test_runs_can_be_shown_again(rows: dict[str, dict[str, Any]], plots: Path) -> None:
    command = [str(HERE / "run"), "--runs", str(plots / "runs.json"), "--plots", str(plots)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    again = {row["what"]: row for row in json.loads(done.stdout)}
    assert again == {what: row for what, row in rows.items() if not what.startswith("left out")}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    # In the middle of a shield by cset, where there is one.
    shielded = CPUSET / "user"
    command = [str(HERE / "run"), *TINY, "--loads", "heavy"]
    command += ["--conditions", "cset", "default", "--plots", str(tmp_path)]
    with namespace.alone():
        before, foreign = machine(), set(namespace.sets())
    with_cset = os.geteuid() == 0 and BALANCE.exists() and shutil.which("cset") is not None
    with_cset = with_cset and not foreign_sets() and os.access(CPUSET, os.W_OK)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        # The inputs may have to be made first, and other experiments of this machine to end.
        deadline = time.monotonic() + 1800
        while not descendants(run.pid, "mplayer") or (with_cset and not shielded.exists()):
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        everybody = descendants(run.pid)
        run.send_signal(number)
        run.wait(timeout=PATIENCE_S)
    assert all(ended(pid) for pid in everybody)
    with namespace.alone():
        if number == signal.SIGKILL:
            # Nobody is left who could put it back: `cset shield --reset`.
            namespace.put_back(foreign)
        assert machine() == before


def descendants(pid: int, name: str = "") -> list[int]:
    """Children of children, those with this name if one is given; they come and go meanwhile."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in map(int, task.read_text().split()):
                if name in ("", Path(f"/proc/{child}/comm").read_text().strip()):
                    found.append(child)
                found += descendants(child, name)
    return found
