# SPDX-License-Identifier: Apache-2.0
"""Explorations on a cluster of worker processes, which are killed, lack the package, or go away."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import whimbrel
from distributed import Client, LocalCluster
from whimbrel import _tree, cluster
from whimbrel._native import _core

ROOT = Path(__file__).resolve().parents[2]
RADIO = ROOT / "apps/fm_radio/app.toml"
FORK_JOIN = ROOT / "apps/synthetic/fork_join.toml"
OPTIONS: dict[str, Any] = {
    "frame_rates": [300],
    "points": "high",
    "pins": {"lpf": 0},
    "set": {"output": ""},
    "duration": "1s",
}
# The recording goes on, so a candidate takes as long as it is told.
ON: dict[str, Any] = {"set": {"output": "", "plays": 10**6}}


def explore(**more: Any) -> whimbrel.Exploration:
    return whimbrel.explore(RADIO, "mpsoc3", **{**OPTIONS, **more})


@pytest.fixture
def client() -> Iterator[Client]:
    """Three worker processes; those that are killed are started again."""
    settings = {"n_workers": 3, "threads_per_worker": 1, "processes": True}
    with (
        LocalCluster(**settings, dashboard_address=None, silence_logs=50) as local,
        Client(local) as client,
    ):
        yield client


def test_a_cluster_finds_what_one_process_finds_to_the_byte(client: Client) -> None:
    alone, many = explore(), explore(client=client)
    assert many.json == alone.json and many.parquet == alone.parquet


def test_a_search_on_a_cluster_is_the_same_to_the_byte(client: Client) -> None:
    searched: dict[str, Any] = {
        "points": "all",
        "exhaustive": 10,
        "budget": 200,
        "duration": "200ms",
    }
    alone, many = explore(**searched), explore(**searched, client=client)
    assert many.json == alone.json and many.parquet == alone.parquet
    assert many.rates[0]["method"] == "genetic"


def test_workers_that_are_killed_lose_and_double_nothing(client: Client, tmp_path: Path) -> None:
    longer = {**ON, "duration": "2s", "points": "150,320,500"}
    alone = explore(**longer)
    killed: list[int] = []

    def kill(done: int, *_: object) -> None:
        nannies = list(client.cluster.workers.values())
        pid = nannies[len(killed) % len(nannies)].pid
        if pid and len(killed) < 4 and done > 30 * len(killed):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    many = explore(**longer, client=client, output=tmp_path / "out", progress=kill)
    assert killed
    assert many.json == alone.json and many.parquet == alone.parquet
    rows = (tmp_path / "out/evaluated.jsonl").read_text().splitlines()[1:]
    candidates = [json.dumps(json.loads(row)["candidate"]) for row in rows]
    assert len(candidates) == len(set(candidates)) == alone.table.num_rows


def test_the_command_explores_on_a_cluster(client: Client, command: Any) -> None:
    words = "--platform mpsoc3 --frame-rates 300 --points high --pin lpf=0 --set output="
    words += " --duration 400ms"
    os.environ["WHIMBREL_PYTHON"] = sys.executable
    try:
        address = client.scheduler.address
        front = command("explore", str(RADIO), *words.split(), "--json", "--scheduler", address)
        assert front == command("explore", str(RADIO), *words.split(), "--json")
        text = command("explore", str(RADIO), *words.split(), f"--scheduler={address}")
        assert text == command("explore", str(RADIO), *words.split(), "--quiet")
        command("explore", str(RADIO), *words.split(), "--scheduler=tcp://127.0.0.1:9", status=2)
    finally:
        del os.environ["WHIMBREL_PYTHON"]


def test_an_asynchronous_client_is_a_type_error() -> None:
    """Its calls give coroutines: nothing would ever be done."""

    async def use() -> None:
        settings = {"n_workers": 0, "dashboard_address": None, "silence_logs": 50}
        async with (
            LocalCluster(asynchronous=True, processes=False, **settings) as local,
            Client(local, asynchronous=True) as client,
        ):
            with pytest.raises(TypeError, match="that is not asynchronous"):
                explore(client=client)

    asyncio.run(use())


def test_a_cluster_that_goes_away_is_told() -> None:
    local = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    client, begun = Client(local), threading.Event()

    def end() -> None:
        begun.wait(60)
        local.close(timeout=5)

    gone = threading.Thread(target=end)
    gone.start()
    try:
        with pytest.raises(whimbrel.ClusterError, match="cluster") as told:
            longer = {**ON, "duration": "20s", "points": "all"}
            explore(**longer, client=client, patience=3, progress=lambda *_: begun.set())
        assert told.value.cure
    finally:
        gone.join()
        client.close(timeout=2)


def test_a_client_that_is_closed_is_told(empty: LocalCluster) -> None:
    client = Client(empty)
    client.close()
    with pytest.raises(whimbrel.ClusterError, match="the cluster disconnected") as told:
        explore(client=client)
    assert told.value.cure


def test_an_exploration_that_waits_for_workers_can_be_ended(empty: LocalCluster) -> None:
    main, since = threading.main_thread().ident, time.monotonic()
    assert main is not None
    with Client(empty) as client:
        found = explore(client=client, patience=600, budget="1s")
        assert not found.complete and found.table.num_rows == 0
        threading.Timer(2, signal.pthread_kill, (main, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            explore(client=client, patience=600)
    assert time.monotonic() - since < 60


def test_a_cluster_without_workers_is_told_after_a_while() -> None:
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as local,
        Client(local) as client,
    ):
        since = time.monotonic()
        with pytest.raises(whimbrel.ClusterError, match="no worker for 1"):
            explore(client=client, patience=1)
        # Without `patience` it would be a minute.
        assert time.monotonic() - since < 50


@contextmanager
def worker(of: LocalCluster, cwd: Path, *before: str, **environment: str) -> Iterator[Client]:
    """A client of a cluster with one worker, a process that is started as on another machine."""
    words = [*before, sys.executable, "-m", "distributed.cli.dask_worker", of.scheduler_address]
    process = subprocess.Popen(
        [*words, "--no-nanny", "--no-dashboard", "--nthreads=1"],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with Client(of) as client:
            client.wait_for_workers(1, timeout=600)
            yield client
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def empty() -> Iterator[LocalCluster]:
    """A scheduler that has no worker yet."""
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as local:
        yield local


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("raise ModuleNotFoundError('none here')", "has no package whimbrel"),
        ("__version__ = '9.9.9'", r"has whimbrel 9\.9\.9, not"),
    ],
)
def test_a_worker_without_the_package_or_with_another_is_told(
    empty: LocalCluster, tmp_path: Path, package: str, said: str
) -> None:
    (tmp_path / "whimbrel.py").write_text(package)
    with (
        worker(empty, tmp_path, PYTHONPATH=str(tmp_path)) as client,
        pytest.raises(whimbrel.ClusterError, match=said) as told,
    ):
        explore(client=client)
    assert "pip install ./python" in str(told.value.cure)


def test_a_worker_of_another_checkout_is_told_whenever_it_comes(
    empty: LocalCluster, tmp_path: Path
) -> None:
    """Its version and its Python are the same, and what is compiled is of other sources."""
    copy = tmp_path / "whimbrel"
    shutil.copytree(Path(whimbrel.__file__).parent, copy, copy_function=os.symlink)
    (copy / "_tree/sources").unlink()
    (copy / "_tree/sources").write_text("others")
    said = rf"has whimbrel {whimbrel.__version__} \(\w+\), not {whimbrel.__version__} \("
    with (
        Client(empty) as waiting,
        cluster.farm(waiting, 60) as farm,
        worker(empty, tmp_path, PYTHONPATH=str(tmp_path)) as client,
    ):
        with pytest.raises(whimbrel.ClusterError, match=said):
            list(farm(["a job"]))
        with pytest.raises(whimbrel.ClusterError, match=said):
            explore(client=client)


def test_a_worker_that_dies_while_it_is_asked_is_passed_over() -> None:
    class Asked:
        def run(self, *_: object, **__: object) -> dict[str, object]:
            return {"tcp://a": OSError("connection lost"), "tcp://b": cluster.MADE}

    cluster._check_workers(Asked())


def elsewhere(folder: Path) -> list[str]:
    """What comes before a command that must not see a folder; skips where that cannot be."""
    hidden = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {folder} && exec "$@"', "-"]
    tried = subprocess.run([*hidden, "true"], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip("this user may not hide a folder from a process")
    return hidden


def test_a_worker_needs_no_file_of_an_application_without_code(
    empty: LocalCluster, tmp_path: Path
) -> None:
    """It sees neither the application's folder nor a home, and is in another folder."""
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    app = project / "app.toml"
    app.write_text(FORK_JOIN.read_text())
    options: dict[str, Any] = {"points": "high", "duration": "200ms"}
    with worker(empty, home, *elsewhere(project), HOME=str(home)) as client:
        many = whimbrel.explore(app, "mpsoc3", client=client, **options)
        assert not client.submit(os.path.exists, str(app)).result()
    assert many.json == whimbrel.explore(app, "mpsoc3", **options).json


