# SPDX-License-Identifier: Apache-2.0
"""Candidates on the workers of a Dask cluster.

`python -m whimbrel.cluster` is what `whimbrel explore --scheduler` becomes.

A candidate is a plan and some numbers as text (`Job` of crates/whimbrel): it needs nothing of the
machine that explores but the application's module and data, at the same paths. What comes of it
depends on nothing else, so Dask may run it again wherever it likes when a worker dies.
"""

from __future__ import annotations

import hashlib
import json
import math
import pydoc
import queue
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import _tree, _words
from ._native import _core
from .errors import ClusterError, Error

# What a chunk should take at least: Dask spends some milliseconds on each.
_WORTH_S = 0.02
# How often a chunk is begun again when workers die under it.
_LIVES = 10
# How often is looked how the cluster is.
_LOOK_S = 1.0
_INSTALL = "install the package there from the same checkout: pip install ./python"
_RESUME = "its scheduler ended or cannot be reached; what an output folder has can be resumed"

# Pairs of a job's number and its verdict; None: there is none yet, and the exploration may end.
Verdicts = Iterator[tuple[int, str] | None]
Farm = Callable[[list[str]], Verdicts]


def work(topic: str, made: str, chunk: int, jobs: list[str]) -> None:
    """On a worker: runs jobs one after the other, and reports their results as an event. It has
    the package as it was `made` where they are from, also if it came later than others.

    An event reaches the client with the message that the task has ended. A result would have to be
    fetched, which doubles the cost of a task.
    """
    from distributed import get_worker

    if made != MADE:
        raise _of_another(get_worker().address, MADE, made)
    since = time.perf_counter()
    verdicts = [_core.work(job) for job in jobs]
    seconds = time.perf_counter() - since
    get_worker().log_event(topic, (chunk, verdicts, seconds))


@contextmanager
def farm(client: Any, patience: _words.Time) -> Iterator[Farm]:
    """What runs a list of jobs on a cluster, and gives what comes of them as it comes."""
    if not hasattr(client, "map") or not hasattr(client, "subscribe_topic"):
        raise _words.wrong("client", client, "a distributed.Client")
    if getattr(client, "asynchronous", False):
        # Its calls give coroutines, which nobody here awaits.
        raise _words.wrong("client", client, "a distributed.Client that is not asynchronous")
    working = _Farm(client, _words.seconds("patience", patience))
    with _cluster():
        _check_workers(client)
        working.subscribe()
    try:
        yield working.run
    finally:
        _quietly(client.unsubscribe_topic, working.topic)


