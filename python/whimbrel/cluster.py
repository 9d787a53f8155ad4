# SPDX-License-Identifier: Apache-2.0
"""Candidates on the workers of a Dask cluster.

`python -m whimbrel.cluster` is what `whimbrel explore --scheduler` becomes.

A candidate is a plan and some numbers as text (`Job` of crates/whimbrel): it needs nothing of the
machine that explores but the application's module and data, at the same paths. What comes of it
depends on nothing else, so Dask may run it again wherever it likes when a worker dies.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import pydoc
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import _words
from ._native import _core
from .errors import ClusterError, Error

# How often a chunk is begun again when workers die under it.
_LIVES = 10
# How often is looked whether there still are workers.
_LOOK_S = 1.0
# How long a worker that is done may take to hand its verdicts on.
_GATHER_S = 10.0
_INSTALL = "install the package there from the same checkout: pip install ./python"

# What futures raise when their scheduler has gone; the first is no Exception.
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)

Verdicts = list[tuple[int, str]]


def work(jobs: list[tuple[int, str]]) -> Verdicts:
    """On a worker: runs jobs one after the other."""
    return [(number, _core.work(job)) for number, job in jobs]


def farm(client: Any, patience: _words.Time) -> Callable[[list[str]], Iterator[tuple[int, str]]]:
    """What runs a list of jobs on a cluster, and gives what comes of them as it comes."""
    if not hasattr(client, "submit") or not hasattr(client, "scheduler_info"):
        raise _words.wrong("client", client, "a distributed.Client")
    seconds = _words.seconds("patience", patience)
    _check_workers(client)
    return lambda jobs: _Batch(client, seconds).run(jobs)


def chunks(jobs: list[str], threads: int) -> Iterator[list[tuple[int, str]]]:
    """Jobs in chunks that get smaller, so that all threads end at about the same time (guided
    self-scheduling; Polychronopoulos and Kuck, 1987)."""
    begin = 0
    while begin < len(jobs):
        size = max(1, min(64, (len(jobs) - begin) // (2 * max(threads, 1))))
        end = min(begin + size, len(jobs))
        yield list(enumerate(jobs[begin:end], begin))
        begin = end


def _check_workers(client: Any) -> None:
    """Whether every worker has the package."""
    ours = _core.__version__
    # A function of Python's own, for workers may have nothing else.
    found = client.run(pydoc.locate, "whimbrel.__version__", on_error="return")
    for worker, version in found.items():
        if version is None:
            raise ClusterError(f"the worker {worker} has no package whimbrel", _INSTALL)
        if version != ours:
            raise ClusterError(f"the worker {worker} has whimbrel {version}, not {ours}", _INSTALL)


@dataclass(frozen=True)
class _Chunk:
    """Jobs for one worker, and how often they may be begun again."""

    jobs: list[tuple[int, str]]
    lives: int = _LIVES


class _Batch:
    """Jobs under way on a cluster."""

    def __init__(self, client: Any, patience_s: float) -> None:
        self.client, self.patience_s = client, patience_s
        self.lonely_since: float | None = None

    def run(self, jobs: list[str]) -> Iterator[tuple[int, str]]:
        waiting: dict[Any, _Chunk] = {}
        try:
            for chunk in chunks(jobs, self._threads()):
                self._submit(waiting, _Chunk(chunk))
            while waiting:
                yield from self._some(waiting)
        finally:
            # Those that are not wanted any more; the cluster may have gone.
            _quietly(self.client.cancel, list(waiting))

    def _submit(self, waiting: dict[Any, _Chunk], chunk: _Chunk) -> None:
        waiting[self.client.submit(work, chunk.jobs, pure=False)] = chunk

    def _some(self, waiting: dict[Any, _Chunk]) -> Iterator[tuple[int, str]]:
        """The verdicts of chunks that are done; waits if there is none."""
        done = [future for future in waiting if future.done()]
        if not done:
            self._wait(set(waiting))
        for future in done:
            chunk = waiting[future]
            verdicts = self._verdicts(future)
            if verdicts is None:
                self._try_again(waiting, future, chunk)
                continue
            del waiting[future]
            yield from verdicts

    def _try_again(self, waiting: dict[Any, _Chunk], future: Any, chunk: _Chunk) -> None:
        """Its worker died; Dask gives up after some, and may not have noticed yet."""
        self._look()
        if chunk.lives == 0:
            raise ClusterError(
                f"workers died {_LIVES} times while they ran the same candidates",
                "look at what the workers say: they may lack memory",
            )
        del waiting[future]
        _quietly(self.client.cancel, [future])
        self._submit(waiting, _Chunk(chunk.jobs, chunk.lives - 1))

    def _threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._workers().values())

    def _workers(self) -> dict[str, Any]:
        if self.client.status != "running":
            return {}
        try:
            return dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError):
            return {}

    def _wait(self, waiting: set[Any]) -> None:
        """Until one is done, or it is time to look for workers."""
        from distributed import wait

        try:
            wait(waiting, timeout=_LOOK_S, return_when="FIRST_COMPLETED")
            self.lonely_since = None
        except TimeoutError:
            self._look()
        except _CANCELLED as error:
            raise _gone() from error

    def _look(self) -> None:
        """Raises when there was no worker, or no scheduler, for too long."""
        now = time.monotonic()
        if self._workers():
            self.lonely_since = None
        elif self.lonely_since is None:
            self.lonely_since = now
        elif now - self.lonely_since >= self.patience_s:
            raise ClusterError(
                f"the cluster has had no worker for {self.patience_s:g} s",
                "start workers, or go on elsewhere: with output=, resume= has what is done",
            )

    def _verdicts(self, future: Any) -> Verdicts | None:
        """What a worker has found; None: it died."""
        from distributed import KilledWorker

        try:
            return list(future.result(timeout=_GATHER_S))
        except (KilledWorker, TimeoutError):
            return None
        except (*_CANCELLED, OSError) as error:
            raise _gone() from error
        except ModuleNotFoundError as error:
            raise ClusterError(f"a worker has no package whimbrel ({error})", _INSTALL) from error
        except Error:
            raise
        except Exception as error:
            raise ClusterError(f"a worker failed: {type(error).__name__}: {error}") from error


def _gone() -> ClusterError:
    return ClusterError(
        "the cluster has gone",
        "its scheduler ended or cannot be reached; with output=, resume= has what is done",
    )


def _quietly(function: Callable[[Any], object], of: object) -> None:
    try:
        function(of)
    except Exception:
        return


def main(address: str, words: list[str]) -> int:
    """Explores by the words of `whimbrel explore`; gives the exit status."""
    try:
        with _connected(address) as client:
            front, _, tables, kept = _core.explore(words, farm(client, 60), None)
    except Error as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 2
    print(front if "--json" in words else tables, end="")
    return 0 if kept else 1


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(
            "the package distributed is missing", "pip install distributed"
        ) from error
    try:
        return Client(address, timeout=5)
    except (OSError, ValueError, TypeError) as error:
        cure = "give the address that `dask scheduler` prints, as tcp://10.0.0.1:8786"
        raise ClusterError(f"no scheduler answers at {address}: {error}", cure) from error


if __name__ == "__main__":
    # By its name: workers know nothing of a module that is called __main__.
    from whimbrel import cluster

    sys.exit(cluster.main(sys.argv[1], sys.argv[2:]))