def test_a_worker_without_the_applications_module_says_which(
    empty: LocalCluster, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    # Of the same name as one that came with the package, which must not have its place.
    (project / "fm_radio.so").write_bytes((_tree.ROOT / "build/apps/fm_radio.so").read_bytes())
    (project / "app.toml").write_text(RADIO.read_text())
    here = {"set": {"output": "", "input": str(RADIO.parent / "data/cold_day_240k.cu8")}}
    with (
        worker(empty, tmp_path, *elsewhere(project)) as client,
        pytest.raises(whimbrel.RunError, match=r"project/fm_radio\.so") as told,
    ):
        whimbrel.explore(project / "app.toml", "mpsoc3", **{**OPTIONS, **here}, client=client)
    assert "at the same paths as here" in str(told.value)


def test_chunks_are_all_jobs_once_and_get_smaller() -> None:
    for count, threads, least in ((0, 2, 1), (1, 8, 1), (256, 2, 1), (256, 2, 10), (1000, 8, 1)):
        jobs = [str(job) for job in range(count)]
        made = cluster.chunks(jobs, threads, least)
        assert [job for chunk in made for job in chunk.jobs] == jobs
        assert [chunk.first for chunk in made] == [int(chunk.jobs[0]) for chunk in made]
        sizes = [len(chunk.jobs) for chunk in made]
        assert sizes == sorted(sizes, reverse=True)
        assert all(size >= least for size in sizes[:-1])


def some_jobs() -> list[str]:
    """Those of an exploration whose candidates take no time."""
    jobs: list[str] = []

    def keep(some: list[str]) -> Iterator[tuple[int, str]]:
        jobs.extend(some)
        return ((number, _core.work(job)) for number, job in enumerate(some))

    given = {"platform": ["mpsoc3"], "duration": ["1ms"], "app": [str(FORK_JOIN)]}
    _core.explore(given, keep, None)
    return jobs


def ran(verdicts: cluster.Verdicts) -> list[int]:
    """The numbers of the jobs that ran; it does not wait for others without end."""
    since, numbers = time.monotonic(), []
    for verdict in verdicts:
        numbers += [verdict[0]] if verdict else []
        assert time.monotonic() - since < 60
    return sorted(numbers)


def test_jobs_that_take_no_time_go_in_fewer_chunks(client: Client) -> None:
    """So what Dask spends on each stays a small part, after the first batch has told."""
    jobs = some_jobs()[:100]
    with cluster.farm(client, 60) as farm:
        working = farm.__self__  # type: ignore[attr-defined]
        ran(farm(jobs))
        assert working.job_s < math.inf
        # What they took is the machine's to say.
        working.job_s = 1e-3
        before = working.made
        assert ran(farm(jobs)) == list(range(100))
        assert working.made - before < len(cluster.chunks(jobs, 3))


def test_what_comes_of_a_chunk_is_not_lost_with_its_event(client: Client) -> None:
    jobs = some_jobs()[:10]
    with cluster.farm(client, 60) as farm:
        working = farm.__self__  # type: ignore[attr-defined]
        # As a scheduler knows nothing of it that came again.
        client.unsubscribe_topic(working.topic)
        assert ran(farm(jobs)) == list(range(10))


def test_the_command_is_told_of_its_options(empty: LocalCluster) -> None:
    program, address = _tree.BIN / "whimbrel", empty.scheduler_address
    words = [program, "explore", RADIO, "--platform=mpsoc3", "--points=77", "--scheduler", address]
    environment = {**os.environ, "WHIMBREL_PYTHON": sys.executable}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "--points: no core has a point of 77 MHz" in done.stderr
    assert "points=" not in done.stderr


# The Python of `--scheduler` that gives away what it is called with: the options.
TELLS = '#!/bin/sh\nprintf %s "$4"\n'
# Explores by each of some options, and prints how many candidates ran and the most memory that the
# process had until then. Every candidate has the verdict of the first.
MEASURES = """
import json, pathlib, re, sys
from whimbrel._native import _core

def farm(jobs, known=[]):
    known or known.append(_core.work(jobs[0]))
    return ((number, known[0]) for number in range(len(jobs)))

for options in sys.argv[1:]:
    rate, = json.loads(_core.explore(options, farm, None)[0])["rates"]
    status = pathlib.Path("/proc/self/status").read_text()
    print(rate["ran"], int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1024)
"""
# Of explore.parquet a candidate has 570; all else that grows with their number takes some 100.
MOST_BYTES = 400


def test_memory_of_the_command_on_a_cluster_does_not_have_every_candidate(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(TELLS)
    python.chmod(0o755)
    words = [_tree.BIN / "whimbrel", "explore", RADIO, "--platform=mpsoc3", "--set=output="]
    words += ["--duration=1ms", "--objectives=time", "--exhaustive=100000", "--scheduler=tcp://a:1"]

    def options(points: str) -> str:
        environment = {**os.environ, "WHIMBREL_PYTHON": str(python)}
        return subprocess.check_output([*words, f"--points={points}"], env=environment, text=True)

    # Each thread may have an arena of malloc.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "RAYON_NUM_THREADS": "1"}
    measure = [sys.executable, "-c", MEASURES, options("150,200,260,320,400,500"), options("all")]
    told = subprocess.check_output(measure, env=environment, text=True).split()
    few, before, more, after = map(int, told)
    assert more > 3 * few > 3 * 4096
    assert after - before < MOST_BYTES * (more - few)