@contextmanager
def _cluster() -> Iterator[None]:
    """Calls of Dask's: what they raise means that there is no cluster any more."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        why = f"the cluster disconnected ({type(error).__name__}: {error})"
        raise ClusterError(why, _RESUME) from error


@dataclass(frozen=True)
class _Chunk:
    """Jobs for one worker, the number of the first, and how often they may be begun again."""

    first: int
    jobs: list[str]
    lives: int = _LIVES


def chunks(jobs: list[str], threads: int, least: int = 1) -> list[_Chunk]:
    """Jobs in chunks that get smaller, down to `least`, so that all threads end at about the same
    time (guided self-scheduling; Polychronopoulos and Kuck, 1987)."""
    made, begin = [], 0
    while begin < len(jobs):
        share = 2 * (len(jobs) - begin) // (3 * max(threads, 1))
        end = begin + max(1, min(64, max(least, share)))
        made.append(_Chunk(begin, jobs[begin:end]))
        begin = end
    return made


def _made() -> str:
    """The version of this package, and of its modules and of what is compiled of its checkout:
    checkouts differ within a version. The same for every processor."""
    digest = hashlib.sha256()
    for part in (*sorted(Path(__file__).parent.glob("*.py")), _tree.SOURCES):
        digest.update(part.read_bytes() if part.is_file() else b"")
    return f"{_core.__version__} ({digest.hexdigest()[:8]})"


MADE = _made()


def _of_another(worker: str, has: str, made: str) -> ClusterError:
    return ClusterError(f"the worker {worker} has whimbrel {has}, not {made}", _INSTALL)


def _check_workers(client: Any) -> None:
    """Whether every worker has the same package."""
    # A function of Python's own, for workers may have nothing else.
    found = client.run(pydoc.locate, "whimbrel.cluster.MADE", on_error="return")
    for worker, made in found.items():
        # A worker that dies meanwhile cannot answer, and does no harm.
        if made == MADE or isinstance(made, OSError):
            continue
        locate = (pydoc.locate, "whimbrel.__version__")
        version = client.run(*locate, workers=[worker], on_error="return")[worker]
        if isinstance(version, OSError):
            continue
        if isinstance(version, str):
            raise _of_another(worker, made if isinstance(made, str) else version, MADE)
        why = f" that can be imported ({version})" if version is not None else ""
        raise ClusterError(f"the worker {worker} has no package whimbrel{why}", _INSTALL)


class _Farm:
    """A cluster, and the chunks that are under way on it."""

    def __init__(self, client: Any, patience_s: float) -> None:
        self.client, self.patience_s = client, patience_s
        self.topic = f"whimbrel-{uuid.uuid4().hex}"
        self.events: queue.SimpleQueue[tuple[int, list[str], float]] = queue.SimpleQueue()
        self.waiting: dict[int, tuple[_Chunk, Any]] = {}
        # Those that were done at the last look, but told nothing.
        self.silent: set[int] = set()
        self.made = 0
        # As they were at last: how jobs are cut depends on them, and nothing else.
        self.threads, self.job_s = 1, math.inf
        self.looked_at = -math.inf
        self.lonely_since: float | None = None

    def subscribe(self) -> None:
        """Asks for events; once more does no harm."""
        self.client.subscribe_topic(self.topic, self.told)

    def told(self, event: tuple[float, tuple[int, list[str], float]]) -> None:
        """Takes an event, in a thread of Dask's."""
        self.events.put(event[1])

    def run(self, jobs: list[str]) -> Verdicts:
        """One batch of an exploration."""
        try:
            with _cluster():
                if self.made == 0:
                    self._look()
                self._submit(chunks(jobs, self.threads, math.ceil(_WORTH_S / self.job_s)))
            while self.waiting:
                yield from self._next()
                if time.monotonic() - self.looked_at > _LOOK_S:
                    with _cluster():
                        self._look()
                    yield None
        finally:
            # Those that are not wanted any more; the cluster may have gone.
            if self.waiting:
                _quietly(self.client.cancel, [future for _, future in self.waiting.values()])
            self.waiting.clear()

    def _submit(self, new: list[_Chunk]) -> None:
        """All in one graph, which costs little more than one for each."""
        numbers = range(self.made, self.made + len(new))
        jobs = [chunk.jobs for chunk in new]
        same = [self.topic] * len(new), [MADE] * len(new)
        futures = self.client.map(work, *same, numbers, jobs, pure=False)
        self.waiting.update(zip(numbers, zip(new, futures, strict=True), strict=True))
        self.made += len(new)

    def _next(self) -> Verdicts:
        """The verdicts of the next chunk, if there is one soon."""
        try:
            number, verdicts, seconds = self.events.get(timeout=_LOOK_S)
        except queue.Empty:
            return
        chunk, _ = self.waiting.pop(number, (None, None))
        # A worker that was given up may be late.
        if chunk is not None:
            self.job_s = seconds / len(verdicts)
            yield from enumerate(verdicts, chunk.first)

    def _look(self) -> None:
        """Looks for workers, and for chunks that no worker runs any more."""
        workers = self._workers()
        now = self.looked_at = time.monotonic()
        self.threads = sum(worker["nthreads"] for worker in workers.values())
        if workers:
            self.lonely_since = None
        elif self.lonely_since is None:
            self.lonely_since = now
        elif now - self.lonely_since >= self.patience_s:
            raise ClusterError(
                f"the cluster has had no worker for {self.patience_s:g} s",
                "start workers, or resume elsewhere from the folder of output=",
            )
        for number, (chunk, future) in list(self.waiting.items()):
            if future.status in ("error", "cancelled") and self._is_killed(future):
                del self.waiting[number]
                self._try_again(chunk)
        self._miss_events()

    def _miss_events(self) -> None:
        """Begins chunks again whose event was lost: it comes with the end of its task, so nothing
        is left of those that were done a look ago. Their connection may have been another."""
        done = {n for n, (_, future) in self.waiting.items() if future.status == "finished"}
        lost = done & self.silent if self.events.empty() else set()
        if lost:
            self.subscribe()
        for number in lost:
            self._try_again(self.waiting.pop(number)[0])
        self.silent = done - lost

    def _workers(self) -> dict[str, Any]:
        if self.client.status != "running":
            return {}
        try:
            return dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError):
            return {}

    def _try_again(self, chunk: _Chunk) -> None:
        """Dask gives a task up that workers died of, some times."""
        if chunk.lives == 0:
            raise ClusterError(
                f"the same candidates were started {_LIVES} times again, without a result",
                "read the logs of the workers: they may lack memory",
            )
        self._submit([replace(chunk, lives=chunk.lives - 1)])

    def _is_killed(self, future: Any) -> bool:
        """Whether the workers of a chunk died, and nothing else is wrong, which is raised."""
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise ClusterError("the cluster disconnected", _RESUME)
        error = future.exception()
        if isinstance(error, KilledWorker):
            return True
        if isinstance(error, Error):
            raise error
        if isinstance(error, ModuleNotFoundError):
            raise ClusterError(f"a worker has no package whimbrel ({error})", _INSTALL) from error
        raise ClusterError(f"a worker failed: {type(error).__name__}: {error}") from error


def _quietly(function: Callable[[Any], object], of: object) -> None:
    try:
        function(of)
    except Exception:
        return


def main(options: str) -> int:
    """Explores by the options of `whimbrel explore` as JSON; gives the exit status."""
    known = json.loads(options)
    try:
        with _connected(known["scheduler"]) as client, farm(client, 60) as working:
            front, _, tables, kept = _core.explore(options, working, None)
    except Error as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 2
    print(front if known["json"] else tables, end="")
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

    sys.exit(cluster.main(sys.argv[1]))
