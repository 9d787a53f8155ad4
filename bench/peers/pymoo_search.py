#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our genetic search compared with pymoo's NSGA-II: hypervolume by the number of simulations.

    make package && build/py/bin/pip install pymoo==0.6.2
    build/py/bin/python bench/peers/pymoo_search.py

Each space is run through once. Then both search it, from several seeds, and are judged by the same
outcomes. A candidate that equals another except for names, is overloaded, or could not be on the
front costs pymoo nothing, though it would simulate the last of them. Hypervolumes are parts of that
of the true front. Decision 0040 has the result.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import whimbrel
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import ElementwiseProblem
from pymoo.indicators.hv import HV
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling
from pymoo.optimize import minimize
from pymoo.termination import get_termination

ROOT = Path(__file__).resolve().parents[2]
POINTS = (100, 200, 320, 500)
OBJECTIVES = ("energy_mj", "misses", "latency_ms", "cores")
BUDGETS = (50, 100, 200, 400)


def fork_join() -> whimbrel.Application:
    """That of apps/synthetic, shorter."""
    app = whimbrel.Application.load(ROOT / "apps/synthetic/fork_join.toml")
    return app.changed(tasks=(replace(app.tasks[0], firings=40), *app.tasks[1:]))


def chain() -> whimbrel.Application:
    """Five tasks in a row, each as heavy again as the one before."""
    tasks = [whimbrel.Task(name="t0", cycles=20_000, period_us=2000)]
    tasks += [whimbrel.Task(name=f"t{i}", cycles=20_000 << i) for i in range(1, 5)]
    ports = [(f"t{i}.out", f"t{i + 1}.in") for i in range(4)]
    channels = tuple(whimbrel.Channel(from_=a, to=b, slot_bytes=512) for a, b in ports)
    return whimbrel.Application(name="chain", tasks=tuple(tasks), channels=channels)


SPACES: dict[str, dict[str, Any]] = {
    "fm_radio": {"app": ROOT / "apps/fm_radio/app.toml", "frame_rates": 900, "set": {"output": ""}},
    "fork_join": {"app": fork_join()},
    "chain": {"app": chain()},
}
Key = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass
class Space:
    """A space that was run through, by candidate."""

    options: dict[str, Any]
    groups: list[int] = field(default_factory=list)  # how many tasks share each name
    known: dict[Key, np.ndarray] = field(default_factory=dict)

    def explored(self, **more: Any) -> list[dict[str, Any]]:
        options = {**self.options, "points": POINTS, "duration": "500ms", **more}
        return whimbrel.explore(options.pop("app"), "mpsoc3", **options).table.to_pylist()

    def run_through(self) -> None:
        for row in self.explored(exhaustive=1_000_000):
            names = [part.split("=")[1].split("/") for part in row["mapping"].split()]
            self.groups = [len(cores) for cores in names]
            mapping = [int(core) for cores in names for core in cores]
            points = [0 if p == "-" else int(p) for p in row["points"].split("/")]
            self.known[self.key(mapping, points)] = values(row)

    def key(self, mapping: list[int], points: list[int]) -> Key:
        """The least of all that are equal except for names."""
        return min(self._named(mapping, points, names) for names in permutations(range(3)))

    def _named(self, mapping: list[int], points: list[int], names: tuple[int, ...]) -> Key:
        cores, at = [], 0
        for count in self.groups:
            cores += sorted(names[core] for core in mapping[at : at + count])
            at += count
        there = [points[core] if core in mapping else 0 for core in range(3)]
        return tuple(cores), tuple(there[names.index(core)] for core in range(3))


def values(row: dict[str, Any]) -> np.ndarray:
    return np.array([1e6 if row[name] is None else float(row[name]) for name in OBJECTIVES])


class Asked(ElementwiseProblem):
    """The space as vectors of whole numbers; keeps what would have been simulated."""

    def __init__(self, space: Space) -> None:
        self.space, self.tasks = space, sum(space.groups)
        self.simulated: dict[Key, np.ndarray] = {}
        high = [2] * self.tasks + [len(POINTS) - 1] * 3
        super().__init__(n_var=len(high), n_obj=len(OBJECTIVES), xl=0, xu=high, vtype=int)

    def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: object, **__: object) -> None:
        mapping = [int(core) for core in x[: self.tasks]]
        key = self.space.key(mapping, [POINTS[int(p)] for p in x[self.tasks :]])
        found = self.space.known.get(key)
        if found is not None:
            self.simulated.setdefault(key, found)
        out["F"] = np.full(len(OBJECTIVES), 1e9) if found is None else found


def pymoo(space: Space, seed: int) -> list[np.ndarray]:
    """What pymoo would have simulated, in order."""
    problem = Asked(space)
    whole = {"vtype": float, "repair": RoundingRepair()}
    algorithm = NSGA2(
        pop_size=64,
        sampling=IntegerRandomSampling(),
        crossover=SBX(prob=0.9, eta=3, **whole),
        mutation=PM(eta=3, **whole),
        eliminate_duplicates=True,
    )
    while len(problem.simulated) < max(BUDGETS):
        before = len(problem.simulated)
        minimize(problem, algorithm, get_termination("n_gen", 60), seed=seed, copy_algorithm=True)
        seed += 1000
        if len(problem.simulated) == before:
            break
    return list(problem.simulated.values())


def ours(space: Space, seed: int, budget: int) -> list[np.ndarray]:
    return [values(row) for row in space.explored(exhaustive=1, budget=budget, seed=seed)]


def main() -> None:
    """Searches and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(1, parser.parse_args().seeds + 1)
    warnings.simplefilter("ignore")
    print("space       candidates  simulations    ours   pymoo")
    for name, options in SPACES.items():
        space = Space(options)
        space.run_through()
        points = np.array(list(space.known.values()))
        low, high = points.min(axis=0), points.max(axis=0)
        scale = np.where(high > low, high - low, 1.0)
        volume = HV(ref_point=np.full(len(OBJECTIVES), 1.1))

        def share(some: Any, volume: HV = volume, low: Any = low, scale: Any = scale) -> float:
            return volume((np.array(some) - low) / scale)

        whole = share(points)
        searched = [pymoo(space, seed) for seed in seeds]
        for budget in BUDGETS:
            mine = fmean(share(ours(space, seed, budget)) / whole for seed in seeds)
            theirs = fmean(share(some[:budget]) / whole for some in searched)
            print(
                f"{name:10}  {len(points):10}  {budget:11}  {mine:6.4f}  {theirs:6.4f}", flush=True
            )


if __name__ == "__main__":
    main()
