# SPDX-License-Identifier: Apache-2.0
"""Searches of others over a space of candidates, and our own step by step."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import whimbrel
from whimbrel import Result, Search, Space

WHERE: dict[str, Any] = {"pins": {"source": 0, "sink": 0}, "duration": "200ms"}


def space(player: whimbrel.Application, **more: Any) -> Space:
    return Space(player, "mpsoc3", **{**WHERE, "points": [200, 500], **more})


def every(of: Space) -> list[Result]:
    names = list(of.variables)
    chosen = product(*of.variables.values())
    return of.evaluate_all(dict(zip(names, values, strict=True)) for values in chosen)


@pytest.mark.parametrize(
    "more",
    [
        {"slots": ["2,4"], "objectives": "energy,misses,latency,cores"},
        {"policies": ["static", "balance", "spread"], "points": "high"},
        {"channels": ["source_work=interrupt,polling:2ms"], "points": "high"},
    ],
)
def test_candidates_have_the_figures_of_an_exploration(
    player: whimbrel.Application, more: dict[str, Any]
) -> None:
    found = whimbrel.explore(player, "mpsoc3", **{**WHERE, "points": [200, 500], **more})
    decided = ("policy", "mapping", "points", "slots", "channels", "rate")
    results = {tuple(one.row[of] for of in decided): one for one in every(space(player, **more))}
    rows = found.table.to_pylist()
    assert len(rows) >= 6
    for row in rows:
        one = results[tuple(row[of] for of in decided)]
        for of in ("energy_mj", "misses", "latency_ms", "cores"):
            assert one.row[of] == row[of]
        # All of the outcome, to the last digit.
        outcome = {name: one.row[name] for name in json.loads(row["outcome"])}
        assert json.dumps(outcome) == json.dumps(json.loads(row["outcome"]))
        assert one.failed is None


def test_variables_are_named_as_the_columns(player: whimbrel.Application) -> None:
    of = space(player, slots=["2,4"])
    assert of.variables == {
        "mapping.work.0": (0, 1, 2),
        "mapping.work.1": (0, 1, 2),
        **{f"points.{core}": (200.0, 500.0) for core in range(3)},
        "slots": (2, 4),
    }
    assert of.size == 144 and of.objectives == ("energy", "misses")
    assert of.candidate(np.array([2, 0, 1, 1, 0, 1])) == {
        "mapping.work.0": 2,
        "mapping.work.1": 0,
        "points.0": 500.0,
        "points.1": 500.0,
        "points.2": 200.0,
        "slots": 4,
    }
    named = space(player, slots=["source_work=2,4", "work_sink_1=3,5"], points="high")
    assert [name for name in named.variables if "slots" in name] == [
        "slots.source_work_0+source_work_1",
        "slots.work_sink_1",
    ]


def test_a_candidate_that_blocks_has_failed(player: whimbrel.Application) -> None:
    of = space(player, channels=["interrupt,batch:3:5ms"], slots=["2,4"], points="high")
    results = every(of)
    failed = [one for one in results if one.failed]
    assert failed and len(failed) < len(results)
    assert all(one.objectives == (math.inf, math.inf) for one in failed)
    assert {(one.candidate["slots"], one.candidate["channels"]) for one in failed} == {
        (2, "batch:3:5ms")
    }


# ---- Others search ------------------------------------------------------------------------------


def test_optuna_asks_and_is_told(player: whimbrel.Application) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    of = space(player)
    best = min(one.objectives for one in every(of) if one.row["misses"] == 0)
    sampler = optuna.samplers.TPESampler(seed=1)
    study = optuna.create_study(directions=["minimize"] * len(of.objectives), sampler=sampler)
    for _ in range(40):
        trial = study.ask()
        candidate = {
            name: trial.suggest_categorical(name, values) for name, values in of.variables.items()
        }
        study.tell(trial, of.evaluate(candidate).objectives)
    assert best in [tuple(trial.values) for trial in study.best_trials]


def test_pymoo_asks_and_is_told(player: whimbrel.Application) -> None:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.operators.repair.rounding import RoundingRepair
    from pymoo.operators.sampling.rnd import IntegerRandomSampling

    of = space(player)
    last = [len(values) - 1 for values in of.variables.values()]
    problem = Problem(n_var=len(last), n_obj=len(of.objectives), xl=0, xu=np.array(last), vtype=int)
    algorithm = NSGA2(
        pop_size=16,
        sampling=IntegerRandomSampling(),
        crossover=SBX(vtype=float, repair=RoundingRepair()),
        mutation=PM(vtype=float, repair=RoundingRepair()),
        eliminate_duplicates=True,
    )
    algorithm.setup(problem, termination=("n_gen", 4), seed=1, verbose=False)
    while algorithm.has_next():
        asked = algorithm.ask()
        results = of.evaluate_all(of.candidate(places) for places in asked.get("X"))
        asked.set("F", np.array([one.objectives for one in results]))
        for one in asked:
            one.evaluated.add("F")
        algorithm.tell(infills=asked)
    best = min(one.objectives for one in every(of) if one.row["misses"] == 0)
    front = algorithm.result().F
    assert min(map(tuple, front[front[:, 1] == 0])) == best


# ---- Our own search -----------------------------------------------------------------------------


def searched(of: Space, **told: Any) -> Search:
    search = Search(of)
    while asked := search.ask():
        for candidate in reversed(asked):
            search.tell(candidate, of.evaluate(candidate), **told)
    return search


@pytest.mark.parametrize("exhaustive", [None, 1])
def test_our_search_finds_what_an_exploration_finds(
    player: whimbrel.Application, exhaustive: int | None
) -> None:
    """All candidates, or a genetic search of some."""
    more: dict[str, Any] = {"exhaustive": exhaustive, "budget": exhaustive and 8, "seed": 3}
    found = whimbrel.explore(
        player, "mpsoc3", points=[200, 500], objectives="energy,misses", **WHERE, **more
    )
    search = searched(space(player, **more))
    rows = {(row["mapping"], row["points"], row["energy_mj"]) for row in found.table.to_pylist()}
    ours = {(one.row["mapping"], one.row["points"], one.row["energy_mj"]) for one in search.results}
    assert ours == rows and len(search.results) == len(rows)
    assert (len(rows) == 8) == (exhaustive == 1)
    fronts = [
        sorted((row["energy_mj"], row["misses"]) for row in table)
        for table in (found.front.to_pylist(), [one.row for one in search.front])
    ]
    assert fronts[0] == fronts[1]


def test_every_objective_of_an_exploration_is_one_of_a_search(player: whimbrel.Application) -> None:
    every = ("energy", "misses", "latency", "cores", "power", "energy_per_frame")
    every += ("energy_per_task", "time", "frames")
    space = whimbrel.Space(player, "mpsoc3", duration="100ms", objectives=every)
    results = []
    for tell_row in (False, True):
        search = whimbrel.Search(space)
        (candidate, *_) = search.ask()
        result = space.evaluate(candidate)
        search.tell(candidate, result.row if tell_row else result)
        results += search.results
    assert results[0].objectives == results[1].objectives
    assert results[0].objectives[-1] < 0 < min(results[0].objectives[4:8])


def test_what_was_measured_elsewhere_is_told(player: whimbrel.Application) -> None:
    of = space(player, points="high")
    search = Search(of)
    asked = search.ask()
    search.tell(asked[0], None)
    assert search.ask() == asked[1:]
    for place, candidate in enumerate(asked[1:]):
        search.tell(candidate, {"energy_mj": 10.0 + place, "misses": 0})
    assert search.ask() == []
    assert [one.objectives for one in search.front] == [(10.0, 0.0)]
    assert search.results[0].failed and search.results[0].objectives == (math.inf, math.inf)


def test_a_search_that_is_left_leaves_nothing_behind(player: whimbrel.Application) -> None:
    for _ in range(3):
        assert Search(space(player)).ask()


# ---- What goes wrong ----------------------------------------------------------------------------


def test_a_candidate_that_makes_no_sense_is_refused(player: whimbrel.Application) -> None:
    of = space(player)
    fine = of.candidate([0] * len(of.variables))
    without = {name: value for name, value in fine.items() if name != "points.1"}
    for wrong, said in (
        (without, "the candidate has no 'points.1'"),
        ({**fine, "points.9": 1}, "has 'points.9', which is unknown"),
        ({**fine, "points.1": 300}, "'points.1' of the candidate is 300"),
        ({**fine, "mapping.work.0": "one"}, "is 'one'"),
        ({**fine, "mapping.work.0": math.nan}, "is nan"),
    ):
        with pytest.raises(whimbrel.InputError, match=said) as told:
            of.evaluate(wrong)
        assert told.value.cure
    for places in ([0], [9] * len(fine), [-1] * len(fine)):
        with pytest.raises(whimbrel.InputError):
            of.candidate(places)
    for wrong_type in (3, None, "static"):
        with pytest.raises(TypeError):
            of.evaluate(wrong_type)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        of.candidate(["a"] * len(fine))  # type: ignore[list-item]


def test_a_result_that_makes_no_sense_is_refused(player: whimbrel.Application) -> None:
    search = Search(space(player, points="high"))
    asked = search.ask()
    for wrong in ({"energy_mj": math.nan, "misses": 0}, {"energy_mj": 1}, {"energy_mj": "1"}):
        with pytest.raises(whimbrel.InputError, match="the result's") as told:
            search.tell(asked[0], wrong)  # type: ignore[arg-type]
        assert told.value.cure
    search.tell(asked[0], {"energy_mj": 1, "misses": 0})
    with pytest.raises(whimbrel.InputError, match="does not wait"):
        search.tell(asked[0], {"energy_mj": 1, "misses": 0})


def test_a_space_that_makes_no_sense_is_refused(player: whimbrel.Application) -> None:
    no_policy = {"policies": ["best"]}
    for wrong in ({"points": [3]}, {"pins": {"work": 9}}, {"slots": ["x=2"]}, no_policy):
        with pytest.raises(whimbrel.InputError) as told:
            space(player, **wrong)
        assert told.value.cure
