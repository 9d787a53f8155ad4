# SPDX-License-Identifier: Apache-2.0
"""Explorations on a cluster of worker processes, which are killed, lack the package, or go away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import whimbrel
from distributed import Client, LocalCluster
from whimbrel import cluster

ROOT = Path(__file__).resolve().parents[2]
RADIO = ROOT / "apps/fm_radio/app.toml"
OPTIONS: dict[str, Any] = {
    "rates": [300],
    "points": "high",
    "pins": {"lpf": 0},
    "set": {"output": ""},
    "duration": "1s",
}


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
    searched: dict[str, Any] = {"points": "all", "limit": 10, "budget": 200, "duration": "200ms"}
    alone, many = explore(**searched), explore(**searched, client=client)
    assert many.json == alone.json and many.parquet == alone.parquet
    assert many.rates[0]["method"] == "genetic"


def test_workers_that_are_killed_lose_and_double_nothing(client: Client, tmp_path: Path) -> None:
    longer = {**OPTIONS, "duration": "5s", "points": "150,320,500"}
    alone = whimbrel.explore(RADIO, "mpsoc3", **longer)
    over, killed = threading.Event(), []

    def kill() -> None:
        while not over.wait(1.5) and len(killed) < 6:
            pids = list(client.run(os.getpid).values())
            for pid in pids[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        many = whimbrel.explore(RADIO, "mpsoc3", **longer, client=client, output=tmp_path / "out")
    finally:
        over.set()
        killer.join()
    assert killed
    assert many.json == alone.json and many.parquet == alone.parquet
    rows = (tmp_path / "out/evaluated.jsonl").read_text().splitlines()[1:]
    candidates = [json.dumps(json.loads(row)["candidate"]) for row in rows]
    assert len(candidates) == len(set(candidates)) == alone.table.num_rows


def test_the_command_explores_on_a_cluster(client: Client, command: Any) -> None:
    words = "--platform mpsoc3 --rates 300 --points high --pin lpf=0 --set output= --duration 1s"
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


def test_a_cluster_that_goes_away_is_told() -> None:
    local = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    client = Client(local)
    gone = threading.Timer(1.5, lambda: local.close(timeout=5))
    gone.start()
    try:
        with pytest.raises(whimbrel.ClusterError, match="cluster") as told:
            explore(client=client, duration="200s", points="all", patience=3)
        assert told.value.cure
    finally:
        gone.join()
        client.close(timeout=2)


def test_a_cluster_without_workers_is_told_after_a_while() -> None:
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as local,
        Client(local) as client,
    ):
        since = time.monotonic()
        with pytest.raises(whimbrel.ClusterError, match="no worker for 1"):
            explore(client=client, patience=1)
        assert time.monotonic() - since < 30


def test_a_worker_without_the_package_is_told(tmp_path: Path) -> None:
    """It has what is there but a package of this name that is none."""
    (tmp_path / "whimbrel.py").write_text("raise ModuleNotFoundError('none here')")
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as local:
        words = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        worker = subprocess.Popen(
            [*words, "--no-nanny", "--no-dashboard", "--nthreads=1"],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with Client(local) as client:
                client.wait_for_workers(1, timeout=60)
                with pytest.raises(whimbrel.ClusterError) as told:
                    explore(client=client)
            assert "pip install ./python" in str(told.value.cure)
        finally:
            worker.kill()
            worker.wait()


def test_chunks_are_all_jobs_once_and_get_smaller() -> None:
    for count, threads in ((0, 2), (1, 8), (256, 2), (1000, 8)):
        made = list(cluster.chunks([str(job) for job in range(count)], threads))
        assert [pair for chunk in made for pair in chunk] == list(enumerate(map(str, range(count))))
        sizes = [len(chunk) for chunk in made]
        assert sizes == sorted(sizes, reverse=True) and sizes[-1:] in ([], [1])


def test_a_worker_of_another_version_is_told() -> None:
    class Other:
        submit = scheduler_info = None

        def run(self, *_: object, **__: object) -> dict[str, str]:
            return {"tcp://1": "9.9.9"}

    with pytest.raises(whimbrel.ClusterError, match=r"tcp://1 has whimbrel 9\.9\.9, not"):
        explore(client=Other())
